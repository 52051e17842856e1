"""Models in files: many numbers as safetensors, all else as JSON in the header.

A file holds the arrays of its kind of estimator (`coef` and `intercept` of a linear one), and under
the metadata key ``stepless`` the JSON of everything else. Reading it runs no code of the file's. A
checksum tells a damaged file from a whole one. The proof of what it claims is a file of its own.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any

from safetensors import SafetensorError
from sklearn.utils.validation import check_is_fitted

from stepless.report.atomic import Path, write_together
from stepless.report.kinds import KINDS
from stepless.report.plain import (
    plain,
    plain_parameters,
    plain_trace,
    restored_certificate,
    restored_parameters,
    restored_trace,
)
from stepless.report.proof_file import pack_proof
from stepless.report.tensors import Kept, damage_reported

FORMAT = 2  # 1 knew classifiers and regressors, and had them as 2 has
_FILE = Kept("model", "stepless", FORMAT, ("parameters", "certificate", "about"))
_CERTIFICATE = (
    "alpha",
    "objective",
    "lower_bound",
    "gap",
    "rel_gap",
    "stopped_by",
    "solver",
    "n_passes",
    "n_queries",
    "n_queries_left_out",
)


def save_model(
    estimator: Any,
    path: Path,
    about: dict[str, Any] | None = None,
    *,
    proof: Path | None = None,
) -> None:
    """Write a fitted estimator to a file, whole or not at all.

    Not kept are a `random_state` that is a generator (it becomes None), the state of a stream
    (`partial_fit` goes on from the weights), what `warm_start` remembers but the weights, and, of
    more than 100 000 events, all but so many.

    Parameters
    ----------
    estimator
        A fitted LinearClassifier, LinearRegressor, MetricClassifier, LinearRanker, NuClassifier,
        OneClass, KernelClassifier, ChainClassifier, or StructuredClassifier of a model of
        `stepless.structured`.
    path
        The file to write. One of that name is replaced.
    about
        What else to remember, as JSON: `read_header` gives it back.
    proof
        A second file to write, the proof by which `verify` computes the lower bound anew: a number
        for each example and class. Both files are written, or none.

    Raises
    ------
    ValueError
        If there is something in it that a file cannot hold, such as a loss of the user's own, or
        no proof, as after `partial_fit`, in a pickled copy, or in a model that was loaded; if
        weights or parameters are others than those of the fit that the proof is of.
    OSError
        If a file cannot be written.
    """
    name = type(estimator).__name__
    if type(estimator) not in [kind.make for kind in KINDS.values()]:
        raise TypeError(
            f"a model file holds one of {', '.join(KINDS)}, but this is a {name}: pickle it"
        )
    check_is_fitted(estimator)
    kind = KINDS[name]
    parameters = estimator.get_params(deep=False)
    header: dict[str, Any] = {
        "kind": name,
        "parameters": plain_parameters(
            {key: value for key, value in parameters.items() if key not in kind.apart}
        ),
        "certificate": {
            key: plain(getattr(estimator, f"{key}_"), key)
            for key in _CERTIFICATE
            if hasattr(estimator, f"{key}_")
        },
        "about": about or {},
    }
    header |= kind.facts(estimator)
    if hasattr(estimator, "trace_"):
        header["trace"] = plain_trace(estimator.trace_)
    files = {}
    if proof is not None:
        if os.path.realpath(proof) == os.path.realpath(path):
            raise ValueError(f"{os.fspath(path)}: the model and its proof cannot both go there")
        files[proof] = pack_proof(estimator)
        digest = hashlib.sha256(files[proof]).hexdigest()
        header["proof"] = {"file": os.path.basename(os.fspath(proof)), "sha256": digest}
    try:
        files[path] = _FILE.packed(header, kind.arrays(estimator))
    except SafetensorError as error:
        raise ValueError(
            f"{os.fspath(path)}: the names of {header['n_features']} features are too long for a "
            f"model file ({error}); fit without feature names"
        ) from None
    write_together(files)


def load_model(path: Path) -> Any:
    """Read an estimator that `save_model` wrote; it predicts as before, to the last bit.

    Raises
    ------
    DataError
        If the file cannot be read, is damaged, or is no model.

    Examples
    --------
    >>> import tempfile
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=0.1).fit([[0.0], [1.0], [2.0]], ["a", "a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(clf, f"{folder}/letters.model")
    ...     again = load_model(f"{folder}/letters.model")
    >>> again.predict([[1.9]]).tolist(), again.gap_ == clf.gap_
    (['b'], True)
    """
    return read_model(path)[0]


def read_model(path: Path) -> tuple[Any, dict[str, Any]]:
    """Read an estimator, and what its file says of it, as `load_model` and `read_header` do."""
    header, arrays = _FILE.read(path)
    with damage_reported(path):
        kind = KINDS[header["kind"]]
        parameters = restored_parameters(kind.make, header["parameters"])
        estimator = kind.make(**parameters, **kind.parameters(header, arrays))
        kind.settle(estimator, header, arrays)
        for name, value in restored_certificate(header["certificate"]).items():
            setattr(estimator, f"{name}_", value)
        if "n_passes" in header["certificate"]:
            estimator.n_iter_ = estimator.n_passes_
        if "trace" in header:
            estimator.trace_ = restored_trace(header["trace"])
    return estimator, header


def read_header(path: Path) -> dict[str, Any]:
    """Return what a model file says of its model, as the JSON that it is.

    Raises
    ------
    DataError
        If the file cannot be read, is damaged, or is no model.
    """
    return _FILE.read(path)[0]

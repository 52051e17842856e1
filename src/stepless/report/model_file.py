"""Model files: arrays as safetensors, everything else as JSON in the header.

A file holds the arrays of its kind of estimator (`coef` and `intercept` of a linear one), and under
the metadata key ``stepless`` the JSON of everything else. Reading it runs no code from the file. A
checksum reveals damage. The proof of what it claims is a file of its own.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any

from safetensors import SafetensorError
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from stepless.cross_validation import CrossValidation
from stepless.estimators.proof import chosen_strength
from stepless.report import encoding
from stepless.report.atomic import Path, write_together
from stepless.report.kinds import KINDS, Arrays, Facts, kind_of
from stepless.report.proof_file import pack_proof
from stepless.report.tensors import TensorFile, damage_reported

FORMAT = 2  # 1 knew only classifiers and regressors, in the same form as 2
_FILE = TensorFile("model", "stepless", FORMAT, ("parameters", "certificate", "about"))
_PROVEN = ("alpha", "objective", "lower_bound", "gap", "rel_gap")
_RUN = ("stopped_by", "solver", "n_passes", "n_queries", "n_queries_left_out")


def save_model(
    estimator: BaseEstimator,
    path: Path,
    about: dict[str, Any] | None = None,
    *,
    proof: Path | None = None,
) -> None:
    """Write a fitted estimator to a file, whole or not at all.

    Not kept are a `random_state` that is a generator (it becomes None), the state of a stream or of
    `warm_start` beside the weights, and events beyond 100 000. Folds that are no number, or a
    callable `scoring`, are not kept either: `alpha` becomes the strength that they chose.

    Parameters
    ----------
    estimator
        A fitted LinearClassifier, LinearRegressor, MetricClassifier, LinearRanker, NuClassifier,
        OneClass, KernelClassifier, ChainClassifier, or StructuredClassifier of a model of
        `stepless.structured`.
    path
        The file to write. A file of that name is replaced.
    about
        Further facts to store, as JSON: `read_header` returns them.
    proof
        A second file to write, the proof from which `verify` computes the lower bound again: one
        number per example and class. Both files are written, or none.

    Raises
    ------
    ValueError
        If a file cannot hold something in it, such as a user-defined loss; if it has no proof, as
        after `partial_fit`, in a pickled copy, or in a model that was loaded; if its weights or
        parameters are not those of the fit that the proof is of.
    OSError
        If a file cannot be written.
    """
    (header, arrays), files = _contents(estimator, about or {}), {}
    if proof is not None:
        if os.path.realpath(proof) == os.path.realpath(path):
            raise ValueError(f"{os.fspath(path)}: the model and its proof cannot both go there")
        files[proof] = pack_proof(estimator)
        digest = hashlib.sha256(files[proof]).hexdigest()
        header["proof"] = {"file": os.path.basename(os.fspath(proof)), "sha256": digest}
    try:
        files[path] = _FILE.packed(header, arrays)
    except SafetensorError as error:
        raise ValueError(
            f"{os.fspath(path)}: the names of {header['n_features']} features are too long for a "
            f"model file ({error}); fit without feature names"
        ) from None
    write_together(files)


def _contents(estimator: BaseEstimator, about: dict[str, Any]) -> tuple[Facts, Arrays]:
    name, kind = type(estimator).__name__, kind_of(estimator)
    if kind is None:
        raise TypeError(
            f"a model file holds one of {', '.join(KINDS)}, but this is a {name}: pickle it"
        )
    check_is_fitted(estimator)
    parameters = estimator.get_params(deep=False)
    if isinstance(alpha := parameters.get("alpha"), CrossValidation) and not alpha.plain:
        parameters |= chosen_strength(estimator)
    header: Facts = {
        "kind": name,
        "parameters": encoding.encode_parameters(
            {key: value for key, value in parameters.items() if key not in kind.separate}
        ),
        "certificate": {
            key: encoding.encode(getattr(estimator, f"{key}_"), key)
            for key in (*_PROVEN, *_RUN)
            if hasattr(estimator, f"{key}_")
        },
        "about": about,
    }
    header |= kind.facts(estimator)
    if hasattr(estimator, "trace_"):
        header["trace"] = encoding.encode_trace(estimator.trace_)
    return header, kind.arrays(estimator)


def load_model(path: Path) -> BaseEstimator:
    """Read an estimator that `save_model` wrote; it predicts as before, to the last bit.

    Raises
    ------
    DataError
        If the file cannot be read, is damaged, or is not a model.

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


def read_model(path: Path) -> tuple[BaseEstimator, dict[str, Any]]:
    """Read an estimator and its header, as `load_model` and `read_header` do."""
    header, arrays = _FILE.read(path)
    with damage_reported(path):
        kind = KINDS[header["kind"]]
        parameters = encoding.decode_parameters(kind.make, header["parameters"])
        estimator = kind.make(**parameters, **kind.parameters(header, arrays))
        kind.restore(estimator, header, arrays)
        for name, value in encoding.decode_certificate(header["certificate"]).items():
            setattr(estimator, f"{name}_", value)
        if "n_passes" in header["certificate"]:
            estimator.n_iter_ = estimator.n_passes_
        if "trace" in header:
            estimator.trace_ = encoding.decode_trace(header["trace"])
    return estimator, header


def read_header(path: Path) -> dict[str, Any]:
    """Return the header of a model file, the JSON that describes its model.

    Raises
    ------
    DataError
        If the file cannot be read, is damaged, or is not a model.
    """
    return _FILE.read(path)[0]

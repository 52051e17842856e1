"""Files of proofs, which `verify` needs beside a model and its data.

A file holds the witness of each run: ``slopes.k``, one number per example (and class, for a joint
loss), or ``w.k``, ``b.k`` and ``shares.k``, the points at which an oracle is evaluated. The
metadata key ``stepless_proof`` says what they prove. Nothing in it needs to be trusted: the
numbers that it proves are computed from the data, whatever it holds.
"""

from __future__ import annotations

import os

import numpy as np
from sklearn.base import BaseEstimator

from stepless.arrays import AnyArray
from stepless.data import Column
from stepless.estimators.proof import Proof, model_digest
from stepless.proof.witness import Points, Slopes, Witness
from stepless.report.atomic import Path
from stepless.report.encoding import decode, encode
from stepless.report.tensors import TensorFile, damage_reported, refuse_unless

FORMAT = 1
FILE = TensorFile("proof", "stepless_proof", FORMAT, ("problem", "data"))


def pack_proof(estimator: BaseEstimator) -> bytes:
    """Return the bytes of a file with an estimator's proof; ValueError if it has none."""
    if getattr(estimator, "stopped_by_", "") == "stream":
        raise ValueError("a model that learned from a stream has no proof: the stream was not kept")
    proof: Proof | None = getattr(estimator, "proof_", None)
    if proof is None:
        raise ValueError(
            f"this {type(estimator).__name__} has no proof to write: only a model that was just "
            "fitted has one, not one that was loaded, copied or pickled"
        )
    if proof.model != model_digest(estimator):
        raise ValueError("the weights are not those of the fit that the proof is of: fit again")
    arrays: dict[str, AnyArray] = {}
    for k, witness in enumerate(proof.witnesses):
        if witness is not None:
            arrays |= {f"{name}.{k}": array for name, array in witness.arrays().items()}
    header = {
        "kind": proof.kind,
        "problem": proof.problem,
        "data": proof.data,
        "model": proof.model,
        "objective": encode(proof.objective, "objective"),
        "lower_bound": encode(proof.lower_bound, "lower_bound"),
        "runs": ["none" if one is None else one.kind for one in proof.witnesses],
    }
    return FILE.packed(header, arrays)


def read_proof(path: Path) -> Proof:
    """Read a proof that `save_model` wrote.

    Raises
    ------
    DataError
        If the file cannot be read, is damaged, or is not a proof.
    """
    header, arrays = FILE.read(path)
    with damage_reported(path):
        return Proof(
            str(header["kind"]),
            {str(name): str(said) for name, said in header["problem"].items()},
            {str(name): str(said) for name, said in header["data"].items()},
            str(header["model"]),
            float(decode(header["objective"])),
            float(decode(header["lower_bound"])),
            tuple(_witness(arrays, k, name) for k, name in enumerate(header["runs"])),
            name=os.fspath(path),
        )


def _witness(arrays: dict[str, AnyArray], k: int, name: str) -> Witness | None:
    if name == "slopes":
        slopes = arrays[f"slopes.{k}"]
        refuse_unless(slopes.dtype == np.float64 and slopes.ndim in (1, 2), f"slopes.{k}", slopes)
        return Slopes(Column([slopes]))
    if name == "points":
        w, b, shares = (arrays[f"{part}.{k}"] for part in ("w", "b", "shares"))
        for part, array, sizes in (("w", w, 2), ("b", b, 1), ("shares", shares, 1)):
            sensible = array.dtype == np.float64 and array.ndim == sizes
            refuse_unless(sensible and len(array) == len(shares), f"{part}.{k}", array)
        refuse_unless(bool((shares >= 0.0).all()), f"shares.{k}, some below 0,", shares)
        return Points(w, tuple(b.tolist()), shares)
    if name != "none":
        raise ValueError(f"a witness {name!r:.80}")
    return None

"""Fingerprints of data, to recognise the same problem without keeping it."""

from __future__ import annotations

import pickle
from hashlib import blake2b
from uuid import uuid4

import numpy as np
from scipy import sparse

_PLAIN = (bool, int, float, str, bytes, tuple, list, dict, np.ndarray)


def fingerprint(*parts: object) -> bytes:
    """Return a digest of arrays, sparse matrices, and whatever else can be pickled.

    Equal parts have equal digests, also in another process. An object that cannot be pickled gets
    a new one each time.

    Examples
    --------
    >>> X = np.arange(6.0).reshape(2, 3)
    >>> fingerprint(X, "f1") == fingerprint(X.copy(), "f1")
    True
    >>> fingerprint(X, "f1") == fingerprint(X.T, "f1")
    False
    """
    digest = blake2b(digest_size=16)
    _update(digest, parts)
    return digest.digest()


def _update(digest: blake2b, part: object) -> None:
    """Hash a part after its kind and length, so that no two lists of parts give the same bytes."""
    if sparse.issparse(part):
        rows = sparse.csr_matrix(part)
        part = ("csr", rows.shape, rows.data, rows.indices, rows.indptr)
    if isinstance(part, np.ndarray) and part.dtype.kind in "biufcSU":
        digest.update(f"{part.dtype.str}{part.shape};".encode())
        digest.update(np.ascontiguousarray(part).data)
    elif isinstance(part, (tuple, list)):
        kind = type(part)
        digest.update(f"{kind.__module__}.{kind.__qualname__}{len(part)};".encode())
        for one in part:
            _update(digest, one)
    else:
        content = _pickled(part)
        digest.update(f"{len(content)};".encode())
        digest.update(content)


def _class_attributes(kind: type) -> dict[str, object]:
    """Return the attributes of a class: no pickle has them, and they may have changed since."""
    return {
        name: value
        for base in kind.__mro__[-2::-1]
        for name, value in vars(base).items()
        if not name.startswith("__") and isinstance(value, _PLAIN)
    }


def _pickled(part: object) -> bytes:
    try:
        both = part, _class_attributes(type(part))
        return pickle.dumps(both, protocol=4)  # the same for all versions of Python
    except (pickle.PicklingError, AttributeError, TypeError):
        return uuid4().bytes  # like nothing else: a model with a lambda in it may mean anything

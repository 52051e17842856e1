"""Model files that tests look into, and change."""

from __future__ import annotations

import json

import pytest
from safetensors import safe_open
from safetensors.numpy import save

from stepless.data import DataError
from stepless.report import load_model, read_header, save_model, tensors


def learned(model):
    return {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_") and name != "proof_"
    }


def refusal(path):
    with pytest.raises(DataError) as caught:
        load_model(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}: ")
    assert "\n" not in sentence
    return sentence


def forged(fitted, path, arrays=None, **changes):
    """A file whose checksum is right and whose content is not."""
    save_model(fitted, path)
    text = json.dumps(read_header(path) | changes)
    with safe_open(path, framework="np") as file:
        kept = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    arrays = kept | (arrays or {})
    metadata = {"stepless": text, "sha256": tensors.digest_of(text, arrays)}
    path.write_bytes(save(arrays, metadata=metadata))

# Everything sets itself up: a virtual environment in .venv, from pyproject.toml alone.
PYTHON ?= python3
BIN := .venv/bin
# Compiled code is kept here, and never stale: a file's name has the digest of what it was made of.
export NUMBA_CACHE_DIR ?= $(CURDIR)/.numba_cache

.PHONY: demo test check soak bench clean

demo: .venv/user
	$(BIN)/stepless demo

test: .venv/test
	$(BIN)/pytest -n 2 --dist loadfile  # a file's kernels are compiled once

check: .venv/check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

soak: .venv/test
	$(BIN)/pytest -n 2 --dist loadfile -m 'soak or not soak'
	$(BIN)/stepless warm
	$(BIN)/python -m benchmarks.soak
	PYTHONPATH=tests $(BIN)/python -m proof.soak
	$(BIN)/python -m benchmarks.fuzz --seconds 3600

bench: .venv/bench
	$(BIN)/python -m benchmarks

.venv/user: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable .
	touch $@

.venv/test .venv/check .venv/bench: .venv/%: .venv/user
	$(BIN)/pip install --quiet --editable '.[$*]'
	touch $@

clean:
	rm -rf .venv .numba_cache

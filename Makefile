# Everything sets itself up: a virtual environment in .venv, from pyproject.toml alone.
PYTHON ?= python3
BIN := .venv/bin
# Compiled code is kept here, and never stale: a file's name has the digest of what it was made of.
export NUMBA_CACHE_DIR ?= $(CURDIR)/.numba_cache

.PHONY: demo test check soak bench clean

demo: .venv/user
	$(BIN)/stepless demo

# A file's kernels are compiled once; by path, the last files are short: no worker waits for long.
PYTEST := $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

test: .venv/work
	$(PYTEST)

check: .venv/work
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

soak: .venv/work
	$(PYTEST) -m 'soak or not soak'
	$(BIN)/stepless warm
	$(BIN)/python -m benchmarks.soak
	PYTHONPATH=tests $(BIN)/python -m proof.soak
	$(BIN)/python -m benchmarks.fuzz --seconds 3600
	PYTHONPATH=tests $(BIN)/python -m proof.support

bench: .venv/bench
	$(BIN)/python -m benchmarks

.venv/user: WHAT := .
.venv/work: WHAT := .[check,test]
.venv/bench: WHAT := .[bench]
.venv/user .venv/work .venv/bench: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '$(WHAT)'
	touch $@

clean:
	rm -rf .venv .numba_cache

# Everything sets itself up: a virtual environment in .venv, from pyproject.toml alone.
PYTHON ?= python3
BIN := .venv/bin
# Compiled kernels are kept apart for each state of the sources: numba cannot see that a helper
# in another module has changed.
SOURCES = $(shell cat $$(find src -name '*.py' | sort) | cksum | cut -d' ' -f1)
export NUMBA_CACHE_DIR ?= $(CURDIR)/.numba_cache/$(SOURCES)

.PHONY: demo test check bench clean

demo: .venv/user
	$(BIN)/stepless demo

test: .venv/test
	$(BIN)/pytest -n 2 --dist loadfile  # a file's kernels are compiled once

check: .venv/check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

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

# `make demo` and `make test` do all their own set-up; they need only make and Python 3.11 or newer.
VENV ?= .venv
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := $(VENV)/bin
JUDGE := $(VENV)/judge/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-judge lint format lock clean

demo: $(VENV)/.base
	$(BIN)/sqlassay demo

test: $(VENV)/.dev lint test-judge
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal --ignore tests/judges/test_deepeval.py

# DeepEval wants older packages than the rest of the tests, and its plugins would enter their runs.
test-judge: $(VENV)/judge/.installed
	$(JUDGE)/python -m pytest -p no:deepeval -p no:plugins tests/judges

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock:
	tools/lock.sh

clean:
	rm -rf $(VENV)

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "sqlassay needs Python 3.11 or newer on the PATH (or make PYTHON=/path/to/python)"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: requirements/base.txt pyproject.toml | $(VENV)/bin/python
	$(PIP) --require-hashes -r requirements/base.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt pyproject.toml | $(VENV)/bin/python
	$(PIP) --require-hashes -r requirements/dev.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/.base

$(VENV)/judge/.installed: requirements/judge.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m venv $(VENV)/judge
	$(JUDGE)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/judge.txt
	$(JUDGE)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

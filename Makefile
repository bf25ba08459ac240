# make demo   set up and run the main job          make test   set up and run all checks and tests
# make bench  measure speed                        make clean  remove the environment and all caches
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint bench clean

demo: $(STAMP)
	$(BIN)/purse compare

test: $(STAMP)-test lint
	$(BIN)/python -m pytest --cov --cov-report=term

lint: $(STAMP)-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)-bench
	$(BIN)/python -m benchmarks.bench

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("purse needs Python 3.11 or later; set PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(STAMP)-%: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	touch $@

clean:
	rm -rf $(VENV) purse-results benchmarks/results .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

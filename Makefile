# make demo   set up and run the main job          make test   set up and run all checks and tests
# make docs   build the documentation site         make site   build it and check its pages in a browser
# make paper  study the paper's claims and renew their page
# make leaderboard  play all suites and renew the pages that say which to use
# make coverage  the tests, and which lines they reach (a third slower)
# make bench  measure speed and renew its page
# make soak   the long tests: kills, races, power cuts, sabotage, fuzzing; examples and facts in full;
#             GPU code of all policies; the TypeScript example; other SDKs; coverage of off-policy intervals
# make images  draw the pictures of the README; needs Chromium
# make numba-versions  the tests of compiled code on the oldest and the newest numba allowed
# make lowest  the first steps with the oldest version of each package that is allowed
# make shape  the shape of the code in figures: a mirror, not a gate
# make clean  remove the environments and all caches
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# how long a recipe took, in seconds
START := begin=$$(date +%s)
TOOK = echo "$(1): $$(($$(date +%s) - begin)) s"

unexport PYTHONDONTWRITEBYTECODE  # dozens of processes would read all the source again

.PHONY: demo test pytest coverage lint shape docs html site images paper leaderboard bench soak numba-versions lowest clean

demo: $(STAMP)-lab
	$(BIN)/purse compare
	@echo
	$(BIN)/purse demo --no-serve
	@echo "Next: $(BIN)/purse demo, which shows it on a dashboard, and $(BIN)/purse replay FILE.csv --budget 25"
	@echo "The command is $(BIN)/purse; after \`source $(BIN)/activate\` it is purse."

# mypy keeps one core busy at most, so it runs beside the tests
test: $(STAMP)-test
	+$(MAKE) --no-print-directory --jobs=2 lint pytest
	@cat $(STAMP)-test $(VENV)/.collected $(VENV)/.lint-took $(VENV)/.tests-took

# compiling takes most of the time of the tests; a lower level of optimisation changes no number
pytest: $(VENV)/.collected
	$(START) && NUMBA_OPT=1 $(BIN)/python -m pytest -n auto --dist loadgroup --no-loadscope-reorder --durations=30 && $(call TOOK,tests) > $(VENV)/.tests-took

coverage: $(STAMP)-test
	NUMBA_OPT=1 $(BIN)/python -m pytest --cov --cov-report=term -n auto --dist loadgroup --no-loadscope-reorder

lint: $(STAMP)-test
	$(START) && $(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports && $(call TOOK,lint beside the tests) > $(VENV)/.lint-took

shape:
	@$(PYTHON) docs/shape.py

# in an environment of its own, which shows that the group docs names all that the site needs
docs:
	+$(MAKE) --no-print-directory VENV=.venv-docs html

html: $(STAMP)-docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build
	@echo "Written to docs/_build/index.html"

site: docs $(STAMP)-test
	PURSE_SITE=docs/_build $(BIN)/python -m pytest -n 0 tests/system/test_site.py

images: $(STAMP)-test
	$(BIN)/python docs/images.py

paper: $(STAMP)-lab
	$(BIN)/python -m research.paper
	mkdir -p docs/theory/pictures
	cp purse-results/paper/*.md docs/theory/
	cp purse-results/paper/pictures/*.svg docs/theory/pictures/

leaderboard: $(STAMP)-lab
	$(BIN)/python -m research.leaderboard --suite 1
	$(BIN)/python -m research.leaderboard --suite 2
	$(BIN)/python -m research.leaderboard --suite 3
	$(BIN)/python -m research.leaderboard --suite traffic
	$(BIN)/python -m research.leaderboard --suite sealed
	cp purse-results/leaderboard/suite-*.json docs/leaderboard/
	PYTHONPATH=. $(BIN)/python docs/boards.py
	$(BIN)/python -m research.evidence.ablations

bench: $(STAMP)-bench
	$(BIN)/python -m benchmarks.bench

soak: $(STAMP)-soak
	PURSE_SOAK=1 $(BIN)/python -m pytest tests -m "not alone" -n auto --dist loadgroup --no-loadscope-reorder --durations=20 -rA -p no:cacheprovider
	PURSE_SOAK=1 $(BIN)/python -m pytest tests -m alone -p no:cacheprovider
	$(BIN)/python -m benchmarks.sdk_versions
	+$(MAKE) --no-print-directory --jobs=2 soak-coverage soak-context_coverage

soak-%:
	$(BIN)/python -m research.evidence.$*

numba-versions: | $(VENV)/bin/python
	$(BIN)/python -m benchmarks.numba_versions

lowest: | $(VENV)/bin/python
	$(INSTALL) uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-lowest
	$(BIN)/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct ".[lab]"
	.venv-lowest/bin/python .ci/first_steps

# once: else each worker would make Python's own code of all that it imports, all at the same time
$(VENV)/.collected: $(STAMP)-test
	$(START) && { $(BIN)/python -m pytest --collect-only -q > /dev/null; $(call TOOK,first look at the tests once); } > $@

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("purse needs Python 3.11 or later; set PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

# without compiling all of it beforehand, most of which is never imported
INSTALL := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check

$(STAMP)-lab: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) --editable ".[lab,serve]" && touch $@

# the pip that comes with Python may be too old for dependency groups
$(STAMP)-%: pyproject.toml | $(VENV)/bin/python
	$(START) && $(INSTALL) "pip>=25.1" && $(INSTALL) --editable . --group $* && $(call TOOK,set-up once) > $@

clean:
	rm -rf $(VENV) .venv-* purse-results docs/_build docs/pictures docs/policies docs/worlds docs/reference .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The verbs: demo, test, lint, docs, bench, fuzz, boundscheck, clean. Each installs what it needs into .venv.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
SOURCE := metrics estimators mlstream
# The tests run against the built wheel, from a folder that holds no source: see `check`.
SITE := $(CURDIR)/build/site
CHECK := $(CURDIR)/build/check
export MLSTREAM_SHARED_DATA ?= $(abspath ../shared/data)

.PHONY: demo test lint docs bench fuzz boundscheck clean check

demo: .venv/demo.stamp
	rm -rf demo
	$(BIN)/mlstream demo --output demo

test: lint check

lint: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: .venv/test.stamp
	rm -rf build
	$(BIN)/python -m build --wheel --outdir build/dist
	$(PIP) --no-deps --target $(SITE) build/dist/*.whl
	mkdir -p $(CHECK)
	cp -r tests examples docs data_cards README.md pyproject.toml Makefile $(CHECK)
	cd $(CHECK) && PYTHONPATH=$(SITE) $(CURDIR)/$(BIN)/pytest -n 2 --dist worksteal
	cd $(CHECK) && PYTHONPATH=$(SITE) $(CURDIR)/$(BIN)/pytest -q --doctest-modules --pyargs $(SOURCE)

# Pages of names that are gone would be left from last time, in no table of contents.
docs: .venv/docs.stamp
	rm -rf docs/api/generated
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

bench: export MLSTREAM_DATA ?= $(MLSTREAM_SHARED_DATA)
bench: .venv/bench.stamp
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

# A minute a reader; longer by hand: python -m tests.fuzz.run arff -max_total_time=3600
fuzz: .venv/fuzz.stamp
	for reader in arff csv libsvm parquet xml npz packed card; do \
		$(BIN)/python -m tests.fuzz.run $$reader -max_total_time=60 -verbosity=0 || exit 1; \
	done

# Compiled code reads and writes past the end of an array without a word; here it raises IndexError. The code compiled
# so is slower, and has a cache of its own.
boundscheck: export NUMBA_BOUNDSCHECK = 1
boundscheck: export NUMBA_CACHE_DIR = $(CURDIR)/build/boundscheck
boundscheck: .venv/test.stamp
	$(BIN)/pytest -n 2 --dist worksteal tests/estimators

clean:
	rm -rf .venv build demo docs/_build docs/auto_examples docs/api/generated *.egg-info

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/demo.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable .
	touch $@

.venv/test.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable '.[test,torch,skops,tables]'
	touch $@

.venv/docs.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable '.[docs]'
	touch $@

.venv/bench.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable '.[bench,torch]'
	touch $@

.venv/fuzz.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable '.[test,tables,fuzz]'
	touch $@

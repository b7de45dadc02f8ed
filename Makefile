# The verbs: demo, test, check-lowest, check-newest, lint, docs, bench, fuzz, clean. Each installs what it needs into .venv.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
SOURCE := metrics estimators mlstream
# The tests run against the built wheel, from a folder that holds no source: see `check`.
SITE := $(CURDIR)/build/site
CHECK := $(CURDIR)/build/check
# What `check-lowest` and `check-newest` run: $(call check_subset,environment,options of pip,options of pytest)
PYTHON_LOWEST ?= python3.11
PYTHON_NEWEST ?= python3.13
SUBSET := tests/metrics tests/mlstream $(addprefix tests/estimators/test_,base.py baselines.py kernel_cache.py river.py tree.py)
SUBSET_NEEDS := '.[skops,tables,dask,mlflow]' hypothesis pytest pytest-xdist pandas PyYAML jsonschema scikit-posthocs
define check_subset
$(1)/bin/python -m pip install --quiet --disable-pip-version-check $(2) --editable $(SUBSET_NEEDS); \
$(1)/bin/python -m pytest -m "not slow" -n 2 --dist worksteal $(3) $(SUBSET)
endef
export MLSTREAM_SHARED_DATA ?= $(abspath ../shared/data)

.PHONY: demo test lint docs bench fuzz clean check check-lowest check-newest

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
	cp -r tests examples docs data_cards README.md pyproject.toml constraints-lowest.txt Makefile $(CHECK)
	cd $(CHECK) && PYTHONPATH=$(SITE) $(CURDIR)/$(BIN)/pytest -n 2 --dist worksteal
	cd $(CHECK) && PYTHONPATH=$(SITE) $(CURDIR)/$(BIN)/pytest -q --doctest-modules --pyargs $(SOURCE)

# A fast subset at the floors of pyproject.toml, and at the newest releases with a newer Python; without torch, which is
# large. Old releases warn of their own deprecated calls.
check-lowest:
	@$(PYTHON_LOWEST) -c "" 2>/dev/null || { echo "check-lowest is skipped: $(PYTHON_LOWEST) does not run here."; exit 0; }; \
	set -e; $(PYTHON_LOWEST) -m venv --clear .venv-lowest; \
	$(call check_subset,.venv-lowest,-c constraints-lowest.txt,-W ignore::DeprecationWarning)

check-newest:
	@$(PYTHON_NEWEST) -c "" 2>/dev/null || { echo "check-newest is skipped: $(PYTHON_NEWEST) does not run here."; exit 0; }; \
	set -e; $(PYTHON_NEWEST) -m venv --clear .venv-newest; \
	$(call check_subset,.venv-newest,--upgrade)

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

clean:
	rm -rf .venv .venv-lowest .venv-newest build demo docs/_build docs/auto_examples docs/api/generated *.egg-info
	find $(SOURCE) tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

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

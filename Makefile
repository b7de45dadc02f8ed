# `make` lists the verbs, from the comments beside them: ## for everybody, ### for maintainers. Each verb installs what it needs.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
SOURCE := metrics estimators mlstream
PROSE := $(SOURCE) benchmarks examples README.md CONTRIBUTING.md CHANGELOG.md $(shell find docs -name '*.rst' -not -path '*/_*' -not -path '*/auto_examples/*' -not -path '*/generated/*')
# Kernels are compiled when these change: by the installation, and shared by all that runs from this checkout.
KERNELS := $(shell find $(SOURCE) -path '*/_kernels/*.py')
# The two tiers of the tests; what is left is for `make soak`.
FAST := -m "not slow and not soak" -n 2 --dist worksteal
FULL := -m "not soak" -n 2 --dist worksteal
# Prints the seconds of what runs in $(SHELL), all processes together.
TIMED = TIMEFORMAT="$@: %R s, %U + %S s of CPU"; time
# Files of packages whose requirements contradict ours: no part of the environment.
PEERS := $(CURDIR)/.venv/peers
AXE := $(PEERS)/axe_playwright_python/axe.min.js
READERS := arff csv keel libsvm parquet xml npz packed card parquet-stream table-stream events submission record \
	manifest challenge campaign about
# Of the fuzzers: 0 draws another seed each time; and how long each reader is tried, as libFuzzer takes it.
FUZZ_SEED ?= 0
FUZZ_LIMIT ?= -max_total_time=30
# Of the soak: the time of each part in units of two minutes, the parts, and a seed, which is drawn where none stands here.
SCALE ?= 1
PARTS ?=
SEED ?=
PROPERTIES := tests/metrics tests/mlstream/generators tests/mlstream/formats
# Where its Python is absent, such a check is skipped, or fails under REQUIRE_PYTHON=1.
SKIP_STATUS := $(if $(REQUIRE_PYTHON),1,0)
PYTHON_LOWEST ?= python3.11
# The newest that runs; pyenv's python3.x on PATH is a stand-in that may not.
PYTHON_NEWEST ?= $(firstword $(foreach version,3.15 3.14 3.13,\
	$(foreach python,python$(version) $(wildcard $(HOME)/.pyenv/versions/$(version)*/bin/python$(version)),\
	$(shell $(python) -c "print('$(python)')" 2>/dev/null))) python3.15)
# The fast tier at other versions, without torch, which is large: $(call check_versions,environment,options of pip,of pytest)
# Hypothesis is that of all other runs: another one draws other examples, and no run may fail by chance.
VERSIONS_NEED := '.[skops,dask,mlflow,challenge,monitor]' $(shell grep ^hypothesis== constraints.txt) pytest pytest-xdist pandas polars PyYAML jsonschema scikit-posthocs
define check_versions
$(1)/bin/python -m pip install --quiet --disable-pip-version-check $(2) --editable $(VERSIONS_NEED); \
$(1)/bin/python tools/compile_kernels.py; \
$(TIMED) $(1)/bin/python -m pytest -q $(FAST) $(3)
endef
SHELL := bash
# Without compiled files, every process would read and rewrite all modules again.
unexport PYTHONDONTWRITEBYTECODE
export MLSTREAM_SHARED_DATA ?= $(abspath ../shared/data)

.PHONY: demo test docs bench clean test-full lint check-lowest check-newest check-docs screenshots bench-tiny fuzz soak boundscheck packages
# Parts of the verbs, and what lists them.
.PHONY: help run-test fuzz-readers fuzz-properties $(addprefix fuzz-,$(READERS))

LIST = sed -nE 's/^([a-z-]+):[^\#]* $(1) (.*)/  make \1|\2/p' Makefile | awk -F '|' '{ printf "%-20s%s\n", $$1, $$2 }'

help:
	@$(call LIST,\#\#)
	@echo; echo "For maintainers:"
	@$(call LIST,\#\#\#)

demo: .venv/demo.stamp ## the main job on embedded data, into demo/
	rm -rf demo
	$(BIN)/mlstream demo --output demo

# The fast tier: every room, public name, command, law and file format once.
test: .venv/kernels.stamp ## the fast tests, in 15 minutes on two slow cores
	@$(TIMED) $(MAKE) --no-print-directory run-test

run-test:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pytest -q $(FAST)

# Everything but the soak, with every peer, so that no test is skipped; a skip that tests/allowed_skips.txt does not list
# is an error. The wheel is tried outside of the checkout.
test-full: export MLSTREAM_FORBID_SKIPS := 1
test-full: export MLSTREAM_MOA_JAR := $(PEERS)/capymoa/jar/moa.jar
test-full: export MLSTREAM_AXE := $(AXE)
test-full: .venv/test-full.stamp .venv/kernels.stamp lint ### lint, doctests, all tests with every peer (a skip is an error), and the wheel outside of the checkout
	$(BIN)/pytest -q -n 2 --dist worksteal -p tests.skips --doctest-modules --pyargs $(SOURCE)
	@$(TIMED) $(BIN)/pytest $(FULL) --durations=10
	PYTHON=$(BIN)/python tools/acceptance.sh

lint: .venv/test.stamp ### ruff, mypy, rules of imports, English, and the size of the code beside that of the last release
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/english.py --allow-old $(PROSE)
	$(BIN)/python tools/house.py

# The fast tier at the floors of pyproject.toml, and at the newest releases with the newest Python. Old releases warn of their
# own deprecated calls.
check-lowest: ### the fast tests at the lowest versions that pyproject.toml allows, on Python 3.11
	@$(PYTHON_LOWEST) -c "" 2>/dev/null || { echo "check-lowest is skipped: $(PYTHON_LOWEST) does not run here."; exit $(SKIP_STATUS); }; \
	set -e; $(PYTHON_LOWEST) -m venv --clear .venv-lowest; \
	$(call check_versions,.venv-lowest,-c constraints-lowest.txt,-W ignore::DeprecationWarning)

check-newest: ### the fast tests at the newest versions, on the newest Python
	@$(PYTHON_NEWEST) -c "" 2>/dev/null || { echo "check-newest is skipped: $(PYTHON_NEWEST) does not run here."; exit $(SKIP_STATUS); }; \
	set -e; $(PYTHON_NEWEST) -m venv --clear .venv-newest; \
	$(call check_versions,.venv-newest,--upgrade)

# Pages of names that are gone would be left from last time, and entries of the index are in the search for those pages only
# that Sphinx reads again: it reads all. Text that is made from the code follows the code so, too.
docs: .venv/docs.stamp ## the documentation site, into docs/_build/html/
	rm -rf docs/api/generated docs/_build/html docs/_build/*.zip
	for page in $(basename $(patsubst docs/auto_examples/%,%,$(wildcard docs/auto_examples/plot_*.rst docs/auto_examples/*/plot_*.rst))); do \
		test -e examples/$$page.py || rm docs/auto_examples/$$page.rst; \
	done
	$(BIN)/sphinx-build --fresh-env --fail-on-warning --keep-going --quiet -d docs/_build/doctrees docs docs/_build/html
	$(BIN)/python tools/check_site.py docs/_build/html
	$(BIN)/python tools/zip_site.py docs/_build/html docs/_build
	@echo "Open docs/_build/html/index.html"

# Pages of the zipped site in Chromium: nothing is loaded from elsewhere, and axe-core finds no grave fault.
check-docs: docs .venv/test-full.stamp ### docs, then its pages in Chromium: nothing is loaded from elsewhere, axe-core finds no grave fault
	MLSTREAM_SITE=$$(echo docs/_build/*.zip) MLSTREAM_AXE=$(AXE) $(BIN)/pytest -q tests/test_built_site.py

screenshots: docs demo ### landing page, gallery and report of the demo, wide and narrow, into build/screenshots/
	$(BIN)/python -m tools.screenshots build/screenshots docs/_build/html demo/report.html

bench: export MLSTREAM_DATA ?= $(MLSTREAM_SHARED_DATA)
bench: .venv/bench.stamp ## speed, side by side with peers, on this machine
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

# Every benchmark on a few rows: does it still run?
bench-tiny: export MLSTREAM_BENCH_TINY := 1
bench-tiny: export MLSTREAM_DATA ?= $(MLSTREAM_SHARED_DATA)
bench-tiny: .venv/bench.stamp ### every benchmark on a few rows, to see that it still runs
	for script in benchmarks/bench_*.py benchmarks/trees_*.py benchmarks/field_growth.py benchmarks/pragma_experiment.py benchmarks/pragma_boosting.py; do \
		echo "== $$script"; \
		MLSTREAM_MOA_JAR=$(wildcard $(PEERS)/capymoa/jar/moa.jar) $(BIN)/python $$script || exit 1; \
	done
	$(BIN)/python -m benchmarks.decisions

# Half a minute a reader, two at a time, and new examples for the property tests. Longer by hand:
# python -m tests.fuzz.run arff -max_total_time=3600
fuzz: fuzz-readers ### half a minute of fuzzing for each reader of files, then new examples for the property tests
	$(MAKE) fuzz-properties

fuzz-readers: .venv/fuzz.stamp
	$(MAKE) -j 2 $(addprefix fuzz-,$(READERS))

$(addprefix fuzz-,$(READERS)): fuzz-%: .venv/fuzz.stamp
	$(BIN)/python -m tests.fuzz.run $* $(FUZZ_LIMIT) -verbosity=0 -seed=$(FUZZ_SEED)

fuzz-properties: .venv/fuzz.stamp
	HYPOTHESIS_PROFILE=explore $(BIN)/pytest -q -n 2 -m hypothesis $(PROPERTIES)

# The tests of what is too long for each change; then kills, faults, fuzzing, hostile calls and mutants, for as long as
# there is time. Totals go to tests/soak/ledger.jsonl.
soak: .venv/soak.stamp ### kills, faults, fuzzing, hostile calls and mutants; SCALE=1 is two minutes each
	$(BIN)/pytest -q -m soak -n 2 --dist worksteal
	$(BIN)/python -m tests.soak $(PARTS) --scale $(SCALE) $(if $(SEED),--seed $(SEED))

# Compiled code reads and writes past the end of an array without a word; here it raises IndexError. The code compiled
# so is slower, and has a cache of its own.
boundscheck: export NUMBA_BOUNDSCHECK = 1
boundscheck: export NUMBA_CACHE_DIR = $(CURDIR)/build/boundscheck
boundscheck: .venv/test.stamp ### the tests of the learners, with every index of the compiled loops checked
	$(BIN)/pytest -n 2 --dist worksteal tests/estimators

# The wheel and the source distribution: the same bytes from another copy of the files, made at another time; each
# installed into an environment of its own; what a distributor does, tests from the unpacked source distribution; and an
# environment of few packages, which grows.
packages: export SOURCE_DATE_EPOCH = 1577836800
packages: .venv/test.stamp ### wheel and source distribution: built twice with the same bytes, installed, tested
	rm -rf build/packages
	$(BIN)/python -m build --outdir build/packages
	mkdir build/packages/again
	tar -xzf build/packages/*.tar.gz -C build/packages/again --strip-components=1 --touch
	rm build/packages/again/PKG-INFO
	$(BIN)/python -m build --outdir build/packages/again/dist build/packages/again
	for file in build/packages/*.whl build/packages/*.tar.gz; do \
		cmp $$file build/packages/again/dist/$${file##*/} || exit 1; \
	done
	for kind in whl tar.gz; do \
		$(PYTHON) -m venv build/packages/$$kind && \
		build/packages/$$kind/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
			build/packages/*.$$kind && \
		(cd build/packages/$$kind && bin/python -c "import metrics, estimators, mlstream" && bin/mlstream --help) \
		|| exit 1; \
	done
	$(PYTHON) -m venv build/packages/light
	for level in "metrics numpy scipy" "learners scikit-learn numba filelock" "streams pydantic packaging"; do \
		set -- $$level && \
		build/packages/light/bin/python -m pip install --quiet --disable-pip-version-check --no-deps build/packages/*.whl && \
		build/packages/light/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $${@:2} && \
		build/packages/light/bin/python -P tests/light.py $$1 || exit 1; \
	done
	cd build/packages/tar.gz && bin/mlstream demo --output demo && test -s demo/report.html
	build/packages/tar.gz/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt hypothesis pytest
	cd build/packages/again && ../tar.gz/bin/python -m pytest -q -m "not slow and not hypothesis" tests/metrics tests/mlstream/formats

clean: ## back to a fresh clone
	rm -rf .venv .venv-lowest .venv-newest build demo docs/_build docs/auto_examples docs/api/generated docs/_static/rooms.svg *.egg-info
	find $(SOURCE) tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/demo.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable .
	touch $@

.venv/test.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable '.[test,torch,skops]'
	touch $@

# What tests compile, by all processors at once, into the one folder of kernels of this environment.
.venv/kernels.stamp: .venv/test.stamp $(KERNELS) tools/compile_kernels.py
	@$(TIMED) $(BIN)/python tools/compile_kernels.py
	@touch $@

.venv/test-full.stamp: .venv/test.stamp
	$(PIP) --editable '.[test-full]'
	$(PIP) --no-deps --upgrade --target $(PEERS) capymoa jpype1 deprecated axe-playwright-python
	touch $@

.venv/docs.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable '.[docs]'
	touch $@

.venv/bench.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable '.[bench,torch]'
	touch $@

.venv/soak.stamp: .venv/test-full.stamp .venv/fuzz.stamp .venv/kernels.stamp
	touch $@

.venv/fuzz.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable '.[test,fuzz]'
	touch $@

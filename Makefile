# Everything runs from a virtual environment beside this file, whatever the working directory.
# Needs Python >= 3.11 with its venv module, and make.

PYTHON ?= python3
ROOT := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
VENV := $(ROOT).venv
BIN := $(VENV)/bin
# Two test processes with two BLAS threads each would spend their time waiting for one another.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
LINT = $(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/lint-imports
PYENV_ROOT ?= $(HOME)/.pyenv
PIP := $(BIN)/python -m pip --disable-pip-version-check -q install

ifneq ($(words $(ROOT)),1)
$(error make cannot handle a path with spaces: move the project to another folder)
endif

.PHONY: help demo check test test-devices test-spark test-all fuzz lint docs pictures bench dist clean

help:
	@echo "make demo      a made-up table is scanned, then the paper's fourteen associations as a table and a picture"
	@echo "make check     format, lint, types, layers and the tests that are not marked slow: meant to take less than 90 s on two cores"
	@echo "make test      the tests, but for those of Spark"
	@echo "make test-devices  the tests of torch and GPUs, and of all doors, with torch, which may take gigabytes"
	@echo "make test-spark  the tests of Spark, on a cluster on this machine; needs Java, and brings PySpark, which is large"
	@echo "make test-all  the tests on every supported Python that is installed, and on the oldest NumPy and SciPy"
	@echo "make fuzz      3,000 made-up calls of everything public, good ones and bad ones; N=100000 for more, SEED=7 for the same again"
	@echo "make lint      format, lint, types, layers"
	@echo "make docs      the documentation, in docs/_build/html/index.html"
	@echo "make pictures  the pictures and tables of the documentation that come from code, made anew"
	@echo "make bench     the benchmarks, beside their peers"
	@echo "make dist      what is released, checked and tried in empty environments; ALL=1 with all tests and the large extras"
	@echo "make clean     remove what the other commands made"

demo: $(VENV)/.demo
	@$(BIN)/renyi demo
	@echo
	@$(BIN)/renyi gallery --picture $(ROOT)renyi-demo.png

# Types take a core for as long as all the rest of the lint; the tests have both cores to themselves.
check: $(VENV)/.lint
	@cd $(ROOT) && { $(BIN)/mypy & types=$$!; $(LINT); lint=$$?; wait $$types && exit $$lint; }
	@cd $(ROOT) && $(ONE_THREAD) $(BIN)/python -m pytest -n 2 -m "not slow" tests

test: $(VENV)/.test
	@cd $(ROOT) && $(ONE_THREAD) $(BIN)/python -m pytest -n 2 -k "not spark" tests
	@cd $(ROOT) && $(BIN)/python -m pytest --doctest-modules src/renyi

test-devices: $(VENV)/.gpu
	@cd $(ROOT) && $(ONE_THREAD) $(BIN)/python -m pytest -n 2 -k "cpu or cuda or tensor or device or not contracts" tests/contracts $$(grep -rl 'importorskip("torch")' tests)

# In one process, since every process would start a cluster of its own.
test-spark: $(VENV)/.spark
	@cd $(ROOT) && RENYI_SPARK=require $(ONE_THREAD) $(BIN)/python -m pytest -k "spark" tests/compute/test_spark.py tests/contracts

test-all: $(VENV)/.nox
	@cd $(ROOT) && PATH="$$PATH$$(printf ':%s' $(wildcard $(PYENV_ROOT)/versions/3.*/bin))" RENYI_CONTRACTS=all $(ONE_THREAD) $(BIN)/nox

fuzz: N = 3000
fuzz: $(VENV)/.test
	@cd $(ROOT) && $(ONE_THREAD) $(BIN)/python -m tests.fuzz --calls $(N) $(if $(SEED),--seed $(SEED))

lint: $(VENV)/.lint
	@cd $(ROOT) && $(LINT) && $(BIN)/mypy

docs: $(VENV)/.docs
	@cd $(ROOT) && $(BIN)/sphinx-build -q -E --fail-on-warning --keep-going docs docs/_build/html
	@echo "docs/_build/html/index.html"

pictures: $(VENV)/.test
	@cd $(ROOT) && $(BIN)/python docs/make_pictures.py && $(BIN)/python docs/make_reference.py
	@cd $(ROOT) && $(BIN)/python docs/make_features.py && $(BIN)/python docs/make_theory.py && $(BIN)/python docs/notebooks.py
	@cd $(ROOT) && $(BIN)/python benchmarks null_pvalues && $(BIN)/python benchmarks power_picture
	@cd $(ROOT) && $(BIN)/python benchmarks measure_tables && $(BIN)/python benchmarks comparison_tables
	@cd $(ROOT) && $(BIN)/python benchmarks selection_tables && $(BIN)/python benchmarks time_tables && $(BIN)/python benchmarks scale_tables

bench: $(VENV)/.bench
	@cd $(ROOT) && $(BIN)/python benchmarks pair && $(BIN)/python benchmarks tables
	@cd $(ROOT) && $(BIN)/python benchmarks testing && $(BIN)/python benchmarks inference_tables
	@cd $(ROOT) && $(BIN)/python benchmarks tables_of_pairs && $(BIN)/python benchmarks comparison_tables

# Environments of its own for everything: what is tried is the wheel, never the folder src.
dist: $(VENV)/.nox
	@cd $(ROOT) && ALL=$(ALL) $(ONE_THREAD) $(BIN)/nox --sessions build installed wheel_tests
	@ls $(ROOT)dist/*

clean:
	@rm -rf $(VENV) $(ROOT).nox $(ROOT)dist $(ROOT)docs/_build $(ROOT)renyi-demo.png

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "renyi needs Python 3.11 or later: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	@echo "Setting up $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.nox: $(VENV)/.created
	@$(PIP) "nox>=2024.4"
	@touch $@

$(VENV)/.demo: EXTRAS = all
$(VENV)/.test: EXTRAS = all,test
$(VENV)/.gpu: EXTRAS = all,test,gpu
$(VENV)/.spark: EXTRAS = all,test,spark
$(VENV)/.lint: EXTRAS = all,test,lint
$(VENV)/.docs: EXTRAS = all,docs
$(VENV)/.bench: EXTRAS = all,test,bench
$(VENV)/.%: $(VENV)/.created $(ROOT)pyproject.toml
	@$(PIP) -e "$(ROOT)[$(EXTRAS)]"
	@touch $@

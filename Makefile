# Everything runs from a virtual environment beside this file, whatever the working directory.
# Needs Python >= 3.11 with its venv module, and make.

PYTHON ?= python3
ROOT := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
VENV := $(ROOT).venv
BIN := $(VENV)/bin
# Two test processes with two BLAS threads each would spend their time waiting for one another.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
PYENV_ROOT ?= $(HOME)/.pyenv
PIP := $(BIN)/python -m pip --disable-pip-version-check -q install

ifneq ($(words $(ROOT)),1)
$(error make cannot handle a path with spaces: move the project to another folder)
endif

.PHONY: help demo test test-devices test-all lint docs pictures bench clean

help:
	@echo "make demo      a made-up table is scanned, then the paper's fourteen associations as a table and a picture"
	@echo "make test      the tests"
	@echo "make test-devices  the tests of torch and GPUs, and of all doors, with torch, which may take gigabytes"
	@echo "make test-all  the tests on every supported Python that is installed, and on the oldest NumPy and SciPy"
	@echo "make lint      format, lint, types, layers"
	@echo "make docs      the documentation, in docs/_build/html/index.html"
	@echo "make pictures  the pictures and tables of the documentation that come from code, made anew"
	@echo "make bench     the benchmarks, beside their peers"
	@echo "make clean     remove what the other commands made"

demo: $(VENV)/.demo
	@$(BIN)/renyi demo
	@echo
	@$(BIN)/renyi gallery --picture $(ROOT)renyi-demo.png

test: $(VENV)/.test
	@cd $(ROOT) && $(ONE_THREAD) $(BIN)/python -m pytest -n 2 tests
	@cd $(ROOT) && $(BIN)/python -m pytest --doctest-modules src/renyi

test-devices: $(VENV)/.test
	@$(PIP) -e "$(ROOT)[all,test,gpu]"
	@cd $(ROOT) && $(ONE_THREAD) $(BIN)/python -m pytest -n 2 tests/test_devices.py tests/contracts

test-all: $(VENV)/.test
	@$(PIP) "nox>=2024.4"
	@cd $(ROOT) && PATH="$$PATH$$(printf ':%s' $(wildcard $(PYENV_ROOT)/versions/3.*/bin))" $(ONE_THREAD) $(BIN)/nox

lint: $(VENV)/.lint
	@cd $(ROOT) && $(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy && $(BIN)/lint-imports

docs: $(VENV)/.docs
	@cd $(ROOT) && $(BIN)/sphinx-build -q -E --fail-on-warning --keep-going docs docs/_build/html
	@echo "docs/_build/html/index.html"

pictures: $(VENV)/.test
	@cd $(ROOT) && $(BIN)/python docs/make_pictures.py && $(BIN)/python docs/make_reference.py
	@cd $(ROOT) && $(BIN)/python benchmarks/measure_tables.py && $(BIN)/python benchmarks/comparison_tables.py
	@cd $(ROOT) && $(BIN)/python benchmarks/selection_tables.py && $(BIN)/python benchmarks/scale_tables.py

bench: $(VENV)/.bench
	@cd $(ROOT) && $(BIN)/python benchmarks/pair.py && $(BIN)/python benchmarks/tables.py
	@cd $(ROOT) && $(BIN)/python benchmarks/testing.py && $(BIN)/python benchmarks/inference_tables.py
	@cd $(ROOT) && $(BIN)/python benchmarks/tables_of_pairs.py && $(BIN)/python benchmarks/comparison_tables.py

clean:
	@rm -rf $(VENV) $(ROOT).nox $(ROOT)docs/_build $(ROOT)renyi-demo.png

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "renyi needs Python 3.11 or later: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	@echo "Setting up $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.demo: EXTRAS = all
$(VENV)/.test: EXTRAS = all,test
$(VENV)/.lint: EXTRAS = all,test,lint
$(VENV)/.docs: EXTRAS = all,docs
$(VENV)/.bench: EXTRAS = all,test,bench
$(VENV)/.%: $(VENV)/.created $(ROOT)pyproject.toml
	@$(PIP) -e "$(ROOT)[$(EXTRAS)]"
	@touch $@

# Every target sets up what it needs in .venv and says what it does. Nothing needs root or a compiler.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
WORKERS ?= 2

.PHONY: help demo test test-full study lint format bench docs figures uncache clean

help:
	@echo "make demo       a phase diagram in results/phase_diagram"
	@echo "make test       unit tests, golden records, quick statistics (10 minutes at most)"
	@echo "make test-full  the same, then notebooks and long tests (40 minutes at most)"
	@echo "make study      size, coverage and power studies (hours, resumable)"
	@echo "make lint       formatting, types, import order, docstrings"
	@echo "make bench      each number beside its peer's, in one run"
	@echo "make docs       the documentation, in docs/_build/html"
	@echo "make figures    the paper figures, in results/figures"

.venv/bin/python:
	@echo "== creating .venv"
	$(PYTHON) -m venv .venv

.venv/.core: .venv/bin/python pyproject.toml constraints.txt
	@echo "== installing levycollapse"
	@$(PIP) --editable .
	@touch $@

.venv/.%: .venv/bin/python pyproject.toml constraints.txt
	@echo "== installing levycollapse[$*]"
	@$(PIP) --editable ".[$*]"
	@touch .venv/.core $@

demo: .venv/.core
	@echo "== phase diagram of the reference model (the first run compiles its kernels)"
	$(BIN)/levycollapse phase-diagram --output results/phase_diagram

test: .venv/.test
	@echo "== tests"
	$(BIN)/python -m pytest -n $(WORKERS) tests

test-full: test
	@echo "== notebooks and long tests"
	$(BIN)/python -m pytest -n $(WORKERS) --full -m full tests

study: .venv/.test
	@echo "== studies"
	@set -e; for script in studies/[a-z]*.py; do \
	    [ -e "$$script" ] || { echo "no studies yet"; break; }; \
	    echo "== $$script"; $(BIN)/python "$$script"; done

lint: .venv/.lint
	@echo "== ruff, mypy, import order, docstrings"
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/check_docstrings.py

format: .venv/.lint
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/.bench
	@echo "== benchmarks, one thread"
	@set -e; for script in benchmarks/[a-z]*.py; do echo "== $$script"; \
	    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	    $(BIN)/python "$$script"; done

docs: .venv/.docs
	@echo "== documentation"
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

figures: .venv/.core
	@echo "== paper figures"
	@mkdir -p results/figures
	@set -e; for script in paper_figures/[a-z]*.py; do echo "== $$script"; \
	    $(BIN)/python "$$script" results/figures; done

# Numba keeps machine code by the file that a kernel stands in, and does not see that a kernel it calls has changed.
uncache:
	find levycollapse -name '*.nb[ci]' -delete

clean:
	rm -rf .venv docs/_build docs/api/generated docs/notebooks results

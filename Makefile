# Each line is what CI runs. `make demo` and `make test` need nothing but Python 3.11 and make.
PYTHON ?= python3
VENV = .venv
PY = $(VENV)/bin/python
STAMP = $(VENV)/.installed
export HF_HUB_OFFLINE = 1
# Where a shell forbids compiled files, every worker and every command under test compiles all sources anew.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help setup demo test slow check format clean
help:    ## this list
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(STAMP)

setup: $(STAMP)    ## create .venv and install everything into it

demo: $(STAMP)    ## run the main job on the embedded model; leaves reports/latest
	$(PY) -m qeval models fetch smollm2-135m
	rm -rf reports/latest
	$(PY) -m qeval run --model smollm2-135m --variants fp32,bf16,int8,nf4 --size smoke --out reports/latest --report-only

test: $(STAMP)    ## fast tests: scripted engine, tiny made model, doctests, docs
	$(PY) -m pytest -n 2 --dist worksteal

slow: $(STAMP)    ## real model, browser, servers
	$(PY) -m pytest -m slow -n 2 --dist loadfile

check: $(STAMP)    ## ruff, mypy --strict, imports go one way
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports

format: $(STAMP)    ## rewrite
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

clean:    ## remove what was made
	rm -rf $(VENV) reports/latest dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

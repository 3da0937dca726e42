# Every target sets up its own .venv, needs only python3 and make, and is quick when nothing changed.
PYTHON ?= python3
BIN := .venv/bin
export PIP_CONSTRAINT := constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Modules that are compiled anew in every process make short commands twice as long.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-all lint format wheel bench reproduce studies docs clean help

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 12

# One stamp for each set of dependencies that was installed; it is made anew when the pins change.
$(BIN)/python:
	$(PYTHON) -m venv .venv

.venv/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/.installed-%: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	@touch $@

demo: .venv/.installed  ## install, synthesize and attack the bundled survey, show what comes out
	$(BIN)/understudy demo --output understudy-demo --force

# A file is one process's, for its fixtures; tests/conftest.py says which files come first.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

test: .venv/.installed-test  ## run the tests in a few minutes, without those that are slow
	$(PYTEST)

test-slow: .venv/.installed-test  ## run the tests that are slow, and only those
	$(PYTEST) --dist worksteal -m slow

test-all: .venv/.installed-test  ## run all tests, with more examples, and measure their coverage
	$(PYTEST) -m "" --hypothesis-profile thorough --cov=understudy --cov-report=term

lint: .venv/.installed-dev  ## check style, format, types and who imports whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache

format: .venv/.installed-dev  ## fix style and format where a tool can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

wheel: .venv/.installed  ## build a wheel with kernels that are compiled already, in dist/
	$(BIN)/python packaging/compile_kernels.py
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	rm -r src/understudy/compiled

bench: .venv/.installed  ## run the benchmarks, and keep what they measured in docs/benchmarks.md
	$(BIN)/python benchmarks/bench.py

# Data that cannot be bundled are found in a folder beside the clone, if nothing else is said.
reproduce: export UNDERSTUDY_DATA ?= $(realpath ../shared/data)
reproduce: .venv/.installed  ## set all tables and figures of the papers beside ours: docs/reproduction.md
	$(BIN)/python -m studies reproduce --output reproduction --page docs/reproduction.md

studies: export UNDERSTUDY_DATA ?= $(realpath ../shared/data)
studies: .venv/.installed  ## make the tables of all other studies again, in studies-made/; takes hours
	$(BIN)/python -m studies all --output studies-made

docs: .venv/.installed-docs  ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:  ## remove everything that the other targets made
	rm -rf .venv site dist build src/understudy/compiled understudy-demo reproduction studies-made .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Python 3.11 or later and make are all this needs: every target sets up what it uses, once.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test audit lint docs bench lock clean

BIN := .venv/bin
WORKERS ?= 2
CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11
RECENT := import sys; sys.exit(sys.version_info < (3, 11))

help:  ## this list
	@echo "make <target>, where <target> is one of"
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  %-7s %s\n", $$1, $$2}' Makefile

demo: .venv/run.stamp  ## the whole way of a row on built-in data, in the terminal
	@$(BIN)/bistochastic demo

test: .venv/test.stamp  ## all tests; FAST=1 leaves the slow ones out
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(if $(FAST),-m "not slow")

audit: .venv/test.stamp  ## what is sampled, with fresh keys, against what is declared
	@$(BIN)/python -m tests.audit

lint: .venv/lint.stamp  ## format, style, types and the direction of imports
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/docs.stamp  ## the documentation, into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "Open site/index.html in a browser."

bench: .venv/bench.stamp  ## times, as ratios within one run; writes docs/benchmarks.md
	$(BIN)/python -m benchmarks --page docs/benchmarks.md

clean:  ## remove everything that was built, .venv too
	rm -rf .venv site dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache \
	    .hypothesis .benchmarks
	find src tests docs benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# One environment for everything. A group is installed when a target first needs it, from a lock
# that holds versions and hashes only, and again only when its lock or pyproject.toml changes.

.venv/bin/python:
	@python=$$(for candidate in $(CANDIDATES); do \
	    $$candidate -c '$(RECENT)' 2>/dev/null && echo $$candidate && break; done); \
	if [ -z "$$python" ]; then \
	    echo "This needs Python 3.11 or later, and none of $(CANDIDATES) is that." >&2; exit 1; \
	fi; \
	echo "Setting up .venv with $$($$python --version), once."; \
	$$python -m venv .venv

.venv/run.stamp: requirements/run.lock pyproject.toml | .venv/bin/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
	    --no-build-isolation --editable .
	@touch $@

.venv/%.stamp: requirements/%.lock .venv/run.stamp
	@echo "Installing what \`make $*\` needs, once."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

# All groups are resolved together first, so that every lock names the same versions.

UV := .venv-lock/bin/uv
RESOLVE := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
    --no-emit-index-url --no-annotate --no-header
GROUPS := lint test docs bench

lock: .venv/bin/python  ## choose the newest versions anew and write requirements/*.lock
	$(BIN)/python -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(RESOLVE) --upgrade pyproject.toml requirements/build.in $(GROUPS:%=--group %) \
	    -o .venv-lock/all.txt
	$(RESOLVE) -c .venv-lock/all.txt pyproject.toml requirements/build.in -o requirements/run.lock
	for group in $(GROUPS); do \
	    $(RESOLVE) -c .venv-lock/all.txt pyproject.toml --group $$group \
	        -o requirements/$$group.lock || exit 1; \
	done
	rm -rf .venv-lock
	@! grep -n "://" requirements/*.lock

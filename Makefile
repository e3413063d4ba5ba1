# Everything here works from python3 (3.11 or later, with venv), make and git alone.
# The environment is .venv in this folder; targets create it, and update it when the pins change.

PYTHON ?= python3
WORKERS ?= auto
DEEP_MINUTES ?= 15
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses=8 --dist=loadgroup --no-loadscope-reorder

# Caches stay out of the source tree.
export NUMBA_CACHE_DIR := $(CURDIR)/$(VENV)/cache/numba
export HYPOTHESIS_STORAGE_DIRECTORY := $(CURDIR)/$(VENV)/cache/hypothesis

# Each of the hundreds of processes that tests start would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo fast test deep mutate check format bench lock clean

help: ## list these targets (the default)
	@echo "Thatch: content-based publish/subscribe for Python. What make can do here:"
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile
	@echo "More arguments go in ARGS, as in: make fast ARGS='-k covers'"

setup: $(VENV)/.dev $(VENV)/.package ## make the environment for work on Thatch (.venv; about two minutes, 2 GB)
	@echo "The environment is ready: $(BIN)/thatch, or source $(BIN)/activate."

demo: $(VENV)/.all $(VENV)/.package ## match a stream of quotes live, route them through brokers, then a log on Spark
	@echo "Demo: made-up quotes matched live, then routed through seven brokers, then a log of them on Spark."
	@$(BIN)/thatch demo --spark build/demo $(ARGS)

fast: $(VENV)/.dev $(VENV)/.package ## run the quick tests, in under a minute
	@echo "Running the quick tests, in random order."
	@THATCH_HYPOTHESIS_PROFILE=fast $(PYTEST) -m "not slow and not deep" $(ARGS)

test: $(VENV)/.dev $(VENV)/.package ## run every test, the same way each time
	@echo "Running every test, with fixed seeds: two runs do the same."
	@THATCH_HYPOTHESIS_PROFILE=ci PYTHONHASHSEED=0 $(PYTEST) --randomly-seed=1 -m "not deep" $(ARGS)

deep: $(VENV)/.dev $(VENV)/.package ## hunt for bugs with random seeds, for DEEP_MINUTES=15
	@echo "Repeating the tests with random seeds and long histories, for $(DEEP_MINUTES) minutes or until one fails."
	@$(BIN)/python scripts/deep --minutes $(DEEP_MINUTES) --workers $(WORKERS) $(ARGS)

mutate: $(VENV)/.dev $(VENV)/.package ## break the source in small ways, and see whether tests notice
	@echo "Making small changes to a copy of the source, one by one, and running the tests that must notice each."
	@$(BIN)/python scripts/mutate $(ARGS)

check: $(VENV)/.dev $(VENV)/.package ## check format, lint, types, import rules and the tree
	@echo "Checking format, lint, types, import rules and the tree."
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/python -m mypy
	@$(BIN)/lint-imports --no-logo --no-cache
	@$(BIN)/python scripts/check_tree

format: $(VENV)/.dev ## format the code and repair what the linter can repair
	@echo "Formatting the code, and repairing what the linter can repair."
	@$(BIN)/ruff check --fix-only --exit-zero .
	@$(BIN)/ruff format .

bench: $(VENV)/.dev $(VENV)/.package ## measure speed, side by side with other packages
	@echo "Measuring speed, side by side with other packages."
	@$(BIN)/python -m benchmarks.run $(ARGS)

lock: ## refresh requirements/*.txt (newest releases: make lock ARGS=--upgrade)
	@echo "Resolving pyproject.toml into requirements/core.txt, all.txt and dev.txt."
	@$(PYTHON) scripts/lock $(ARGS)

clean: ## remove .venv and everything else that make made
	@echo "Removing .venv, caches and built packages."
	@rm -rf $(VENV) build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- the environment, in five steps; an empty stamp file marks each one as done

$(VENV)/.made:
	@$(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo "Thatch needs Python 3.11 or later with venv; $(PYTHON) is not. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Making the environment .venv."
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.core: $(VENV)/.made requirements/core.txt
	@echo "Installing what Thatch itself needs (requirements/core.txt)."
	@$(PIP) install --require-hashes -r requirements/core.txt
	@touch $@

# Without build isolation, so that PySpark is built with the pinned setuptools of core.txt.
$(VENV)/.all: $(VENV)/.core requirements/all.txt
	@echo "Installing the extras (requirements/all.txt); about a minute."
	@$(PIP) install --no-build-isolation --use-pep517 --require-hashes -r requirements/all.txt
	@touch $@

$(VENV)/.dev: $(VENV)/.core requirements/dev.txt
	@echo "Installing extras and tools (requirements/dev.txt); about two minutes."
	@$(PIP) install --no-build-isolation --use-pep517 --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.package: $(VENV)/.core pyproject.toml
	@echo "Installing Thatch, in place."
	@$(PIP) install --no-build-isolation --no-deps -e .
	@touch $@

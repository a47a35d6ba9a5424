# Modelplane. `make help` lists what there is. Needs CPython >= 3.11, make and PyPI; `make e2e` and `make conformance` need Go as well.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev
JOBS ?= auto

.DEFAULT_GOAL := help
.PHONY: help demo test slow check fmt lint types contracts generate generated docs render bench conformance e2e lock package wheel clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "modelplane needs CPython 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + "; say which with PYTHON=")'
	$(PYTHON) -m venv $(VENV)

$(RUNTIME): requirements.lock pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r .ci/build.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(DEV): requirements-dev.lock $(RUNTIME)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@

demo: $(RUNTIME) ## Set up, and run the main job on the embedded control plane: a fleet and its deployments to a fixed point
	@$(BIN)/modelplane plan examples/tour || { code=$$?; test $$code -eq 3; }

test: $(DEV) ## Run the tests, except slow ones; random selectors are the same in each run (see CONFORMANCE_SEED)
	CONFORMANCE_SEED=$${CONFORMANCE_SEED:-2026} $(BIN)/python -m pytest -n $(JOBS) -m "not slow" --ignore=tests/docs

slow: $(DEV) ## Run the tests that take seconds each: deletes in any order, many threads, large fleets
	CONFORMANCE_SEED=$${CONFORMANCE_SEED:-2026} $(BIN)/python -m pytest -n $(JOBS) -m slow --ignore=tests/conformance --ignore=tests/docs

check: lint types contracts generated docs slow test ## All that CI asks: format, lint, types, contracts, generated files, docs, tests

fmt: $(DEV) ## Format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(DEV) ## Format and lint, changing nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(DEV) ## mypy --strict
	$(BIN)/mypy

contracts: $(DEV) ## The layers, held by import-linter
	$(BIN)/lint-imports --no-logo

generate: $(DEV) ## Write xrds/, compositions/ and docs/reference/ from the models
	$(BIN)/modelplane generate

generated: $(DEV) ## Fail when a generated file is stale
	$(BIN)/modelplane generate --check

docs: $(DEV) ## Every command, link and example that the docs show is true
	$(BIN)/python -m pytest -q -n $(JOBS) tests/docs

render: $(RUNTIME) ## Render the first example's deployment, as crossplane render would
	@$(BIN)/modelplane render examples/tour/deployment.yaml --required-resources examples/tour

bench: $(DEV) ## Print the benchmarks, each beside its floor
	$(BIN)/python -m tests.bench

conformance: $(DEV) ## Selectors, allocations, pod templates, Pod Security and pickers' configurations against the libraries that Kubernetes and llm-d use (needs Go)
	$(BIN)/python -m pytest -n $(JOBS) tests/conformance

e2e: $(DEV) ## All stories, golden cases and examples through real etcd, API servers, Crossplane and provider, on loopback (needs Go)
	$(BIN)/python -m tests.e2e

package: $(RUNTIME) ## Build both Crossplane packages into dist/ (IMAGE=tarball embeds the function's image)
	$(BIN)/python -m package.build $(if $(IMAGE),--embed-runtime-image-tarball $(IMAGE))

wheel: $(RUNTIME) ## Build the wheel of the command line into dist/, for pipx and uv
	$(BIN)/python -m hatchling build -t wheel -d dist

lock: | $(BIN)/python ## Lock the dependencies anew
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml --extra hydrate --extra observe -c requirements.lock -o requirements-image.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header .ci/build.in -o .ci/build.lock

clean: ## Remove what was set up and built
	rm -rf $(VENV) build dist

# Modelplane. `make help` lists what there is. Needs CPython >= 3.11, make and PyPI; `make e2e` and `make conformance` need Go as well.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev
JOBS ?= auto

# Tests start hundreds of processes, and each would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test slow browser check fmt lint types contracts generate generated docs site render bench conformance fuzz soak load sbom audit licenses e2e lock package wheel clean

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
	CONFORMANCE_SEED=$${CONFORMANCE_SEED:-2026} $(BIN)/python -m pytest -n $(JOBS) -m "not slow" --ignore=tests/docs --ignore=tests/browser

slow: $(DEV) ## Run the tests that take seconds each: deletes in any order, many threads, large fleets
	CONFORMANCE_SEED=$${CONFORMANCE_SEED:-2026} $(BIN)/python -m pytest -n $(JOBS) -m slow --durations=10 --durations-min=10 --ignore=tests/conformance --ignore=tests/docs --ignore=tests/browser

check: lint types contracts generated docs browser slow test ## All that CI asks: format, lint, types, contracts, generated files, docs, tests

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

site: $(DEV) ## Build docs/ as a site into build/site, to be opened there or served by any web server
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

browser: $(DEV) ## The pages of --html in headless Chromium (UPDATE_SCREENSHOTS=1 writes docs/images)
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit; done; $(MAKE) --no-print-directory .chromium
	$(BIN)/python -m pytest -q tests/browser

.PHONY: .chromium
.chromium:
	@test "$$(id -u)" = 0 && command -v apt-get >/dev/null || { echo "make browser needs Chromium on PATH: install the package chromium of your system" >&2; exit 1; }
	apt-get update -qq
	apt-get install -y --no-install-recommends chromium

render: $(RUNTIME) ## Render the first example's deployment, as crossplane render would
	@$(BIN)/modelplane render examples/tour/deployment.yaml --required-resources examples/tour

bench: $(DEV) ## Print the benchmarks, each beside its floor
	$(BIN)/python -m tests.bench

load: $(DEV) ## A day of 1,000 deployments, replayed against one and several processes of the function (LOAD=options, as --parts memory)
	$(BIN)/python -m tests.load $(LOAD)

conformance: $(DEV) ## Selectors, allocations, pod templates, Pod Security pickers' configurations, probes, metrics and alerts against the programs and libraries that Kubernetes, Prometheus and llm-d use (needs Go)
	$(BIN)/python -m pytest -n $(JOBS) tests/conformance

fuzz: $(DEV) ## Wrong bytes, and hostile values in every field, through the function's door (ATTEMPTS= of each mode, SEED=)
	$(BIN)/python -m tests.fuzz $(if $(ATTEMPTS),--attempts $(ATTEMPTS)) --seed $(or $(SEED),1)

soak: $(DEV) ## Simulate many fleets at length, on all cores, and log each run in build/soak.jsonl (STEPS=, SEED=, MINUTES=, RESUME=1)
	$(BIN)/python -m tests.soak --steps $(or $(STEPS),1000000) --seed $(or $(SEED),1) --minutes $(or $(MINUTES),0) $(if $(RESUME),--resume)

e2e: $(DEV) ## All stories, golden cases and examples through real etcd, API servers, Crossplane and provider, on loopback (needs Go)
	$(BIN)/python -m tests.e2e

package: $(RUNTIME) ## Build both Crossplane packages into dist/ (IMAGE=tarball of the function's image, REGISTRY=where you push them)
	$(BIN)/python -m package.build $(if $(IMAGE),--embed-runtime-image-tarball $(IMAGE)) $(if $(REGISTRY),--function-package $(REGISTRY)/function-modelplane)

wheel: $(RUNTIME) ## Build the wheel of the command line into dist/, for pipx and uv
	$(BIN)/python -m hatchling build -t wheel -d dist

sbom: $(DEV) ## Write the software bill of materials of the release into dist/, as CycloneDX (BASE=image with digest that it is built from)
	$(BIN)/python -m package.sbom $(if $(BASE),--base-image $(BASE))

audit: $(DEV) ## Ask PyPI for known vulnerabilities of all that the locks name; fails if it does not answer (SERVICE=osv asks OSV)
	$(BIN)/python -m package.audit $(if $(SERVICE),--vulnerability-service $(SERVICE))

licenses: $(DEV) ## Write docs/licenses.md from what the locks name; fails on a licence that is not allowed
	$(BIN)/python -m package.licenses

lock: | $(BIN)/python ## Lock the dependencies anew
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml --extra hydrate -c requirements.lock -o requirements-image.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header .ci/build.in -o .ci/build.lock

clean: ## Remove what was set up and built
	rm -rf $(VENV) build dist

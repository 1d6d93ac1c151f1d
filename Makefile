# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test test-slow lint docs install bench clean

demo: $(VENV)/.installed
	$(BIN)/goodprior demo

test: $(VENV)/.installed-dev
	$(BIN)/pytest -n $(WORKERS) --dist loadfile -m "not slow"

test-slow: $(VENV)/.installed-dev
	$(BIN)/pytest -n $(WORKERS) --dist loadfile -m slow

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright

# The site, in build/docs. Pictures of the gallery are kept between builds: an example runs again when
# it has changed, or after `make clean`.
docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build -W --keep-going -b html docs build/docs
	$(BIN)/python docs/check_links.py build/docs

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.installed-dev: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	touch $@ $(VENV)/.installed

bench: $(VENV)/.installed $(VENV)-peers/.installed
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.scoreboard

# The peers pin other versions of what we use, so they live in an environment of their own.
$(VENV)-peers/.installed:
	$(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip install --quiet "torch>=2.6" sklearn-contrib-bde ngboost catboost pandas
	touch $@

.PHONY: package test-oldest

# Build both distributions, check them, and use the wheel from an environment of its own.
package:
	rm -rf dist
	test -x build/package/bin/python || $(PYTHON) -m venv build/package
	build/package/bin/python -m pip install --quiet --disable-pip-version-check build twine
	build/package/bin/python -m build --outdir dist .
	build/package/bin/twine check --strict dist/*
	$(PYTHON) packaging/smoke.py dist/*.whl

# Some quick tests with the oldest versions that pyproject.toml allows; old ones use what newer ones deprecate.
test-oldest:
	test -x build/oldest/bin/python || $(PYTHON) -m venv build/oldest
	build/oldest/bin/python -m pip install --quiet --disable-pip-version-check uv
	build/oldest/bin/uv pip install --quiet --python build/oldest/bin/python --resolution lowest-direct -e .
	build/oldest/bin/uv pip install --quiet --python build/oldest/bin/python pytest beartype hypothesis
	build/oldest/bin/pytest -q -m "not slow" -W ignore::DeprecationWarning \
	  tests/test_cli.py tests/commands tests/estimators tests/inference tests/pipeline tests/storage

clean:
	rm -rf $(VENV) $(VENV)-peers build dist .ruff_cache docs/api docs/gallery

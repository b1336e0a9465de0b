# Every target sets up what it needs in .venv, once.  Another Python: make PYTHON=python3.12 ...

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
CODE := quirkpy/machine_code

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help run test check attack fuzz bench docs wheel clean
unexport PYTHONWARNINGS PYTHONHOME PYTHONPATH PYTHONDONTWRITEBYTECODE

help:  ## Say what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-6s  %s\n", $$1, $$2 }' Makefile

run: $(VENV)/run.stamp  ## Explore the pair of CubeSats; open out/cubesat_pair.html to see it
	@mkdir -p out
	@$(PY) -m quirkpy explore demos/cubesat_pair.py --out out/cubesat_pair.db
	@$(PY) -m quirkpy report out/cubesat_pair.db --out $(addprefix out/cubesat_pair,.html .graphml .json .png)
	@echo "Open out/cubesat_pair.html in a browser: it shows every shape and plays every motion."

# Kernels are compiled once, beside the pass that does without, before many workers would wait for them.
test: $(VENV)/dev.stamp  ## Run all tests; the short ones must cover 95 % of the package
	@rm -f .coverage
	@$(PY) -m quirkpy warm > /dev/null & compiling=$$!; \
	NUMBA_DISABLE_JIT=1 $(PY) -m pytest -q -m kernels --cov --cov-report= && wait $$compiling
	@$(PY) -m pytest -n auto --dist loadgroup --cov --cov-append --cov-fail-under=95

check: $(VENV)/dev.stamp  ## Check style, types, imports and the fast tests, within two minutes
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@$(VENV)/bin/lint-imports --no-logo
	@$(PY) -m pytest -q -n auto --dist loadgroup -m "not slow"

attack: $(VENV)/dev.stamp  ## Try the laws at length: many more random systems, studies and plans (hours)
	@QUIRKPY_ATTACK=1 $(PY) -m pytest -q -n auto --dist loadgroup -m attack

fuzz: $(VENV)/dev.stamp  ## Feed all readers a million damaged files each (hours)
	@QUIRKPY_FUZZ=1 $(PY) -m pytest -q -n auto --dist loadgroup -m fuzz

bench: $(VENV)/package.stamp  ## Measure the speed, beside other programs where they can be installed
	@$(bench_install)
	@$(PY) -m benchmarks

docs: $(VENV)/docs.stamp  ## Build the documentation into out/docs
	@$(PY) -m sphinx -W --keep-going -q docs out/docs
	@echo "out/docs/index.html"

# The machine code is for this Python, this numba and processors of x86-64-v3; elsewhere kernels are compiled as ever.
wheel: $(VENV)/package.stamp  ## Build a wheel in dist that brings the kernels' machine code
	@rm -rf build dist/quirkpy-*.whl $(CODE)
	@$(PY) -m quirkpy warm --into $(CODE)
	@tags=$$($(PY) -c 'import sys, sysconfig as s; \
	print("--python-tag=cp%d%d" % sys.version_info[:2], "--plat-name=" + s.get_platform())'); \
	$(PY) -m pip wheel -q --disable-pip-version-check --no-deps --wheel-dir dist \
	--config-settings="--build-option=$$tags" .; made=$$?; rm -rf build $(CODE); exit $$made
	@ls dist/quirkpy-*.whl

clean:  ## Remove all that make has made, .venv included
	@rm -rf $(VENV) out build dist $(CODE) *.egg-info .coverage .coverage.*
	@rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -prune -exec rm -rf {} +

# --- setting up: a stamp per kind of installation; a changed setup.cfg installs again --------------------
# $(call install,what): quiet when it succeeds, all of pip's words when it fails; a comma in `what` would end it

install = @echo "Installing $(1) into $(VENV) ..."; $(installing)
installing = words=$$($(PY) -m pip install --disable-pip-version-check --editable "$(1)" 2>&1) \
	|| { printf '%s\n' "$$words"; exit 1; }

# Not every machine can have the other programs: then the speed is measured without them, and they are tried again.
bench_install = test $(VENV)/bench.stamp -nt setup.cfg || { echo "Installing .[bench] into $(VENV) ..."; \
	if $(PY) -m pip install -q --disable-pip-version-check --editable ".[bench]"; then touch $(VENV)/bench.stamp; \
	else echo "The other programs could not be installed; measuring without those that are missing."; fi; }

$(VENV)/package.stamp: setup.cfg pyproject.toml | $(VENV)/venv.stamp
	$(call install,.)
	@touch $@

# The kernels of the study are compiled while pip fetches what draws.
$(VENV)/run.stamp: setup.cfg pyproject.toml | $(VENV)/package.stamp
	@echo "Compiling the kernels, and installing .[plots] into $(VENV) ..."; \
	$(PY) -m quirkpy warm demos/cubesat_pair.py & compiling=$$!; \
	$(call installing,.[plots]) && wait $$compiling
	@touch $@ $(VENV)/package.stamp

$(VENV)/dev.stamp: setup.cfg pyproject.toml | $(VENV)/venv.stamp
	$(call install,.[dev])
	@touch $@ $(VENV)/package.stamp

$(VENV)/docs.stamp: setup.cfg pyproject.toml | $(VENV)/venv.stamp
	$(call install,.[docs])
	@touch $@ $(VENV)/package.stamp

$(VENV)/venv.stamp:
	@command -v "$(PYTHON)" >/dev/null || \
	{ echo "There is no $(PYTHON) here; install Python 3.11 or newer, or name one: make PYTHON=..."; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "$(PYTHON) is older than Python 3.11; install a newer one, or name one: make PYTHON=..."; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || \
	{ echo "$(PYTHON) cannot make a virtual environment; on Debian or Ubuntu: apt-get install python3-venv"; exit 1; }
	@"$(PYTHON)" -m venv $(VENV)
	@touch $@

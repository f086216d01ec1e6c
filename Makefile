# Everything a newcomer needs: `make demo`, `make test`. Both set up .venv by themselves.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: test demo lint types shape unit format setup clean

test: lint types shape unit

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
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

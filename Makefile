# Everything a newcomer needs: `make demo`, `make test`. Both set up .venv by themselves.
# What the targets do is in make.py, which works without make, too: `python make.py test`.
PYTHON ?= python3
TARGETS := test test-nets demo docs package lint types shape unit format setup clean

.PHONY: $(TARGETS)
$(TARGETS):
	$(PYTHON) make.py $@

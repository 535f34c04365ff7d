# Everything runs in .venv, which the first target that needs it creates. Only python3 and make are required.
PYTHON ?= python3
# Extra options for the PyTorch step only, e.g. an index that serves CPU wheels.
TORCH_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp

.PHONY: venv demo docs test thorough quick lowest lint typecheck bench zoo libraries clean

venv: $(STAMP)

# PyTorch and torchvision first and alone: a later resolution must find them installed and never choose another build.
# KerasHub without what it needs for text preprocessing, which its models do without.
$(STAMP): pyproject.toml constraints.txt $(wildcard environment/*.py)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(TORCH_ARGS) -c constraints.txt torch==2.13.0 torchvision==0.28.0
	$(BIN)/python -m pip install -c constraints.txt -e '.[torch,keras,backends,plot,cli,labs,ray,zoo,docs,dev]'
	$(BIN)/python -m pip install -c constraints.txt --no-deps keras-hub
	$(BIN)/python environment/mend.py
	touch $@

demo: $(STAMP)
	$(BIN)/python examples/demo.py

# Into site/, to be opened from there. A broken link or a name that does not exist fails.
docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

test: lint typecheck
	$(PYTEST) --ignore=tests/frontends/keras
	KERAS_BACKEND=tensorflow $(PYTEST) tests/frontends/keras
	for backend in jax torch; do KERAS_BACKEND=$$backend $(PYTEST) \
		-m "not one_backend" tests/frontends/keras || exit 1; done

# The broad versions of what narrower tests check: every line, every command in a process of its own, ten thousand layers.
thorough: $(STAMP)
	$(PYTEST) --thorough -m thorough --ignore=tests/frontends/keras

# While working: the formulas, the plan and its reports.
quick: $(STAMP)
	$(PYTEST) -m "not slow" tests/core tests/rules tests/report \
		tests/test_api.py tests/test_imports.py tests/test_plan_class.py

# The tests on the lowest versions that pyproject.toml claims (the test of KerasHub's models needs newer ones).
LOWEST := .venv-lowest
lowest: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install $(TORCH_ARGS) -c constraints-lowest.txt torch
	$(LOWEST)/bin/python -m pip install -c constraints-lowest.txt -e '.[torch,keras,jax,plot,html,cli]' \
		pytest hypothesis mpmath scikit-learn
	OMP_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest tests/core tests/rules tests/frontends/torch
	for backend in jax torch; do KERAS_BACKEND=$$backend OMP_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest \
		tests/frontends/keras --ignore=tests/frontends/keras/test_zoo.py || exit 1; done

lint: $(STAMP)
	$(BIN)/python -m ruff check .

typecheck: $(STAMP)
	$(BIN)/python -m mypy

bench: $(STAMP)
	$(BIN)/python -m benchmarks.fidelity
	$(BIN)/python -m benchmarks.speed

zoo: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.zoo

# Libraries of the zoo's group of that name, in .libraries: the environment itself stays as it is.
libraries: $(STAMP)
	$(BIN)/python -m benchmarks.zoos.libraries.install

clean:
	rm -rf $(VENV) $(LOWEST) site signal.png .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist src/*.egg-info

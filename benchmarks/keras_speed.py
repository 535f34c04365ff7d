"""Is the analysis of Keras models cheap? Ratios of times taken in one run, the best of several each.

python -m benchmarks.keras_speed                   prints the table
python -m benchmarks.keras_speed --backend jax     on another backend (default: KERAS_BACKEND, or TensorFlow)
python -m benchmarks.keras_speed --check           and exits with 1 if a bound is broken
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from typing import Any

from .timing import Result, best, table_of
from .zoos import memory

PLAN_LIMIT, NODE_LIMIT, INITIALIZE_LIMIT, GROWTH_LIMIT, IMPORT_LIMIT, MEMORY_LIMIT = 5.0, 5.0, 2.0, 1.3, 1.0, 1.0
PLANNED = ("MobileNetV2", "ResNet50V2", "EfficientNetB0", "DenseNet121", "ConvNeXtTiny", "InceptionV3")
SIZE, WIDTH = 128, 8
SHORT, LONG = 100, 1000
LARGE_WIDTH, LARGE_LAYERS = 8192, 24
FIRST = """
import time
import keras
keras.ops.exp(keras.ops.ones((2,)))
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
begin = time.perf_counter()
import autoinit
autoinit.plan(model, warn=False)
print(time.perf_counter() - begin)
"""


def symbolic_call(model: Any, shape: tuple[int, ...]) -> Any:
    """The model's shapes as its backend finds them: nothing is recorded."""
    from keras import KerasTensor
    from keras.src import backend

    x = KerasTensor(shape)
    return lambda: backend.compute_output_spec(lambda t: model(t, training=True), x)


def plan_ratios(name: str, repeats: int) -> list[Result]:
    """Against a symbolic call; and per node."""
    import keras

    import autoinit

    shape = (4, SIZE, SIZE, 3)
    model = getattr(keras.applications, name)(weights=None, input_shape=shape[1:], classes=100)
    nodes = len(autoinit.plan(model, shape, warn=False).tensors)
    plan, bare = best(repeats, lambda: autoinit.plan(model, shape, warn=False), symbolic_call(model, shape))
    return [
        Result(f"plan / symbolic call: {name}", 1e3 * plan, 1e3 * bare, PLAN_LIMIT),
        Result(f"plan per node / 1 ms: {name} ({nodes} nodes)", 1e3 * plan / nodes, 1.0, NODE_LIMIT),
    ]


def initialize_ratio(name: str, repeats: int) -> Result:
    import keras

    import autoinit

    shape = (4, SIZE, SIZE, 3)

    def build() -> Any:
        return getattr(keras.applications, name)(weights=None, input_shape=shape[1:], classes=100)

    model = build()
    whole, construction = best(repeats, lambda: autoinit.initialize(model, shape, warn=False), build)
    return Result(f"initialize / construction: {name}", 1e3 * whole, 1e3 * construction, INITIALIZE_LIMIT)


def chain(layers: int) -> Any:
    """Dense layers one after the other, in one functional model."""
    import keras

    x = y = keras.Input((WIDTH,))
    for _ in range(layers):
        y = keras.layers.Dense(WIDTH, activation="tanh")(y)
    return keras.Model(x, y)


def nested(depth: int, inner: int) -> Any:
    """Models inside models: `depth` of them, each with `inner` layers and the next one behind them."""
    import keras

    model = None
    for _ in range(depth):
        x = y = keras.Input((WIDTH,))
        for _ in range(inner):
            y = keras.layers.Dense(WIDTH, activation="tanh")(y)
        model = keras.Model(x, y if model is None else model(y))
    return model


def growth(what: str, small: Any, large: Any, layers: tuple[int, int], repeats: int) -> Result:
    """Initializing, time per layer: of the large model over that of the small one."""
    import autoinit

    times = best(repeats, *(lambda m=m: autoinit.initialize(m, (4, WIDTH), warn=False) for m in (large, small)))
    per_layer = [1e6 * t / n for t, n in zip(times, reversed(layers), strict=True)]
    return Result(f"initialize, time per layer: {what}", *per_layer, GROWTH_LIMIT, "µs")


def first_plan() -> Result:
    """Importing the library and the first plan of a process, against importing Keras with its backend."""
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True)
    whole = time.perf_counter() - begin
    first = float(done.stdout.split()[-1])
    return Result("first plan / import of Keras", 1e3 * first, 1e3 * (whole - first), IMPORT_LIMIT)


def large_model() -> list[Result]:
    """A model of more than 1e9 parameters without memory: planning takes little time and no memory to speak of."""
    import keras

    import autoinit

    def build(width: int) -> Any:
        with keras.StatelessScope(initialize_variables=False):
            x = y = keras.Input((width,))
            for _ in range(LARGE_LAYERS):
                y = keras.layers.Dense(width, activation="relu")(y)
            return keras.Model(x, y)

    small, large = build(WIDTH), build(LARGE_WIDTH)
    memory.forget_peak()
    before = memory.resident()
    autoinit.plan(large, warn=False)
    grown = max(memory.peak() - before, 0.0)
    parameters = large.count_params()
    times = best(7, lambda: autoinit.plan(large, warn=False), lambda: autoinit.plan(small, warn=False))
    what = f"{parameters / 1e9:.1f}e9 parameters"
    return [
        Result(f"plan: {what} / {small.count_params()} parameters", 1e3 * times[0], 1e3 * times[1], GROWTH_LIMIT),
        Result(f"memory of a plan / 64 MB: {what}", grown, 64.0, MEMORY_LIMIT, "MB"),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="exit with 1 if a bound is broken")
    parser.add_argument("--backend", choices=("tensorflow", "jax", "torch"))
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    if options.backend:
        os.environ["KERAS_BACKEND"] = options.backend
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import keras

    sys.setrecursionlimit(10 * LONG)  # Keras needs it to build such models, and to call them
    begin = time.perf_counter()
    n, few = options.repeats, max(options.repeats // 3, 1)
    results = [first_plan()]
    results += [result for name in PLANNED for result in plan_ratios(name, n)]
    results.append(initialize_ratio("ResNet50V2", few))
    results.append(growth(f"chain of {LONG} / of 10", chain(10), chain(LONG), (10, LONG), few))
    results.append(growth(f"chain of {LONG} / of {SHORT}", chain(SHORT), chain(LONG), (SHORT, LONG), few))
    flat = chain(LONG)
    results.append(growth(f"{LONG} nested {SHORT} deep / flat", flat, nested(SHORT, 10), (LONG, LONG), few))
    results += large_model()
    caption = (
        f"Backend {keras.backend.backend()}, best of {n} (fewer for the largest), "
        f"{time.perf_counter() - begin:.0f} s in all."
    )
    table_of("Speed with Keras", results, caption).show()
    return int(options.check and not all(r.passed for r in results))


if __name__ == "__main__":
    raise SystemExit(main())

"""Models nobody here wrote: some of keras.applications and KerasHub, planned and measured; and very deep ones."""

from __future__ import annotations

import sys
from contextlib import contextmanager

import keras
import numpy as np
import pytest

import autoinit
from autoinit.frontends.keras.variables import layers_of
from benchmarks.keras_zoos import applications
from benchmarks.keras_zoos.study import study
from benchmarks.zoos.account import Settings
from benchmarks.zoos.totals import BARS, totals

COMPILES = keras.backend.backend() == "jax"
"""Every shape of every op is compiled, so that measuring takes minutes: models are only planned, without weights."""
SIZES = {"MobileNetV2": 64, "MobileNetV3Small": 64, "EfficientNetB0": 64, "ResNet50V2": 64, "ConvNeXtTiny": 64}
PLANNED_ONLY = {"NASNetMobile": 64, "InceptionV3": 96, "Xception": 96, "VGG16": 64, "DenseNet121": 64}
BACKBONES = ("Bert", "DebertaV3", "T5", "Llama", "Gemma3", "Mixtral", "ViT", "SwinTransformer", "Whisper", "CLIP")


def _judge(records):
    """All bars, over all records."""
    found = totals(records)
    failed = [f"{r['name']}: {r['outcome']}: {r.get('error')}" for r in records if "failed" in r["outcome"]]
    missed = [f"{bar.what}: {bar.shown(found)}, demanded {bar.demanded}" for bar in BARS if not bar.holds(found)]
    worst = [
        f"{r['name']}: {r['fidelity']['layers']}, {r['fidelity']['first_off']}" for r in records if "fidelity" in r
    ]
    assert not failed and not missed, "\n".join([*failed, *missed, *worst])


def test_applications_reach_the_bars():
    settings = Settings(seeds=2, plan_only=COMPILES)
    _judge([study(applications.entry(name, size), settings, lambda known: None) for name, size in SIZES.items()])


@pytest.mark.one_backend
def test_applications_are_planned_without_weights():
    settings = Settings(plan_only=True)
    records = [study(applications.entry(name, size), settings, lambda known: None)
               for name, size in PLANNED_ONLY.items()
               if (name, keras.backend.backend()) != ("NASNetMobile", "torch")]  # fmt: skip  # which Keras refuses
    _judge(records)
    assert all(r["device"] == "none" and r["plan"]["not_reached"] == 0 for r in records)


def test_backbones_reach_the_bars():
    pytest.importorskip("keras_hub")
    from benchmarks.keras_zoos import hub

    settings = Settings(seeds=2, plan_only=COMPILES)
    entries = {e.name.removeprefix("hub:"): e for e in hub.entries()}
    chosen = BACKBONES[::2] if COMPILES else BACKBONES
    _judge([study(entries[name], settings, lambda known: None) for name in chosen])


def test_every_backbone_of_the_library_has_a_configuration():
    library = pytest.importorskip("keras_hub").models
    from benchmarks.keras_zoos import hub

    classes = {getattr(library, n) for n in dir(library) if n.endswith("Backbone")}
    wanted = {c.__name__.removesuffix("Backbone") for c in classes - {library.Backbone, library.FeaturePyramidBackbone}}
    known = {entry.name.removeprefix("hub:").split()[0] for entry in hub.entries()}
    assert wanted <= known, sorted(wanted - known)


@contextmanager
def _room_to_build():
    """Keras itself builds functional models by recursion."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _flat(layers, width=8):
    x = y = keras.Input((width,))
    for _ in range(layers):
        y = keras.layers.Dense(width, activation="tanh")(y)
    return keras.Model(x, y)


def _nested(depth, inner, width=8):
    model = None
    for _ in range(depth):
        x = y = keras.Input((width,))
        for _ in range(inner):
            y = keras.layers.Dense(width, activation="tanh")(y)
        model = keras.Model(x, y if model is None else model(y))
    return model


@pytest.mark.one_backend
@pytest.mark.parametrize("build", [lambda: _flat(1000), lambda: _nested(100, 10)], ids=["flat", "nested"])
def test_a_thousand_layers(build):
    with _room_to_build():
        model = build()
    plan = autoinit.plan(model, (4, 8))
    dense = [layer for layer in layers_of(model) if isinstance(layer, keras.layers.Dense)]
    assert len(plan.weight_layers) == len(dense) == 1000
    assert not plan.unreached()
    stds = [p.std for p in plan.changed() if p.name.endswith("kernel")]
    assert len(stds) == 1000 and np.ptp(stds[-500:]) < 1e-3  # the signal has settled
    plan.apply(model, seed=0)
    drawn = np.array([np.std(keras.ops.convert_to_numpy(layer.kernel)) for layer in dense])
    assert abs(np.sqrt(np.mean(drawn[-500:] ** 2)) / stds[-1] - 1) < 0.05

"""Looking changes nothing, whatever a layer's `call` does (rows 1, 3 and 9 of the classes of failure, for Keras)."""

import contextlib
import random
from collections import Counter, OrderedDict, defaultdict, deque
from types import MethodType, SimpleNamespace

import keras
import numpy as np
import pytest
from keras import layers, ops
from keras.src import backend
from keras.src.backend.common import global_state

import autoinit
from autoinit.errors import AutoInitError, InputError, TraceError
from autoinit.frontends.keras.watching import Probe


class Frozen(dict):
    """A mapping that can be emptied and not be filled."""

    def update(self, *args, **kwargs):
        raise TypeError("frozen")

    def __setitem__(self, key, value):
        raise TypeError("frozen")


class Adder:
    def __init__(self):
        self.items = []

    def add(self, x):
        self.items.append(x)


class Slots:
    __slots__ = ("held", "later")

    def __init__(self):
        self.held = [1]


def held(layer, item):
    """Keras makes plain containers of its own of an attribute, but not of what an object holds."""
    layer.box = SimpleNamespace(it=item)


def write_slots(s, x):
    s.slots.held.append(x)
    s.slots.later = x


def write_lazily(s, x):
    if "dense" not in s.box.it:
        s.box.it["dense"] = layers.Dense(4)
    s.box.it["dense"](x)


def write_frozen(s, x):
    dict.__setitem__(s.box.it, "x", x)


def write_closure(s, x):
    s.counter()


def counting():
    n = 0

    def count():
        nonlocal n
        n += 1
        return n

    return count


WRITES = {
    "attribute": (lambda s: setattr(s, "last", None), lambda s, x: setattr(s, "last", x)),
    "new attribute": (lambda s: None, lambda s, x: setattr(s, "fresh", x)),
    "deleted attribute": (lambda s: setattr(s, "once", 1), lambda s, x: vars(s).pop("once", None)),
    "counter": (lambda s: setattr(s, "calls", 0), lambda s, x: setattr(s, "calls", s.calls + 1)),
    "list": (lambda s: setattr(s, "seen", []), lambda s, x: s.seen.append(x)),
    "list in dict": (lambda s: setattr(s, "history", {"x": []}), lambda s, x: s.history["x"].append(x)),
    "dict in list in dict": (lambda s: setattr(s, "deep", {"a": [{}]}), lambda s, x: s.deep["a"][0].update({"x": x})),
    "list in tuple": (lambda s: setattr(s, "pair", ([], 1)), lambda s, x: s.pair[0].append(x)),
    "set": (lambda s: setattr(s, "ids", set()), lambda s, x: s.ids.add(id(x))),
    "deque": (lambda s: setattr(s, "recent", deque([0], maxlen=3)), lambda s, x: s.recent.append(x)),
    "deque in dict": (lambda s: setattr(s, "queue", {"q": deque()}), lambda s, x: s.queue["q"].append(x)),
    "defaultdict": (lambda s: held(s, defaultdict(list)), lambda s, x: s.box.it["k"].append(x)),
    "ordered dict": (lambda s: held(s, OrderedDict(a=1, b=2)), lambda s, x: s.box.it.move_to_end("a")),
    "counter dict": (lambda s: held(s, Counter()), lambda s, x: s.box.it.update(["x"])),
    "frozen mapping": (lambda s: held(s, Frozen(a=1)), write_frozen),
    "namespace": (lambda s: setattr(s, "ns", SimpleNamespace(x=None)), lambda s, x: setattr(s.ns, "x", x)),
    "object with slots": (lambda s: setattr(s, "slots", Slots()), write_slots),
    "object in object": (lambda s: setattr(s, "o", SimpleNamespace(p=SimpleNamespace(q=[]))),
                         lambda s, x: s.o.p.q.append(x)),
    "bound method": (lambda s: setattr(s, "add", Adder().add), lambda s, x: s.add(x)),
    "closure": (lambda s: setattr(s, "counter", counting()), write_closure),
    "array": (lambda s: setattr(s, "sums", np.zeros(3)), lambda s, x: s.sums.__iadd__(1)),
    "array in dict": (lambda s: setattr(s, "arrays", {"a": np.zeros(3)}), lambda s, x: s.arrays["a"].fill(7)),
    "bytearray": (lambda s: setattr(s, "log", bytearray(b"a")), lambda s, x: s.log.extend(b"b")),
    "own generator": (lambda s: setattr(s, "rng", np.random.default_rng(3)), lambda s, x: s.rng.normal()),
    "own random": (lambda s: setattr(s, "rnd", random.Random(3)), lambda s, x: s.rnd.random()),
    "lazy layer": (lambda s: held(s, {}), write_lazily),
    "assigned variable": (lambda s: None, lambda s, x: s.count.assign(s.count + 1)),
    "assigned statistics": (lambda s: None, lambda s, x: s.mean.assign(0.9 * s.mean + ops.mean(x))),
    "assigned weight": (lambda s: None, lambda s, x: s.kernel.assign(s.kernel * 0.5)),
    "loss": (lambda s: None, lambda s, x: s.add_loss(ops.sum(x))),
    "seed generator": (lambda s: setattr(s, "seeds", keras.random.SeedGenerator(1)),
                       lambda s, x: keras.random.normal((2,), seed=s.seeds)),
    "keras seeds": (lambda s: None, lambda s, x: keras.random.normal((2,)) if backend.backend() != "jax" else None),
    "numpy's random": (lambda s: None, lambda s, x: np.random.rand(3)),
    "numpy's seed": (lambda s: None, lambda s, x: np.random.seed(1)),
    "python's random": (lambda s: None, lambda s, x: random.random()),
    "trainable flag": (lambda s: None, lambda s, x: setattr(s.kernel, "trainable", False)),
    "floatx": (lambda s: None, lambda s, x: keras.config.set_floatx("float64")),
    "policy": (lambda s: None, lambda s, x: keras.config.set_dtype_policy("mixed_float16")),
}  # fmt: skip


class Writes(layers.Layer):
    kept_by_the_class = []  # noqa: RUF012

    def __init__(self, kind, fails=None):
        super().__init__(name="writes")
        self.kind, self.fails = kind, fails
        WRITES[kind][0](self)

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 5), name="kernel")
        self.count = self.add_weight(shape=(), initializer="zeros", trainable=False, name="count")
        self.mean = self.add_weight(shape=(), initializer="zeros", trainable=False, name="mean")

    def call(self, x, memo=[]):  # noqa: B006
        WRITES[self.kind][1](self, x)
        memo.append(x)
        self.kept_by_the_class.append(x)
        if self.fails is not None:
            raise self.fails
        return ops.matmul(x, self.kernel)


def fingerprint(item, depth=0):
    """What an object consists of, by identity of what cannot be looked into."""
    inner = [fingerprint, depth + 1]

    def down(x):
        return inner[0](x, inner[1])

    if depth > 7 or isinstance(item, (keras.KerasTensor, type(backend))):
        return id(item)
    if item is None or isinstance(item, (bool, int, float, str, bytes, bytearray)):
        return repr(item)
    if isinstance(item, np.ndarray):
        return id(item), item.tobytes()
    if isinstance(item, np.random.Generator):
        return repr(item.bit_generator.state)
    if isinstance(item, random.Random):
        return item.getstate()
    if isinstance(item, keras.Variable):
        value = None if item._value is None else keras.ops.convert_to_numpy(item._value).tobytes()
        return id(item), id(item._value), value, item.trainable, item.name
    if isinstance(item, dict):
        return id(item), [(repr(k), down(v)) for k, v in item.items()]
    if isinstance(item, (list, tuple, deque)):
        return id(item), [down(v) for v in item]
    if isinstance(item, (set, frozenset)):
        return id(item), sorted(id(v) for v in item)
    if isinstance(item, Slots):
        return [down(getattr(item, n, "unset")) for n in Slots.__slots__]
    if isinstance(item, MethodType):
        return down(item.__self__)
    if callable(item) and getattr(item, "__closure__", None):
        return id(item), [repr(cell.cell_contents) for cell in item.__closure__]
    if isinstance(item, (SimpleNamespace, Adder, layers.Layer)):
        return id(item), down(vars(item))
    return id(item)


def everything(model):
    tracker = vars(global_state.GLOBAL_STATE_TRACKER)
    return {
        "model": [fingerprint(layer) for layer in model._flatten_layers()],
        "class": len(Writes.kept_by_the_class), "default": len(Writes.call.__defaults__[0]),
        "uids": dict(tracker.get("object_name_uids") or {}), "waiting": list(map(id, tracker.get(
            "uninitialized_variables") or [])),
        "keras": [(k, id(v)) for k, v in tracker.items()], "floatx": keras.config.floatx(),
        "policy": keras.config.dtype_policy().name, "numpy": repr(np.random.get_state()), "python": random.getstate(),
    }  # fmt: skip


def functional(kind, fails=None):
    inputs = keras.Input((4,))
    layer = Writes(kind)
    x = layer(layers.Dense(4, name="first")(inputs))
    x = layers.BatchNormalization(name="norm")(layers.Dropout(0.1)(x))
    model = keras.Model(inputs, layers.Dense(3, name="last")(x))
    keras.config.set_floatx("float32")
    keras.config.set_dtype_policy("float32")
    layer.fails = fails
    layer.once = 1
    if kind == "lazy layer":
        layer.box.it.clear()
    return model


@pytest.mark.parametrize("kind", sorted(WRITES))
def test_looking_changes_nothing(kind):
    model = functional(kind)
    keras.random.normal((1,))  # the global generator exists
    before = everything(model)
    autoinit.plan(model, (8, 4))
    assert everything(model) == before
    autoinit.measure(model, (8, 4))  # checks, too
    assert everything(model) == before


@pytest.mark.parametrize("kind", ["list in dict", "lazy layer", "assigned weight", "numpy's random", "floatx"])
@pytest.mark.parametrize("fails", [ValueError("broken"), KeyboardInterrupt(), SystemExit(1), MemoryError()], ids=repr)
def test_nor_when_call_fails_or_is_interrupted(kind, fails):
    model = functional(kind, fails)
    before = everything(model)
    with pytest.raises((AutoInitError, KeyboardInterrupt, SystemExit)):
        autoinit.plan(model, (8, 4))
    assert everything(model) == before
    assert keras.Operation.__call__.__module__.startswith("keras")


@pytest.mark.parametrize("line", range(0, 4000, 271))
def test_nor_when_interrupted_at_any_line(line):
    """An interrupt arrives at the n-th line of ours or of the model's that runs."""
    import sys

    model = functional("list in dict")
    autoinit.plan(model, (8, 4))
    before, patched = everything(model), vars(keras.Operation)["__call__"]
    count = [0]

    def trace(frame, event, arg):
        if "autoinit/frontends/keras" not in frame.f_code.co_filename and frame.f_code.co_name != "call":
            return None
        if event == "line":
            count[0] += 1
            if count[0] == line + 1:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        autoinit.plan(model, (8, 4))
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    assert count[0] > line and everything(model) == before
    assert vars(keras.Operation)["__call__"] is patched and not keras.src.backend.in_stateless_scope()
    assert np.random.rand.__self__ is np.random.mtrand._rand


def test_a_model_without_weights_stays_so():
    """check and measure predict the very weights that it gets when it is built later."""
    keras.utils.set_random_seed(5)
    model = keras.Sequential([layers.Dense(6, "relu"), layers.Dense(2)])
    before = everything(model)
    plan = autoinit.plan(model, (8, 4))
    assert [len(p.parts) for p in plan.parameters] and not model.built and everything(model) == before
    autoinit.measure(model, (8, 4))
    assert not model.built and not model.weights and everything(model) == before
    with pytest.raises(InputError):
        autoinit.plan(model)
    plan.apply(model)
    assert model.built and np.std(keras.ops.convert_to_numpy(model.layers[0].kernel)) > 0


def test_names_of_later_layers_are_the_same():
    model = functional("lazy layer")
    name = layers.Dense(2).name
    autoinit.measure(model, (8, 4))
    head, _, number = name.rpartition("_")
    assert layers.Dense(2).name == (f"{head}_{int(number) + 1}" if head else f"{name}_1")


def test_watching_leaves_the_model_alone():
    model = functional("list in dict")
    before = everything(model)
    probe = Probe(model, training=True)
    for seed in range(2):
        probe.look(np.zeros((8, 4), "float32"), set(), seed)
        assert everything(model) == before


@pytest.mark.skipif(backend.backend() == "jax", reason="arrays of JAX cannot be written")
def test_values_are_not_written_in_place():
    """`value` in a layer of the user's own is a copy: a max-norm constraint, a counter."""

    class InPlace(layers.Layer):
        def build(self, shape):
            self.kernel = self.add_weight(shape=(shape[-1], 3), name="kernel")
            self.steps = self.add_weight(shape=(), initializer="zeros", trainable=False, name="steps")

        def call(self, x):
            if backend.backend() == "torch":
                self.steps.value.add_(1.0)
                self.kernel.value.data.mul_(0.5)
            else:
                self.steps.value.assign_add(1.0)
                self.kernel.value.assign(self.kernel.value * 0.5)
            return ops.matmul(x, self.kernel)

    inputs = keras.Input((4,))
    model = keras.Model(inputs, layers.Dense(2)(layers.Dense(4)(inputs)))
    layer = InPlace()
    layer.build((None, 4))
    model = keras.Sequential([layers.Dense(4), layer])
    model.layers[0].build((None, 4))
    model.built = True
    before = [keras.ops.convert_to_numpy(v._value).copy() for v in model.variables]
    for look in (autoinit.plan, autoinit.measure):
        with contextlib.suppress(TraceError):
            look(model, (8, 4))
        for value, variable in zip(before, model.variables, strict=True):
            assert np.array_equal(value, keras.ops.convert_to_numpy(variable._value))

"""keras.ops inside a model: predicted moments against the real operations."""

from __future__ import annotations

import pytest

keras = pytest.importorskip("keras")

import numpy as np  # noqa: E402
from keras import layers  # noqa: E402

from autoinit import Input  # noqa: E402

from .available import ops  # noqa: E402
from .measuring import at_target, functional, moments  # noqa: E402

ROWS, SERIES, IMAGE = (64, 32), (16, 12, 16), (8, 8, 8, 16)

# --- entry by entry ---------------------------------------------------------------------------------------------------

UNARY = {
    "abs": ops.abs, "absolute": ops.absolute, "negative": ops.negative, "sign": ops.sign, "exp": ops.exp,
    "exp2": ops.exp2, "expm1": ops.expm1, "square": ops.square, "sin": ops.sin, "cos": ops.cos, "sinh": ops.sinh,
    "cosh": ops.cosh, "tanh": ops.tanh, "arcsinh": ops.arcsinh, "arctan": ops.arctan, "erf": ops.erf,
    "erfc": ops.erfc, "floor": ops.floor, "ceil": ops.ceil, "trunc": ops.trunc, "round": ops.round, "sinc": ops.sinc,
    "cbrt": ops.cbrt, "deg2rad": ops.deg2rad, "rad2deg": ops.rad2deg, "nan_to_num": ops.nan_to_num, "i0": ops.i0,
    "round to tenths": lambda x: ops.round(x, 1), "clip": lambda x: ops.clip(x, -0.3, 0.8),
    "log of a square": lambda x: ops.log(ops.square(x) + 0.5), "sqrt": lambda x: ops.sqrt(ops.abs(x)),
    "rsqrt": lambda x: ops.rsqrt(ops.square(x) + 1.0), "log1p": lambda x: ops.log1p(ops.square(x)),
    "log2": lambda x: ops.log2(ops.abs(x) + 1.0), "log10": lambda x: ops.log10(ops.abs(x) + 1.0),
    "reciprocal": lambda x: ops.reciprocal(ops.square(x) + 1.0), "power": lambda x: ops.power(x, 3),
    "mod": lambda x: ops.mod(x, 0.7), "floor_divide": lambda x: ops.floor_divide(x, 0.7),
    "maximum": lambda x: ops.maximum(x, 0.2), "minimum": lambda x: ops.minimum(x, 0.2),
    "where": lambda x: ops.where(x > 0.3, ops.sin(x), 2.0 * x), "heaviside": lambda x: ops.heaviside(x, 0.5),
    "comparison": lambda x: ops.cast(ops.logical_and(x > -0.5, x < 1.0), "float32"),
    "logical_or": lambda x: ops.cast(ops.logical_or(x < -0.5, x >= 1.0), "float32"),
    "logical_not": lambda x: ops.cast(ops.logical_not(x < -0.5), "float32"),
    "logical_xor": lambda x: ops.cast(ops.logical_xor(x < 0.5, x < 1.0), "float32"),
    "stop_gradient": lambda x: ops.stop_gradient(x) + 1.0, "copy": lambda x: ops.copy(x) + 1.0,
    "zeros_like": lambda x: x + ops.zeros_like(x), "ones_like": lambda x: x + ops.ones_like(x),
    "full_like": lambda x: x * ops.full_like(x, 2.0), "arithmetic": lambda x: (2.0 * x - 1.0) / 3.0 + x * x,
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    moments(UNARY[name], Input((128, 64), mean=0.4, variance=0.8))


BINARY = {
    "add": ops.add, "subtract": ops.subtract, "multiply": ops.multiply, "maximum": ops.maximum, "minimum": ops.minimum,
    "arctan2": ops.arctan2, "hypot": ops.hypot, "logaddexp": ops.logaddexp, "logaddexp2": ops.logaddexp2,
    "divide": lambda a, b: ops.divide(a, ops.square(b) + 1.0), "greater": lambda a, b: ops.cast(a > b, "float32"),
    "less_equal": lambda a, b: ops.cast(ops.less_equal(a, b), "float32"),
    "where": lambda a, b: ops.where(a > 0.0, b, 0.5 - 2.0 * b), "squared distance": lambda a, b: ops.square(a - b),
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str) -> None:
    """Independent operands; functions of both are taken on a grid of 48 x 48 nodes: 3 % for jumps."""
    moments(lambda xs: BINARY[name](*xs), Input((128, 64), mean=0.4, variance=0.8), Input((128, 64), mean=-0.2),
            model_error=0.03 if name not in ("add", "subtract", "multiply") else 0.0)  # fmt: skip


# --- reductions, structure, indexing ---------------------------------------------------------------------------------

TABLE = np.linspace(-1.0, 1.0, 16).astype("float32")
INDEX = np.array([3, 0, 5, 5, 1])
CASES = {
    "reduce_mean": (lambda x: ops.mean(x, axis=-1), SERIES),
    "reduce_mean axes": (lambda x: ops.mean(x, axis=(1, 2), keepdims=True), IMAGE),
    "reduce_sum": (lambda x: ops.sum(x, axis=1), SERIES),
    "max": (lambda x: ops.max(x, axis=1), SERIES),
    "min": (lambda x: ops.min(x, axis=-1), SERIES),
    "amax": (lambda x: ops.amax(x, axis=-1), SERIES),
    "prod": (lambda x: ops.prod(x, axis=1), (2048, 3)),
    "var": (lambda x: ops.var(x, axis=-1), SERIES),
    "std": (lambda x: ops.std(x, axis=-1), SERIES),
    "moments": (lambda x: ops.moments(x, axes=[1])[1], SERIES),
    "ptp": (lambda x: ops.ptp(x, axis=-1), SERIES),
    "logsumexp": (lambda x: ops.logsumexp(x, axis=-1), SERIES),
    "norm": (lambda x: ops.norm(x, axis=-1), SERIES),
    "norm of order 1": (lambda x: ops.norm(x, ord=1, axis=-1), SERIES),
    "norm of order inf": (lambda x: ops.norm(x, ord=np.inf, axis=-1), SERIES),
    "normalize": (lambda x: ops.normalize(x, axis=-1), SERIES),
    "normalize of order 1": (lambda x: ops.normalize(x, axis=-1, order=1), SERIES),
    "average": (lambda x: ops.average(x, axis=-1, weights=ops.convert_to_tensor(TABLE + 2.0)), SERIES),
    "cumsum": (lambda x: ops.cumsum(x, axis=1), SERIES),
    "diff": (lambda x: ops.diff(x, axis=1), SERIES),
    "reshape": (lambda x: ops.reshape(x, (-1, 48)), SERIES),
    "ravel": (ops.ravel, SERIES),
    "expand_dims": (lambda x: ops.expand_dims(x, 1), SERIES),
    "squeeze": (lambda x: ops.squeeze(ops.expand_dims(x, 1), 1), SERIES),
    "transpose": (lambda x: ops.transpose(x, (2, 0, 1)), SERIES),
    "swapaxes": (lambda x: ops.swapaxes(x, 0, 2), SERIES),
    "moveaxis": (lambda x: ops.moveaxis(x, -1, 1), IMAGE),
    "rearrange": (lambda x: ops.rearrange(x, "b (h p) (w q) c -> b (h w) (p q c)", p=2, q=2), IMAGE),
    "split": (lambda x: ops.split(x, 4, axis=-1)[1], SERIES),
    "split at": (lambda x: ops.split(x, [3, 7], axis=1)[1], SERIES),
    "array_split": (lambda x: ops.array_split(x, 5, axis=1)[0], SERIES),
    "unstack": (lambda x: ops.unstack(x, axis=1)[2], SERIES),
    "stack": (lambda x: ops.stack([x, -x, 2.0 * x], axis=1), SERIES),
    "concatenate": (lambda x: ops.concatenate([x, ops.relu(x)], axis=-1), SERIES),
    "append": (lambda x: ops.append(x, 2.0 * x, axis=-1), SERIES),
    "hstack": (lambda x: ops.hstack([x, 3.0 * x]), SERIES),
    "vstack": (lambda x: ops.vstack([x, 3.0 * x]), SERIES),
    "tile": (lambda x: ops.tile(x, (1, 2, 3)), SERIES),
    "repeat": (lambda x: ops.repeat(x, 3, axis=1), SERIES),
    "broadcast_to": (lambda x: ops.broadcast_to(ops.expand_dims(x, 1), (64, 5, 32)), ROWS),
    "flip": (lambda x: ops.flip(x, axis=1), SERIES),
    "roll": (lambda x: ops.roll(x, 2, axis=1), SERIES),
    "rot90": (lambda x: ops.rot90(x, axes=(1, 2)), IMAGE),
    "pad": (lambda x: ops.pad(x, ((0, 0), (1, 2), (0, 0))), SERIES),
    "pad with a value": (lambda x: ops.pad(x, ((0, 0), (1, 2), (0, 0)), constant_values=1.5), SERIES),
    "pad by reflection": (lambda x: ops.pad(x, ((0, 0), (1, 2), (0, 0)), mode="reflect"), SERIES),
    "getitem": (lambda x: x[:, 2:9:2, None, 3], SERIES),
    "getitem backwards": (lambda x: x[..., ::-1] if keras.backend.backend() != "torch" else x[..., ::2], SERIES),
    "slice": (lambda x: ops.slice(x, (0, 2, 3), (16, 5, 6)), SERIES),
    "take": (lambda x: ops.take(x, INDEX, axis=1), SERIES),
    "take_along_axis": (lambda x: ops.take_along_axis(x, np.zeros((16, 2, 16), "int32"), axis=1), SERIES),
    "slice_update": (lambda x: ops.slice_update(x, (0, 0), ops.zeros((64, 8))), ROWS),
    "tril": (lambda x: ops.tril(x), (64, 12, 12)),
    "triu": (lambda x: ops.triu(x, 2), (64, 12, 12)),
    "diagonal": (lambda x: ops.diagonal(x, axis1=1, axis2=2), (64, 12, 12)),
    "diagonal beside": (lambda x: ops.diagonal(x, offset=2, axis1=1, axis2=2), (64, 12, 12)),
    "trace": (lambda x: ops.trace(x, axis1=1, axis2=2), (128, 12, 12)),
    "depth_to_space": (lambda x: ops.depth_to_space(x, 2), IMAGE),
    "space_to_depth": (lambda x: ops.space_to_depth(x, 2), IMAGE),
    "softmax": (lambda x: ops.softmax(x, axis=1), SERIES),
    "log_softmax": (lambda x: ops.log_softmax(x, axis=-1), SERIES),
    "glu": (lambda x: ops.glu(x, axis=1), SERIES),
    "max_pool": (lambda x: ops.max_pool(x, 2, strides=2), IMAGE),
    "average_pool": (lambda x: ops.average_pool(x, 3, strides=1), IMAGE),
    "batch_normalization": (
        lambda x: ops.batch_normalization(x, ops.convert_to_tensor(TABLE), ops.convert_to_tensor(TABLE + 2.0), -1),
        SERIES),
    "layer_normalization": (lambda x: ops.layer_normalization(x), SERIES),
    "rms_normalization": (lambda x: ops.rms_normalization(x), SERIES),
    "resize": (lambda x: ops.image.resize(x, (12, 5)), IMAGE),
    "resize with antialias": (lambda x: ops.image.resize(x, (5, 5), antialias=True), IMAGE),
    "extract_patches": (lambda x: ops.image.extract_patches(x, 2), IMAGE),
    "pad_images": (lambda x: ops.image.pad_images(x, 1, 2, target_height=12, target_width=12), IMAGE),
    "crop_images": (lambda x: ops.image.crop_images(x, 1, 2, target_height=4, target_width=4), IMAGE),
    "rgb_to_grayscale": (lambda x: ops.image.rgb_to_grayscale(x), (16, 8, 8, 3)),
    "table added": (lambda x: x + ops.convert_to_tensor(TABLE), SERIES),
    "table multiplied": (lambda x: x * ops.convert_to_tensor(TABLE), SERIES),
    "einsum of one": (lambda x: ops.einsum("abc->ca", x), SERIES),
    "outer": (lambda x: ops.outer(x[0], x[1]), (64, 64)),
    "inner": (lambda x: ops.inner(x[:32], x[32:]), (64, 24)),
    "segment_sum": (lambda x: ops.segment_sum(x, np.arange(64) % 7, num_segments=7), ROWS),
}  # fmt: skip
MODEL_ERROR = {
    "max": 0.01, "min": 0.01, "amax": 0.01, "ptp": 0.02, "std": 0.01, "logsumexp": 0.01, "norm": 0.01,
    "norm of order 1": 0.01, "norm of order inf": 0.02, "normalize": 0.01, "normalize of order 1": 0.15,
    "softmax": 0.02, "log_softmax": 0.02, "max_pool": 0.01, "batch_normalization": 0.12,
    "pad by reflection": 0.02, "layer_normalization": 0.003, "rms_normalization": 0.003,
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_operation(name: str) -> None:
    function, shape = CASES[name]
    moments(function, Input(shape, mean=0.4, variance=0.8), model_error=MODEL_ERROR.get(name, 0.0), repeats=16)


SIMULATED = {
    "median": (lambda x: ops.median(x, axis=-1), SERIES),
    "top_k": (lambda x: ops.top_k(x, 3)[0], SERIES),
    "sort of a cumulated": (lambda x: ops.segment_max(x, np.arange(64) % 8, num_segments=8), ROWS),
    "gaussian_blur": (lambda x: ops.image.gaussian_blur(x), (8, 12, 12, 4)),
    "fft": (lambda x: ops.fft((x, ops.zeros_like(x)))[0], ROWS),
    "cross": (lambda x: ops.cross(x[:32], x[32:]), (64, 3)),
}


@pytest.mark.parametrize("name", SIMULATED)
def test_operation_without_a_rule(name: str) -> None:
    """Measured on samples of the real operation, and reported as such."""
    function, shape = SIMULATED[name]
    moments(function, Input(shape, mean=0.4, variance=0.8), model_error=0.12, simulated=True, repeats=24)


# --- contractions of data --------------------------------------------------------------------------------------------

PRODUCTS = {
    "matmul": (ops.matmul, (16, 10, 24), (16, 24, 12)),
    "matmul of matrices": (ops.matmul, (64, 24), (24, 32)),
    "dot": (ops.dot, (16, 10, 24), (24, 12)),
    "tensordot": (lambda a, b: ops.tensordot(a, b, axes=[[1, 2], [0, 1]]), (32, 6, 8), (6, 8, 12)),
    "einsum": (lambda a, b: ops.einsum("bqhd,bkhd->bhqk", a, b), (16, 10, 4, 16), (16, 12, 4, 16)),
    "einsum summed": (lambda a, b: ops.einsum("bi,bi->b", a, b), (512, 24), (512, 24)),
    "einsum outer": (lambda a, b: ops.einsum("bi,bj->bij", a, b), (64, 12), (64, 8)),
    "vdot": (ops.vdot, (256,), (256,)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_product_of_data(name: str) -> None:
    function, one, two = PRODUCTS[name]
    moments(lambda xs: function(*xs), Input(one, mean=0.4, variance=0.8), Input(two, mean=-0.3), repeats=40)


def test_attention_operation() -> None:
    """6 %: keys and values are taken to be projections of one tensor, which these are not."""
    given = [Input((16, 12, 4, 16)) for _ in range(3)]
    mask = np.tril(np.ones((12, 12), bool))[None, None]
    settings = [{}, {"is_causal": True}, {"mask": ops.convert_to_tensor(mask)}, {"scale": 0.1}]
    rows = [
        moments(lambda xs, s=s: ops.dot_product_attention(*xs, **s), *given, repeats=24, model_error=0.06)
        for s in settings
    ]
    assert rows[1].second == pytest.approx(rows[2].second, rel=1e-6) and rows[1].second > 1.5 * rows[0].second


def test_weights_behind_operations() -> None:
    """Operations of keras.ops in a functional model, between layers."""

    def block(x):
        h = layers.Dense(64)(x)
        a, b = ops.split(ops.reshape(h, (-1, 12, 2, 32)), 2, axis=2)
        gated = ops.squeeze(a * ops.sigmoid(b), 2)
        mixed = ops.matmul(ops.softmax(layers.Dense(12)(x)), gated)
        return layers.Dense(32)(ops.concatenate([mixed, ops.mean(mixed, axis=1, keepdims=True)], axis=1))

    at_target(lambda: functional(block, (12, 16)), Input((32, 12, 16)), model_error=0.15)


def test_weights_used_in_other_ways() -> None:
    """A weight that is transposed, cut or scaled in `call` is still that weight."""

    class Free(layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(48, shape[-1]), name="w")
            self.b = self.add_weight(shape=(32,), name="b")

        def call(self, x):
            return ops.matmul(x, ops.transpose(self.w[:32]) * 2.0) + self.b

    plan = at_target(lambda: functional(lambda x: Free()(x), (24,)), Input((64, 24)))
    assert [p.action for p in plan.parameters] == ["set", "zero"]
    part = plan.parameters[0].parts[0]
    assert part.std == pytest.approx(0.5 * 24**-0.5, rel=1e-6)

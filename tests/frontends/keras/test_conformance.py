"""The Keras front end does what every front end has to do."""

import keras
import numpy as np
from keras import layers, ops

from autoinit.frontends.keras.variables import parameters_of
from autoinit.testing import FrontEndSuite, specs


@keras.saving.register_keras_serializable("test_conformance")
class ExactGelu(layers.Layer):
    def call(self, x):
        return ops.gelu(x, approximate=False)


def called(layer, x):
    match layer:
        case specs.Dense():
            return layers.Dense(layer.outputs, use_bias=layer.bias)(x)
        case specs.Conv():
            return layers.Conv2D(layer.outputs, layer.kernel, padding="same" if layer.same else "valid",
                                 groups=layer.groups, use_bias=layer.bias)(x)  # fmt: skip
        case specs.Activation():
            return ExactGelu()(x) if layer.name == "gelu" else layers.Activation(layer.name)(x)
        case specs.Dropout():
            return layers.Dropout(layer.rate)(x)
        case specs.BatchNorm():
            return layers.BatchNormalization(epsilon=layer.eps)(x)
        case specs.LayerNorm():
            return layers.LayerNormalization(epsilon=layer.eps)(x)
        case specs.MaxPool():
            return layers.MaxPooling2D(layer.size)(x)
        case specs.AveragePool():
            return layers.AveragePooling2D(layer.size)(x)
        case specs.GlobalAverage():
            return layers.GlobalAveragePooling2D()(x)
        case specs.Embedding():
            return layers.Embedding(layer.vocabulary, layer.features)(x)
        case specs.Residual():
            return layers.Add()([x, stacked(layer.layers, x)])
        case specs.Branches():
            return layers.Concatenate()([stacked(stack, x) for stack in layer.stacks])
        case specs.Twice():
            shared = layers.Dense(layer.features)
            return shared(layers.Activation("tanh")(shared(x)))


def stacked(stack, x):
    for layer in stack:
        x = called(layer, x)
    return x


class TestKeras(FrontEndSuite):
    def build(self, model):
        keras.utils.set_random_seed(0)
        dtype = "float32" if model.vocabulary is None else "int32"
        inputs = keras.Input(model.shape[1:], dtype=dtype)
        made = keras.Model(inputs, stacked(model.layers, inputs))
        for name, variable in parameters_of(made).items():
            if "bias" in name:
                variable.assign(np.random.default_rng(0).standard_normal(variable.shape))
        return made

    def read(self, model):
        return {name: np.array(ops.convert_to_numpy(v)) for name, v in parameters_of(model).items()}

    def write(self, model, name, values):
        parameters_of(model)[name].assign(values)

    def freeze(self, model, name):
        parameters_of(model)[name].trainable = False

    def call(self, model, inputs):
        return np.array(ops.convert_to_numpy(model(inputs, training=False)))

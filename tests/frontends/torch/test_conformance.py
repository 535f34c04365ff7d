"""The PyTorch front end does what every front end has to do."""

import torch
from torch import nn

from autoinit.testing import FrontEndSuite, specs

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU, "silu": nn.SiLU, "sigmoid": nn.Sigmoid}


class Residual(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


class Branches(nn.Module):
    def __init__(self, stacks):
        super().__init__()
        self.stacks = nn.ModuleList(stacks)

    def forward(self, x):
        return torch.cat([stack(x) for stack in self.stacks], 1)


class GlobalAverage(nn.Module):
    def forward(self, x):
        return x.flatten(2).mean(2)


class Twice(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.layer = nn.Linear(features, features)

    def forward(self, x):
        return self.layer(torch.tanh(self.layer(x)))


def made(layer, spatial):
    match layer:
        case specs.Dense():
            return nn.Linear(layer.inputs, layer.outputs, layer.bias)
        case specs.Conv():
            padding = layer.kernel // 2 if layer.same else 0
            return nn.Conv2d(layer.inputs, layer.outputs, layer.kernel, 1, padding, 1, layer.groups, layer.bias)
        case specs.Activation():
            return ACTIVATIONS[layer.name]()
        case specs.Dropout():
            return nn.Dropout(layer.rate)
        case specs.BatchNorm():
            return (nn.BatchNorm2d if spatial else nn.BatchNorm1d)(layer.features, layer.eps)
        case specs.LayerNorm():
            return nn.LayerNorm(layer.features, layer.eps)
        case specs.MaxPool():
            return nn.MaxPool2d(layer.size)
        case specs.AveragePool():
            return nn.AvgPool2d(layer.size)
        case specs.GlobalAverage():
            return GlobalAverage()
        case specs.Embedding():
            return nn.Embedding(layer.vocabulary, layer.features)
        case specs.Residual():
            return Residual(stacked(layer.layers, spatial))
        case specs.Branches():
            return Branches([stacked(stack, spatial) for stack in layer.stacks])
        case specs.Twice():
            return Twice(layer.features)


def stacked(layers, spatial):
    return nn.Sequential(*(made(layer, spatial) for layer in layers))


class TestTorch(FrontEndSuite):
    def build(self, model):
        torch.manual_seed(0)
        return stacked(model.layers, len(model.shape) == 4)

    def read(self, model):
        return {name: p.detach().numpy().copy() for name, p in model.named_parameters()}

    def write(self, model, name, values):
        with torch.no_grad():
            model.get_parameter(name).copy_(torch.as_tensor(values))

    def freeze(self, model, name):
        model.get_parameter(name).requires_grad_(False)

    def call(self, model, inputs):
        with torch.no_grad():
            return model.eval()(torch.as_tensor(inputs)).numpy()

    def shape(self, shape):
        return (shape[0], shape[-1], *shape[1:-1])

    def axis(self, axis, ndim):
        return 1 if axis == ndim - 1 else axis if axis == 0 else axis + 1

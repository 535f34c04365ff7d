"""Lightning and transformers import torchvision where it is installed, whose compiled operators may not load."""

from importlib.util import find_spec

if find_spec("torch") is not None and find_spec("torchvision") is not None:
    from benchmarks.zoos.torchvision_ops import load_torchvision

    load_torchvision()

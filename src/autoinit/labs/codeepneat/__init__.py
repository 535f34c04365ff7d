"""CoDeepNEAT: networks as graphs of modules, evolved for a task; a lab for comparing initializations on them.

    result = run("digits", "runs/digits", preset="smoke", initialization="autoinit", seed=0)
    print(result.best.network, result.test)

The method is that of the AutoInit paper's section "Enabling Neural Architecture Search". The search knows no framework;
networks are built in PyTorch or Keras from what it assembles.
"""

from .archive import Archive, Preserved
from .genomes import Genome
from .layers import ACTIVATIONS, SCHEMES
from .network import Input, Layer, NetworkGenome, Output
from .presets import Preset, Training
from .problems import GenomeError, SpaceError, TaskError
from .ranges import Choice, Real, Whole
from .running import Result, run
from .search import Generation, Search
from .settings import Evolution
from .space import LayerKind, Space, weighted, whole_network
from .supervised import Labelled, Parts, Supervised
from .task import Task

__all__ = [
    "ACTIVATIONS", "SCHEMES", "Archive", "Choice", "Evolution", "Generation", "Genome", "GenomeError", "Input",
    "Labelled", "Layer", "LayerKind", "NetworkGenome", "Output", "Parts", "Preserved", "Preset", "Real", "Result",
    "Search", "Space", "SpaceError", "Supervised", "Task", "TaskError", "Training", "Whole", "run", "weighted",
    "whole_network",
]  # fmt: skip

"""zuko: normalising flows and mixtures, as the function that gives a sample's log-density."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from .declare import entry

BATCH, FEATURES, CONTEXT = 64, 8, 4


class Density(nn.Module):
    """log p(x), or log p(x | c)."""

    def __init__(self, flow: nn.Module) -> None:
        super().__init__()
        self.flow = flow

    def forward(self, x: Tensor, c: Tensor | None = None) -> Tensor:
        density: Tensor = self.flow(c).log_prob(x)
        return density


class Sampled(nn.Module):
    """Samples and their log-densities, through the transformation's inverse, given what is sampled at its base."""

    def __init__(self, flow: nn.Module) -> None:
        super().__init__()
        self.flow = flow

    def forward(self, z: Tensor, c: Tensor | None = None) -> Tensor:
        made: Tensor = self.flow(c).transform.inv(z)
        return made


def _of(name: str, **options: Any) -> Callable[[Any], nn.Module]:
    return lambda flows: Density(getattr(flows, name)(FEATURES, **options))


MADE = {
    "gmm": _of("GMM", components=3),
    "gmm-context": _of("GMM", context=CONTEXT, components=3, hidden_features=(64, 64)),
    "nice": _of("NICE", transforms=3, hidden_features=(64, 64)),
    "realnvp": _of("RealNVP", transforms=3, hidden_features=(64, 64)),
    "maf": _of("MAF", transforms=3, hidden_features=(64, 64)),
    "maf-context": _of("MAF", context=CONTEXT, transforms=3, hidden_features=(64, 64)),
    "maf-random": _of("MAF", transforms=3, randperm=True, hidden_features=(64, 64)),
    "maf-coupling": _of("MAF", transforms=4, passes=2, hidden_features=(64, 64)),
    "maf-residual": _of("MAF", transforms=3, hidden_features=(64, 64), residual=True),
    "nsf": _of("NSF", transforms=3, hidden_features=(64, 64)),
    "nsf-context": _of("NSF", context=CONTEXT, transforms=3, hidden_features=(64, 64)),
    "nsf-coupling": _of("NSF", transforms=4, passes=2, hidden_features=(64, 64)),
    "ncsf": _of("NCSF", transforms=3, hidden_features=(64, 64)),
    "sospf": _of("SOSPF", transforms=2, hidden_features=(64, 64)),
    "bpf": _of("BPF", transforms=2, hidden_features=(64, 64)),
    "naf": _of("NAF", transforms=2, hidden_features=(64, 64), signal=8),
    "unaf": _of("UNAF", transforms=2, hidden_features=(64, 64), signal=8),
    "gf": _of("GF", transforms=3, hidden_features=(64, 64)),
    "cnf": _of("CNF", hidden_features=(64, 64)),
    "cnf-approximate": _of("CNF", context=CONTEXT, hidden_features=(64, 64), exact=False),
    "nsf-inverse": lambda flows: Sampled(flows.NSF(FEATURES, transforms=3, hidden_features=(64, 64))),
    "realnvp-inverse": lambda flows: Sampled(flows.RealNVP(FEATURES, transforms=3, hidden_features=(64, 64))),
}


def _inputs(name: str) -> Any:
    given = (BATCH, FEATURES)
    return (given, (BATCH, CONTEXT)) if name.endswith(("-context", "-approximate")) else given


ENTRIES = [entry("zuko", "zuko.flows", name, "flow", make, _inputs(name)) for name, make in MADE.items()]

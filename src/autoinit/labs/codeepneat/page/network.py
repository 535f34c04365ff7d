"""A network on a page: its drawing, and its layers as a table."""

from __future__ import annotations

from itertools import pairwise

from ..drawings.labels import times, word
from ..drawings.sketch import Sketch, sketch
from ..initialization import EVOLVED
from ..network import Layer, NetworkGenome
from .markup import legend, number, safe, table

MARGIN = 4.0


def drawing(network: NetworkGenome, initialization: str) -> str:
    """Boxes and lines in their true size, with the meaning of the colours and a note where not all is drawn."""
    one = sketch(network, schemes=initialization == EVOLVED)
    note = f'<p class="hint">{safe(one.note)}</p>' if one.note else ""
    keys = legend((f"k-{family}", family) for family in one.families)
    return f'{keys}{note}<div class="scroll">{_svg(one)}</div>'


def layers(network: NetworkGenome) -> str:
    rows = [(layer.name, word(layer.kind), times(layer.shape), ", ".join(layer.inputs), _settings(layer))
            for layer in network.layers]  # fmt: skip
    return table(("layer", "kind", "gives", "reads", "settings"), rows)


def _settings(layer: Layer) -> str:
    told = [f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}" for name, value in layer.settings]
    return ", ".join([*told, f"weights of {layer.shares}"] if layer.shares else told)


def _svg(one: Sketch) -> str:
    width, height = one.width + 2 * MARGIN, one.height + 2 * MARGIN
    lines = []
    for line in one.lines:
        (x, y), *_ = line
        path = f"M{number(x)} {number(y)}"
        for (a, b), (c, d) in pairwise(line):
            middle = number((b + d) / 2)
            path += f"C{number(a)} {middle} {number(c)} {middle} {number(c)} {number(d)}"
        lines.append(f'<path class="link" d="{path}"/>')
        x, y = line[-1]
        tip = f"{number(x - 3)},{number(y - 5)} {number(x + 3)},{number(y - 5)} {number(x)},{number(y)}"
        lines.append(f'<polygon class="tip" points="{tip}"/>')
    boxes = []
    for box in one.boxes:
        shift = 6 if box.detail else 0
        boxes.append(
            f'<g><title>{safe(box.name)}</title><rect class="box k-{box.family}" x="{number(box.x - box.width / 2)}" '
            f'y="{number(box.y - box.height / 2)}" width="{number(box.width)}" height="{number(box.height)}" rx="5"/>'
            f'<text class="name" x="{number(box.x)}" y="{number(box.y - shift + 4)}">{safe(box.title)}</text>'
            + (f'<text class="more" x="{number(box.x)}" y="{number(box.y + 11)}">{safe(box.detail)}</text>'
               if box.detail else "")
            + "</g>"
        )  # fmt: skip
    corner = f"{number(-MARGIN)} {number(-MARGIN)} {number(width)} {number(height)}"
    size = f'width="{number(width)}" height="{number(height)}" viewBox="{corner}"'
    return f'<svg class="network" {size} role="img" aria-label="drawing of the network">{"".join(lines + boxes)}</svg>'

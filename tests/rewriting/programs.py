"""Small programs between two weights: Linear, then what is tried, then Linear."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

WIDTH, ROWS, TOKENS = 32, 8, 6

Program = Callable[[Tensor], Tensor]


class Between(nn.Module):
    """Linear → program → Linear, on (rows, tokens, features)."""

    def __init__(self, program: Program, width: int = WIDTH, after: int | None = None) -> None:
        super().__init__()
        self.before, self.program = nn.Linear(width, width), program
        self.after = nn.Linear(after or width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.after(self.program(self.before(x)))


class Shared(nn.Module):
    """The same head applied again and again, on what it gave and what it was given."""

    def __init__(self, move: Program, times: int = 8) -> None:
        super().__init__()
        self.before, self.head, self.after = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.move, self.times = move, times

    def forward(self, x: Tensor) -> Tensor:
        x = self.before(x)
        total = sum(self.move(self.head(x)) for _ in range(self.times))
        return self.after(total)


class Attention(nn.Module):
    def __init__(self, heads: int = 4) -> None:
        super().__init__()
        self.norm, self.heads = nn.LayerNorm(WIDTH), heads
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.second = nn.LayerNorm(WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        b, t, _ = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        weights = (q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(b, t, -1))
        return x + self.down(torch.nn.functional.gelu(self.up(self.second(x))))


class Convolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.norm = nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.two, self.three = nn.Conv2d(16, 16, 3, padding=1), nn.Conv2d(16, 16, 1)
        self.gate = nn.Conv2d(16, 16, 1)
        self.head = nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.norm(self.one(x)))
        x = x + self.three(torch.relu(self.two(x)))
        x = x * torch.sigmoid(self.gate(x.mean((2, 3), keepdim=True)))
        x = torch.nn.functional.max_pool2d(x, 2)
        return self.head(x.flatten(2).mean(2))


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.gate, self.down = nn.Linear(WIDTH, 64), nn.Linear(WIDTH, 64), nn.Linear(64, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(torch.nn.functional.silu(self.gate(x)) * self.up(x))


PROGRAMS: dict[str, Callable[[], nn.Module]] = {
    "relu minus its mean": lambda: Between(lambda x: torch.relu(x) - torch.relu(x).mean(1, keepdim=True)),
    "square minus its mean": lambda: Between(lambda x: x**2 - (x**2).mean(1, keepdim=True)),
    "sigmoid minus its mean": lambda: Between(lambda x: torch.sigmoid(x) - torch.sigmoid(x).mean(1, keepdim=True)),
    "relu minus its largest": lambda: Between(lambda x: torch.relu(x) - torch.relu(x).amax(1, keepdim=True)),
    "x + x": lambda: Between(lambda x: x + x),
    "x - x + x": lambda: Between(lambda x: x - x + x),
    "x minus its mean": lambda: Between(lambda x: x - x.mean(-1, keepdim=True)),
    "SiLU by hand": lambda: Between(lambda x: x * torch.sigmoid(x)),
    "x times its mean": lambda: Between(lambda x: x * x.mean(1, keepdim=True)),
    "neighbours": lambda: Between(lambda x: x[:, 1:] - x[:, :-1]),
    "a head again and again": lambda: Shared(lambda y: y),
    "attention": Attention,
    "convolutions": Convolutions,
    "gated": Gated,
}
SHAPES = {"convolutions": (4, 3, 8, 8)}


def shape_of(name: str) -> tuple[int, ...]:
    return SHAPES.get(name, (ROWS, TOKENS, WIDTH))

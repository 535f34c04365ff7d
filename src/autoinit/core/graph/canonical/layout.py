"""Where the entries of a tensor come from: a view as a law of indices.

The index along an axis is a number in mixed radix. `Digit(root, stride, size)` is one digit of it, (i // stride) % size
of the index i of its root; digits side by side are one digit again. An axis of a view is a tuple of digits, and so
splitting, merging, moving, adding and dropping axes is bookkeeping in which ways there and back cancel. A root is an
axis of the base, or a `Cut`: some places of what was an axis before. `Repeat` is an index that nothing depends on.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple


class Axis(NamedTuple):
    """An axis of a tensor that is no view itself."""

    base: int
    number: int
    size: int


class Digit(NamedTuple):
    root: Hashable
    """An `Axis` or a `Cut`."""
    stride: int
    size: int


class Repeat(NamedTuple):
    size: int


Part = Digit | Repeat
Parts = tuple[Part, ...]
Fixed = frozenset[tuple[Digit, int]]
NONE: Fixed = frozenset()


class Cut(NamedTuple):
    """Places start, start + step, ... of an axis, counted in a circle: a roll is one, and a flip has step -1."""

    of: Parts
    start: int
    step: int
    size: int

    @property
    def wraps(self) -> bool:
        return not 0 <= self.start + self.step * (self.size - 1) < size_of(self.of)


class Layout(NamedTuple):
    """A view of `base`: its axes, and the digits of the base that stand still."""

    base: int
    axes: tuple[Parts, ...]
    fixed: Fixed = NONE

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(size_of(parts) for parts in self.axes)

    def with_axis(self, axis: int, parts: Parts = ()) -> Layout:
        """A new axis before `axis`."""
        return self._replace(axes=(*self.axes[:axis], parts, *self.axes[axis:]))


def of_base(base: int, shape: Sequence[int]) -> Layout:
    """The tensor itself."""
    return _of_base(base, tuple(shape))


@lru_cache(maxsize=4096)
def _of_base(base: int, shape: tuple[int, ...]) -> Layout:
    return Layout(base, tuple(() if n == 1 else (Digit(Axis(base, k, n), 1, n),) for k, n in enumerate(shape)))


def size_of(parts: Iterable[Part]) -> int:
    return prod(part.size for part in parts)


def uses(part: Part, root: Axis) -> bool:
    """Whether an axis of the base is in a part."""
    if isinstance(part, Repeat):
        return False
    return part.root == root or (isinstance(part.root, Cut) and any(uses(one, root) for one in part.root.of))


def joined(parts: Iterable[Part]) -> Parts:
    """Digits that continue each other are one."""
    made: list[Part] = []
    for part in parts:
        if part.size == 1:
            continue
        last = made[-1] if made else None
        if isinstance(last, Repeat) and isinstance(part, Repeat):
            made[-1] = Repeat(last.size * part.size)
        elif (
            isinstance(last, Digit) and isinstance(part, Digit) and last.stride == part.stride * part.size
            and last.root == part.root
        ):  # fmt: skip
            made[-1] = Digit(part.root, part.stride, last.size * part.size)
        else:
            made.append(part)
    return tuple(made)


def split(part: Part, low: int) -> tuple[Part, Part]:
    """The part as two, the second of size `low`."""
    high = part.size // low
    if isinstance(part, Repeat):
        return Repeat(high), Repeat(low)
    return Digit(part.root, part.stride * low, high), Digit(part.root, part.stride, low)


def regrouped(axes: Sequence[Parts], shape: Sequence[int]) -> tuple[Parts, ...] | None:
    """The same entries in the same order with other axes; None where sizes do not divide each other."""
    waiting: list[Part] = [part for parts in axes for part in parts][::-1]
    made: list[Parts] = []
    for n in shape:
        taken: list[Part] = []
        size = 1
        while size < n:
            if not waiting:
                return None
            part, needed = waiting.pop(), n // size
            if n % size:
                return None
            if needed % part.size == 0:
                taken.append(part)
                size *= part.size
            elif part.size % needed == 0:
                first, rest = split(part, part.size // needed)
                taken.append(first)
                waiting.append(rest)
                size = n
            else:
                return None
        made.append(joined(taken))
    return tuple(made) if not waiting else None


def cut(parts: Parts, start: int, step: int, size: int) -> tuple[Parts, Fixed]:
    """`size` places of an axis from `start` on: what the axis is then, and which digits stand still."""
    whole = size_of(parts)
    start %= whole
    if size == 1:
        return (), still(parts, start)
    made = Cut(parts, start, step, size)
    if (start, step, size) == (0, 1, whole):
        return parts, NONE
    if all(isinstance(part, Repeat) for part in parts):
        return (Repeat(size),), NONE
    first, rest = parts[0], parts[1:]
    if not rest and isinstance(first, Digit) and isinstance(first.root, Cut) and _is_whole(first):
        outer = first.root
        if made.wraps and outer.size != size_of(outer.of):
            return (Digit(made, 1, size),), NONE  # around in a part is not around in the whole
        return cut(outer.of, outer.start + outer.step * start, outer.step * step, size)
    low = size_of(rest)
    if made.wraps or step < 0:
        return (Digit(made, 1, size),), NONE
    if rest and step == 1 and start % low == 0 and size % low == 0:
        high_parts, fixed = cut((first,), start // low, 1, size // low)
        return joined((*high_parts, *rest)), fixed
    if not rest and isinstance(first, Digit) and whole % (step * size) == 0 and start % (step * size) < step:
        # all of a digit in the middle: those below and above it stand still
        high, low_digit = split(first, step * size)[0], Digit(first.root, first.stride, step)
        standing = still(joined((high, low_digit)), start // (step * size) * step + start % step)
        return (Digit(first.root, first.stride * step, size),), standing
    return (Digit(made, 1, size),), NONE


class Run(NamedTuple):
    """An axis as places start, start + step, ... of something wider; the other digits that stand still."""

    of: Parts
    start: int
    step: int
    size: int
    fixed: Fixed


def run_of(parts: Parts, fixed: Fixed) -> Run:
    """The widest that is known: digits of the same root that stand still are part of it."""
    size = size_of(parts)
    if len(parts) != 1 or isinstance(parts[0], Repeat):
        return Run(parts, 0, 1, size, fixed)
    digit, start, step = parts[0], 0, 1
    if isinstance(digit.root, Cut) and _is_whole(digit):
        outer = digit.root
        if len(outer.of) != 1 or isinstance(outer.of[0], Repeat) or outer.wraps:
            return Run(outer.of, outer.start, outer.step, size, fixed)
        digit, start, step = outer.of[0], outer.start, outer.step
    found = True
    while found:
        found = False
        for one in fixed:
            other, index = one
            if other.root != digit.root:
                continue
            if other.stride == digit.stride * digit.size:
                start, found = start + index * digit.size, True
                digit = Digit(digit.root, digit.stride, other.size * digit.size)
            elif other.stride * other.size == digit.stride:
                start, step, found = start * other.size + index, step * other.size, True
                digit = Digit(digit.root, other.stride, other.size * digit.size)
            if found:
                fixed = fixed - {one}
                break
    return Run((digit,), start, step, size, fixed)


def still(parts: Parts, index: int) -> Fixed:
    """The digits of one place of an axis."""
    made: set[tuple[Digit, int]] = set()
    for part in reversed(parts):
        index, own = divmod(index, part.size)
        if isinstance(part, Repeat):
            continue
        if isinstance(part.root, Cut) and _is_whole(part):
            made |= still(part.root.of, (part.root.start + part.root.step * own) % size_of(part.root.of))
        else:
            made.add((part, own))
    return frozenset(made)


def with_still(fixed: Fixed, more: Fixed) -> Fixed:
    """Both; digits that continue each other are one, and those that make up a cut are a place of what was cut."""
    if not more or not fixed:
        return fixed | more
    roots = {digit.root for digit, _ in more} & {digit.root for digit, _ in fixed}
    if not roots:
        return fixed | more
    made = {one for one in fixed | more if one[0].root not in roots}
    for root in roots:
        parts: list[tuple[Digit, int]] = []
        for digit, index in sorted((o for o in fixed | more if o[0].root == root), key=lambda o: -o[0].stride):
            last = parts[-1] if parts else None
            if last is not None and last[0].stride == digit.stride * digit.size:
                joint = Digit(root, digit.stride, last[0].size * digit.size)
                parts[-1] = joint, last[1] * digit.size + index
            else:
                parts.append((digit, index))
        for digit, index in parts:
            made |= still((digit,), index)
    return frozenset(made)


def _is_whole(digit: Digit) -> bool:
    root = digit.root
    return digit.stride == 1 and isinstance(root, (Cut, Axis)) and root.size == digit.size


def taken(parts: Parts, stride: int, size: int) -> Parts | None:
    """The digit (i // stride) % size of an axis' index i; None if its ends lie inside of a part."""
    found: list[Part] = []
    low = 1
    for part in reversed(parts):
        high = low * part.size
        begin, end = max(low, stride), min(high, stride * size)
        if begin < end:
            if begin % low or high % end or end % begin:
                return None
            _, lower = split(part, end // low)
            chosen, _ = split(lower, begin // low)
            found.append(chosen)
        low = high
    made = joined(reversed(found))
    return made if size_of(made) == size else None

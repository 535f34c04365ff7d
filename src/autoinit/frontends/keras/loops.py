"""Control flow and loops of the backends, carried out step by step in Python, so that what is inside is followed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras import KerasTensor, ops, tree

LONGEST = 256
"""Loops with more steps are not unrolled."""
LONGEST_SEQUENCE = 64
"""Recurrent layers with cells of the user's own: the state has settled after this many steps; later outputs repeat
the last one."""


def follow_steps(n: int) -> int:
    """n, if a loop of that many steps can be unrolled."""
    if n > LONGEST:
        raise NotImplementedError(f"a loop of {n} steps is too long to be followed (more than {LONGEST})")
    return n


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """A known condition takes its branch; one that depends on data takes either, entry by entry at random."""
    if not isinstance(pred, KerasTensor):
        return true_fn() if bool(pred) else false_fn()
    yes, no = true_fn(), false_fn()
    return tree.map_structure(lambda a, b: ops.where(pred, a, b), yes, no)


def switch(index: Any, branches: Any, *operands: Any) -> Any:
    if isinstance(index, KerasTensor):
        raise NotImplementedError("the branch depends on data")
    return branches[min(max(int(index), 0), len(branches) - 1)](*operands)


def map_over(f: Callable[..., Any], xs: Any) -> Any:
    return scan(lambda carry, x: (carry, f(x)), None, xs)[1]


def vectorized_map(function: Callable[..., Any], elements: Any) -> Any:
    return map_over(function, elements)


def scan(
    f: Callable[..., Any], init: Any, xs: Any = None, length: int | None = None, reverse: bool = False, unroll: Any = 1
) -> Any:
    n = follow_steps(int(length if xs is None else tree.flatten(xs)[0].shape[0]))  # type: ignore[arg-type]
    carry, made = init, []
    for i in reversed(range(n)) if reverse else range(n):
        x = None if xs is None else tree.map_structure(lambda t, i=i: t[i], xs)
        carry, y = f(carry, x)
        made.append(y)
    if reverse:
        made.reverse()
    return carry, tree.map_structure(lambda *ys: None if ys[0] is None else ops.stack(ys), *made)


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, maximum_iterations: Any = None
) -> Any:
    alone = not isinstance(loop_vars, (list, tuple))
    state = (loop_vars,) if alone else tuple(loop_vars)
    steps = 0
    while maximum_iterations is None or steps < int(maximum_iterations):
        going = cond(*state)
        if isinstance(going, KerasTensor):
            raise NotImplementedError("how long a loop runs depends on data")
        if not bool(going):
            break
        state = body(*state)
        state = tuple(state) if isinstance(state, (list, tuple)) else (state,)
        steps = follow_steps(steps + 1)
    return state[0] if alone else (list(state) if isinstance(loop_vars, list) else state)


def fori_loop(lower: Any, upper: Any, body_fun: Callable[..., Any], init_val: Any) -> Any:
    if isinstance(lower, KerasTensor) or isinstance(upper, KerasTensor):
        raise NotImplementedError("how long a loop runs depends on data")
    follow_steps(int(upper) - int(lower))
    state = init_val
    for i in range(int(lower), int(upper)):
        state = body_fun(i, state)
    return state


def rnn(
    step_function: Callable[..., Any], inputs: Any, initial_states: Any, go_backwards: bool = False, mask: Any = None,
    constants: Any = None, unroll: bool = False, input_length: Any = None, time_major: bool = False,
    zero_output_for_mask: bool = False, return_all_outputs: bool = True,
) -> Any:  # fmt: skip
    """(last output, outputs, states) as the backends' `rnn` returns them. A mask is taken to let every step through."""

    def time_first(t: Any) -> Any:
        return ops.transpose(t, (1, 0, *range(2, len(t.shape))))

    sequence = inputs if time_major else tree.map_structure(time_first, inputs)
    n = int(tree.flatten(sequence)[0].shape[0])
    states, outputs = initial_states, []
    extra = list(constants) if constants is not None else []
    for i in range(min(n, LONGEST_SEQUENCE)):
        at = n - 1 - i if go_backwards else i
        x = tree.map_structure(lambda t, at=at: t[at], sequence)
        output, states = step_function(x, [*states, *extra])
        outputs.append(output)
    last = outputs[-1]
    if return_all_outputs:
        outputs += [last] * (n - len(outputs))
    else:
        outputs = [last]
    stacked = tree.map_structure(lambda *ys: ops.stack(ys, axis=0), *outputs)
    return last, stacked if time_major else tree.map_structure(time_first, stacked), states


def fused(*args: Any, **kwargs: Any) -> Any:
    """Fused kernels of a backend: the layer has another way."""
    raise NotImplementedError


def not_fused(*args: Any, **kwargs: Any) -> bool:
    return False


CONTROL: dict[str, Callable[..., Any]] = {
    "core.cond": cond, "core.switch": switch, "core.map": map_over, "core.vectorized_map": vectorized_map,
    "core.scan": scan, "core.while_loop": while_loop, "core.fori_loop": fori_loop, "rnn.rnn": rnn, "rnn.lstm": fused,
    "rnn.gru": fused, "rnn.bidirectional_lstm": fused, "rnn.bidirectional_gru": fused, "rnn.cudnn_ok": not_fused,
}  # fmt: skip
"""Functions of the backend that are replaced whatever their arguments are: their closures may hold tensors."""

CONTROL_OPERATIONS = {"Cond", "Switch", "Map", "VectorizedMap", "Scan", "WhileLoop", "ForiLoop"}

"""The neutral vocabulary: every op a front end may emit, its inputs and attributes.

Axes are non-negative integers into the input's shape. ``x`` is data; ``w`` a weight operand; names in brackets may
be None. Sizes come from the shapes of the values. What is not in this table is emitted as ``opaque``.
"""

from __future__ import annotations

VOCABULARY: dict[str, str] = {
    # contractions with weights or other signals: rules/contract.py
    "linear": "(x, w, [bias]); w is (out, in); x contracts its last axis",
    "bilinear": "(x1, x2, w, [bias]); w is (out, in1, in2)",
    "einsum": "(*operands); equation",
    "weighted_sum": "(x, w); equation, factor: (x * w).sum(axes) or .mean(axes), which the core makes of a product "
    "and a sum (core/graph/rewrite.py)",
    "matmul": "(a, b); torch.matmul semantics (vectors, batches, broadcasting)",
    "conv": "(x, w, [bias]); stride, dilation: per spatial axis; padding: ((lo, hi), ...); groups; transposed: bool; "
    "pad_mode: 'zeros'; x_axes: (batch or None, channel, *spatial) of x and output; w_axes: (out, in, *spatial) of w "
    "(for transposed: w's own out and in per group)",
    "embedding": "(w, indices); w is (vocabulary, features); vocabulary: int; indices may be a constant",
    # mixtures of experts: rules/experts.py
    "grouped_linear": "(x, w); x is (rows, in), w (experts, in, out): every row meets one expert; chance: that two "
    "rows have the same one (None: 1/experts)",
    "chosen": "(*sources); a small tensor that is made of its sources by ops that choose (top-k and what follows): "
    "`run` does it on samples",
    # elementwise: rules/elementwise.py
    "elementwise": "(*operands, broadcast); fn: name in core.activations.FUNCTIONS; params: floats; "
    "scalars: {operand position: number} for operands that are plain numbers",
    "affine": "(x, scale, shift): scale and shift are constants that broadcast to x; rules/affine.py",
    # complex numbers and Fourier transforms: rules/complex.py
    "complex": "(x, [y]); kind: join (x + iy), pair (x has a last axis of two, which becomes one number), "
    "turn (times a number; factor: its real and imaginary part)",
    "complex_part": "(z); kind: real, imaginary, both (adds a last axis of two), modulus, angle",
    "fourier": "(x); axes; sizes: places per axis; made: coefficients per axis; scale",
    # softmax and attention: rules/attention.py
    "softmax": "(x); axis; log: bool",
    "attention": "(q, k, v, [mask]); (..., tokens, features); causal; scale; dropout; "
    "grouped: bool (fewer key/value heads)",
    # pooling and reductions: rules/pool.py
    "max_pool": "(x); axes; window; stride; padding: ((lo, hi), ...); dilation",
    "average_pool": "(x); axes; window; stride; padding; include_pad: bool",
    "lp_pool": "(x); axes; window; stride; power",
    "reduce": "(x); kind: mean sum max min prod var std norm logsumexp any all; axes; keepdim; power (norm); "
    "correction (var, std)",
    "cumulative": "(x); kind: sum prod max min; axis",
    # normalisation: rules/normalize.py
    "normalize": "(x, [scale], [shift], [running_mean], [running_var]); axes: averaged over; centre: bool; "
    "channel_axes: axes of scale and shift in x; eps; use_running: bool; groups: int (group norm: the channel axis "
    "is split in that many groups, `axes` then are the spatial ones); l2: bool (divide by the norm, not the rms)",
    "weight_norm": "(v, g); axis: the axis of g that is kept, or None",
    # randomness: rules/random.py
    "dropout": "(x); rate; shared: axes along which one mask value is shared; kind: inverted, alpha, raw",
    "noise": "(); shape in outputs; mean; variance (fresh i.i.d. values made inside the model)",
    # structure: rules/shape.py and rules/merge.py
    "identity": "(x)",
    "reshape": "(x); the output shape",
    "permute": "(x); perm",
    "expand": "(x); the output shape (size-1 axes stretched, leading axes added)",
    "repeat": "(x); repeats per output axis (tile), leading axes added",
    "slice": "(x); axis; start; stop; step",
    "select": "(x); axis; index",
    "split": "(x); axis; sizes",
    "unbind": "(x); axis",
    "concat": "(*xs); axis",
    "stack": "(*xs); axis",
    "pad": "(x); pads: ((lo, hi) per axis); mode: constant, reflect, replicate, circular; value",
    "interpolate": "(x); axes; mode: nearest, linear, cubic, area; (sizes from shapes); align_corners; matrices: "
    "{axis: (new, old) weights} where the framework's own are known",
    "gather": "(x, [indices]); axis; picks rows along one axis (index_select, take, advanced indexing with one index)",
    "shuffle": "(x): entries moved, law unchanged, same shape; moves: (('flip' or 'roll', axis, shift), ...); without: "
    "nobody knows where they go (sort)",
    "diagonal": "(x); axis1; axis2",
    "masked_fill": "(x, mask); value",
    "where": "(cond, a, b)",
    "write": "(base, update); fraction of the base's entries that are overwritten",
    "accumulate": "(base, update); axis; scale; rows of the update added to places of the base (index_add); pairs: "
    "E[n (n - 1)] and E[n n'] of the rows per place (None: at random); rules/scatter.py",
    "scatter": "(base, update); axis; kind: sum mean max min prod of the rows that go to a place, the base where none "
    "does; counts: rows per place (None: at random); include_self: the base counts too (sum, mean); rules/scatter.py",
    "triangle": "(x); lower: bool; diagonal (tril, triu)",
    "unfold": "(x); sliding windows: axis; size; step (adds a last axis)",
    "im2col": "(x); window; stride; padding; dilation (torch.nn.Unfold)",
    "col2im": "(x); the inverse (torch.nn.Fold); window; stride; padding; dilation",
    # recurrence: rules/recurrent.py
    "recurrent": "(x, *states, then per layer and direction: w_ih, w_hh, [b_ih], [b_hh], [w_hr]); kind: lstm gru tanh "
    "relu; layers; bidirectional; batch_first; has_bias; dropout; states: how many. If they differ from torch's: "
    "activation, gate: names of functions; gate_order: where each gate of `recurrent_cells` is in the weights; "
    "reset_after: bool; recurrent_dropout; forget_bias",
    # anything else: core/solve/no_rule.py
    "opaque": "(*operands): no rule; simulated with the real op or passed through, and reported; complex: which of the "
    "operands are",
}

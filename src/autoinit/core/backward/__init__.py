"""Gradients, predicted: the law of dL/dx of every tensor and of every parameter, from independent N(0, 1) gradients
at the model's outputs back through the graph.

A gradient is described as a signal is: mean 0, and K_g(S) = E[g_i g_j] for entries that differ exactly on S, with
profiles along axes. Ops have adjoints as they have rules (`autoinit.rules.adjoint`); this package has what these share.
"""

"""The parts of `benchmarks.jax_zoo`: public architectures of Flax, Equinox and Haiku."""

"""The parts of `benchmarks.jax_speed`."""

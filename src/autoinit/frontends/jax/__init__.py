"""The JAX front end: Flax, Equinox, Haiku and plain functions."""

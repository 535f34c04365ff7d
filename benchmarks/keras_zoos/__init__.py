"""The parts of `benchmarks.keras_zoo`."""

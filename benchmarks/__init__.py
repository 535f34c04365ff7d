"""Speed, fidelity and growth benchmarks; run them with ``python -m benchmarks.<name>``."""

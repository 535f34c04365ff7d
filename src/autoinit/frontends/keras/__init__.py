"""Keras 3, on its TensorFlow, JAX and PyTorch backends."""

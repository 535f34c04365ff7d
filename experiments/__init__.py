"""The paper's experiments on convolutional, residual and transformer networks: `python -m experiments list`."""

"""The PyTorch front end: walk any nn.Module on fake tensors, set and measure its parameters."""

"""Assembled networks in a framework: `networks.torch.build(genome)`, `networks.keras.build(genome)`."""

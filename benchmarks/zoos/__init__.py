"""Zoos of published architectures, and the machinery that plans and measures all of them."""

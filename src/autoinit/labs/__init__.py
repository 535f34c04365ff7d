"""Laboratories: larger pieces of research that are built on the public API, as any user would build them."""

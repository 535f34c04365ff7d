"""Attention as one op."""

"""Figures of searches for print, with matplotlib, and drawings of networks straight from their genomes."""

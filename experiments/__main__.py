"""`python -m experiments`."""

from experiments.command import app

app(prog_name="python -m experiments")

"""Discover activation functions from the command line: python -m autoinit.labs.pangaea --help"""

from .command import app

if __name__ == "__main__":
    app(prog_name="python -m autoinit.labs.pangaea")

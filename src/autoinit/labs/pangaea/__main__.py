"""Discover activation functions from the command line: python -m autoinit.labs.pangaea --help"""

from ..starting import start

if __name__ == "__main__":
    start("autoinit.labs.pangaea")

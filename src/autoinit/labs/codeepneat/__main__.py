"""Architecture search from the command line: python -m autoinit.labs.codeepneat --help"""

from .command import app

if __name__ == "__main__":
    app(prog_name="python -m autoinit.labs.codeepneat")

"""Architecture search from the command line: python -m autoinit.labs.codeepneat --help"""

from ..starting import start

if __name__ == "__main__":
    start("autoinit.labs.codeepneat")

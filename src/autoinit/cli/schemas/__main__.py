"""Write the files anew: python -m autoinit.cli.schemas"""

from ...core.files import replace_text
from . import KINDS, path_of, written

if __name__ == "__main__":
    for kind in KINDS:
        replace_text(path_of(kind), written(kind))

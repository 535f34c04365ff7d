"""``python -m autoinit.core.graph.specs > docs/ops.md``"""

from .page import page

if __name__ == "__main__":
    print(page(), end="")

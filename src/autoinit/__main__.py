"""python -m autoinit"""

from .cli import main

main()

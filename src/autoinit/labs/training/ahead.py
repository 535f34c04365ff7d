"""Batches that threads prepare while a step is computed."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from .batches import Batches


def prepared(batches: Batches, first: int, workers: int) -> Generator[Any, None, None]:
    """The batches from number `first` to the last, in order; the same ones with any number of workers.

    With 0 workers each is made when it is asked for. Threads help where images are decoded, resized and changed by
    Pillow, which lets others run meanwhile.
    """
    if workers == 0:
        yield from (batches[step] for step in range(first, batches.total))
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Any]] = deque()
        try:
            for step in range(first, batches.total):
                waiting.append(pool.submit(batches.__getitem__, step))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

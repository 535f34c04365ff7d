"""Plan a network whenever its name comes in, and answer with seconds of the processor: see `benchmarks.versions`.

It is run by itself in checkouts of other versions, so it uses only what all of them have.
"""

from __future__ import annotations

import gc
import sys
import time
import warnings

import autoinit
from benchmarks.models import MODELS
from benchmarks.trials import inputs_of

warnings.simplefilter("ignore")
made = {}
for line in sys.stdin:
    name = line.strip()
    if name not in made:
        made[name] = MODELS[name].build(), inputs_of(MODELS[name])
        autoinit.plan(*made[name])  # warm
    gc.collect()
    begin = time.process_time()
    autoinit.plan(*made[name])
    print(time.process_time() - begin, flush=True)

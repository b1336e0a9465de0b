"""Measuring time: competitors take turns, so that a busy machine is busy for all of them."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from typing import NamedTuple

#: Quick work is repeated within a turn until it has taken this long [s]: below the time slice of a
#: busy machine.
BATCH = 2e-3
#: Every competitor has at least five turns, and more where they are short: about this long [s] for
#: each.
TURNS, SPENT = 5, 0.15
LONG = 0.5  # [s]


class Cost(NamedTuple):
    """Seconds of one call, by the wall clock and by the processor's: the best turn of each."""

    wall: float
    cpu: float


def race(works: dict[str, Callable[[], object]], turns: int = TURNS) -> dict[str, Cost]:
    """The cost of each work, after a call that warms it up (work that takes long needs none)."""
    often, best, longest = {}, {}, BATCH
    for name, work in works.items():
        first = _turn(work, 1)
        long = first.wall > LONG
        once = first.wall if long else _turn(work, 1).wall
        often[name] = max(1, math.ceil(BATCH / max(once, 1e-9)))
        longest = max(longest, once)
        best[name] = first if long else Cost(math.inf, math.inf)
    collects = gc.isenabled()
    gc.disable()
    gc.freeze()  # what was there before is not looked through again at every turn
    try:
        for _ in range(max(turns, math.ceil(SPENT / longest))):
            for name, work in works.items():
                cost = _turn(work, often[name])
                best[name] = Cost(min(best[name].wall, cost.wall), min(best[name].cpu, cost.cpu))
            gc.collect()
    finally:
        gc.unfreeze()
        if collects:
            gc.enable()
    return best


def _turn(work: Callable[[], object], times: int) -> Cost:
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(times):
        work()
    return Cost((time.perf_counter() - wall) / times, (time.process_time() - cpu) / times)

"""The progress of a run: one line on the terminal, for long runs."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO, TypeVar

from quirkpy.explore.scope.choices import Count, Exploring
from quirkpy.motion.move import Progress
from quirkpy.parts.checks import show
from quirkpy.parts.part import PartError

T = TypeVar("T")
#: A run that is shorter than this [s] shows nothing; then the line is redrawn at intervals of at
#: least the second time [s].
PATIENCE, PAUSE = 2.0, 0.1
#: Formats for the time that a run has reached, and for the number of motions that were recomputed.
TIME, MOTIONS = "t = {t:.4g} of {end:.4g} s", "motion {t:.0f} of {end:.0f}"
#: Characters of the bar itself.
WIDTH = 24


def duration(seconds: float) -> str:
    """A time in words: "8 s", "3 min 20 s", "2 h 5 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def line(
    start: float, t: float, end: float, left: float | None, columns: int, words: str = TIME
) -> str:
    """The line at time t of a run from start to end [s], with the remaining waiting time `left`
    [s], if it is known."""
    done = min(1.0, max(0.0, (t - start) / (end - start))) if end > start else 1.0
    filled = int(done * WIDTH)
    bar = "#" * filled + "." * (WIDTH - filled)
    wait = "" if left is None else f", about {duration(left)} left"
    return f"[{bar}] {int(100.0 * done):3d} %, {words.format(t=t, end=end)}{wait}"[
        : max(0, columns - 1)
    ]


class Bar:
    """The line of one run, and when it was drawn; the remaining time is estimated from the rate
    since the first call."""

    def __init__(
        self, start: float, end: float, out: TextIO, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.start, self.end, self.out, self.clock = start, end, out, clock
        self.due = clock() + PATIENCE
        self.first: tuple[float, float] | None = None
        self.length = 0
        self.words = TIME

    def __call__(self, t: float) -> None:
        now = self.clock()
        if self.first is None:  # before, kernels may have been compiled
            self.first = t, now
        if now >= self.due:
            self.due = now + PAUSE
            columns = shutil.get_terminal_size().columns
            self.show(line(self.start, t, self.end, self._time_left(t, now), columns, self.words))

    def _time_left(self, t: float, now: float) -> float | None:
        t0, begun = self.first or (t, now)
        return (now - begun) * (self.end - t) / (t - t0) if t > t0 else None

    def show(self, text: str) -> None:
        """Overwrite the line; a terminal that has been closed does not stop a run."""
        with contextlib.suppress(OSError, ValueError):
            self.out.write("\r" + text.ljust(self.length))
            self.out.flush()
        self.length = len(text)

    def clear(self) -> None:
        """Clear the line."""
        if self.length:
            self.show("")
            self.show("")


def line_of_exploring(count: Count, seconds: float, columns: int) -> str:
    """The line for the progress of an exploration after some time."""
    pace = f", {count.runs / seconds:.3g} runs/s" if seconds > 0.0 and count.runs else ""
    words = (
        f"{count.nodes} nodes, {count.waiting} waiting, {count.edges} edges, {count.rejected} "
        f"rejected{pace}"
    )
    return words[: max(0, columns - 1)]


@contextlib.contextmanager
def show_exploring(progress: Exploring) -> Iterator[Callable[[Count], None]]:
    """A function that an exploration calls now and then, for a user's argument progress=."""
    if callable(progress):
        yield progress
    elif progress is None and sys.stderr is not None and sys.stderr.isatty():
        bar, begun = Bar(0.0, 0.0, sys.stderr), time.monotonic()

        def tell(count: Count) -> None:
            now = time.monotonic()
            if now >= bar.due:
                bar.due = now + PAUSE
                bar.show(line_of_exploring(count, now - begun, shutil.get_terminal_size().columns))

        try:
            yield tell
        finally:
            bar.clear()
    elif progress is None or progress is False:
        yield lambda count: None
    else:
        raise PartError(
            f"explore: progress is {show(progress)}, but must be a function of the count, False "
            "for silence, or None for a line on a terminal."
        )


def count_items(items: Iterable[T], total: int) -> Iterator[T]:
    """Iterate over motions, with a line on a terminal that shows their number."""
    bar = (
        Bar(0.0, float(total), sys.stderr)
        if sys.stderr is not None and sys.stderr.isatty()
        else None
    )
    for k, item in enumerate(items):
        if bar is not None:
            bar.words = MOTIONS
            bar(float(k))
        yield item
    if bar is not None:
        bar.clear()


def show_run(
    progress: Progress, start: float, end: float
) -> contextlib.AbstractContextManager[Callable[[float], None] | None]:
    """A function that a run from start to end [s] calls now and then, for a user's argument
    progress=."""
    if callable(progress):
        return contextlib.nullcontext(progress)
    if progress is None and sys.stderr is not None and sys.stderr.isatty():
        return show_bar(Bar(start, end, sys.stderr))
    if progress is None or progress is False:
        return contextlib.nullcontext()
    raise PartError(
        f"simulate: progress is {show(progress)}, but must be a function of the time reached, "
        "False for silence, "
        "or None for a bar on a terminal."
    )


@contextlib.contextmanager
def show_bar(bar: Bar) -> Iterator[Bar]:
    """A bar that is cleared at the end of the block."""
    try:
        yield bar
    finally:
        bar.clear()


@contextlib.contextmanager
def show_runs(progress: Progress, total: int) -> Iterator[Callable[[float], None]]:
    """A function that many runs call now and then with the number that are done, for a user's
    argument progress=."""
    with show_run(progress, 0.0, float(total)) as tell:
        if isinstance(tell, Bar):
            tell.words = MOTIONS
        yield (lambda done: None) if tell is None else tell

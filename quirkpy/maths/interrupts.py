"""Ctrl-C: who hears it, and whether one has come."""

from __future__ import annotations

import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeAlias

#: After this time [s] an interruption that was lost comes again.
RAISED_AFTER = 0.02
Handler: TypeAlias = Callable[[int, FrameType | None], Any]


class Listener:
    """A handler of Ctrl-C for a whole command: it raises KeyboardInterrupt as Python does, and
    remembers that Ctrl-C came, also where a run answered by ending early and its caller went on."""

    def __init__(self) -> None:
        self.heard = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.heard = True
        signal.default_int_handler(number, frame)


def listening() -> Handler | None:
    """What hears Ctrl-C in this thread, where that is Python itself or a `Listener`."""
    handler = signal.getsignal(signal.SIGINT)
    ours = handler is signal.default_int_handler or isinstance(handler, Listener)
    if not ours or threading.current_thread() is not threading.main_thread():
        return None
    return handler  # type: ignore[return-value]


@contextmanager
def remember() -> Iterator[None]:
    """A context in which `check` raises KeyboardInterrupt again after Ctrl-C: also where a run
    answered it by ending early, or where it was lost in a callback of compiled code, as numba loses
    it while it compiles.  Python does not complain of the latter; it is raised again shortly
    after."""
    before, complain = listening(), sys.unraisablehook
    if before is None or isinstance(before, Listener):  # nobody to listen, or it is done
        yield
        return

    again: list[threading.Timer] = []

    def unraisable(lost: Any) -> None:
        if isinstance(lost.exc_value, KeyboardInterrupt):
            again.append(threading.Timer(RAISED_AFTER, interrupt_main))
            again[-1].daemon = True
            again[-1].start()
        elif not heard():  # what an interruption has left half done may fail as it goes
            complain(lost)

    sys.unraisablehook = unraisable
    signal.signal(signal.SIGINT, Listener())
    try:
        yield
    finally:
        for timer in again:
            timer.cancel()
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = complain


def heard() -> bool:
    """Whether Ctrl-C has come since `remember` began."""
    handler = signal.getsignal(signal.SIGINT)
    return isinstance(handler, Listener) and handler.heard


def check() -> None:
    """Raise KeyboardInterrupt where one has been heard."""
    if heard():
        raise KeyboardInterrupt


def note(handler: Handler) -> None:
    """Tell a `Listener` that Ctrl-C came, without raising anything."""
    if isinstance(handler, Listener):
        handler.heard = True

"""Ctrl-C: its handlers, and whether it has been pressed."""

from __future__ import annotations

import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeAlias

#: An interruption that was lost is raised again after this time [s].
RAISED_AFTER = 0.02
Handler: TypeAlias = Callable[[int, FrameType | None], Any]


class Listener:
    """A handler of Ctrl-C for a whole command: it raises KeyboardInterrupt as Python does, and
    remembers that Ctrl-C was pressed, also where a run reacted by ending early and its caller
    continued."""

    def __init__(self) -> None:
        self.heard = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.heard = True
        signal.default_int_handler(number, frame)


def listening() -> Handler | None:
    """The handler of Ctrl-C in this thread, if that is Python's own or a `Listener`."""
    handler = signal.getsignal(signal.SIGINT)
    ours = handler is signal.default_int_handler or isinstance(handler, Listener)
    if not ours or threading.current_thread() is not threading.main_thread():
        return None
    return handler  # type: ignore[return-value]


@contextmanager
def remember() -> Iterator[None]:
    """A context in which `check` raises KeyboardInterrupt again after Ctrl-C: also where a run
    reacted by ending early, or where it was lost in a callback of compiled code, or in numba during
    compilation. Python's message about the latter is suppressed; it is raised again shortly
    after."""
    before, complain = listening(), sys.unraisablehook
    if before is None or isinstance(before, Listener):  # no handler, or there is a context already
        yield
        return

    again: list[threading.Timer] = []

    def unraisable(lost: Any) -> None:
        if isinstance(lost.exc_value, KeyboardInterrupt):
            again.append(threading.Timer(RAISED_AFTER, interrupt_main))
            again[-1].daemon = True
            again[-1].start()
        elif not heard():  # an interruption may leave objects that fail in their clean-up
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
    """Whether Ctrl-C has been pressed since `remember` began."""
    handler = signal.getsignal(signal.SIGINT)
    return isinstance(handler, Listener) and handler.heard


def check() -> None:
    """Raise KeyboardInterrupt if Ctrl-C has been pressed."""
    if heard():
        raise KeyboardInterrupt


def note(handler: Handler) -> None:
    """Tell a `Listener` that Ctrl-C was pressed, without raising anything."""
    if isinstance(handler, Listener):
        handler.heard = True

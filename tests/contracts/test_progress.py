"""The bar: what it says, when it is drawn, and that it leaves nothing behind."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any

import pytest

import quirkpy as qp
from quirkpy.kernels.base import compiled
from quirkpy.views import progress
from quirkpy.views.progress import MOTIONS, Bar, count_items, duration, line
from tests.faults.sentence import check_refused
from tests.motion import floating_chain


class Terminal(io.StringIO):
    """A terminal that can be read; `screen` is the line one would see."""

    def isatty(self) -> bool:
        return True

    @property
    def drawings(self) -> list[str]:
        return self.getvalue().split("\r")[1:]

    @property
    def screen(self) -> str:
        shown = ""
        for text in self.drawings:
            shown = text + shown[len(text) :]
        return shown


class Clock:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal whose user has no patience."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    monkeypatch.setattr(compiled.NOTICE, "given", True)
    return Terminal()


def on(out: Any, duration: float = 5.0, **options: Any) -> qp.Trajectory:
    """A run whose errors go there."""
    with contextlib.redirect_stderr(out):
        return floating_chain().simulate(duration, **{"step": 0.01} | options)


# --- what it says ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (200, "3 min 20 s"),
        (3599.7, "1 h 0 min"),
        (7500, "2 h 5 min"),
    ],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_motions_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is written where nobody looks."""
    assert (
        line(0.0, 5.0, 20.0, 75.0, 100, MOTIONS)
        == "[######..................]  25 %, motion 5 of 20, about 1 min 15 s left"
    )
    out = io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    assert list(count_items("abc", 3)) == ["a", "b", "c"]
    assert out.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    assert list(count_items("abc", 3)) == ["a", "b", "c"]
    assert "motion 0 of 3" in terminal.drawings[0]
    assert terminal.drawings[-1] == ""


def test_the_line() -> None:
    half = line(1.0, 2.0, 3.0, 75.0, 100)
    assert half == "[############............]  50 %, t = 2 of 3 s, about 1 min 15 s left"
    assert line(0.0, 0.0, 10.0, None, 100) == "[........................]   0 %, t = 0 of 10 s"
    assert line(0.0, 10.0, 10.0, 0.0, 100).startswith("[########################] 100 %")
    assert "99 %" in line(0.0, 9.9999, 10.0, 0.0, 100)
    assert "100 %" in line(1e20, 1e20, 1e20, None, 100)  # a span that rounding has swallowed


@pytest.mark.parametrize("columns", [0, 1, 20, 40])
def test_the_line_fits(columns: int) -> None:
    assert len(line(0.0, 1.0, 3.0, 75.0, columns)) == max(0, columns - 1)


# --- when it is drawn -----------------------------------------------------------------------------
def test_short_runs_show_nothing() -> None:
    out, clock = Terminal(), Clock()
    bar = Bar(0.0, 10.0, out, clock)
    for k in range(19):
        clock.now += 0.1
        bar(0.5 * k)
    bar.clear()
    assert out.getvalue() == ""


def test_at_most_ten_times_a_second() -> None:
    out, clock = Terminal(), Clock()
    bar = Bar(0.0, 10.0, out, clock)
    for k in range(500):
        clock.now += 0.01
        bar(0.02 * k)
    assert 25 <= len(out.drawings) <= 31


def test_time_left_follows_from_the_pace_since_the_first_call() -> None:
    """Half a minute in which kernels are compiled says nothing of the run."""
    out, clock = Terminal(), Clock()
    bar = Bar(0.0, 10.0, out, clock)
    clock.now += 30.0
    bar(1.0)
    assert "left" not in out.screen
    clock.now += 3.0
    bar(2.0)
    assert "about 24 s left" in out.screen


def test_a_shorter_line_covers_a_longer_one(terminal: Terminal) -> None:
    bar = Bar(0.0, 10.0, terminal)
    bar.show("long line")
    bar.show("short")
    assert terminal.screen == "short    "
    bar.clear()
    assert terminal.screen.strip() == ""
    assert terminal.getvalue().endswith("\r")


def test_a_terminal_that_has_gone_away_stops_no_run(terminal: Terminal) -> None:
    bar = Bar(0.0, 10.0, terminal)
    terminal.close()
    bar(1.0)
    bar.clear()


# --- runs -----------------------------------------------------------------------------------------
def test_a_run_on_a_terminal_shows_it_and_takes_it_away(terminal: Terminal) -> None:
    on(terminal)
    assert any(" 51 %, t = 2.56 of 5 s" in text for text in terminal.drawings)
    assert any("100 %, t = 5 of 5 s" in text for text in terminal.drawings)
    assert terminal.screen.strip() == ""


def test_time_counts_from_where_the_run_began(terminal: Terminal) -> None:
    system = floating_chain()
    late = system.at(system.initial.replace(t=100.0))
    with contextlib.redirect_stderr(terminal):
        late.simulate(5.0, step=0.01)
    assert any(" 51 %, t = 102.6 of 105 s" in text for text in terminal.drawings)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_it_is_taken_away_whatever_ends_the_run(
    error: type[BaseException], terminal: Terminal
) -> None:
    def fail(state: qp.State) -> float:
        if state.t > 3.0:
            raise error
        return 1.0

    try:
        run = on(terminal, stop=[qp.When("fail", fail)])
    except ZeroDivisionError as caught:
        run = caught.trajectory  # type: ignore[attr-defined]
    assert run.stop in (qp.Stop.INTERRUPTED, qp.Stop.FAILED)
    assert any("51 %" in text for text in terminal.drawings)
    assert terminal.screen.strip() == ""


def test_nothing_where_there_is_no_terminal(terminal: Terminal) -> None:
    plain = io.StringIO()
    for out in (plain, None):
        on(out)
    assert plain.getvalue() == ""


def test_it_can_be_switched_off_or_replaced(terminal: Terminal) -> None:
    times: list[float] = []
    on(terminal, progress=False)
    run = on(terminal, progress=times.append)
    assert terminal.getvalue() == ""
    assert times[-1] == run.t[-1]


def test_the_run_is_the_same_to_the_bit(terminal: Terminal) -> None:
    shown, silent = on(terminal, step=None), on(terminal, step=None, progress=False)
    assert terminal.getvalue()
    assert shown.final == silent.final
    assert shown.counts == silent.counts


@pytest.mark.parametrize("given", [True, 3, "bar"])
def test_other_things_are_refused(given: Any) -> None:
    words = ("but must be a function", "False for silence")
    check_refused(
        lambda: floating_chain().simulate(1.0, progress=given), f"progress is {given!r}", words
    )


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals of this kind here")
def test_a_real_terminal() -> None:
    reader, writer = os.openpty()
    with os.fdopen(reader, "rb", 0) as screen, os.fdopen(writer, "w") as out:
        bar = Bar(0.0, 10.0, out)
        bar.due = 0.0
        bar(5.0)
        assert screen.read(60).startswith(b"\r[############............]  50 %")
        bar.clear()

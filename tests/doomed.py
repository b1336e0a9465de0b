"""Explorations in processes that tests kill: children of one that has imported everything and
loaded its kernels."""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

import quirkpy as qp

ROOT = Path(__file__).resolve().parents[1]


@cache
def mother() -> subprocess.Popen[bytes]:
    """She hears until this process ends; what the killed leave behind is complained about to
    nobody."""
    words, pipe = [sys.executable, "-m", "tests.mother"], subprocess.PIPE
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    made = subprocess.Popen(
        words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=ROOT, env=environment
    )
    atexit.register(made.communicate)
    return made


def exploring(make: Callable[[], qp.Study], path: Path, workers: int) -> int:
    """The number of a process that explores a study into a journal."""
    one = mother()
    assert one.stdin is not None
    assert one.stdout is not None
    one.stdin.write(pickle.dumps((make, path, workers)))
    one.stdin.flush()
    return int(one.stdout.readline())


def killed(pid: int) -> None:
    """Kill -9, and wait until it is gone."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        while True:
            os.kill(pid, 0)
            time.sleep(0.005)


def runs_in(path: Path) -> int:
    """How many runs are finished in a journal."""
    if not path.is_file():
        return 0
    with closing(sqlite3.connect(path, timeout=30.0)) as base:
        try:
            return int(base.execute("SELECT COUNT(*) FROM runs").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def wait_for(path: Path, runs: int) -> None:
    """Until so many runs are finished."""
    end = time.monotonic() + 120.0
    while runs_in(path) < runs:
        assert time.monotonic() < end
        time.sleep(0.02)

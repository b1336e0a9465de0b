"""Explorations in processes that tests kill: children of one that has imported everything and loaded its kernels."""

from __future__ import annotations

import os
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from unittest import mock

import quirkpy as qp

ROOT = Path(__file__).resolve().parents[1]
MOTHER = get_context("forkserver")
MOTHER.set_forkserver_preload(["tests.warm"])


def exploring(make: Callable[[], qp.Study], path: Path, workers: int) -> BaseProcess:
    """A process of its own that has begun to explore a study into a journal."""
    process = MOTHER.Process(target=explore, args=(make, path, workers))
    with mock.patch.dict(os.environ, PYTHONPATH=str(ROOT)):
        process.start()
    return process


def explore(make: Callable[[], qp.Study], path: Path, workers: int) -> None:
    make().explore(path, workers=workers, progress=False)


def killed(process: BaseProcess) -> None:
    """Kill -9, and wait until it is dead."""
    process.kill()
    process.join()

"""Settings for all tests: one thread for linear algebra, and the same random examples each time."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from tests.browser import opened

settings.register_profile("quirkpy", derandomize=True, deadline=None)
settings.load_profile("quirkpy")

# Read when NumPy is first imported: threads that share out small matrices only get into the way of
# parallel tests.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


# Some tests press Ctrl-C, which a shell shuts off for all that it starts in the background.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long proofs are not watched for what they cover: that takes half as long again, and the short
    ones go the same ways."""
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker("no_cover")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for all tests of a module: while it is open, no other test can run a loop of
    asyncio."""
    yield from opened()

"""A real browser for tests of pages and windows, without a display: Chromium, driven by
Playwright."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
#: Without a graphics card, and speaking to nobody.
FLAGS = [
    "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic",
    "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
]  # fmt: skip
#: How long a test waits for anything at most [ms]: a busy machine draws slowly.
PATIENCE = 120_000
#: What tests in a browser are: long, and all in one process, one after the other.
MARKS = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium here; on Debian: apt-get install chromium"
    ),
]
OUT = Path(__file__).resolve().parents[1] / "out"


def in_a_browser(test: Any) -> Any:
    """A test with all marks of those in a browser."""
    for mark in MARKS:
        test = mark(test)
    return test


def opened() -> Iterator[Any]:
    """A browser for as long as it takes."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=PATIENCE)
        yield browser
        browser.close()


def kept(page: Any, name: str, whole: bool = False) -> Any:
    """A picture of a page (height, width, 3), which is left in out/ for people to look at."""
    place = OUT / f"{name}.png"
    place.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(place), full_page=whole, timeout=PATIENCE)
    return pixels(place.read_bytes())


def pixels(png: bytes) -> Any:
    """A picture as shares of red, green and blue (height, width, 3)."""
    from matplotlib.image import imread

    return imread(io.BytesIO(png))[:, :, :3]

"""What the beginning costs, in processes of their own: import, first simulation, memory of a long run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.tables import Measured, Sheet

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = "import numpy, scipy.linalg, quaternion"
FIRST = """
import time; begin = time.perf_counter()
import quirkpy
imported = time.perf_counter()
from benchmarks import cubes
system = cubes.build()
system.simulate(1.0)
print(imported - begin, time.perf_counter() - imported)
"""
MEMORY = r"""
import json, pathlib, re, resource, time
from benchmarks import trees
def peak():
    status = pathlib.Path("/proc/self/status")
    if status.is_file():  # on Linux ru_maxrss begins with what the parent had used
        return int(re.search(r"VmHWM:\s*(\d+)", status.read_text())[1]) / 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1048576.0
trees.system(trees.ball_chain(2)).simulate(0.1)
before = peak()
system = trees.system(trees.ball_chain({links}))
begin = time.perf_counter()
run = system.simulate({duration}, keep={keep!r})
print(json.dumps([before, peak(), time.perf_counter() - begin, len(run.t), run.counts.steps, run.counts.evaluations]))
"""


def process(code: str, **variables: str) -> str:
    """What a fresh interpreter prints; its errors are ours."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def seconds_of(statement: str) -> float:
    """Wall time of a statement in a fresh interpreter."""
    clock = f"import time; begin = time.perf_counter()\n{statement}\nprint(time.perf_counter() - begin)"
    return float(process(clock))


def measure(quick: bool) -> Measured:
    """The sheet; cold means an empty cache of machine code, and is left out of a quick run."""
    turns = 3 if quick else 5
    pairs = [(seconds_of(LIBRARIES), seconds_of("import quirkpy")) for _ in range(turns)]
    libraries, package = (min(column) for column in zip(*pairs))
    process(FIRST)
    warm = min(_first()[1] for _ in range(turns))
    figures = {"import": package / libraries, "first run, warm": warm}
    rows: list[list[object]] = [
        [f"`{LIBRARIES}`", f"{libraries:.2f} s", ""],
        ["`import quirkpy`", f"{package:.2f} s", f"{package / libraries:.2f} x"],
        ["first simulation, machine code in the cache", f"{warm:.2f} s", "after the import"],
    ]
    if not quick:
        with tempfile.TemporaryDirectory() as folder:
            cold = sum(_first(NUMBA_CACHE_DIR=folder))
        figures["first run, cold"] = cold
        rows.append(["first simulation, empty cache", f"{cold:.1f} s", "import included; once for a version"])
    for keep in ("all", "ends"):
        rows.append(_memory(64 if quick else 512, 2.0 if quick else 10.0, keep, figures))
    return Measured([Sheet("Beginning, and memory", ["what", "measured", "note"], rows)], figures)


def _first(**variables: str) -> list[float]:
    """Seconds to import, and from there to the end of the first simulation."""
    return [float(word) for word in process(FIRST, **variables).split()]


def _memory(links: int, duration: float, keep: str, figures: dict[str, float]) -> list[object]:
    text = process(MEMORY.format(links=links, duration=duration, keep=keep))
    before, peak, seconds, stored, steps, evaluations = json.loads(text)
    figures[f"memory {links}, {keep}"] = peak
    note = f"{before:.0f} MB before; {stored} states kept, {steps} steps, {evaluations} evaluations, {seconds:.1f} s"
    return [f"memory, ball chain {links}, {duration:g} s, keep={keep!r}", f"{peak:.0f} MB", note]

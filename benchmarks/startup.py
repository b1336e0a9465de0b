"""What the beginning costs, in processes of their own: import, first simulation, memory of a long
run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.tables import Measured, Sheet

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = "import numpy, scipy.linalg, quaternion"
#: Names are imported when they are first used.
PACKAGE = "import quirkpy; quirkpy.Multibody"
FIRST = """
import time; begin = time.perf_counter()
import quirkpy
imported = time.perf_counter()
from benchmarks import cubes
system = cubes.build()
system.simulate(1.0)
print(imported - begin, time.perf_counter() - imported)
"""
WARM = "import sys; from quirkpy.cli import main; sys.exit(main(['warm', '--json', *{words}]))"
STUDY = "demos/cubesat_pair.py"
#: What is unpacked of a wheel, and the demos; nothing compiled comes along.
UNPACKED, RUBBISH = ("quirkpy", "benchmarks", "demos"), ("__pycache__", "machine_code")
EXPLORES = """
import time; begin = time.perf_counter()
import quirkpy
from demos.cubesat_pair import study
graph = study.explore(progress=False)
assert len(graph.nodes) == 2
print(time.perf_counter() - begin)
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
seconds, counts = time.perf_counter() - begin, run.counts
print(json.dumps([before, peak(), seconds, len(run.t), counts.steps, counts.evaluations]))
"""


def process(code: str, cwd: Path = ROOT, **variables: str) -> tuple[str, str]:
    """What a fresh interpreter prints, and what it says beside; its errors are ours."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout, done.stderr


def seconds_of(statement: str) -> float:
    """Wall time of a statement in a fresh interpreter."""
    clock = (
        f"import time; begin = time.perf_counter()\n{statement}\nprint(time.perf_counter() - begin)"
    )
    return float(process(clock)[0])


def measure(quick: bool) -> Measured:
    """The sheet; cold means an empty cache of machine code, and is left out of a quick run."""
    turns = 3 if quick else 5
    pairs = [(seconds_of(LIBRARIES), seconds_of(PACKAGE)) for _ in range(turns)]
    libraries, package = (min(column) for column in zip(*pairs))
    process(FIRST)
    warm = min(sum(_first()[0]) for _ in range(turns))
    figures = {"import": package / libraries, "first run, warm": warm}
    rows: list[list[object]] = [
        [f"`{LIBRARIES}`", f"{libraries:.2f} s", ""],
        [f"`{PACKAGE}`", f"{package:.2f} s", f"{package / libraries:.2f} x"],
        ["first simulation, machine code in the cache", f"{warm:.2f} s", "import included"],
    ]
    if not quick:
        with tempfile.TemporaryDirectory() as folder:
            seconds, said = _first(NUMBA_CACHE_DIR=folder)
        figures["first run, cold"], figures["lines, cold"] = (
            sum(seconds),
            float(said.count("compiling its kernels")),
        )
        note = (
            "import included; once for a version; says: "
            f"{said.partition(';')[0].strip() or 'nothing'}"
        )
        rows.append(["first simulation, empty cache", f"{sum(seconds):.1f} s", note])
        rows.append(_kernels("`quirkpy warm`, empty cache", [])[0])
        row, figures["kernels of a study"] = _kernels(f"`quirkpy warm {STUDY}`, the same", [STUDY])
        rows += [row, *_wheel(figures)]
    for keep in ("all", "ends"):
        rows.append(_memory(64 if quick else 512, 2.0 if quick else 10.0, keep, figures))
    return Measured([Sheet("Beginning, and memory", ["what", "measured", "note"], rows)], figures)


def _kernels(what: str, words: list[str]) -> tuple[list[object], float]:
    """A row, and the time in which two processes compile kernels from nothing [s]."""
    with tempfile.TemporaryDirectory() as folder:
        done = json.loads(process(WARM.format(words=words), NUMBA_CACHE_DIR=folder)[0])
    note = f"{len(done['ready'])} kernels, {done['compiled']} functions"
    return [what, f"{done['seconds']:.1f} s", note], done["seconds"]


def _wheel(figures: dict[str, float]) -> list[list[object]]:
    """What a wheel with machine code needs for the first answers, the package unpacked in another
    folder, with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        place, empty = Path(folder) / "unpacked", str(Path(folder) / "empty")
        for name in UNPACKED:
            shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns(*RUBBISH))
        process(WARM.format(words=["--into", str(place / "quirkpy" / "machine_code")]))
        seconds, said = _first(place, NUMBA_CACHE_DIR=empty)
        explored, words = process(EXPLORES, place, NUMBA_CACHE_DIR=empty)
    assert not said + words, said + words
    figures |= {"first run, wheel": sum(seconds), "first exploration, wheel": float(explored)}
    names = ("first simulation, wheel", "first exploration, wheel")
    return [[name, f"{figures[name.replace('simulation', 'run')]:.2f} s",
             "import included; the code is that of the wheel"] for name in names]  # fmt: skip


def _first(cwd: Path = ROOT, **variables: str) -> tuple[list[float], str]:
    """Seconds to import, and from there to the end of the first simulation; and what was said
    meanwhile."""
    printed, said = process(FIRST, cwd, **variables)
    return [float(word) for word in printed.split()], said


def _memory(links: int, duration: float, keep: str, figures: dict[str, float]) -> list[object]:
    text = process(MEMORY.format(links=links, duration=duration, keep=keep))[0]
    before, peak, seconds, stored, steps, evaluations = json.loads(text)
    figures[f"memory {links}, {keep}"] = peak
    note = (
        f"{before:.0f} MB before; {stored} states kept, {steps} steps, {evaluations} evaluations, "
        f"{seconds:.1f} s"
    )
    return [f"memory, ball chain {links}, {duration:g} s, keep={keep!r}", f"{peak:.0f} MB", note]

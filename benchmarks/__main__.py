"""Speed, side by side with other programs: ``python -m benchmarks [sections] [--quick] [--out DIR]``.

Sections: evaluation, precision, four-bars, cubes, own-forces, settling, exploring, startup, references; without any,
all.  --out writes the tables into DIR/benchmarks.md, between its two marks where the page exists, and the plot beside
it.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import time
from collections.abc import Callable
from pathlib import Path

import quirkpy
from benchmarks import (
    cubes,
    evaluation,
    evaluators,
    exploring,
    fourbars,
    own_forces,
    peers,
    precision,
    settling,
    startup,
    targets,
)
from benchmarks.tables import Measured, Sheet

SECTIONS: dict[str, Callable[[bool, Path | None], Measured]] = {
    "evaluation": lambda quick, out: evaluation.measure(quick),
    "precision": precision.measure,
    "four-bars": lambda quick, out: fourbars.measure(quick),
    "cubes": lambda quick, out: cubes.measure(quick),
    "own-forces": lambda quick, out: own_forces.measure(quick),
    "settling": lambda quick, out: settling.measure(quick),
    "exploring": lambda quick, out: exploring.measure(quick),
    "startup": lambda quick, out: startup.measure(quick),
    "references": lambda quick, out: evaluators.measure(quick),
}
BEGIN, END = "<!-- measured: from here on written by python -m benchmarks -->", "<!-- measured: up to here -->"


def machine() -> str:
    """What it was measured on, and how busy that was."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        found = re.search(r"model name\s*:\s*(.*)", cpuinfo.read_text())
        model = found[1] if found else model
    versions = ", ".join(f"{name} {version}" for name, version in peers.versions().items())
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return (
        f"{model}, {os.cpu_count()} cores, one thread for each program; Python {platform.python_version()}, "
        f"quirkpy {quirkpy.__version__}, {versions}. Load of the machine (1 min average): {load}"
    )


def write(text: str, path: Path) -> None:
    """The page: what stands outside the marks is kept."""
    page = path.read_text(encoding="utf-8") if path.is_file() else f"# Benchmarks\n\n{BEGIN}\n{END}\n"
    if BEGIN not in page or END not in page:
        raise SystemExit(f"{path} does not hold the lines {BEGIN!r} and {END!r}; put them where the tables belong.")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n")[0])
    parser.add_argument("sections", nargs="*", help=f"some of {', '.join(SECTIONS)}")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and settings, within three minutes")
    parser.add_argument("--out", type=Path, help="folder for benchmarks.md and the plot")
    given = parser.parse_args(words)
    unknown = set(given.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"there is no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
    lines, begin = [f"{machine()} at the start"], time.perf_counter()
    if peers.absent():
        lines.append(peers.absent())
    print("\n".join(lines), end="\n\n", flush=True)
    sheets: list[Sheet] = []
    figures: dict[str, float] = {}
    for name in given.sections or SECTIONS:
        found = SECTIONS[name](given.quick, given.out)
        figures.update(found.figures)
        sheets += found.sheets
        print("\n\n".join(sheet.text() for sheet in found.sheets), end="\n\n", flush=True)
    judged = targets.sheet(figures, everything=not given.sections)
    load = f", {os.getloadavg()[0]:.1f} at the end" if hasattr(os, "getloadavg") else ""
    lines[0] += f"{load}; {time.perf_counter() - begin:.0f} s in all."
    print(judged.text(), lines[0], sep="\n\n")
    if given.out:
        write("\n\n".join([*lines, *(sheet.markdown() for sheet in [judged, *sheets])]), given.out / "benchmarks.md")


if __name__ == "__main__":
    main()

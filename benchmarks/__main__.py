"""Speed, side by side with other programs: ``python -m benchmarks [sections] [--quick] [--out
DIR]``.

Sections: evaluation, precision, four-bars, sheets, cubes, many, controllers, laws, own-forces,
flexible, settling, exploring, growth, mission, reductions, robustness, scheduling, startup,
references; without any, all. --out writes the tables into DIR/benchmarks.md, between its two marks
where the page exists, and the plots beside it; with some sections, only their tables and
targets."""

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
    controllers,
    cubes,
    evaluation,
    evaluators,
    exploring,
    flexible,
    folding,
    fourbars,
    growth,
    laws,
    many,
    mission,
    own_forces,
    peers,
    precision,
    reductions,
    robustness,
    scheduling,
    settling,
    startup,
    targets,
)
from benchmarks.tables import Measured, Sheet

SECTIONS: dict[str, Callable[[bool, Path | None], Measured]] = {
    "evaluation": lambda quick, out: evaluation.measure(quick),
    "precision": precision.measure,
    "four-bars": lambda quick, out: fourbars.measure(quick),
    "sheets": lambda quick, out: folding.measure(quick),
    "cubes": lambda quick, out: cubes.measure(quick),
    "many": lambda quick, out: many.measure(quick),
    "controllers": lambda quick, out: controllers.measure(quick),
    "laws": lambda quick, out: laws.measure(quick),
    "own-forces": lambda quick, out: own_forces.measure(quick),
    "flexible": lambda quick, out: flexible.measure(quick),
    "settling": lambda quick, out: settling.measure(quick),
    "exploring": lambda quick, out: exploring.measure(quick),
    "growth": growth.measure,
    "mission": lambda quick, out: mission.measure(quick),
    "reductions": lambda quick, out: reductions.measure(quick),
    "robustness": lambda quick, out: robustness.measure(quick),
    "scheduling": lambda quick, out: scheduling.measure(quick),
    "startup": lambda quick, out: startup.measure(quick),
    "references": lambda quick, out: evaluators.measure(quick),
}
HEADING = "### "
BEGIN, END = (
    "<!-- measured: from here on written by python -m benchmarks -->",
    "<!-- measured: up to here -->",
)


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
        f"{model}, {os.cpu_count()} cores, one thread for each program; Python "
        f"{platform.python_version()}, "
        f"quirkpy {quirkpy.__version__}, {versions}. Load of the machine (1 min average): {load}"
    )


def write(head: list[str], sheets: list[Sheet], path: Path, everything: bool) -> None:
    """The page: what stands outside the marks is kept; so are, where not everything was measured,
    other tables."""
    page = (
        path.read_text(encoding="utf-8") if path.is_file() else f"# Benchmarks\n\n{BEGIN}\n{END}\n"
    )
    if BEGIN not in page or END not in page:
        raise SystemExit(
            f"{path} does not hold the lines {BEGIN!r} and {END!r}; put them where the tables "
            "belong."
        )
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    old = page[len(before) + len(BEGIN) : len(page) - len(after) - len(END)].strip()
    text = "\n\n".join([*head, *(sheet.markdown() for sheet in sheets)])
    if HEADING in old and not everything:
        text = renewed(old, [sheet._replace(remarks=[*sheet.remarks, *head]) for sheet in sheets])
    path.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def renewed(old: str, sheets: list[Sheet]) -> str:
    """Measured tables, some of which were measured anew; of the targets, the first, those lines
    that were."""
    blocks = re.split(f"(?m)^(?={re.escape(HEADING)})", old)
    known = {block.partition("\n")[0]: block.strip() for block in blocks}
    targets, *others = sheets
    for words, line in (
        (str(row[0]), targets._replace(rows=[row]).lines()[-1]) for row in targets.rows
    ):
        title = HEADING + targets.title
        lines = known[title].split("\n")
        place = next((k for k, text in enumerate(lines) if text.startswith(f"| {words} |")), None)
        lines[
            place if place is not None else len(lines) : len(lines) if place is None else place + 1
        ] = [line]
        known[title] = "\n".join(lines)
    known |= {HEADING + sheet.title: sheet.markdown() for sheet in others}
    return "\n\n".join(known.values())


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.split("\n")[0]
    )
    parser.add_argument("sections", nargs="*", help=f"some of {', '.join(SECTIONS)}")
    parser.add_argument(
        "--quick", action="store_true", help="fewer sizes and settings, within three minutes"
    )
    parser.add_argument("--out", type=Path, help="folder for benchmarks.md and the plot")
    given = parser.parse_args(words)
    unknown = set(given.sections) - set(SECTIONS)
    if unknown:
        parser.error(
            f"there is no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}"
        )
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
        write(lines, [judged, *sheets], given.out / "benchmarks.md", not given.sections)


if __name__ == "__main__":
    main()

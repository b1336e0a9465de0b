"""Error against time: the same motion at several tolerances and steps, by every program that can
express it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import peers, trees
from benchmarks.tables import Measured, Sheet
from benchmarks.timing import Cost, race
from quirkpy import PartError
from quirkpy.views.drawing import DASHES, LINES, Drawing, blank, style

#: What the programs are compared at [m].
WANTED = 1e-8
OURS = {
    "quirkpy dop853": ("dop853", (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)),
    "quirkpy rk45": ("rk45", (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)),
}


#: For chains of all lengths: number of links; the setting of each method; the longest chain that a
#: peer is given: beyond, it takes minutes, or more memory than there is.
LENGTHS = (2, 8, 32, 128, 512)
USUAL = {
    "quirkpy dop853": 1e-9,
    "MuJoCo RK4": 1e-3,
    "Pinocchio + SciPy DOP853": 1e-9,
    "Exudyn RK67": 5e-3,
}
LONGEST = {
    "ball chain": {"MuJoCo": 32, "Pinocchio": 32, "Exudyn": 0, "Drake": 8, "PyBullet": 8},
    "hinge chain": {"MuJoCo": 32, "Pinocchio": 32, "Exudyn": 32, "Drake": 8, "PyBullet": 8},
}


#: Of the methods in turn, so that they remain apart without colours.
MARKERS = "osD^vPX*"


class Motion(NamedTuple):
    """A tree, how long it moves [s], and where its watched point is then."""

    tree: trees.Tree
    duration: float
    truth: tuple[float, ...]


class Point(NamedTuple):
    """A method at one of its settings."""

    method: str
    setting: float
    error: float
    cost: Cost


def _tumbled() -> tuple[float, ...]:
    """The x axis of the free body at 100 s, from its quaternion in closed form (elliptic functions,
    40 digits)."""
    w, x, y, z = (
        0.24188772431237832,
        0.031691645443719024,
        -0.9548765131498109,
        -0.16940133727603074,
    )
    return w * w + x * x - y * y - z * z, 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)


def motions() -> tuple[Motion, ...]:
    """The tips of the chains: from runs of quirkpy and of SciPy around Pinocchio at the tightest
    tolerances."""
    return (
        Motion(
            trees.ball_chain(8), 5.0, (-6.46661930312065, 4.303127178467408, -1.1481616601243552)
        ),
        Motion(trees.hinge_chain(8), 5.0, (-3.0896025569049, 3.6507262953998, -2.5784157352358)),
        Motion(trees.free_body(), 100.0, _tumbled()),
    )


def candidates(motion: Motion) -> Iterator[tuple[str, float, Callable[[], np.ndarray]]]:
    """method, setting, run: ours, then the peers'."""
    system = trees.system(motion.tree)
    for name, (method, tolerances) in OURS.items():
        for rtol in tolerances:

            def run(method: str = method, rtol: float = rtol) -> np.ndarray:
                done = system.simulate(
                    motion.duration, rtol=rtol, atol=rtol, method=method, keep="ends"
                )
                return trees.tip(motion.tree, done.final)

            yield name, rtol, run
    longest = LONGEST.get(motion.tree.name, {})
    for program, peer in peers.present().items():
        if len(motion.tree.links) > longest.get(program, len(motion.tree.links)):
            continue
        for name, (settings, prepare) in peer.runs(motion.tree, motion.duration).items():
            for setting in settings:
                yield name, setting, prepare(setting)


def points(motion: Motion, quick: bool) -> list[Point]:
    """Every candidate, measured: in turns, all of one motion together."""
    runs = {}
    for name, setting, run in candidates(motion):
        runs[name, setting] = run
    if quick:
        runs = dict(list(runs.items())[::2])
    errors = {which: float(np.linalg.norm(run() - motion.truth)) for which, run in runs.items()}
    named = {f"{name} {setting!r}": run for (name, setting), run in runs.items()}
    costs = race(named, turns=3 if quick else 5)
    return [Point(*which, errors[which], costs[f"{which[0]} {which[1]!r}"]) for which in runs]


def time_to(error: float, line: list[Point]) -> float | None:
    """Seconds by the wall in which a method reaches an error: between its settings on the
    logarithmic scales."""
    line = [
        p
        for p in sorted(line, key=lambda p: p.cost.wall)
        if math.isfinite(p.error) and p.error > 0.0
    ]
    for one, two in itertools.pairwise(line):
        if one.error > error >= two.error:
            x = math.log(one.error / error) / math.log(one.error / two.error)
            return math.exp((1.0 - x) * math.log(one.cost.wall) + x * math.log(two.cost.wall))
    return line[0].cost.wall if line and line[0].error <= error else None


def by_method(measured: list[Point]) -> dict[str, list[Point]]:
    out: dict[str, list[Point]] = {}
    for point in measured:
        out.setdefault(point.method, []).append(point)
    return out


def measure(quick: bool, out: Path | None = None) -> Measured:
    """Tables, the ratios at WANTED, and the plot where there is a folder for it."""
    sheets, figures, lines = [], {}, {}
    for motion in motions():
        name = motion.tree.name
        found = by_method(points(motion, quick))
        lines[f"{name}, {motion.duration:g} s"] = found
        rows = [
            [p.method, f"{p.setting:g}", p.error, 1e3 * p.cost.wall, 1e3 * p.cost.cpu]
            for line in found.values()
            for p in line
        ]
        reach = {method: time_to(WANTED, line) for method, line in found.items()}
        ours = min((t for m, t in reach.items() if t and m.startswith("quirkpy")), default=None)
        remarks = []
        for method, seconds in reach.items():
            if seconds and ours and not method.startswith("quirkpy"):
                figures[f"{name}: {method}"] = seconds / ours
            if seconds and ours:
                remarks.append(f"{method} {1e3 * seconds:.3g} ms ({seconds / ours:.3g} x)")
        words = f"To {WANTED:g} m, and over the fastest way of quirkpy: {', '.join(remarks)}."
        heads = ["method", "tolerance or step [s]", "error m", "wall ms", "CPU ms"]
        sheets.append(
            Sheet(f"Work and precision: {name}, {motion.duration:g} s", heads, rows, [words])
        )
        others = [figures[f"{name}: {m}"] for m in reach if f"{name}: {m}" in figures]
        if others:
            figures[f"{name}: the best of all peers"] = min(others)
        figures[f"{name}: best error"] = min(p.error for p in found["quirkpy dop853"])
    if out is not None:
        plot(lines, out / "work-precision.png")
    return Measured([*sheets, lengths(quick)], figures)


def lengths(quick: bool) -> Sheet:
    """Chains from two links to 512: one setting of each program."""
    rows: list[list[object]] = []
    for build, links in itertools.product(
        (trees.ball_chain, trees.hinge_chain), LENGTHS[:2] if quick else LENGTHS
    ):
        motion = Motion(build(links), 5.0 if links <= 8 else 1.0, (0.0, 0.0, 0.0))
        runs = {
            method: run
            for method, setting, run in candidates(motion)
            if setting == USUAL.get(method)
        }
        system = trees.system(motion.tree)
        fine = system.simulate(
            motion.duration, rtol=1e-12, atol=1e-13, method="rk45", keep="ends"
        ).final
        truth = trees.tip(motion.tree, fine)
        errors = {method: float(np.linalg.norm(run() - truth)) for method, run in runs.items()}
        costs = race(runs, turns=3 if quick else 5)
        for method, cost in costs.items():
            ratio = cost.wall / costs["quirkpy dop853"].wall
            numbers = [USUAL[method], errors[method], 1e3 * cost.wall, 1e3 * cost.cpu, ratio]
            rows.append([motion.tree.name, links, motion.duration, method, *numbers])
    heads = [
        "chain",
        "links",
        "seconds",
        "method",
        "tolerance or step [s]",
        "error m",
        "wall ms",
        "CPU ms",
    ]
    remark = (
        "error: of the tip, from quirkpy's other method, rk45, at a tolerance of 1e-12. Peers are "
        "left out where they "
        "take minutes, or more memory than there is."
    )
    return Sheet("Chains of all lengths", [*heads, "/ quirkpy"], rows, [remark])


def plot(lines: dict[str, dict[str, list[Point]]], path: Path) -> None:
    """Error over wall time, a panel for each motion; nothing where matplotlib is missing."""
    try:
        drawing = drawn(lines)
    except PartError as missing:
        print(f"No plot: {missing}")
        return
    drawing.save(path)


def drawn(lines: dict[str, dict[str, list[Point]]]) -> Drawing:
    """The plot; ours are drawn through, the others dashed."""
    with style("plot"):
        figure = blank(4.6 * len(lines), 4.4, "constrained")
        panels = list(figure.subplots(1, len(lines), squeeze=False).flat)
        methods = list(dict.fromkeys(method for found in lines.values() for method in found))
        for panel, (title, found) in zip(panels, lines.items()):
            for method, line in found.items():
                k, ours = methods.index(method), method.startswith("quirkpy")
                panel.loglog(
                    [1e3 * p.cost.wall for p in line], [p.error for p in line],
                    linestyle="-" if ours else DASHES[1], marker=MARKERS[k % len(MARKERS)],
                    color=LINES[k % len(LINES)], label=method, markersize=4.5,
                    linewidth=2.0 if ours else 1.0,
                )  # fmt: skip
            panel.set(title=title, xlabel="wall time [ms]")
        panels[0].set_ylabel("error of the watched point [m]")
        handles = {
            label: h for panel in panels for h, label in zip(*panel.get_legend_handles_labels())
        }
        columns = min(5, max(1, len(handles)))
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=columns)
    return Drawing(figure)

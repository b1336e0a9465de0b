"""Figures 7 to 19 of Hsu, Tadiparthi and Bhattacharya, as they are here: one picture of twelve
panels, ``python -m benchmarks.tensegrity_figures out.png``.

Each panel bears the number of the figure; what the paper leaves open is said in
docs/tensegrity.md."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from matplotlib.figure import Figure

import quirkpy as qp
from benchmarks import compressible, corrections
from benchmarks.tensegrity import Printed
from demos import tensegrities

#: A curve: its name, times or places, and values.
Curve: TypeAlias = tuple[str, Any, Any]
#: What cannot be seen on a logarithmic axis is drawn here.
LEAST = 1e-17
#: Seconds of each kind of run.
CORRECTED, MOVED, COMPRESSED = 20.0, 20.0, 10.0
TIGHT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12, "energy": "conserve"}


# --- corrections: figures 7 to 9 ------------------------------------------------------------------
def off_best(made: qp.Tensegrity, told: corrections.Told, best: qp.Trajectory) -> Any:
    """How far the free nodes are from the best run, at the times that were told [m]."""
    right = np.array([made.places(best.at(t)) for t in told.times])
    return abs(np.array(told.places) - right).max(axis=(1, 2)) + LEAST


def corrected(rest: float, goal: float) -> Iterator[Curve]:
    """The printed method with joints corrected, and with energy; and the runs here."""
    made = corrections.t_bar(rest)
    best = made.system.simulate(CORRECTED, rtol=1e-13, atol=1e-14, energy="conserve")
    printed, start = Printed.of(made, [0, 1]), made.places().ravel()
    for way, word in (("joints", "printed, eq. 33"), ("printed", "printed, eq. 45")):
        told = corrections.Told(made)
        printed.simulate(
            start, CORRECTED, way, goal,
            lambda t, y, told=told: told.add(t, np.split(y, 2)[0], printed.energy(y)),
        )  # fmt: skip
        yield word, told.times, off_best(made, told, best)
    for word, options in (("here", {}), ("here, energy held", {"energy": "conserve"})):
        told = corrections.Told(made)
        run = made.system.simulate(CORRECTED, rtol=goal, atol=goal, **options)  # type: ignore[arg-type]
        for t, energy in zip(run.t, run.energy, strict=True):
            told.add(t, made.places(run.at(t)), energy)
        yield word, told.times, off_best(made, told, best)


def by_rest() -> Iterator[Curve]:
    """The runs here at 1e-10, with energy held or not, by the rest length of upright strings."""
    for rest in corrections.RESTS:
        for word, times, off in corrected(rest, 1e-10):
            if word.startswith("here"):
                yield f"{rest:.0%}{word.removeprefix('here')}", times, off


# --- arm and ball: figures 10 to 14 ---------------------------------------------------------------
def flown(name: str) -> tuple[qp.Tensegrity, qp.Trajectory]:
    """A structure of the paper, and its run."""
    made, moving = tensegrities.cases()[name]
    return made, moving.simulate(MOVED, **TIGHT)


def motion(made: qp.Tensegrity, run: qp.Trajectory, nodes: tuple[int, ...]) -> Iterator[Curve]:
    """How far nodes are from where they began, along z [m]."""
    times = np.linspace(0.0, MOVED, 801)
    z = np.array([made.places(run.at(t))[:, 2] for t in times]) - made.places()[:, 2]
    for node in nodes:
        yield f"node {node}", times, z[:, node]


def lengths(made: qp.Tensegrity, run: qp.Trajectory) -> Iterator[Curve]:
    """By how much bars have changed their length, at rows of the run [m]."""
    some = run.t[:: max(1, len(run.t) // 400)]
    places = np.array([made.places(run.at(t)) for t in some])
    for k, (i, j) in enumerate(made.ends, 1):
        long = np.linalg.norm(places[:, i] - places[:, j], axis=1)
        yield f"b{k}", some, so_far(long)


def energies(name: str, run: qp.Trajectory) -> Curve:
    """The change of energy less work [J]."""
    return name, run.t, so_far(run.energy - run.work)


def so_far(values: Any) -> Any:
    """The largest change so far."""
    return np.maximum.accumulate(abs(values - values[0])) + LEAST


# --- compressible bars: figures 15 to 19 ----------------------------------------------------------
def off_rigid() -> Iterator[Curve]:
    """How far free nodes are from those of rigid bars of the same mass [m]."""
    times = np.linspace(0.0, COMPRESSED, 401)
    for name, material in compressible.MATERIALS.items():
        pair = compressible.t_bar(material), compressible.t_bar({"density": material["density"]})
        there = []
        for made in pair:
            run = made.system.simulate(COMPRESSED, rtol=1e-10, atol=1e-12)
            there.append(np.array([made.places(run.at(t)) for t in times]))
        yield name, times, abs(there[0] - there[1]).max(axis=(1, 2)) + LEAST


def moved_hdpe() -> Iterator[Curve]:
    """The free nodes of the T-bar of HDPE [m]."""
    made = compressible.t_bar(compressible.MATERIALS["HDPE"])
    run, times = made.system.simulate(COMPRESSED), np.linspace(0.0, COMPRESSED, 401)
    places = np.array([made.places(run.at(t)) for t in times])
    for node in (2, 3):
        for axis, word in ((0, "x"), (2, "z")):
            yield f"{word} of node {node}", times, places[:, node, axis]


def answers() -> Iterator[Curve]:
    """How far node 2 is along x after a doublet of 10 N there [m]."""
    times = np.linspace(0.0, 6.0, 801)
    for name, material in compressible.MATERIALS.items():
        made = compressible.of_nylon(material)
        still = made.system.settle().state
        run = compressible.struck(made, still, times[-1])
        x = np.array([made.places(run.at(t))[2, 0] for t in times])
        yield name, times, x - made.places(still)[2, 0]


def compliances() -> Iterator[Curve]:
    """The eigenvalues of the compliance of the free nodes [m/N]."""
    for name, material in compressible.MATERIALS.items():
        made = compressible.t_bar(material, damping=compressible.OF_STRINGS)
        free = made.nodes[2:]
        model = made.system.linearize(made.system.settle().state, inputs=free, outputs=free)
        found = np.sort(np.linalg.eigvalsh(model.at_rest()))[::-1][:4]
        yield name, np.arange(1, 5), found


# --- the picture ----------------------------------------------------------------------------------
def panels() -> Iterator[tuple[str, str, list[Curve], bool]]:
    """Title, unit, curves, and whether the axis is logarithmic."""
    yield "7: motion, tolerance 1e-10, 50 %", "m", [*corrected(0.5, 1e-10)], True
    yield "8: motion, tolerance 1e-6, 50 %", "m", [*corrected(0.5, 1e-6)], True
    yield "9: motion by rest length, 1e-10", "m", [*by_rest()], True
    made, run = flown("arm, 100 N")
    yield "10: arm, along z", "m", [*motion(made, run, (4, 6, 7))], False
    yield "11: arm, lengths of bars", "m", [*lengths(made, run)], True
    told = [energies("arm", run)]
    made, run = flown("ball, 30 N")
    told.append(energies("ball", run))
    yield "12, 13: energy less work", "J", told, True
    yield "13: ball, along z", "m", [*motion(made, run, tensegrities.TOPS)], False
    yield "14: ball, lengths of bars", "m", [*lengths(made, run)], True
    yield "15: compressible beside rigid", "m", [*off_rigid()], True
    yield "16: HDPE", "m", [*moved_hdpe()], False
    yield "17, 18: after a doublet of 10 N, nylon", "m", [*answers()], False
    yield "19: eigenvalues of the compliance", "m/N", [*compliances()], True


def main(path: str, tell: Callable[..., None] = print) -> None:
    """Draw all panels into a file."""
    figure = Figure(figsize=(13.0, 14.0), layout="constrained")
    for axes, (title, unit, curves, log) in zip(figure.subplots(4, 3).flat, panels(), strict=True):
        for name, x, y in curves:
            dots = len(np.atleast_1d(x)) < 10
            axes.plot(x, y, label=name, linewidth=0.9, marker="o" if dots else "")
            tell(f"{title}: {name}: largest {float(np.max(np.abs(y))):.1e} {unit}")
        axes.set_title(f"Figure {title}", fontsize=9)
        axes.set_yscale("log" if log else "linear")
        axes.set_ylabel(unit, fontsize=8)
        axes.set_xlabel("number" if dots else "t [s]", fontsize=8)
        axes.tick_params(labelsize=7)
        axes.legend(fontsize=6, ncols=2)
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1])

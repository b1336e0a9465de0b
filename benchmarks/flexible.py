"""Bodies that bend: the two examples of A. K. Banerjee and M. Lemak, by their three methods side by
side; how cost grows with bodies; and the reduced floating frame of Exudyn.

Their data are not printed.  Of the sail those assumed stand in demos/solar_sail.py.  The four
bodies are beams of 5 m, 1 kg/m, EI of 2000 and 1500 N m2, GJ of 800 N m2, with ten modes each,
(0, 4, 4, 2), damped by 0.5 %: the first free, the others clamped at their starts; between them a
hinge, turned by 60 degrees within 10 s, Hooke's joint and a ball joint: 52 freedoms, with that
which is prescribed."""

from __future__ import annotations

import contextlib
import functools
import itertools
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import quirkpy as qp
from benchmarks import panels
from benchmarks.flexible_chains import Chain, chain_of, efficient, fly, kane, start_of
from benchmarks.tables import Measured, Sheet
from benchmarks.timing import race
from demos import solar_sail

#: What the paper reports [s]: Kane's equations, the recursion with customary and with efficient
#: speeds.
PAPER = {"sail": (699.0, 667.0, 140.0), "four bodies": (10.2, 7.6, 5.2)}
RTOL, ATOL = 1e-6, 1e-8
FIRST_STEP = 1e-3  # [s]
DRIVEN, TURN = 10.0, np.radians(60.0)  # [s], [rad]


class Example(NamedTuple):
    """An example: quirkpy's run of it, and what is watched along that; the run of a chain by
    another method, with its evaluations and the same quantity; and the unit of that."""

    name: str
    ours: Callable[[], qp.Trajectory]
    watch: Callable[[qp.Trajectory], np.ndarray]
    others: Callable[[Callable[..., None]], tuple[int, np.ndarray]]
    unit: str


# --- the solar sail -------------------------------------------------------------------------------
def sail(quick: bool) -> Example:
    """The slew of the sail, watched by the bending of the tip of its boom to the north [m]."""
    end = solar_sail.SLEW / (10.0 if quick else 1.0)
    system = solar_sail.slewed(solar_sail.in_one())
    body, times = system["sail"], np.linspace(0.0, end, 61)
    tip = body.modes_at((0.0, 0.5 + solar_sail.LENGTH, 0.0))
    load = system["slew"].torque.values[0]
    chain = chain_of([body], [tip], [np.zeros(3)], [], torque=load)

    def others(method: Callable[..., None]) -> tuple[int, np.ndarray]:
        kept = kept_at(times, start_of(chain, np.zeros(3), [[1.0, 0.0, 0.0, 0.0]]))
        half = int(np.searchsorted(times, 0.5 * solar_sail.SLEW - 1e-9))
        first, last = kept[: half + 1], kept[half:]
        count = fly(method, kept[0, 1:-1], chain, first[-1, 0], RTOL, ATOL, FIRST_STEP, first)
        if len(last) > 1:
            back = chain._replace(torque=-chain.torque)
            shifted = last - first[-1, 0] * np.eye(1, last.shape[1])
            start = first[-1, 1:-1].copy()
            count += fly(method, start, back, shifted[-1, 0], RTOL, ATOL, FIRST_STEP, shifted)
            kept[half + 1 :] = shifted[1:]
        return count, kept[:, 8 : 8 + len(tip.displacement)] @ tip.displacement[:, 2]

    def watch(run: qp.Trajectory) -> np.ndarray:
        return np.array([run.at(t)["sail"].modes for t in times]) @ tip.displacement[:, 2]

    return Example(
        "sail", lambda: system.simulate(end, rtol=RTOL, atol=ATOL, progress=False), watch, others,
        "m",
    )  # fmt: skip


def kept_at(times: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Rows for states at some times, the first of them filled in."""
    out = np.zeros((len(times), 2 + len(start)))
    out[:, 0], out[0, 1:-1] = times, start
    return out


# --- four bodies ----------------------------------------------------------------------------------
def links(count: int) -> list[qp.Beam]:
    """Beams one behind the other, the first free."""
    return [
        qp.Beam(
            f"b{k}", start=(5.0 * k, 0.0, 0.0), end=(5.0 * k + 5.0, 0.0, 0.0), EA=1e5,
            EI=(2000.0, 1500.0), GJ=800.0, mass_per_length=1.0, modes=(0, 4, 4, 2),
            clamped="start" if k else "free",
        )
        for k in range(count)
    ]  # fmt: skip


KINDS = (qp.Revolute, qp.Universal, qp.Spherical)


def linked(count: int = 4, end: float = DRIVEN) -> qp.Multibody:
    """Beams with hinges, Hooke's joints and ball joints in turn, the first hinge turned."""
    beams = links(count)
    joints = [
        KINDS[k % 3](f"j{k}", one.at(1.0), two.at(0.0))
        for k, (one, two) in enumerate(itertools.pairwise(beams))
    ]
    drive = qp.Prescribed("drive", joints[0], qp.Schedule((0.0, end), (0.0, TURN), "smooth"))
    return qp.Multibody(*beams, *joints, drive)


def linked_chain(count: int = 4, end: float = DRIVEN) -> Chain:
    """The same for the other methods."""
    beams = links(count)
    kinds = [
        [((0, 0, 1), False)], [((1, 0, 0), False), ((0, 1, 0), True)],
        [((1, 0, 0), True), ((0, 1, 0), True), ((0, 0, 1), True)],
    ]  # fmt: skip
    hinges = [kinds[k % 3] for k in range(count - 1)]
    ends = [beam.modes_at(beam.at(1.0).at) for beam in beams]
    starts = [beam.at(0.0).at for beam in beams]
    return chain_of(beams, ends, starts, hinges, (1.0, 0.0, end, TURN))


def chain_state(system: qp.Multibody, state: qp.State) -> np.ndarray:
    """A state of beams one behind the other, as that of their chain."""
    beams = [system[name] for name in state.bodies]
    at = state.instant(system.selection)
    ends = at.at_sites(*(beam.at(1.0) for beam in beams))
    rates = [state.v[0], state.omega[0]]
    for k in range(1, len(beams)):
        section, own = ends.axes[k - 1], at.frames.axes[k]
        spin = state.omega[k] - own.T @ ends.spin[k - 1]
        ways = [np.eye(3)[2:], np.array([own.T @ section[:, 0], [0.0, 1.0, 0.0]]), np.eye(3)]
        if k > 1:  # the first hinge is turned
            rates.append(np.linalg.lstsq(ways[(k - 1) % 3].T, spin, rcond=None)[0])
    half = len(state.further) // 2
    return np.concatenate(
        [state.r[0], state.q.ravel(), state.further[:half], *rates, state.further[half:]]
    )


def four_bodies(quick: bool) -> Example:
    """The chain, watched by the load of the drive [N m]."""
    end = DRIVEN
    system, chain = linked(4, end), linked_chain(4, end)
    stop, times = (1.0 if quick else end), np.linspace(0.0, 1.0 if quick else end, 41)

    def others(method: Callable[..., None]) -> tuple[int, np.ndarray]:
        unit = [[1.0, 0.0, 0.0, 0.0]] * 4
        kept = kept_at(times, start_of(chain, np.array([2.5, 0.0, 0.0]), unit))
        start = kept[0, 1:-1].copy()
        count = fly(method, start, chain, stop, RTOL, ATOL, FIRST_STEP, kept)
        return count, kept[:, -1].copy()

    def watch(run: qp.Trajectory) -> np.ndarray:
        loads = [run.system.reactions(run.at(t), axes="joint")["drive"] for t in times]
        return np.array([load.torque[2] for load in loads])

    return Example(
        "four bodies", lambda: system.simulate(stop, rtol=RTOL, atol=ATOL, progress=False), watch,
        others, "N m",
    )  # fmt: skip


# --- what comes of it -----------------------------------------------------------------------------
METHODS = {"Kane, dense mass matrix": kane, "recursion, efficient speeds": efficient}
OURS = "quirkpy"


def methods_of(example: Example) -> tuple[Sheet, dict[str, float]]:
    """One example by all methods: seconds and evaluations, and by how much each differs."""
    works = {name: (lambda m=method: example.others(m)) for name, method in METHODS.items()}
    costs = race({OURS: example.ours, **works}, turns=3)
    run = example.ours()
    truth, rows = example.watch(run), []
    paper = dict(zip((*list(METHODS)[:1], OURS, *list(METHODS)[1:]), PAPER[example.name]))
    most = float(abs(truth).max())
    for name in (*list(METHODS)[:1], OURS, *list(METHODS)[1:]):
        count, found = run.counts.evaluations, truth
        if name != OURS:
            count, found = example.others(METHODS[name])
        off = float(abs(found[1:] - truth[1:]).max()) / most
        rows.append([name, costs[name].cpu, count, off, paper[name]])
    dense, ours, fast = (row[1] for row in rows)
    figures = {
        f"{example.name}: Kane / quirkpy": dense / ours,
        f"{example.name}: Kane / efficient": dense / fast,
        f"{example.name}: the paper's time / quirkpy": PAPER[example.name][2] / ours,
    }
    heads = ["method", "s", "evaluations", "differs by", "in the paper [s]"]
    remarks = [
        f"Watched: up to {most:.3g} {example.unit}; differences are shares of that. Our recursion "
        "has customary speeds, rates of the modes, and the exact model, as the dense matrix has; "
        "the paper's efficient speeds neglect what is of second order in bending."
    ]
    return Sheet(f"Bodies that bend: {example.name}", heads, rows, remarks), figures


SIZES = (4, 8, 16, 32, 64)


def growth(quick: bool) -> tuple[Sheet, dict[str, float]]:
    """Cost of an evaluation over the number of bodies, with ten modes each."""
    rows: list[list[object]] = []
    for count in SIZES[:3] if quick else SIZES:
        fly_on = functools.partial(linked(count).simulate, 0.1, progress=False)
        cost = race({"": fly_on}, turns=3)[""].cpu
        rows.append([count, 1e6 * cost / fly_on().counts.evaluations / count])
    each = [float(row[1]) for row in rows]
    exponent = 1.0 + np.log(each[-1] / each[0]) / np.log(rows[-1][0] / rows[0][0])
    sheet = Sheet("Bodies that bend: growth", ["bodies", "us a body"], rows)
    return sheet, {"flexible: exponent": float(exponent)}


def measure(quick: bool) -> Measured:
    """Both examples, growth, and the panels beside Exudyn."""
    found = [methods_of(four_bodies(quick)), methods_of(sail(quick)), growth(quick)]
    with contextlib.suppress(ImportError):
        found.append(panels.measure(quick))
    return Measured([sheet for sheet, _ in found], dict(x for _, f in found for x in f.items()))


if __name__ == "__main__":
    made = measure("--quick" in sys.argv[1:])
    print("\n\n".join(sheet.text() for sheet in made.sheets))
    print(made.figures)

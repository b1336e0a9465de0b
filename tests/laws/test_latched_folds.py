"""Map folds that are latched about any pose, folded up among them, and then driven across: whatever
goes from their energy is in the ledger."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import quirkpy as qp
from tests.laws.test_folds_keep_their_ledger import map_fold
from tests.random_systems import seeds

LATCHED = (1.0, 0.5 * math.pi, math.pi - 1e-3, math.pi - 1e-9, math.pi, math.pi + 1e-3)
BOUNDS = (1.0, 2.5, math.pi)


def closing(run: qp.Trajectory) -> float:
    """The largest energy that is in no ledger, what projections moved among them [J]."""
    ledger = run.energy + run.dissipated + run.lost + run.projected - run.work
    return float(abs(ledger - ledger[0]).max())


def latched(seed: int) -> tuple[qp.Trajectory, qp.Trajectory]:
    """A fold that springs bend along a line until it is latched there, by narrow stops or by drives
    that stand or go on; and the motion that other springs make of it across, onto stops."""
    rng = np.random.default_rng(seed)
    parts = map_fold(3, 3, 1.0, 0.0).parts
    panels = [part for part in parts if isinstance(part, qp.Body)]
    hinges = [part for part in parts if isinstance(part, qp.Revolute)]
    line = [hinge for hinge in hinges if hinge.name.startswith("x 0")]
    others = [hinge for hinge in hinges if hinge not in line]
    alike, sense = bool(rng.integers(2)), float(rng.choice([-1.0, 1.0]))
    target, restitution = float(rng.choice(LATCHED)), float(rng.choice([0.0, 0.5, 1.0]))
    rtol, width = 10.0 ** -float(rng.integers(6, 11)), float(10.0 ** rng.uniform(-3.0, 0.0))
    rate, limit = float(rng.choice([0.0, 0.2])), float(rng.choice(BOUNDS))
    angle, damping = sense * target, 1e-3 * float(rng.integers(2))

    def stiffness() -> float:
        return 0.05 if alike else 0.05 * float(rng.uniform(0.5, 2.0))

    springs: list[qp.Part] = [
        qp.HingeSpring(f"k {h.name}", h, stiffness=0.05, rest_angle=angle + sense, damping=damping)
        for h in line
    ]
    springs += [qp.HingeSpring(f"k {h.name}", h, stiffness=stiffness()) for h in others]
    across = [
        qp.HingeSpring(
            f"across {h.name}",
            h,
            stiffness=stiffness(),
            rest_angle=2.0 * (-1.0) ** int(h.name[2]) if alike else float(rng.uniform(-3.0, 3.0)),
        )
        for h in others
    ]
    reached = [0.0]
    drives = [
        qp.Prescribed(
            f"drive {h.name}",
            h,
            lambda t: (angle + sense * rate * (t - reached[0]), sense * rate, 0.0),
        )
        for h in line
    ]
    bounds = [(h, -limit, limit) for h in others] + [
        (h, angle - width, angle + width) for h in line
    ]
    stops = [
        qp.JointStop(f"stop {h.name}", h, lower=low, upper=high, restitution=restitution)
        for h, low, high in bounds
    ]
    system = qp.Multibody(*panels, *hinges, *springs, candidates=[*across, *drives, *stops])
    there = qp.When("there", lambda state: sense * state[line[0].name].angle - target)
    settings = {"rtol": rtol, "atol": 1e-2 * rtol, "max_steps": 20_000, "progress": False}
    run = system.simulate(60.0, stop=[there], progress=False, rtol=min(rtol, 1e-8))
    reached[0] = float(run.t[-1])
    by_stops = bool(rng.integers(2))
    joints = [h.name for h in hinges] + [d.name for d in drives if not by_stops]
    acting = stops if by_stops else stops[: len(others)]
    forces = [part.name for part in (*springs, *across, *acting)]
    on = system.choosing(joints, forces).at(run.final).simulate(3.0, **settings)
    return run, on


@seeds(20, 6, attack=200)
def test_what_goes_from_a_latched_fold_is_in_its_ledger(seed: int) -> None:
    for run in latched(seed):
        assert run.stop in (qp.Stop.EVENT, qp.Stop.END)
        # A state within a step, on which runs land, is as good as some ten tolerances
        assert closing(run) < max(1e-6, 30.0 * run.settings.rtol) * abs(run.energy).max()
        # What projection moved beyond its tolerance is told, with all that it moved
        told = sum(e.lost for e in run.events if e.name == "joints took hold") - run.lost[0]
        assert abs(run.projected[-1] - told) < 1e-5 * abs(run.energy).max()


def miura(columns: int, rows: int, slant: float = math.radians(60.0)) -> qp.Multibody:
    """A flat Miura pattern of equal parallelograms, with springs that fold it its one way."""
    cells = list(itertools.product(range(columns), range(rows)))
    leaning = math.cos(slant), math.sin(slant)

    def corner(i: float, j: float) -> tuple[float, float]:
        zigzag = abs((j + 1.0) % 2.0 - 1.0)  # along a column of corners, forth and back
        return i + zigzag * leaning[0], j * leaning[1]

    panels = {
        (i, j): qp.Body.box(
            f"p{i} {j}", (1.0, leaning[1], 0.01), 1.0, position=(*corner(i + 0.5, j + 0.5), 0.0)
        )
        for i, j in cells
    }
    parts: list[qp.Part] = list(panels.values())
    for i, j in cells:
        for di, dj in ((1, 0), (0, 1)):
            if (i + di, j + dj) not in panels:
                continue
            start, end = corner(i + di, j + dj), corner(i + 1, j + 1)
            hinge = qp.Revolute(
                f"{'x' if di else 'y'} {i} {j}",
                panels[i, j],
                panels[i + di, j + dj],
                at=(0.5 * (start[0] + end[0]), 0.5 * (start[1] + end[1]), 0.0),
                axis=(end[0] - start[0], end[1] - start[1], 0.0),
            )
            sense = (-1.0) ** (i + j * dj)
            parts += [
                hinge,
                qp.HingeSpring(f"k {hinge.name}", hinge, stiffness=0.05, rest_angle=sense),
            ]
    return qp.Multibody(*parts)


@pytest.mark.parametrize(
    ("size", "steps"),
    [(3, 20), (3, 400), pytest.param(6, 400, marks=[pytest.mark.slow, pytest.mark.attack])],
)
def test_a_miura_fold_from_flat_at_the_finest_tolerance(size: int, steps: int) -> None:
    """Beside flat all poses are singular and steps short; it says so where they are used up."""
    system = miura(size, size)
    run = system.simulate(20.0, rtol=1e-12, atol=1e-14, max_steps=steps, progress=False)
    assert run.stop is qp.Stop.STEPS
    assert str(run.stop) == "max_steps was reached"
    assert len(run.t) == steps + 1
    assert abs(run.final["x 0 0"].angle) > 0.0
    assert closing(run) < 1e-11 * max(1.0, run.energy[0])

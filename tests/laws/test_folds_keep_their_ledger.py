"""Map folds: rigid panels on hinges in redundant loops, which begin flat or folded up, where many
branches of motion meet, and fall onto inelastic stops.  What goes from their energy is in the
ledger, or told."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import quirkpy as qp
from tests.random_systems import seeds

SIDE = 1.0  # of a panel [m]


def map_fold(m: int, n: int, limit: float, restitution: float) -> qp.Multibody:
    """Panels of 1 kg in m columns and n rows, hinged along all edges that they share, with stops on
    all hinges."""
    cells = list(itertools.product(range(m), range(n)))
    panels = {
        cell: qp.Body.box(
            f"p{cell[0]}{cell[1]}",
            (SIDE, SIDE, 0.01),
            1.0,
            position=(cell[0] * SIDE, cell[1] * SIDE, 0.0),
        )
        for cell in cells
    }
    parts: list[qp.Part] = list(panels.values())
    for (i, j), (di, dj) in itertools.product(cells, ((1, 0), (0, 1))):
        if (i + di, j + dj) in panels:
            at = (SIDE * (i + 0.5 * di), SIDE * (j + 0.5 * dj), 0.0)
            one, two = panels[i, j], panels[i + di, j + dj]
            hinge = qp.Revolute(
                f"{'x' if di else 'y'} {i} {j}", one, two, at=at, axis=(dj, di, 0.0)
            )
            stop = qp.JointStop(
                f"stop {hinge.name}", hinge, lower=-limit, upper=limit, restitution=restitution
            )
            parts += [hinge, stop]
    return qp.Multibody(*parts)


def sprung(
    fold: qp.Multibody, rng: np.random.Generator, along: float, across: float
) -> qp.Multibody:
    """Springs on all hinges that fold it like an accordion, by so much either way [rad]."""
    made = []
    for hinge in (part for part in fold.parts if isinstance(part, qp.Revolute)):
        kind, i, j = hinge.name.split(" ")
        sense = (-1.0) ** int(i if kind == "x" else j)
        rest = sense * (along if kind == "x" else across * float(rng.normal()))
        made.append(
            qp.HingeSpring(
                f"k {hinge.name}",
                hinge,
                stiffness=0.05 * float(rng.uniform(0.5, 2.0)),
                rest_angle=rest,
            )
        )
    return fold.with_(*made)


def unaccounted(run: qp.Trajectory) -> float:
    """The largest energy that the ledger does not have [J]."""
    ledger = run.energy + run.dissipated + run.lost - run.work
    return float(abs(ledger - ledger[0]).max())


@seeds(10, 4, attack=500)
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_flat_fold_that_springs_drive_onto_its_stops(seed: int, restitution: float) -> None:
    rng = np.random.default_rng(seed)
    fold = map_fold(3, 3, (0.3, 1.0, 2.5, 3.1)[seed % 4], restitution)
    run = sprung(fold, rng, 2.0, 0.4 * (seed % 2)).simulate(12.0, max_steps=20_000, progress=False)
    assert run.stop is qp.Stop.END
    assert "undetermined branch" in {event.name for event in run.events}
    assert run.dissipated[-1] > 0.05 * run.energy[0]
    assert unaccounted(run) < 1e-6 * run.energy[0]


@seeds(6, 2, attack=500)
@pytest.mark.parametrize("size", [2, 3])
def test_a_fold_that_begins_folded_up(seed: int, size: int) -> None:
    """All panels lie on each other: every branch begins there, and projection may take a little,
    which is told."""
    rng = np.random.default_rng(seed)
    fold = sprung(map_fold(size, size, 3.2, 0.0), rng, 0.0, 0.0)
    over, back = qp.rotation((0, 1, 0), math.pi), qp.rotation((1, 0, 0), math.pi)
    nothing = qp.rotation((0, 0, 1), 0.0)
    poses = {
        f"p{i}{j}": {
            "position": (0, 0, 0),
            "orientation": (over if i % 2 else nothing) * (back if j % 2 else nothing),
        }
        for i, j in itertools.product(range(size), repeat=2)
    }
    run = fold.at(fold.initial.replace(poses)).simulate(6.0, max_steps=20_000, progress=False)
    assert run.stop is qp.Stop.END
    told = sum(event.lost for event in run.events if event.name == "joints took hold")
    assert unaccounted(run) < 1e-6 * run.energy[0] + abs(told) + float(abs(run.projected).max())
    assert unaccounted(run) < 1e-5 * run.energy[0]

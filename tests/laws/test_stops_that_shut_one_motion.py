"""Stops of hinges on one line shut one motion, and each alone would be held by the others: they let
go together, when a single stop would, and an impact elsewhere throws them off as it would that."""

from __future__ import annotations

import numpy as np
import pytest

import quirkpy as qp
from tests.random_systems import seeds

THICK = 0.1  # of a plate [m]


def swinging(seed: int, hinges: int) -> qp.Multibody:
    """Three plates in a row: springs press the second onto its stop, and the third shakes it off;
    as many equal hinges on one line as asked for, each with a stop, between the first two."""
    rng = np.random.default_rng(seed)
    masses, restitution = rng.uniform(0.5, 2.0, 3), (0.0, 0.0, 0.5)[seed % 3]
    plates = [
        qp.Body.box(f"p{k}", (1.0, 1.0, THICK), float(masses[k]), position=(k, 0.0, 0.0))
        for k in range(3)
    ]
    line = [
        qp.Revolute(f"h{k}", *plates[:2], at=(0.5, y, 0.0), axis=(0, 1, 0))
        for k, y in enumerate((0.0, 0.3, -0.2)[:hinges])
    ]
    last = qp.Revolute("last", *plates[1:], at=(1.5, 0.0, 0.0), axis=(0, 1, 0))
    bounds = {"lower": 0.0, "upper": float(rng.uniform(0.5, 2.0)), "restitution": restitution}
    stops = [qp.JointStop(f"s{k}", hinge, **bounds) for k, hinge in enumerate(line)]
    wall = float(rng.uniform(0.2, 1.0))
    return qp.Multibody(
        *plates,
        *line,
        last,
        *stops,
        qp.JointStop("wall", last, lower=-wall, upper=wall, restitution=float(rng.uniform(0, 1))),
        qp.HingeSpring("k", last, stiffness=5.0, rest_angle=float(rng.choice([-1.0, 1.0]))),
        qp.HingeSpring("press", line[0], stiffness=1.0, rest_angle=-float(rng.uniform(0.1, 0.5))),
    )


def told(run: qp.Trajectory) -> list[tuple[str, float]]:
    """What happened at the walls and at the first stop; what lets go as it is met has not moved."""
    out: list[tuple[str, float]] = []
    for event in run.events:
        what = (event.name, event.t)
        if event.name.startswith(("wall", "s0")) and what not in out:
            out.append(what)
    return out


@seeds(24, 6, attack=1000)
@pytest.mark.parametrize("hinges", [2, 3])
def test_they_let_go_when_one_alone_would(hinges: int, seed: int) -> None:
    """The truth is the system with one hinge and one stop, which moves as this does."""
    one, many = (
        swinging(seed, n).simulate(2.0, rtol=1e-11, atol=1e-13, progress=False) for n in (1, hinges)
    )
    assert [name for name, _ in told(many)] == [name for name, _ in told(one)]
    times = [[t for _, t in told(run)] for run in (one, many)]
    np.testing.assert_allclose(times[1], times[0], atol=1e-7)
    assert many.final["last"].angle == pytest.approx(one.final["last"].angle, abs=1e-6)
    assert many.dissipated[-1] == pytest.approx(one.dissipated[-1], abs=1e-7)
    for run in (one, many):
        ledger = run.energy + run.dissipated
        assert np.ptp(ledger) < 1e-9 * ledger[0]


def test_they_do_let_go_in_what_is_tried() -> None:
    runs = [swinging(seed, 2).simulate(2.0, progress=False) for seed in range(6)]
    letting = [{name for name, _ in told(run)} >= {"s0 released", "s0 reached"} for run in runs]
    assert sum(letting) >= 3


def test_those_that_stay_pressed_are_not_told_of() -> None:
    """One of a pair is not let go and met again by rounding while both are pressed."""
    a = qp.Body.box("a", (1, 1, THICK), 1.0)
    b = qp.Body.box("b", (1, 1, THICK), 1.0, position=(1, 0, 0))
    hinges = [qp.Revolute(f"h{k}", a, b, at=(0.5, k, 0), axis=(0, 1, 0)) for k in range(3)]
    stops = [qp.JointStop(f"s{k}", hinge, lower=0.0) for k, hinge in enumerate(hinges)]
    press = qp.HingeSpring("press", hinges[0], stiffness=1.0, rest_angle=-1.0)
    run = qp.Multibody(a, b, *hinges, *stops, press).simulate(5.0, progress=False)
    assert run.events == ()
    assert abs(run.final["h1"].angle) < 1e-12

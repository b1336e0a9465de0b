"""Latches made by hand: a run ends where a hinge has reached an angle, and another selection goes
on from there, with a stop or a drive that holds it.  Angles count whole turns, so the latch holds
where the hinge is; and no joule goes between the two runs, or in them, that is not in the
ledger."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import quirkpy as qp
from tests.laws.test_folds_keep_their_ledger import map_fold, unaccounted
from tests.random_systems import seeds

TARGETS = (
    1.0,
    math.pi - 1e-9,
    math.pi,
    math.pi + 1e-3,
    1.5 * math.pi,
    2.0 * math.pi,
    3.0 * math.pi,
    9.07,
)
LATCHES = ("pawl", "narrow", "held")
#: Beyond a turn they are meant.
pytestmark = pytest.mark.filterwarnings("ignore:.*is an angle in radians:quirkpy.PartWarning")


def standing(angle: float) -> Callable[[float], tuple[float, float, float]]:
    return lambda t: (angle, 0.0, 0.0)


def latch(kind: str, hinge: qp.Revolute, angle: float, sense: float, restitution: float) -> qp.Part:
    """What stops a hinge that turns in one sense: a bound ahead of it, one to each side, or a drive
    that stands."""
    if kind == "held":
        return qp.Prescribed(f"latch {hinge.name}", hinge, standing(angle))
    near = 1e-3 if kind == "narrow" else 0.0
    ahead = {"upper" if sense > 0.0 else "lower": angle + sense * near}
    behind = {"lower" if sense > 0.0 else "upper": angle - sense * near} if near else {}
    return qp.JointStop(f"latch {hinge.name}", hinge, restitution=restitution, **ahead, **behind)


def chain(rng: np.random.Generator) -> tuple[list[qp.Body], list[qp.Revolute]]:
    """Three cubes afloat, hinged at random edges."""
    cubes = [
        qp.Body.box(f"c{k}", (0.1,) * 3, rng.uniform(0.5, 2.0), position=(0.1 * k, 0, 0))
        for k in range(3)
    ]
    hinges = [
        qp.Revolute(
            f"h{k}",
            *cubes[k : k + 2],
            at=(0.1 * k + 0.05, 0.05 * rng.choice([-1, 1]), 0),
            axis=(0, 0, 1),
        )
        for k in range(2)
    ]
    return cubes, hinges


def fold(_: np.random.Generator) -> tuple[list[qp.Body], list[qp.Revolute]]:
    """Nine panels in redundant loops; the creases of a line turn together."""
    parts = map_fold(3, 3, 1.0, 0.0).parts
    return [p for p in parts if isinstance(p, qp.Body)], [
        p for p in parts if isinstance(p, qp.Revolute)
    ]


@pytest.mark.parametrize("made", [chain, fold])
@pytest.mark.parametrize("kind", LATCHES)
@seeds(32, 8, attack=500)
def test_a_latch_holds_the_angle_that_was_reached(
    made: Callable[[np.random.Generator], tuple[list[qp.Body], list[qp.Revolute]]],
    kind: str,
    seed: int,
) -> None:
    rng, sense = np.random.default_rng(seed), 1.0 if seed % 2 else -1.0
    target = TARGETS[seed % len(TARGETS)]
    bodies, hinges = made(rng)
    # a line of creases bends as one; its neighbours bend against it
    line = [h for h in hinges if h.name.startswith(("x 0", "h0"))]
    springs = []
    for hinge in hinges:
        rest = sense * (target + 1.0) if hinge in line else 0.0
        stiffness = 0.05 if hinge in line else 0.05 * float(rng.uniform(0.5, 2.0))
        springs.append(
            qp.HingeSpring(f"k {hinge.name}", hinge, stiffness=stiffness, rest_angle=rest)
        )
    latches = [latch(kind, hinge, sense * target, sense, 0.5 * (seed % 3 == 0)) for hinge in line]
    system = qp.Multibody(*bodies, *hinges, *springs, candidates=latches)
    first = line[0].name
    there = qp.When("there", lambda state: sense * state[first].angle - target)
    run = system.simulate(60.0, stop=[there], progress=False)
    assert run.stop is qp.Stop.EVENT
    assert unaccounted(run) < 1e-6 * abs(run.energy).max()
    joints, forces = [h.name for h in hinges], [s.name for s in springs]
    joints += [p.name for p in latches if kind == "held"]
    forces += [p.name for p in latches if kind != "held"]
    on = (
        system.choosing(joints, forces)
        .at(run.final)
        .simulate(2.0, progress=False, max_steps=20_000)
    )
    assert on.stop is qp.Stop.END
    whole = abs(run.energy).max()
    assert on.energy[0] + on.lost[0] == pytest.approx(
        run.energy[-1], abs=1e-8 * whole
    )  # rtol of the runs
    assert unaccounted(on) < 1e-6 * whole
    if on.lost[0] > 1e-6 * whole:
        assert on.events[0].name == "joints took hold"
        assert on.events[0].lost == pytest.approx(on.lost[0])
    for state in on.states:
        for hinge in line:
            turned = sense * state[hinge.name].angle - target
            assert turned < 1.1e-3
            assert kind == "pawl" or turned > -1.1e-3


@pytest.mark.parametrize("turns", [-2, -1, 1, 3])
def test_a_latch_some_turns_away_is_refused(turns: int) -> None:
    """A bound that the pose meets, but the counted angle does not, is none of this hinge."""
    bodies, hinges = chain(np.random.default_rng(3))
    drive = qp.HingeSpring("k", hinges[0], stiffness=0.01, rest_angle=12.5)
    bound = 9.0 + 2.0 * math.pi * turns
    stop = qp.JointStop("latch", hinges[0], lower=bound - 1e-6, upper=bound + 1e-6)
    system = qp.Multibody(*bodies, *hinges, drive, candidates=[stop])
    there = qp.When("there", lambda state: state["h0"].angle - 9.0)
    run = system.simulate(60.0, stop=[there], progress=False)
    with pytest.raises(
        ValueError, match=r"joint 'h0' begins beyond the (lower|upper) bound of its stop 'latch'"
    ):
        system.choosing(["h0", "h1"], ["k", "latch"]).at(run.final).simulate(1.0, progress=False)

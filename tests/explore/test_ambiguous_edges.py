"""Edges that come to several things: told in one order, whoever found them, and in which order."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.explore.model.graph import Outcome
from quirkpy.explore.run import runner
from quirkpy.explore.run.records import SAME_FIGURE, canonical
from quirkpy.rest.settle import ways_out
from tests.explore.test_reductions import exact
from tests.random_systems import seeds

SIDE, UP = 0.1, (0.0, 0.0, 1.0)
#: Known to a share of 1e-6, for rests are known to 1e-12, and saddles are left by 1e-6.
FIGURES = ("duration", "switching", "dissipated", "lost", "peak_speed")
DIAGONAL = 1.0 / math.sqrt(2.0)


def spokes(arms: int, seed: int) -> qp.Study:
    """Cubes alike, hinged to edges of a hub: one potential opens them until each stands straight on
    its corner, others pull one of them straight at its hinge, so that it falls to either side; what
    one does any other does."""
    rng = np.random.default_rng([seed, 31])
    turns = [qp.rotation(UP, 2.0 * math.pi * k / arms) for k in range(arms)]
    hub = qp.Body("hub", 1.5, (0.002, 0.002, 0.003), shape=qp.Box((SIDE, SIDE, SIDE)))
    stiffness, damping = float(rng.uniform(0.02, 0.06)), float(rng.uniform(2e-4, 6e-4))
    corner, out = SIDE * np.array([0.5, -0.5, 0.0]), np.array([DIAGONAL, -DIAGONAL, 0.0])
    sensors, bodies = [], []
    springs: dict[str, list[qp.Force]] = {}
    for k, turn in enumerate(turns):
        R = qp.Body("axes", 1.0, (1.0, 1.0, 1.0), orientation=turn).matrix
        arm = qp.Body.box(
            f"arm {k}", (SIDE,) * 3, 1.0, position=R @ (SIDE, 0.0, 0.0), orientation=turn
        )
        here = hub.site(f"face {k}", at=R @ (0.5 * SIDE, 0.0, 0.0), z=R @ (1.0, 0.0, 0.0), x=UP)
        there = arm.site("face", at=(-0.5 * SIDE, 0.0, 0.0), z=(-1.0, 0.0, 0.0), x=UP)
        sensors += [
            qp.Sensor(f"hub {k}", here, kind="hub", accepts=("arm",)),
            qp.Sensor(f"arm {k} face", there, kind="arm", accepts=("hub",)),
        ]
        bodies.append(arm)
        for name, sense in (
            ("open", 1.0),
            *((f"away {j}", -1.0 if j == k else 1.0) for j in range(arms)),
        ):
            spring = qp.Spring(
                f"{name} {k}", hub, arm, at1=R @ (corner + 0.3 * sense * out), at2=arm.position,
                stiffness=stiffness, rest_length=0.0, damping=1e-3,
            )  # fmt: skip
            springs.setdefault(name, []).append(spring)
    return qp.Study(
        qp.Multibody(*(([hub, *bodies])[k] for k in rng.permutation(arms + 1))),
        sensors=sensors,
        options={("hub", "arm"): [qp.Lock(), qp.Hinge(edge=1)]},
        potentials=springs,
        always=[qp.ViscousHinges(damping)],
        same=qp.SameShape(interchangeable=[bodies], symmetry={hub: turns[1:]}),
    )


@seeds(4, 1, attack=30)
def test_a_carried_edge_tells_its_outcomes_in_the_order_of_a_flown_one(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where runs that speak for others leave their saddles in the other sense first."""
    study = exact(spokes(2, seed))
    alone = study.explore(progress=False, reductions=False)
    monkeypatch.setattr(runner, "ways_out", lambda *asked: tuple(ways_out(*asked))[::-1])
    carried = study.explore(progress=False, reductions=True)
    several = [
        edge for edge in carried.edges if edge.carried is not None and len(edge.outcomes) > 1
    ]
    assert several
    for one, two in zip(alone.edges, carried.edges, strict=True):
        assert (one.source, one.selection, one.kind) == (two.source, two.selection, two.kind)
        assert [o.target for o in one.outcomes] == [o.target for o in two.outcomes]
        for o, p in zip(one.outcomes, two.outcomes, strict=True):
            assert (o.kind, o.reason, o.parts) == (p.kind, p.reason, p.parts)
            figures = [[getattr(told, name) for name in FIGURES] for told in (o, p)]
            assert figures[0] == pytest.approx(figures[1], rel=1e-6, abs=1e-9)


def outcome(speed: float) -> tuple[Outcome, None]:
    return Outcome("rejected", None, "speed above 1", peak_speed=speed, t=1.0), None


@seeds(20, 20, attack=2000)
def test_the_order_does_not_depend_on_which_was_found_first(seed: int) -> None:
    """Chains of figures, each as good as alike to the next, and not to the one after."""
    rng = np.random.default_rng(seed)
    steps = SAME_FIGURE * rng.choice([0.3, 0.7, 0.9, 3.0], 4)
    speeds = np.concatenate([[0.1], 0.1 + np.cumsum(steps)]).tolist()
    held = [outcome(speed) for speed in speeds]
    told = set()
    for order in itertools.permutations(range(len(held))):
        ends = [held[k] for k in order]
        places = [[speeds[order[k]]] for k in canonical(ends)]
        gaps = np.diff(speeds, prepend=-1.0) > SAME_FIGURE
        group = np.cumsum(gaps).tolist()
        told.add(tuple(group[speeds.index(place[0])] for place in places))
    assert told == {tuple(sorted(group))}

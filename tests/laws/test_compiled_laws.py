"""A user's compiled force is a built-in one: same accelerations, same runs, same ledger, in
clusters as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.kernels.act import loads
from quirkpy.mechanics.system import Evaluator
from tests.contracts.catalogue import ARM, EAST, HINGE, HUB, WEST
from tests.contracts.own_parts import Breeze, Bungee, Well
from tests.motion import TIGHT

DECK = qp.Body.box("deck", (0.2, 0.2, 0.2), 1.0, position=(0.0, 0.0, -1.0), fixed=True)
HOOK = DECK.site("hook", at=(0.0, 0.1, 0.1))

BAND = Bungee("band", EAST, WEST, 7.0, 0.2, 0.4)
PAIRS: tuple[tuple[qp.Force, qp.Force], ...] = (
    (BAND, qp.Spring("band", EAST, WEST, stiffness=7.0, rest_length=0.2, damping=0.4)),
    (
        Bungee("line", HOOK, WEST, 7.0, 0.2),
        qp.Spring("line", HOOK, WEST, stiffness=7.0, rest_length=0.2),
    ),
    (
        Well("well", ARM, (0.2, 0.1, -0.3), 5.0),
        qp.PotentialWell("well", ARM, (0.2, 0.1, -0.3), 5.0),
    ),
)
pairs = pytest.mark.parametrize(("own", "built_in"), PAIRS, ids=lambda force: type(force).__name__)


def system(*more: Any) -> qp.Multibody:
    return qp.Multibody(HUB, ARM, DECK, qp.Gravity((0.0, 0.0, -2.0)), *more)


@pytest.mark.kernels
@pairs
def test_accelerates_as_the_built_in(own: qp.Force, built_in: qp.Force) -> None:
    mine, theirs = system(own, HINGE), system(built_in, HINGE)
    for evaluator in get_args(Evaluator):
        one, two = mine.acceleration(evaluator=evaluator), theirs.acceleration(evaluator=evaluator)
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)
    one, two = (s.initial.instant().loads for s in (mine, theirs))
    np.testing.assert_allclose(one.potential, two.potential, rtol=1e-12)
    np.testing.assert_allclose(one.power, two.power, rtol=1e-12, atol=1e-15)


@pairs
def test_moves_as_the_built_in(own: qp.Force, built_in: qp.Force) -> None:
    mine, theirs = (system(force).simulate(2.0, **TIGHT) for force in (own, built_in))
    assert mine.counts == theirs.counts
    for name in ("energy", "dissipated", "work"):
        assert getattr(mine, name)[-1] == pytest.approx(
            getattr(theirs, name)[-1], rel=1e-12, abs=1e-12
        )
    for body in ("hub", "arm"):
        np.testing.assert_allclose(
            mine.final[body].position, theirs.final[body].position, rtol=1e-12, atol=1e-12
        )


def test_moves_with_clusters() -> None:
    lock = qp.Fixed("lock", HUB, ARM)
    tied = (
        Bungee("line", HOOK, WEST, 7.0, 0.2),
        qp.Spring("line", HOOK, WEST, stiffness=7.0, rest_length=0.2),
    )
    mine, theirs = (system(lock, force) for force in tied)
    assert mine.clusters.merger is not None
    one, two = (s.simulate(2.0, **TIGHT) for s in (mine, theirs))
    assert one.counts == two.counts
    np.testing.assert_allclose(
        one.final["hub"].position, two.final["hub"].position, rtol=1e-12, atol=1e-12
    )


class Slow(qp.Force):
    """`Breeze` in Python."""

    sail: qp.Site
    strength: float

    def load(self, at: qp.MotionView) -> Mapping[qp.Body, qp.Wrench]:
        sail = at[self.sail]
        torque = 0.3 * sail.axes[:, 2] - 0.2 * sail.angular_velocity
        return {
            self.sail.body: qp.Wrench(self.strength * at.t * sail.axes[:, 0], torque, sail.position)
        }


@pytest.mark.kernels
def test_a_law_without_an_energy_does_work() -> None:
    state = system().initial.replace(t=1.5)
    one, two = (
        state.instant(system(kind("gust", WEST, 2.0)).selection).loads for kind in (Breeze, Slow)
    )
    np.testing.assert_allclose(one.wrench, two.wrench, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(one.power, two.power, rtol=1e-13)
    assert one.potential.tolist()[-1] == 0.0
    mine = system(Breeze("gust", WEST, 2.0)).simulate(1.0, **TIGHT)
    np.testing.assert_allclose(
        mine.energy + mine.dissipated - mine.work, mine.energy[0], rtol=0.0, atol=1e-9
    )


def test_what_it_does_beyond_rest_is_dissipated() -> None:
    run = system(BAND).simulate(2.0, **TIGHT)
    assert run.dissipated[-1] > 1e-3
    np.testing.assert_allclose(run.energy + run.dissipated, run.energy[0], rtol=0.0, atol=1e-9)


def test_nothing_is_compiled_again_for_it() -> None:
    system().acceleration()
    before = len(loads.applied_loads.signatures)
    system(BAND, Well("well", ARM, (0.0, 0.0, 0.0), 1.0)).acceleration()
    assert len(loads.applied_loads.signatures) == before


def test_uncompiled_it_says_the_same() -> None:
    both = system(BAND)
    at = both.initial.instant()
    load = at.users.load_of(BAND)[:-1]
    np.testing.assert_allclose(
        at.loads.wrench - system().initial.instant().loads.wrench, load, rtol=1e-11, atol=1e-12
    )
    assert BAND.potential(at.view) == pytest.approx(at.loads.potential[-1], rel=1e-13)


def test_parameters_reach_it() -> None:
    tables = system(BAND).tables
    strong = tables.select(parameters={"band": {"stiffness": 14.0}})
    other = system(Bungee("band", EAST, WEST, 14.0, 0.2, 0.4))
    state = system(BAND).initial
    np.testing.assert_array_equal(
        state.instant(strong).loads.wrench, other.initial.instant().loads.wrench
    )

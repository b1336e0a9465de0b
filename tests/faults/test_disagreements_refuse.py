"""A load that is not the gradient of the potential beside it is refused; one that is, and what goes
with it, is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import quirkpy as qp
from tests.contracts.catalogue import ARM, EAST, FORCES, HUB, WEST, label
from tests.contracts.own_parts import Bungee, Well
from tests.faults.sentence import check_refused

Wrenches = Mapping[qp.Body, qp.Wrench]


class Spring(qp.Force):
    """A spring between two sites, whose load is `factor` times what it should be, and what a test
    adds."""

    first: qp.Site
    second: qp.Site
    length: float
    factor: float = 1.0
    damping: float = 0.0
    couple: float = 0.0
    pace: float = 0.0

    def _stretch(self, at: qp.MotionView) -> tuple[Any, float]:
        d = at[self.second].position - at[self.first].position
        return d, float(np.linalg.norm(d)) - self.length * (1.0 + self.pace * at.t)

    def load(self, at: qp.MotionView) -> Wrenches:
        d, stretch = self._stretch(at)
        along = d / np.linalg.norm(d)
        rate = along @ (at[self.second].velocity - at[self.first].velocity)
        f = (self.factor * 7.0 * stretch + self.damping * rate) * along
        one, two = (at[site].position for site in (self.first, self.second))
        return {
            self.first.body: qp.Wrench(f, (0.0, self.couple, 0.0), one),
            self.second.body: qp.Wrench(-f, (0.0, 0.0, 0.0), two),
        }

    def potential(self, at: qp.MotionView) -> float:
        return 3.5 * self._stretch(at)[1] ** 2


class WrongBand(Bungee):
    """An energy of twice the stiffness."""

    @staticmethod
    def energy(first: Any, second: Any, stiffness: float, length: float) -> float:
        return (
            stiffness
            * (qp.triples.norm(qp.triples.sub(second.position, first.position)) - length) ** 2
        )


AS_WRITTEN = float(np.linalg.norm(np.subtract(WEST.placed()[0], EAST.placed()[0])))


def bowl(at: qp.MotionView) -> float:
    return float(at[ARM].position @ at[ARM].position)


def system(force: qp.Force) -> qp.Multibody:
    return qp.Multibody(HUB, ARM, force)


# --- refused --------------------------------------------------------------------------------------
REFUSED: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "half": (
        lambda: system(Spring("f", EAST, WEST, 0.2, factor=0.5)),
        ("hub", "the force (", "gradient", "N;"),
    ),
    "a percent": (lambda: system(Spring("f", EAST, WEST, 0.2, factor=1.01)), ("the force (",)),
    "sign": (lambda: system(Spring("f", EAST, WEST, 0.2, factor=-1.0)), ("the force (",)),
    "unseen at rest length": (
        lambda: system(Spring("f", EAST, WEST, AS_WRITTEN, factor=1.5)),
        ("the force (",),
    ),
    "torque": (
        lambda: system(Spring("f", EAST, WEST, 0.2, couple=1.0)),
        ("'hub'", "the torque (", "1, ", "N m;"),
    ),
    "potential": (
        lambda: system(
            qp.Potential("f", bowl, wrenches=lambda at: {ARM: qp.Wrench(-at[ARM].position)})
        ),
        ("'arm'", "the force (0.399787, -0.500459,", "(0.799573, -1.00092,"),
    ),
    "one forgotten": (
        lambda: system(
            qp.Potential(
                "f",
                lambda at: float(at[ARM].position @ at[HUB].position),
                wrenches=lambda at: {
                    ARM: qp.Wrench(-at[HUB].position),
                },
            )
        ),
        ("'hub'", "the force (0, 0, 0) N"),
    ),
    "compiled": (lambda: system(WrongBand("f", EAST, WEST, 7.0, 0.2)), ("the force (",)),
}


@pytest.mark.parametrize(("make", "words"), REFUSED.values(), ids=REFUSED)
def test_a_load_beside_another_potential_is_refused(
    make: Callable[[], Any], words: tuple[str, ...]
) -> None:
    check_refused(
        make,
        "'f'",
        ("its load and its potential disagree on body", "t = 0.0", "correct one", *words),
    )


def test_a_candidate_is_refused_when_it_first_acts() -> None:
    wrong = Spring("f", EAST, WEST, 0.2, factor=0.5)
    later = qp.Multibody(HUB, ARM, candidates=[wrong])
    check_refused(lambda: later.with_(wrong), "'f'", ("disagree",))


def test_a_run_of_another_selection_is_refused() -> None:
    """As an exploration begins one: from the tables, without a system of its own."""
    from quirkpy.mechanics.clusters import Clusters
    from quirkpy.mechanics.state import State
    from quirkpy.motion.driver import Driver
    from quirkpy.motion.settings import Settings

    later = qp.Multibody(HUB, ARM, candidates=[Spring("f", EAST, WEST, 0.2, factor=0.5)])
    chosen = later.tables.select()
    settings = Settings(rtol=1e-7, atol=1e-7, keep="ends")
    check_refused(
        lambda: Driver(Clusters(chosen), State.written(chosen), 1.0, (), settings),
        "'f'",
        ("disagree",),
    )


def test_it_is_asked_once_for_a_selection_and_not_in_every_step() -> None:
    asked = []

    def counted(at: qp.MotionView) -> float:
        asked.append(at.t)
        return bowl(at)

    one = system(
        qp.Potential("f", counted, wrenches=lambda at: {ARM: qp.Wrench(-2.0 * at[ARM].position)})
    )
    assert 0 < len(asked) <= 16
    asked.clear()
    run = one.simulate(0.1)
    assert len(asked) <= 2 * run.counts.evaluations


# --- let pass -------------------------------------------------------------------------------------
RIGHT: dict[str, Callable[[], Any]] = {
    "spring": lambda: Spring("f", EAST, WEST, 0.2),
    "at its natural length": lambda: Spring("f", EAST, WEST, AS_WRITTEN),
    "damped: compared at rest": lambda: Spring("f", EAST, WEST, 0.2, damping=5.0),
    "moved by time": lambda: Spring("f", EAST, WEST, 0.2, pace=3.0),
    "compiled": lambda: Bungee("f", EAST, WEST, 7.0, 0.2, 0.4),
    "compiled well": lambda: Well("f", ARM, (0.2, 0.1, -0.3), 5.0),
    "rope just taut": lambda: qp.Potential(
        "f",
        lambda at: 3.5 * max(0.0, apart(at) - AS_WRITTEN) ** 2,
        wrenches=lambda at: pulled(at, 7.0 * max(0.0, apart(at) - AS_WRITTEN)),
    ),
    "weight that begins here": lambda: qp.Potential(
        "f",
        lambda at: 3.0 * max(0.0, apart(at) - AS_WRITTEN),
        wrenches=lambda at: pulled(at, 3.0 * (apart(at) > AS_WRITTEN)),
    ),
    "only here": lambda: qp.Potential("f", only_here, wrenches=lambda at: {}),
    "nothing": lambda: qp.Potential("f", lambda at: 1e6, wrenches=lambda at: {}),
}


def apart(at: qp.MotionView) -> float:
    return float(np.linalg.norm(at[WEST].position - at[EAST].position))


def pulled(at: qp.MotionView, tension: float) -> Wrenches:
    one, two = at[EAST].position, at[WEST].position
    f = tension * (two - one) / np.linalg.norm(two - one)
    return {HUB: qp.Wrench(f, point=one), ARM: qp.Wrench(-f, point=two)}


def only_here(at: qp.MotionView) -> float:
    if abs(at[ARM].position - ARM.position).max() > 1e-4:
        raise ArithmeticError("not known there")
    return 0.0


@pytest.mark.parametrize("make", RIGHT.values(), ids=RIGHT)
def test_what_agrees_passes(make: Callable[[], qp.Force]) -> None:
    state = system(make()).initial.replace(t=0.3)
    assert system(make()).at(state).tables.force_names == ("f",)


def with_potential(force: qp.Force) -> bool:
    """Whether all that it does has a potential that time does not change."""
    alone = qp.Multibody(HUB, ARM, force) if not hasattr(force, "joint") else None
    return alone is not None and bool(alone.initial.instant().loads.potential.any())


@pytest.mark.parametrize("force", [f for f in FORCES if with_potential(f)], ids=label)
def test_every_force_of_the_catalogue_would_pass(force: qp.Force) -> None:
    """Its load by hand beside its energy, as a user would give them."""
    inner = qp.Multibody(HUB, ARM, force)

    def loads(at: qp.MotionView) -> Any:
        moving = {
            body.name: dict(
                position=at[body].position,
                orientation=Rotation.from_matrix(at[body].axes),
                velocity=at[body].velocity,
                angular_velocity=at[body].axes.T @ at[body].angular_velocity,
            )
            for body in (HUB, ARM)
        }
        return inner.initial.replace(moving, t=at.t).instant().loads

    def wrenches(at: qp.MotionView) -> Wrenches:
        return {
            b: qp.Wrench(w[:3], w[3:]) for b, w in zip((HUB, ARM), loads(at).wrench, strict=True)
        }

    own = qp.Potential("own", lambda at: float(loads(at).potential.sum()), wrenches=wrenches)
    np.testing.assert_allclose(
        qp.Multibody(HUB, ARM, own).acceleration(), inner.acceleration(), rtol=1e-9, atol=1e-12
    )

"""Traits: every class says what it is, what it says is true, and a trait that is not is caught.

Each check is a function that a class which lies fails as well: the last test of each part shows
it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.mechanics import invariance
from quirkpy.mechanics.instant import Instant
from quirkpy.parts.force import ELEMENT_KINDS, KINDS, ElementKind, KindTraits, kinds_where
from quirkpy.parts.joint import BaseJoint
from quirkpy.tables import compile, merge
from quirkpy.tables.vary import has_strength, selection_on, vary
from tests.contracts.catalogue import ARM, COUPLINGS, FORCES, HINGE, HUB, JOINTS, SLEEVE, label
from tests.contracts.own_parts import Breeze, Bungee, Detent, Notches, Well
from tests.contracts.stage import Pose, at_poses, moved, random_pose, turn, written
from tests.contracts.test_forces import joint_of, poses_of, tables_of
from tests.user_parts import Attraction, Compass, Drag, Onlooker

OWN = (
    Drag("drag", ARM, 0.3, 0.2), Compass("compass", ARM, (0.0, 0.6, 0.8), (1.0, 0.0, 0.0), 2.0),
    Attraction("attraction", HUB, ARM, 3.0, 0.2), Onlooker("onlooker"),
    Well("well", ARM, (0.2, 0.1, -0.3), 5.0), Breeze("breeze", HUB.site("sail"), 2.0),
    Bungee("band", HUB.site("hook"), ARM.site("ring"), 3.0, 0.4, 0.5),
    Detent("detent", HINGE, torque=0.3, notches=5.0, damping=0.1),
    Notches("notches", HINGE, torque=0.3, notches=5.0, damping=0.1),
)  # fmt: skip
EVERY = (*FORCES, *OWN)
every_force = pytest.mark.parametrize("force", EVERY, ids=label)
#: A body that is bolted onto the arm.
TAIL = qp.Body("tail", mass=1.3, inertia=(0.1, 0.2, 0.25), position=(-0.9, 0.8, 0.4))
LOCK = qp.Fixed("lock", ARM, TAIL)


def kinds_in(force: qp.Force) -> set[ElementKind]:
    """The kinds of the elements that a force is made of."""
    return {element.kind for element in force.elements_among((joint_of(force),))}


def lying(monkeypatch: pytest.MonkeyPatch, kind: ElementKind, **traits: Any) -> None:
    """Let a kind of elements say something else."""
    monkeypatch.setitem(KINDS, kind, KINDS[kind]._replace(**traits))


def off(one: Floats, two: Floats) -> float:
    """The largest difference, as a share of the largest number."""
    return float(abs(one - two).max(initial=0.0) / max(abs(two).max(initial=0.0), 1e-300))


# --- declared ------------------------------------------------------------------------------------
def family(base: type) -> Iterator[type]:
    for cls in base.__subclasses__():
        yield from (cls, *family(cls))


def test_every_kind_of_element_says_what_it_is() -> None:
    assert tuple(KINDS) == ELEMENT_KINDS
    known = {kind for kind in ELEMENT_KINDS if KINDS[kind].adds_up != "unknown"}
    assert known == set(ELEMENT_KINDS)
    seen = set().union(*map(kinds_in, EVERY))
    assert seen == set(ELEMENT_KINDS)  # so that each check below meets each kind


def test_a_kind_that_is_forgotten_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(KINDS, "bushing")
    with pytest.raises(KeyError, match="bushing"):
        kinds_where(lambda kind: kind.carried)
    assert KindTraits() == (None, (), "unknown", "unknown", "unknown", False, None, False)


@pytest.mark.parametrize("base", [qp.Safety, qp.Option])
def test_every_class_of_ours_declares_its_traits(base: Any) -> None:
    ours = {cls for cls in family(base) if cls.__module__.startswith("quirkpy.")}
    silent = {cls for cls in ours if cls.__dict__["traits"] is base.unknown_traits}
    assert len(ours) >= 4
    assert silent <= {qp.Pin}  # frozen anew with every choice: nothing is known of it


@pytest.mark.parametrize("base", [qp.Limit, qp.KeepOut, qp.Lock, qp.Hinge, qp.ViscousHinges])
def test_traits_are_not_inherited(base: Any) -> None:
    """A subclass does something else; what it does not declare is unknown."""
    mine = type("Mine", (base,), {})
    assert mine.__dict__["traits"] is base.unknown_traits
    again = type("Again", (mine,), {"traits": base.__dict__["traits"]})
    assert again.__dict__["traits"] is base.__dict__["traits"]


# --- what elements say ----------------------------------------------------------------------------
def untrue_strength(force: qp.Force, seed: int) -> float:
    """How far loads and energy with twice the numbers that scale them are from twice as large."""
    rng = np.random.default_rng(seed)
    chosen, poses = tables_of(force).select(), poses_of(joint_of(force), random_pose(rng), rng)
    rates = {name: rng.normal(size=(2, 3)) for name in ("v", "omega")}
    here = at_poses(chosen, poses, **rates)
    twice = selection_on(vary(chosen.tables, {}, {force.name: 2.0}, {}), chosen)
    motion = here.r, here.q, here.v, here.omega, here.near
    one, two = (Instant(some, 0.7, *motion).loads for some in (chosen, twice))
    return max(off(two.wrench, 2.0 * one.wrench), off(two.potential, 2.0 * one.potential))


@every_force
def test_strengths_scale_loads(force: qp.Force) -> None:
    if has_strength(tables_of(force), force.name):
        assert max(untrue_strength(force, seed) for seed in range(3)) < 1e-13
    else:
        assert any(KINDS[kind].strength is None for kind in kinds_in(force))


def test_a_wrong_strength_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    spring = next(force for force in FORCES if force.name == "spring")
    lying(monkeypatch, "pair", strength=(0, 1))
    assert untrue_strength(spring, 0) > 1e-3


def gathered(force: qp.Force, seed: int) -> tuple[Floats, Floats, float, float]:
    """Loads on the hub, and on arm and tail about their common mass centre, member by member and
    on the merged bodies; what the energy differs from one pose to another, both ways."""
    rng = np.random.default_rng(seed)
    chosen = compile((HUB, ARM, TAIL, joint_of(force), LOCK, force)).select()
    merger = merge.merge(chosen)
    assert merger is not None
    found = [_at(chosen, merger, force, rng) for _ in range(2)]
    (members, whole, u, w), (_, _, v, x) = found
    return members, whole, u - v, w - x


def _at(
    chosen: Any, merger: merge.Merger, force: qp.Force, rng: np.random.Generator
) -> tuple[Floats, Floats, float, float]:
    poses = poses_of(joint_of(force), random_pose(rng), rng)
    turned = poses["arm"][1] @ written(ARM)[1].T
    shift = poses["arm"][0] - turned @ written(ARM)[0]
    poses |= {"tail": moved(written(TAIL), np.zeros(3), shift, turned)}
    spins = rng.normal(size=(2, 3))
    omega = np.array(
        [poses[name][1].T @ spins[k] for name, k in (("hub", 0), ("arm", 1), ("tail", 1))]
    )
    v = rng.normal(size=(3, 3))
    v[2] = v[1] + np.cross(spins[1], poses["tail"][0] - poses["arm"][0])
    here = at_poses(chosen, poses, v=v, omega=omega)
    bodies = merge.Motion(here.r, here.q, here.v, here.omega)
    one = merge.as_leaders_move(bodies, merger.leader, merger.place)
    there = Instant(merger.selection, 0.0, *one, here.near)
    members, whole = here.loads, there.loads
    arms = here.r - one.r[merger.cluster]
    about = members.wrench + np.hstack([np.zeros((3, 3)), np.cross(arms, members.wrench[:, :3])])
    summed = np.array([about[merger.cluster == k].sum(axis=0) for k in range(2)])
    return summed, whole.wrench, float(members.potential.sum()), float(whole.potential.sum())


@every_force
def test_loads_add_up_over_a_cluster(force: qp.Force) -> None:
    declared = {KINDS[kind].adds_up for kind in kinds_in(force)}
    if declared <= {"always", "moving"}:
        for seed in range(3):
            members, whole, u, w = gathered(force, seed)
            assert off(members, whole) < 1e-12
            assert u == pytest.approx(w, rel=1e-11, abs=1e-12)
    else:
        chosen = compile((HUB, ARM, TAIL, joint_of(force), LOCK, force)).select()
        assert merge.merge(chosen) is None


def test_what_does_not_add_up_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pull of a planet, taken to second order in the size of each body."""
    monkeypatch.setattr(merge, "APART", ())
    planet = next(force for force in FORCES if isinstance(force, qp.PointGravity))
    members, whole, _, _ = gathered(planet, 0)
    assert off(members, whole) > 1e-6


def unlike_elsewhere(force: qp.Force, seed: int) -> float:
    """How far loads are from turning with the bodies, when all is moved elsewhere in N."""
    rng = np.random.default_rng(seed)
    chosen, poses = tables_of(force).select(), poses_of(joint_of(force), random_pose(rng), rng)
    v, spin = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    shift, R = rng.normal(size=3), turn(rng.normal(size=3), 1.1)
    there = {name: moved(pose, np.zeros(3), shift, R) for name, pose in poses.items()}
    loads = [
        at_poses(chosen, some, v=rate, omega=own_axes(some, spins)).loads.wrench
        for some, rate, spins in ((poses, v, spin), (there, v @ R.T, spin @ R.T))
    ]
    return off(loads[1], np.hstack([loads[0][:, :3] @ R.T, loads[0][:, 3:] @ R.T]))


def own_axes(poses: dict[str, Pose], spins: Floats) -> Floats:
    return np.array([poses[name][1].T @ w for name, w in zip(("hub", "arm"), spins, strict=True)])


def on_bodies(force: qp.Force) -> bool:
    """Whether no element has a site that stands in N."""
    elements = force.elements_among((joint_of(force),))
    return not any(s is not None and s.body.fixed for e in elements for s in (e.site1, e.site2))


def all_say(force: qp.Force, true: Callable[[KindTraits], Any]) -> bool:
    """Whether all kinds that a force is made of say something."""
    return all(true(KINDS[element]) for element in kinds_in(force))


RELATIVE = [f for f in EVERY if all_say(f, lambda kind: kind.felt == "relative") and on_bodies(f)]


@pytest.mark.parametrize("force", RELATIVE, ids=label)
def test_what_is_relative_knows_no_place(force: qp.Force) -> None:
    assert max(unlike_elsewhere(force, seed) for seed in range(3)) < 1e-9


def test_what_knows_places_is_caught() -> None:
    assert unlike_elsewhere(next(f for f in FORCES if isinstance(f, qp.PotentialWell)), 0) > 1e-3
    assert unlike_elsewhere(qp.Gravity((0.0, 0.0, -9.81)), 0) > 1e-3
    assert unlike_elsewhere(next(f for f in FORCES if isinstance(f, qp.PointGravity)), 0) > 1e-3


class Bare(qp.Force):
    """Elements as they are."""

    made: tuple[qp.Element, ...]

    def elements(self) -> tuple[qp.Element, ...]:
        return self.made


def turned_about(element: qp.Element) -> qp.Element:
    """The same with its first two sites exchanged, and as many numbers of each as go with them."""
    n, x = KINDS[element.kind].swapped or 0, element.numbers
    schedules = element.schedules if n == 0 else element.schedules[::-1]
    return element._replace(
        site1=element.site2, site2=element.site1, numbers=(*x[n : 2 * n], *x[:n], *x[2 * n :]),
        schedules=schedules,
    )  # fmt: skip


def with_other_axes(element: qp.Element) -> qp.Element:
    """The same on sites with other axes."""
    sites = [None if s is None else dataclasses.replace(s, z=(0.3, -1.0, 0.4), x=(1.0, 0.3, 0.0))
             for s in (element.site1, element.site2)]  # fmt: skip
    return element._replace(site1=sites[0], site2=sites[1])


def unlike(force: qp.Force, change: Any, seed: int) -> float:
    """How far the loads of the elements of a force are from those of others in their place."""
    rng = np.random.default_rng(seed)
    poses, elements = poses_of(HINGE, random_pose(rng), rng), force.elements()
    rates = {name: rng.normal(size=(2, 3)) for name in ("v", "omega")}
    loads = [
        at_poses(compile((HUB, ARM, Bare("bare", made))).select(), poses, **rates).loads.wrench
        for made in (elements, tuple(map(change, elements)))
    ]
    return off(loads[1], loads[0])


EITHER_WAY = [f for f in FORCES if all_say(f, lambda kind: kind.swapped is not None)]
POINTS = [f for f in FORCES if all_say(f, lambda kind: kind.points)]


@pytest.mark.parametrize("force", EITHER_WAY, ids=label)
def test_what_is_declared_so_is_the_same_from_either_end(force: qp.Force) -> None:
    assert max(unlike(force, turned_about, seed) for seed in range(3)) < 1e-12


@pytest.mark.parametrize("force", POINTS, ids=label)
def test_axes_of_points_mean_nothing(force: qp.Force) -> None:
    assert max(unlike(force, with_other_axes, seed) for seed in range(3)) < 1e-12


def test_ends_and_axes_that_matter_are_caught() -> None:
    bushing = next(force for force in FORCES if isinstance(force, qp.Bushing))
    dipoles = next(force for force in FORCES if isinstance(force, qp.Dipoles))
    assert unlike(bushing, turned_about, 0) > 1e-3
    assert unlike(dipoles, with_other_axes, 0) > 1e-3


# --- what forces on all joints say ----------------------------------------------------------------
SLIDER = qp.Cylindrical("other", HUB, ARM, at=(0.0, 0.1, 0.4), axis=(0.2, 1.0, 0.3))
ON_JOINTS = [f for f in EVERY if f.traits.on_joints == "alike"]
WITHOUT_ENERGY = [f for f in EVERY if f.traits.energy == "none"]


@pytest.mark.parametrize("force", ON_JOINTS, ids=label)
def test_on_all_joints_alike(force: qp.Force) -> None:
    each = [force.elements_among((joint,)) for joint in (HINGE, SLIDER)]
    assert force.elements_among((HINGE, SLIDER)) == each[0] + each[1]
    assert len({element.numbers for element in each[0] + each[1]}) == 1
    assert force.elements() == ()


@pytest.mark.parametrize("force", WITHOUT_ENERGY, ids=label)
def test_without_energy(force: qp.Force) -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        poses = poses_of(HINGE, random_pose(rng), rng)
        assert not at_poses(tables_of(force).select(), poses).loads.potential.any()


def test_forces_of_users_are_unknown() -> None:
    assert {force.traits for force in OWN} == {qp.ForceTraits()}
    assert {type(f) for f in ON_JOINTS} == {qp.ViscousHinges, qp.SprungHinges}
    assert {type(f) for f in WITHOUT_ENERGY} == {qp.ViscousHinges}


# --- what joints say ------------------------------------------------------------------------------
@pytest.mark.parametrize("joint", [*JOINTS, *COUPLINGS], ids=label)
def test_what_is_driven_has_rates_of_its_own(joint: BaseJoint) -> None:
    """At rest nothing but a drive makes rows ask for a rate."""
    parts = dict.fromkeys((HUB, ARM, HINGE, SLEEVE, joint))
    chosen, rng = compile(parts).select(), np.random.default_rng(0)
    here = at_poses(chosen, {"hub": random_pose(rng), "arm": random_pose(rng)})
    later = Instant(chosen, 1.0, here.r, here.q, here.v, here.omega, here.near)
    assert bool(later.rows.rate.any()) is joint.driven


# --- what pulls somewhere else --------------------------------------------------------------------
class Wall(qp.CompiledForce):
    """A soft wall that nothing feels before x = 1 m."""

    body: qp.Body
    stiffness: float

    @staticmethod
    def law(body: qp.PlaceMotion, stiffness: float) -> qp.Wrench:
        return qp.Wrench((-stiffness * max(body.position[0] - 1.0, 0.0), 0.0, 0.0))

    @staticmethod
    def energy(body: qp.PlaceMotion, stiffness: float) -> float:
        return 0.5 * stiffness * max(body.position[0] - 1.0, 0.0) ** 2


def drifts(force: qp.Force, ball: qp.Body) -> bool:
    """Whether a ball counts as one that moves on for good, and so at rest in itself."""
    return qp.Multibody(ball, force).settle(duration=20.0).verdict == "stable"


def test_a_law_that_pulls_somewhere_else_is_looked_ahead_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What drifts into it has not come to rest, as with the same wall in Python."""
    ball = qp.Body.sphere("ball", 0.1, 1.0, velocity=(0.01, 0.0, 0.0))
    away = qp.Body.sphere("ball", 0.1, 1.0, velocity=(-0.01, 0.0, 0.0))

    def wall(at: qp.MotionView) -> float:
        return float(2.5 * max(at[ball].position[0] - 1.0, 0.0) ** 2)

    assert not drifts(qp.Potential("wall", wall), ball)
    assert not drifts(Wall("wall", ball, 5.0), ball)
    assert drifts(Wall("wall", away, 5.0), away)
    monkeypatch.setattr(invariance, "ANYWHERE", (ELEMENT_KINDS.index("callback"),))
    assert drifts(Wall("wall", ball, 5.0), ball)

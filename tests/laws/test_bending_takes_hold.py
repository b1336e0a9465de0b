"""Bodies that bend, caught on the way: locks hold two sites, momenta stay, impulses ring the modes,
and rest and energy are told with the modes."""

from __future__ import annotations

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.mechanics import bending

FAST, MEETING = 0.3, 0.1


def craft(name: str, sense: float, velocity: tuple[float, float, float]) -> list[qp.Part]:
    """A hub with a boom that ends near the origin of N, on the side of a sense of x."""
    turn = qp.rotation((0, 0, 1), 0.0 if sense < 0.0 else np.pi)
    at, motion = (2.3 * sense, -MEETING * velocity[1], 0.0), {"velocity": velocity}
    hub = qp.Body.box(f"{name} hub", (0.6, 0.5, 0.4), 3.0, position=at, orientation=turn, **motion)
    start, end = (2.0 * sense, at[1], 0.0), (0.0, at[1], 0.0)
    boom = qp.Beam(f"{name} boom", start=start, end=end, EA=1e4, EI=(8.0, 5.0), GJ=4.0,
                   mass_per_length=0.3, modes=(0, 2, 2, 0), velocity=velocity)  # fmt: skip
    foot = hub.site("foot", at=(0.3, 0.0, 0.0))
    root = qp.Fixed(f"{name} root", foot, boom.at(0.0))
    return [hub, boom, root]


def pair(kind: str = "Fixed") -> qp.Multibody:
    """Two craft whose booms meet at their tips, and the joint that may hold them there."""
    one, two = craft("one", -1.0, (0.0, FAST, 0.05)), craft("two", 1.0, (0.0, -FAST, 0.05))
    tips = one[1].at(1.0), two[1].at(1.0)
    catch = qp.Fixed("catch", *tips, here=True) if kind == "Fixed" else qp.Spherical("catch", *tips)
    return qp.Multibody(*one, *two, candidates=(catch,))


def caught(kind: str) -> qp.Trajectory:
    system = pair(kind)
    names = (*system.selection.joint_names, "catch")
    switch = qp.Switch(MEETING, joints=names, reach=1e-6)
    return system.simulate(0.6, switches=[switch], rtol=1e-10, atol=1e-12, progress=False)


def momenta(system: qp.Multibody, state: qp.State) -> Floats:
    p, h = bending.momenta(state.instant(system.selection))
    return np.concatenate([p.sum(axis=0), h.sum(axis=0)])


@pytest.mark.parametrize("kind", ["Fixed", "Spherical"])
def test_a_catch_between_booms_keeps_momenta_and_rings_the_modes(kind: str) -> None:
    run = caught(kind)
    system = pair(kind)
    started, ended = (momenta(system, s) for s in (run.at(0.0), run.final))
    assert abs(ended - started).max() < 1e-9 * abs(started).max()
    before, after = (run["one boom"].mode_rates[run.t < MEETING], run["one boom"].mode_rates[-1])
    assert abs(before).max() == 0.0
    assert abs(after).max() > 1e-3  # they ring
    tips = [system["one boom"].at(1.0), system["two boom"].at(1.0)]
    at = run.final.instant().at_sites(*tips)
    assert abs(at.position[0] - at.position[1]).max() < 1e-8
    assert abs(at.velocity[0] - at.velocity[1]).max() < 1e-8
    if kind == "Fixed":
        assert abs(at.spin[0] - at.spin[1]).max() < 1e-8
    # bodies stay bodies that bend: the lock holds two sites alone
    bent = run["one boom"].modes[run.t > MEETING]
    assert np.ptp(bent, axis=0).max() > 1e-3


@pytest.mark.parametrize("kind", ["Fixed", "Spherical"])
def test_impulses_are_the_changes_of_momentum_and_their_losses_that_of_energy(kind: str) -> None:
    run = caught(kind)
    lost = float(run.lost[-1])
    assert lost > 0.0
    assert sum(one.lost for one in run.impacts) == pytest.approx(lost, rel=1e-9)
    energy = run.energy - run.work + run.dissipated + run.lost
    assert abs(energy - energy[0]).max() < 1e-9 * energy[0]
    system = pair(kind)
    jump, selection = run.impacts[0].t, system.selection
    assert jump == MEETING
    k = int(np.flatnonzero(run.t == MEETING)[-1])
    begun, _ = bending.momenta(run.at(0.0).instant(selection))  # nothing acts before
    after, _ = bending.momenta(run.at(float(run.t[k])).instant(selection))
    for name, change in zip(system.bodies, after - begun, strict=True):
        given = [one.impulse[name].force for one in run.impacts if name in one.impulse]
        assert abs(change - np.sum(given, axis=0)).max() < 1e-9
    total = sum((one.impulse[name].force for one in run.impacts for name in one.impulse),
                start=np.zeros(3))  # fmt: skip
    assert abs(total).max() < 1e-9  # between the bodies alone


def test_a_lock_holds_bent_booms_as_they_are() -> None:
    """Bent on both sides of the lock, and a little apart: nothing moves when it takes hold."""
    system = pair()
    bent = {"modes": (0.02, 0.001, -0.015, 0.002)}
    start = system.initial.replace(
        {"one boom": bent, "two boom": {"modes": (-0.01, 0.0, 0.01, 0.0)}}
    )
    names = (*system.selection.joint_names, "catch")
    tips = [system["one boom"].at(1.0), system["two boom"].at(1.0)]
    before = start.instant().at_sites(*tips).position
    held = system.choosing(names, []).at(start)
    assert held.residual().gaps["catch"].size < 1e-13
    run = held.simulate(0.2, rtol=1e-10, atol=1e-12, progress=False)
    at = run.final.instant().at_sites(*tips)
    apart = [float(np.linalg.norm(place[0] - place[1])) for place in (before, at.position)]
    assert abs(apart[1] - apart[0]) < 1e-3 * apart[0]  # arms turn as bending does, to its order
    assert abs(at.spin[0] - at.spin[1]).max() < 1e-8


def cantilever(damping: float) -> qp.Multibody:
    boom = qp.Beam("boom", start=(0.0, 0.0, 0.0), end=(2.0, 0.0, 0.0), EA=1e4, EI=8.0, GJ=4.0,
                   mass_per_length=0.3, modes=(0, 1, 0, 0), damping=damping)  # fmt: skip
    return qp.Multibody(boom, qp.Fixed("root", qp.GROUND.site("root"), boom.at(0.0)))


def test_rest_counts_what_bends() -> None:
    """A decaying mode, until its speed and its acceleration are below their bounds."""
    system = cantilever(0.1)
    start = system.initial.replace({"boom": {"modes": (0.01,)}})
    bounds = qp.AtRest(speed=1e-5, acceleration=1e-4)
    run = system.at(start).simulate(200.0, stop=[bounds], progress=False)
    assert run.stop is qp.Stop.EVENT
    assert run.final.t > 10.0
    boom = system["boom"]
    q, u, omega = *run.final.further, float(boom.modal.frequencies[0])
    speed, push = abs(u), abs(omega**2 * q + 0.2 * omega * u)
    assert max(speed / 1e-5, push / 1e-4) / np.sqrt(boom.mass) == pytest.approx(1.0, rel=1e-5)


def test_an_energy_is_reached_with_that_of_bending() -> None:
    system = cantilever(0.02)
    start = system.initial.replace({"boom": {"modes": (0.01,)}})
    begun = system.energy(start)
    level = 0.25 * (begun.kinetic + begun.potential)
    run = system.at(start).simulate(200.0, stop=[qp.EnergyBelow(level)], progress=False)
    assert run.stop is qp.Stop.EVENT
    assert run.energy[-1] == pytest.approx(level, rel=1e-6)


def test_mobility_counts_modes() -> None:
    found = cantilever(0.1).mobility()
    assert (found.degrees_of_freedom, found.rank) == (1, 6)

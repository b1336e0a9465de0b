"""Loads inside beams: closed forms, reactions of joints, jumps, and beams read from either end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from tests.clouds import stirred
from tests.random_systems import seeds

L = 2.0


def beam(**changes: Any) -> qp.Beam:
    """Two metres along x, of 1 kg."""
    usual: dict[str, Any] = {
        "start": (0.0, 0.0, 0.0), "end": (L, 0.0, 0.0), "EA": 2e4, "EI": (300.0, 200.0),
        "GJ": 150.0, "mass_per_length": 0.5, "modes": (0, 3, 3, 1), "damping": 0.02,
    }  # fmt: skip
    return qp.Beam("boom", **{**usual, **changes})


def clamped(boom: qp.Beam, *more: qp.Part) -> qp.Multibody:
    return qp.Multibody(boom, qp.Fixed("root", qp.GROUND, boom, at=boom.start), *more)


def parts(load: qp.SectionLoad) -> Floats:
    return np.concatenate([load.force, load.moment], axis=-1)


def with_modes(system: qp.Multibody, amounts: Floats) -> qp.State:
    return system.initial.replace({"boom": {"modes": amounts}})


# --- closed forms ---------------------------------------------------------------------------------
@pytest.mark.parametrize("share", [0.0, 0.3, 0.75, 1.0])
def test_a_load_at_the_tip_is_carried_to_the_root(share: float) -> None:
    """Bent by a small load and at rest: shear P, bending P (L - x), twist by a couple."""
    P, Q, T = 2e-4, -3e-4, 1e-4
    boom = beam(shapes="polynomials", modes=(0, 2, 2, 1))
    tip = boom.at(1.0)
    push = qp.Load("push", boom, force=(0.0, P, Q), torque=(T, 0.0, 0.0), at=boom.end)
    system = clamped(boom, push)
    modes = boom.modes_at(tip.at)
    pulled = modes.displacement @ (0.0, P, Q) + modes.rotation @ (T, 0.0, 0.0)
    state = with_modes(system, np.linalg.solve(boom.modal.stiffness, pulled))
    assert abs(system.at(state).acceleration()).max() < 1e-9
    arm = (1.0 - share) * L
    wanted = [0.0, P, Q, T, -Q * arm, P * arm]
    assert parts(state["boom"].section(share)) == pytest.approx(wanted, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("tip", [0.0, 0.2])
def test_a_spinning_beam_is_pulled_by_what_lies_beyond(share: float, tip: float) -> None:
    """T = m' w^2 (L^2 - x^2) / 2 + m w^2 L, about its start."""
    speed, x = 3.0, share * L
    boom = beam(tip_masses=(0.0, tip))
    hinge = qp.Revolute("hinge", qp.GROUND, boom, at=(0, 0, 0), axis=(0, 0, 1))
    system = qp.Multibody(boom, hinge)
    moving = {
        "velocity": (0.0, speed * boom.position[0], 0.0), "angular_velocity": (0.0, 0.0, speed)
    }  # fmt: skip
    load = system.initial.replace({"boom": moving})["boom"].section(share)
    pull = 0.25 * speed**2 * (L**2 - x**2) + tip * speed**2 * L
    assert parts(load) == pytest.approx([pull, 0, 0, 0, 0, 0], rel=1e-12, abs=1e-11)
    assert load.axial == load.force[0]
    assert load.twist == 0.0


def test_a_mode_that_rings_bends_as_its_curvature() -> None:
    """M = EI w'' of a true mode, whose inertia is its only load."""
    boom = beam(modes=(0, 3, 0, 0), damping=0.0)
    state = with_modes(clamped(boom), np.array([2e-5, -1e-5, 5e-6]))
    h = 1e-3
    for share in (0.0, 0.2, 0.6):
        slopes = [
            boom.modes_at((x, 0.0, 0.0)).rotation[:, 2] @ state["boom"].modes
            for x in boom.at(share).at[0] + h * np.array([0.0, 1.0, 2.0, 3.0, 4.0])
        ]
        curvature = np.dot(slopes, [-25, 48, -36, 16, -3]) / (12.0 * h)
        load = state["boom"].section(share)
        assert load.bending[1] == pytest.approx(200.0 * curvature, rel=1e-6)


def test_weight_hangs_on_the_root() -> None:
    """Without motion, and without any mode that gives way: a beam that hangs straight."""
    boom = beam(end=(0.0, 0.0, -L), tip_masses=(0.3, 0.1))
    system = clamped(boom, qp.Gravity((0.0, 0.0, -9.81)))
    for share in (0.0, 0.5, 1.0):
        load = system.initial["boom"].section(share)
        assert load.axial == pytest.approx(9.81 * (0.5 * L * (1.0 - share) + 0.1), rel=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("falls", [True, False])
def test_tides_pull_a_beam_that_points_to_a_planet(falls: bool, share: float) -> None:
    """T = 3 n^2 m' (l^2 - x^2) / 2 about the middle of a beam that turns with its orbit, wherever
    the pull of the planet itself is counted; to the ratio of length to distance."""
    mu, R, half = 3.986e14, 7e6, 50.0
    rate = np.sqrt(mu / R**3)
    field = (
        qp.GravityGradient(qp.Orbit.circular(mu, R)) if falls else qp.PointGravity(mu, (-R, 0, 0))
    )
    moving = {"velocity": (0.0, 0.0 if falls else rate * R, 0.0), "angular_velocity": (0, 0, rate)}
    boom = qp.Beam("boom", start=(-half, 0, 0), end=(half, 0, 0), EA=1e6, EI=1e4, GJ=1e4,
                   mass_per_length=0.2, modes=4, clamped="free", **moving)  # fmt: skip
    found = qp.Multibody(boom, field).initial["boom"].section(share)
    most, x = 3.0 * rate**2 * 0.2 * half**2 / 2.0, 2.0 * share - 1.0
    np.testing.assert_allclose(
        parts(found), [most * (1.0 - x * x), 0, 0, 0, 0, 0], atol=1e-5 * most
    )


# --- beside what is known otherwise ---------------------------------------------------------------
def on_a_hub(boom: qp.Beam, *more: qp.Part) -> qp.Multibody:
    """A free hub with a beam, a payload hinged to its tip and a spring to its middle."""
    hub = qp.Body.box("hub", (0.4, 0.3, 0.2), 5.0)
    load = qp.Body.box("payload", (0.1, 0.1, 0.1), 0.5, position=(L + 0.1, 0.0, 0.0))
    ends = boom.at(1.0), load.site("in", at=(-0.1, 0.0, 0.0))
    return qp.Multibody(
        hub, boom, load, qp.Fixed("root", hub.site("root"), boom.at(0.0)),
        qp.Revolute("hinge", *ends), qp.Gravity((0.3, 0.0, -9.81)),
        qp.Spring("spring", hub.site("up", at=(0, 0, 0.2)), boom.at(0.5), stiffness=20.0), *more,
    )  # fmt: skip


FIELDS = {
    "uniform": qp.Gravity((1.0, 2.0, -3.0), name="more"),
    "at rest": qp.PointGravity(400.0, (-20.0, 12.0, -9.0)),
    "falling": qp.GravityGradient(qp.Orbit.circular(400.0, 25.0)),
}


@pytest.mark.parametrize("field", FIELDS)
@seeds(4, 2, attack=200)
def test_the_root_carries_what_the_joint_does(seed: int, field: str) -> None:
    """In any motion and any field, however far bent: the load at the root is that of the joint."""
    push = qp.Load("push", boom := beam(), force=(0.3, 1.0, -2.0), at=(0.8 * L, 0.1, 0.05))
    system = on_a_hub(boom, push, FIELDS[field])
    system = system.at(stirred(system, seed, bent=0.01))
    root = system.reactions(axes="joint")["root"]
    held = np.concatenate([root.force, root.torque])
    load = parts(system.initial["boom"].section(0.0))
    assert abs(load + held).max() < 1e-9 * abs(held).max()


@pytest.mark.parametrize("support", ["start", "end", "both", "pinned", "free"])
@seeds(2, 1, attack=50)
def test_a_free_end_carries_nothing(seed: int, support: str) -> None:
    """Of a beam in flight, whatever its modes leave still: both ends, however it tumbles."""
    boom = beam(clamped=support, modes=5)
    system = qp.Multibody(boom, qp.Gravity((0.0, 0.0, -9.81)))
    state = stirred(system, seed, bent=0.005)
    middle = parts(state["boom"].section(0.5))
    for share in (0.0, 1.0):
        assert abs(parts(state["boom"].section(share))).max() < 1e-9 * abs(middle).max()


def test_a_load_makes_a_jump() -> None:
    """Where a spring and a push act, and nowhere else."""
    boom = beam()
    force, couple = (0.3, 1.0, -2.0), (0.1, 0.2, 0.3)
    push = qp.Load("push", boom, force=force, torque=couple, at=(0.7 * L, 0.0, 0.0))
    system = on_a_hub(boom, push)
    system = system.at(stirred(system, 3, bent=0.01))
    load = system.initial["boom"].section
    axes = system.instant().at_sites(boom.at(0.7), boom.at(0.5)).axes
    pulls = {pull.source: pull.force for pull in system.pulls()["boom"]}
    jump = parts(load(0.7 - 1e-7)) - parts(load(0.7))
    assert abs(jump - np.concatenate([force @ axes[0], couple @ axes[0]])).max() < 1e-4
    jump = parts(load(0.5 - 1e-7)) - parts(load(0.5))
    assert abs(jump - np.concatenate([pulls["spring"] @ axes[1], np.zeros(3)])).max() < 1e-4
    assert abs(parts(load(0.6)) - parts(load(0.6 + 1e-7))).max() < 1e-4


def test_a_beam_read_from_its_other_end_carries_the_same() -> None:
    """Section for section, with signs of the other face."""
    found = []
    for turned in (False, True):
        start, end = (
            ((L, 0.0, 0.0), (0.0, 0.0, 0.0)) if turned else ((0.0, 0.0, 0.0), (L, 0.0, 0.0))
        )
        boom = beam(start=start, end=end, clamped="end" if turned else "start", y=(0, 1, 0))
        hub = qp.Body.box("hub", (0.4, 0.3, 0.2), 5.0)
        root = qp.Fixed("root", hub, boom, at=(0.0, 0.0, 0.0))
        slew = qp.Load("slew", hub, torque=(0.3, 0.7, 2.0))
        run = qp.Multibody(hub, boom, root, slew).simulate(
            0.5, rtol=1e-10, atol=1e-12, progress=False
        )
        found.append(parts(run.final["boom"].section(0.6 if turned else 0.4)))
    # x and z of the other beam point the other way; so does what acts on the other face
    assert abs(found[1] - found[0] * (1, -1, 1, 1, -1, 1)).max() < 1e-8 * abs(found[0]).max()


# --- along runs -----------------------------------------------------------------------------------
def test_runs_tell_at_each_row_and_states_alike() -> None:
    boom = beam()
    push = qp.Load("push", boom, force=(0.0, 1.0, 2.0), at=boom.end)
    run = on_a_hub(boom, push).simulate(0.3, progress=False)
    load = run["boom"].section(0.3)
    assert load.force.shape == load.moment.shape == (len(run.t), 3)
    assert load.shear.shape == load.bending.shape == (len(run.t), 2)
    assert parts(run.final["boom"].section(0.3)) == pytest.approx(parts(load)[-1], rel=1e-9)
    assert abs(load.moment).max() > 0.1


def test_sections_are_refused_in_sentences() -> None:
    boom = beam()
    system = clamped(boom)
    with pytest.raises(qp.PartError, match=r"share .* from 0 to 1"):
        system.initial["boom"].section(1.2)
    runs = system.simulate_many(states=[system.initial] * 2, duration=0.01)
    with pytest.raises(qp.PartError, match="ask one of the runs"):
        runs["boom"].section(0.3)

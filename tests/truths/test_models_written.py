"""What `write_mjcf` writes is the same system for `read_mjcf`, and for MuJoCo where it is
installed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.random_systems import seeds

JOINTS = (qp.Revolute, qp.Prismatic, qp.Spherical, qp.Fixed)


def random_tree(seed: int) -> qp.Multibody:
    """Bodies with oblique moments on all joints that an MJCF knows, with forces on them, at angles
    that are not zero."""
    rng = np.random.default_rng(seed)

    def point() -> tuple[float, ...]:
        return tuple(rng.uniform(-1.0, 1.0, 3).tolist())

    hub = qp.Body("hub", fixed=True, position=point(), orientation=qp.rotation(point(), 1.0))
    parts: list[Any] = [hub, qp.Gravity(point())]
    bodies = [hub]
    for k in range(5):
        half = rng.normal(size=(3, 3))
        moments = half @ half.T
        body = qp.Body(
            f"b{k}", rng.uniform(0.5, 2.0), np.trace(moments) * np.eye(3) - moments,
            position=point(), orientation=qp.rotation(point(), rng.uniform(-3, 3)),
            shape=[qp.Box((0.1, 0.2, 0.3)), qp.Cylinder(0.1, 0.4, "y"), None][k % 3],
        )  # fmt: skip
        ends = (bodies[rng.integers(len(bodies))], body)
        kind = JOINTS[k % 4]
        if k < 4:
            first, second = ends if rng.uniform() < 0.5 or ends[0].fixed else ends[::-1]
            axis: dict[str, Any] = {} if kind in (qp.Spherical, qp.Fixed) else {"axis": point()}
            parts.append(kind(f"j{k}", first, second, at=point(), **axis))
        bodies.append(body)
        parts.append(body)
    hinge, slide = (p for p in parts if isinstance(p, (qp.Revolute, qp.Prismatic)))
    parts += [
        qp.JointSpring("spring", hinge, stiffness=2.0, rest=0.3, damping=0.2),
        qp.JointDamper("damper", hinge, damping=0.1), qp.Motor("motor", hinge, torque=0.7),
        qp.Servo("servo", slide, target=0.2, stiffness=3.0, damping=0.4),
        qp.Spring("tie", bodies[-1], bodies[2], stiffness=4.0, rest_length=0.5, damping=0.3,
                  at1=point()),
        qp.String("string", bodies[-1], bodies[0], stiffness=4.0, rest_length=0.1),
    ]  # fmt: skip
    return qp.Multibody(*parts)


def written(system: qp.Multibody, path: Path) -> tuple[qp.Imported, qp.State, qp.State]:
    """A system read back, and a random motion of both."""
    qp.write_mjcf(system, path)
    again = qp.read_mjcf(path)
    rng = np.random.default_rng(3)
    values, rates = dict[str, object](), dict[str, object]()
    for motion in (m for link in again.assembly.links for m in link.motions):
        if motion.simple:
            values[motion.name] = motion.zero + rng.uniform(-1, 1)
            rates[motion.name] = rng.uniform(-1, 1)
        elif motion.kind == "ball":
            values[motion.name] = qp.rotation(rng.normal(size=3), 0.5)
            rates[motion.name] = rng.normal(size=3)
    there = again.state(values, rates)
    return again, there, there.on(system.selection)


@seeds(6, 3)
def test_a_system_comes_back_from_an_mjcf(seed: int, tmp_path: Path) -> None:
    system = random_tree(seed)
    again, there, here = written(system, tmp_path / "again.xml")
    assert set(again.system.bodies) == set(system.bodies)
    for name in system.bodies:
        np.testing.assert_allclose(
            again.system.initial[name].position, system.initial[name].position, rtol=0, atol=1e-13
        )
    for joint in ("j0", "j1"):
        one, two = (s.initial[joint] for s in (again.system, system))
        told = ("angle", "rate") if joint == "j0" else ("travel", "rate")
        for word in told:
            assert getattr(one, word) == pytest.approx(getattr(two, word), abs=1e-12)
    ours, theirs = (
        dict(zip(s.bodies, s.acceleration(at), strict=True))
        for s, at in ((system, here), (again.system, there))
    )
    largest = max(abs(row).max() for row in ours.values())
    for name, row in ours.items():
        np.testing.assert_allclose(theirs[name], row, rtol=0, atol=1e-9 * largest)


@seeds(6, 3)
def test_mujoco_moves_it_alike(seed: int, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    from benchmarks.comparing import difference
    from benchmarks.in_mujoco import sample_mjcf

    path = tmp_path / "again.xml"
    again, _, _ = written(random_tree(seed), path)
    assert difference(sample_mjcf(path, again)) < 1e-9


def four_bar() -> qp.Multibody:
    """A four-bar that is closed by a hinge, with a lock that may act later, and a geared wheel."""
    places = [(0, 0.5, 0), (0.75, 1.0, 0), (1.5, 0.5, 0)]
    bars = [
        qp.Body.box(f"bar{k}", size, 1.0, position=at)
        for k, (at, size) in enumerate(
            zip(places, ((0.1, 1, 0.1), (1.5, 0.1, 0.1), (0.1, 1, 0.1)), strict=True)
        )
    ]
    wheel = qp.Body.cylinder("wheel", 0.2, 0.1, 0.5, "z", position=(3, 0, 0))
    pins = [
        qp.Revolute(f"pin{k}", one, two, at=at, axis=(0, 0, 1))
        for k, (one, two, at) in enumerate(
            [(qp.GROUND, bars[0], (0, 0, 0)), (bars[0], bars[1], (0, 1, 0)),
             (bars[1], bars[2], (1.5, 1, 0)), (bars[2], qp.GROUND, (1.5, 0, 0))]
        )
    ]  # fmt: skip
    seat = qp.Revolute("seat", qp.GROUND, wheel, at=(3, 0, 0), axis=(0, 0, 1))
    gear = qp.Gear("gear", pins[0], seat, ratio=2.0)
    lock = qp.Fixed("lock", bars[0], bars[1])
    return qp.Multibody(
        *bars, wheel, *pins, seat, gear, qp.Gravity((3, -9.81, 0)), candidates=[lock]
    )


def test_loops_and_couplings_come_back(tmp_path: Path) -> None:
    system = four_bar()
    told = qp.write_mjcf(system, tmp_path / "loop.xml")
    assert {finding.code for finding in told} == {"soft"}
    again = qp.read_mjcf(tmp_path / "loop.xml").system
    assert again.mobility().degrees_of_freedom == system.mobility().degrees_of_freedom == 1
    assert [part.name for part in again.candidates] == ["lock"]
    runs = [s.simulate(1.0, rtol=1e-10, atol=1e-12).final for s in (system, again)]
    for name in system.bodies:
        np.testing.assert_allclose(
            runs[0][name].position, runs[1][name].position, rtol=0, atol=1e-7
        )


def test_what_an_mjcf_cannot_say_is_told(tmp_path: Path) -> None:
    ball = qp.Body.sphere("ball", 0.1, 1.0, position=(1, 0, 0))
    rail = qp.Prismatic("rail", qp.GROUND, ball, at=(0, 0, 0), axis=(1, 0, 0))
    bar = qp.Body.box("bar", (1, 0.1, 0.1), 1.0, position=(0, 2, 0))
    system = qp.Multibody(
        ball, rail, bar, qp.JointStop("stop", rail, lower=-0.5, upper=0.5),
        qp.PotentialWell("well", bar, (0, 0, 0), 2.0),
        qp.Motor("moved", rail, force=qp.Sine(1.0, 2.0)),
        qp.String("pull", ball, bar, stiffness=2.0, damping=1.0),
    )  # fmt: skip
    told = qp.write_mjcf(system, tmp_path / "model.xml")
    assert {one.code for one in told} == {"not written", "stop", "slack"}
    left = next(one.sentence for one in told if one.code == "not written")
    assert "well" in left
    assert "moved" in left
    assert qp.read_mjcf(tmp_path / "model.xml").system["rail limit"].upper == 0.5
    odd = qp.Universal("odd", ball, bar, at=(0, 0, 0), axis=(0, 0, 1))
    with pytest.raises(qp.PartError, match=r"'odd': .*knows no such joint"):
        qp.write_mjcf(qp.Multibody(ball, bar, odd), tmp_path / "x.xml")
    assert not (tmp_path / "x.xml").exists()


def test_what_acts_together_is_written_together(tmp_path: Path) -> None:
    """Two springs with dampers on a hinge; a joint is called as a free body would be; what moves at
    first does so no more, and that is told."""
    bar = qp.Body.box("bar", (1, 0.1, 0.2), 1.0, position=(0.5, 0, 0))
    free = qp.Body.box("free", (1, 0.1, 0.2), 1.0, position=(0, 3, 0))
    hinge = qp.Revolute("free in N", qp.GROUND, bar, at=(0, 0, 0), axis=(0, 0, 1))
    system = qp.Multibody(
        bar, free, hinge, qp.HingeSpring("damped", hinge, stiffness=0.0, damping=0.2),
        qp.JointSpring("one", hinge, stiffness=2.0, rest=0.3, damping=0.1),
        qp.HingeSpring("two", hinge, stiffness=1.0, rest_angle=-0.9),
    )  # fmt: skip
    assert qp.write_mjcf(system, tmp_path / "model.xml") == ()
    names = re.findall(r'joint name="([^"]*)"', (tmp_path / "model.xml").read_text())
    assert len(names) == len(set(names)) == 2
    again = qp.read_mjcf(tmp_path / "model.xml").system
    ours, theirs = (dict(zip(s.bodies, s.acceleration(), strict=True)) for s in (system, again))
    np.testing.assert_allclose(theirs["bar"], ours["bar"], rtol=0, atol=1e-12)
    moving = system.at(system.initial.replace({"free": {"velocity": (1, 0, 0)}}))
    told = qp.write_mjcf(moving, tmp_path / "model.xml")
    assert [finding.code for finding in told] == ["speeds"]

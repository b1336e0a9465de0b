"""Clearances of meshes: against built-in shapes on the same runs, and of what is not convex against
its parts."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.clearance.clearances import SLACK, Clearances, clearances
from quirkpy.clearance.skins import Couple, Skin, surface_of
from quirkpy.maths.triples import NO_TURN, ORIGIN
from tests.solids import found, random_pair

pytest.importorskip("fcl", reason="python-fcl, which measures meshes, is not installed")

SIDE = 0.1
#: An L of three cubes: its outline in sides, from the inner corner on.
OUTLINE = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0)])


def same_mesh(shape: Any) -> Any:
    """A box as a mesh; what is round stays as it is."""
    return qp.Mesh(*surface_of(shape)[:2]) if isinstance(shape, qp.Box) else shape


def rod(shape: qp.Cylinder, sides: int) -> qp.Mesh:
    """A prism within a cylinder along z."""
    turn = 2.0 * math.pi * np.arange(sides) / sides
    ring = shape.radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return extruded(ring, shape.length)


def extruded(outline: np.ndarray, height: float) -> qp.Mesh:
    """A prism over an outline of which all is seen from its first corner, between -height/2 and
    height/2."""
    n = len(outline)
    points = [np.column_stack([outline, np.full(n, z)]) for z in (-0.5 * height, 0.5 * height)]
    fans = [(0, k, k + 1) for k in range(1, n - 1)]
    ends = [*((c, b, a) for a, b, c in fans), *((a + n, b + n, c + n) for a, b, c in fans)]
    walls = [(k, (k + 1) % n) for k in range(n)]
    sides = [triangle for a, b in walls for triangle in ((a, b, b + n), (a, b + n, a + n))]
    return qp.Mesh(np.concatenate(points), ends + sides)


def flying(seed: int) -> list[qp.Body]:
    """Bodies that fly past and through each other, and some that stand."""
    rng = np.random.default_rng(seed)
    bodies = []
    for k in range(3):
        at, a = rng.normal(size=3) * 0.3, rng.uniform(0.05, 0.2, 3)
        bodies.append(
            qp.Body(
                f"b{k}",
                mass=1.0,
                inertia=(0.01, 0.012, 0.013),
                position=at,
                orientation=qp.rotation(rng.normal(size=3), 2.0),
                velocity=-at * rng.uniform(0.5, 1.5) + rng.normal(size=3) * 0.05,
                angular_velocity=rng.normal(size=3) * 3.0,
                shape=(qp.Box(a), qp.Cylinder(0.5 * a[0], a[1], "z"), qp.Box(a))[k],
            )
        )
    turn = qp.rotation((1, 1, 0), 0.4)
    stand = qp.Body.box(
        "stand", (0.1, 0.2, 0.1), position=(-0.3, 0.1, 0.0), orientation=turn, fixed=True
    )
    return [*bodies, qp.Body.sphere("ball", 0.05, position=(0.1, 0.1, 0.0), fixed=True), stand]


def measured(bodies: list[qp.Body], *joints: qp.Joint, duration: float = 1.0) -> Clearances:
    return clearances(qp.Multibody(*bodies, *joints).simulate(duration))


def first_of(result: Clearances) -> dict[frozenset[str], tuple[float, str]]:
    """When each pair has collided, and how it lay."""
    return {frozenset((c.one, c.two)): (c.t, c.lie) for c in result.collisions}


# --- as built-in shapes ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("one", "two"), [("box", "box"), ("box", "cylinder"), ("sphere", "box"), ("sphere", "cylinder")]
)
def test_instants_agree(one: str, two: str) -> None:
    """Apart exactly, overlapping by a little exactly too; but for what a prism misses of a
    cylinder."""
    rng = np.random.default_rng(8)
    pairs = [random_pair(one, two, rng) for _ in range(60)]
    missed, looked = 1e-12 if two == "box" else 5e-6, 0
    for (a, b), gap in zip(pairs, found(pairs).gap, strict=True):
        couple = Couple(*(Skin(placed.shape, ORIGIN, NO_TURN) for placed in (a, b)))
        mine, n = couple.separation(a.axes.T @ b.axes, a.axes.T @ (b.at - a.at))
        if gap > -1e-2:
            assert mine == pytest.approx(gap, abs=missed)
            assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-9)
            looked += 1
    assert looked > 30


@pytest.mark.parametrize(("seed", "kept"), [(0, ()), (1, ("b2", "ball")), (3, ("b0", "stand"))])
def test_boxes_as_meshes_are_boxes(seed: int, kept: tuple[str, ...]) -> None:
    """On random runs: the least clearance, how bodies lie, and when they collide."""
    bodies = flying(seed)
    meshes = [
        b if b.name in kept else dataclasses.replace(b, shape=same_mesh(b.shape)) for b in bodies
    ]
    built_in, mine = measured(bodies), measured(meshes)
    apart = 0
    for one, two in zip(built_in.pairs, mine.pairs, strict=True):
        assert (one.one, one.two, one.begins, one.ends) == (two.one, two.two, two.begins, two.ends)
        assert (one.least > 0.0) == (two.least > 0.0)
        if one.least > 0.0:
            assert two.least == pytest.approx(one.least, rel=2e-3, abs=2e-6)
            apart += 1
    theirs, ours = first_of(built_in), first_of(mine)
    assert theirs.keys() == ours.keys()
    assert theirs
    assert apart
    for pair, (t, lie) in theirs.items():
        assert ours[pair][0] == pytest.approx(t, abs=5e-6)
        assert ours[pair][1] == lie


@pytest.mark.parametrize("seed", [4, 5, 6])
def test_cylinders_as_meshes_miss_by_their_facets(seed: int) -> None:
    """A prism within a cylinder is as near, but for the height of a facet."""
    bodies, sides = flying(seed), 32
    meshes = [
        dataclasses.replace(b, shape=rod(b.shape, sides)) if isinstance(b.shape, qp.Cylinder) else b
        for b in bodies
    ]
    radius = bodies[1].shape.radius  # type: ignore[union-attr]
    height = radius * (1.0 - math.cos(math.pi / sides))
    built_in, mine = measured(bodies), measured(meshes)
    seen = 0
    for one, two in zip(built_in.pairs, mine.pairs, strict=True):
        if "b1" in (one.one, one.two) and one.least > 0.0:
            found_to = 1e-3 * two.least + 1e-5  # how exactly either is searched for
            assert -found_to <= two.least - one.least <= height + found_to
            seen += 1
    assert seen
    for pair, (t, _) in first_of(mine).items():
        assert first_of(built_in)[pair][0] <= t + 5e-6


@pytest.mark.parametrize(("rate", "duration", "hits"), [(-1.0, 0.5, False), (1.0, 0.5, True)])
def test_hinged_faces_may_touch(rate: float, duration: float, hits: bool) -> None:
    """Cubes that share an edge: opening they only touch; a face that closes on a face runs into it
    at once."""
    shape = same_mesh(qp.Box((SIDE, SIDE, SIDE)))
    base = qp.Body.mesh("base", shape, fixed=True)
    edge, at = np.array([0.5 * SIDE, -0.5 * SIDE, 0.0]), np.array([SIDE, 0.0, 0.0])
    velocity = np.cross((0.0, 0.0, rate), at - edge)
    wing = qp.Body.mesh(
        "wing", shape, 1.0, position=at, velocity=velocity, angular_velocity=(0.0, 0.0, rate)
    )
    hinge = qp.Revolute("hinge", base, wing, at=edge, axis=(0, 0, 1))
    result = measured([base, wing], hinge, duration=duration)
    assert (result.pairs[0].begins, bool(result.collisions)) == ("flush", hits)
    assert (result.pairs[0].least < -SLACK * SIDE) == hits


# --- not convex -----------------------------------------------------------------------------------
def angle_iron() -> qp.Mesh:
    return extruded(SIDE * OUTLINE, SIDE)


def parts_of_it(
    at: np.ndarray, turn: Any, mass: float, **motion: Any
) -> tuple[list[qp.Body], qp.Fixed]:
    """The L as two boxes that a lock holds together, with the origin of its outline at a point."""
    rotation = matrix(turn)
    velocity, spin = np.array(motion["velocity"]), np.array(motion["angular_velocity"])
    centre = at + rotation @ angle_iron().centre
    bodies = []
    for name, middle, size in (
        ("long", (1.0, 0.5, 0.0), (2.0, 1.0, 1.0)),
        ("short", (0.5, 1.5, 0.0), (1.0, 1.0, 1.0)),
    ):
        r = at + rotation @ (SIDE * np.array(middle))
        v = velocity + np.cross(rotation @ spin, r - centre)
        bodies.append(qp.Body.box(
            name, tuple(SIDE * s for s in size), mass * size[0] / 3.0, position=r, orientation=turn,
            velocity=v, angular_velocity=spin,
        ))  # fmt: skip
    return bodies, qp.Fixed("lock", *bodies, at=at)


def matrix(turn: Any) -> np.ndarray:
    from quirkpy.maths import quat

    return np.array(quat.rotation_matrix(turn.w, turn.x, turn.y, turn.z)).reshape(3, 3)


@pytest.mark.parametrize("seed", range(6))
def test_an_angle_is_its_two_boxes(seed: int) -> None:
    """An L flies past others, tumbling: as near to each as the nearer of the two boxes of which it
    is made."""
    rng = np.random.default_rng(50 + seed)
    at, turn = rng.normal(size=3) * 0.05, qp.rotation(rng.normal(size=3), rng.uniform(0.0, 3.0))
    motion = {"velocity": rng.normal(size=3) * 0.05, "angular_velocity": rng.normal(size=3) * 2.0}
    way = rng.normal(size=3)
    start = at + 0.45 * way / np.linalg.norm(way)
    passer = qp.Body.box(
        "passer", (0.05, 0.06, 0.07), 1.0, position=start,
        velocity=0.6 * (at - start) + rng.normal(size=3) * 0.05,
        angular_velocity=rng.normal(size=3),
    )  # fmt: skip
    ball = qp.Body.sphere("ball", 0.03, position=at - 0.5 * (start - at), fixed=True)
    boxes, lock = parts_of_it(at, turn, 3.0, **motion)
    shape = angle_iron().centred()
    centre = at + matrix(turn) @ angle_iron().centre
    whole = qp.Body.mesh("whole", shape, 3.0, position=centre, orientation=turn, **motion)
    truth, mine = measured([ball, *boxes, passer], lock), measured([ball, whole, passer])
    for other in ("ball", "passer"):
        least = min(
            p.least
            for p in truth.pairs
            if other in (p.one, p.two) and {"long", "short"} & {p.one, p.two}
        )
        ours = next(p.least for p in mine.pairs if {p.one, p.two} == {other, "whole"})
        if least > 0.0:
            assert ours == pytest.approx(least, rel=3e-3, abs=3e-6)
        else:
            assert ours < 0.0
        times = [
            c.t
            for c in truth.collisions
            if other in (c.one, c.two) and {"long", "short"} & {c.one, c.two}
        ]
        found_at = [c.t for c in mine.collisions if {c.one, c.two} == {other, "whole"}]
        assert len(found_at) == bool(times)
        if times:  # what may overlap is a share of the reach of the smaller body, which is the same
            assert found_at[0] == pytest.approx(min(times), abs=5e-5)


def test_hinged_angles_close_at_a_quarter_turn() -> None:
    """An arm of one L swings into the notch of another, and a quarter turn from flush meets both
    walls at once: the slack is used up along the diagonal."""
    shape, centre = angle_iron().centred(), angle_iron().centre
    edge, at = np.array([2.0 * SIDE, SIDE, 0.0]), centre + (2.0 * SIDE, 0.0, 0.0)
    base = qp.Body.mesh("base", shape, fixed=True, position=centre)
    wing = qp.Body.mesh(
        "wing",
        shape,
        1.0,
        position=at,
        velocity=np.cross((0.0, 0.0, 1.0), at - edge),
        angular_velocity=(0.0, 0.0, 1.0),
    )
    hinge = qp.Revolute("hinge", base, wing, at=edge, axis=(0, 0, 1))
    result = measured([base, wing], hinge, duration=1.6)
    assert result.pairs[0].begins == "flush"
    over = SLACK * shape.reach / (math.sqrt(2.0) * SIDE)
    assert result.collisions[0].t == pytest.approx(0.5 * math.pi + over, abs=1e-5)


def test_a_box_passes_through_the_notch() -> None:
    """Where the hull is filled and the L is not; a little nearer it scrapes along a wall."""
    notch = qp.Body.mesh("notch", angle_iron(), fixed=True)
    for off, hits in ((5e-3, False), (-1e-3, True)):
        side = 0.06
        at = (SIDE + off + 0.5 * side, SIDE + 0.02 + 0.5 * side, -0.4)
        box = qp.Body.box("box", (side, side, side), 1.0, position=at, velocity=(0.0, 0.0, 1.0))
        result = measured([notch, box])
        assert bool(result.collisions) == hits
        assert result.least == pytest.approx(off, abs=1e-5)
        if hits:
            assert result.collisions[0].t == pytest.approx(0.4 - 0.5 * (SIDE + side), abs=1e-4)


def test_a_box_lies_in_the_notch() -> None:
    """Flush with two walls, it slides along both and collides with neither."""
    notch = qp.Body.mesh("notch", angle_iron(), fixed=True)
    at = (1.3 * SIDE, 1.3 * SIDE, 0.0)
    box = qp.Body.box("box", (0.6 * SIDE,) * 3, 1.0, position=at, velocity=(0.0, 0.0, 0.02))
    result = measured([notch, box])
    assert (result.pairs[0].begins, result.pairs[0].ends, result.collisions) == (
        "flush",
        "flush",
        (),
    )
    assert abs(result.least) < SLACK * SIDE


def test_what_is_inside_has_collided() -> None:
    """A body within another touches no surface, and overlaps all the same; one in a cavity does
    not."""
    shell = np.concatenate(
        [same_mesh(qp.Box((1.0, 1.0, 1.0))).points, same_mesh(qp.Box((0.8, 0.8, 0.8))).points]
    )
    faces = same_mesh(qp.Box((1.0, 1.0, 1.0))).corners
    hollow = qp.Mesh(shell, np.concatenate([faces, 8 + faces[:, ::-1]]))
    assert hollow.volume == pytest.approx(1.0 - 0.8**3, rel=1e-12)
    for shape, hits in ((same_mesh(qp.Box((1.0, 1.0, 1.0))), True), (hollow, False)):
        outer = qp.Body.mesh("outer", shape, fixed=True)
        for inner in (qp.Body.box("inner", (0.1,) * 3, 1.0), qp.Body.sphere("inner", 0.05, 1.0)):
            result = measured([outer, dataclasses.replace(inner, velocity=(0.1, 0.0, 0.0))])
            assert bool(result.collisions) == hits
            assert (result.least < 0.0) == hits
            if not hits:
                assert result.least == pytest.approx(0.25, rel=2e-3)


def test_no_collision_reads_meshes() -> None:
    """The criterion of explorations, on a body that runs into a mesh."""
    wall = qp.Body.mesh("wall", angle_iron(), fixed=True)
    box = qp.Body.box("box", (0.05,) * 3, 1.0, position=(-0.3, 0.05, 0.0), velocity=(1.0, 0.0, 0.0))
    run = qp.Multibody(wall, box).simulate(0.5)
    violation = qp.NoCollision().first(run)
    assert violation is not None
    assert set(violation.parts) == {"wall", "box"}
    assert violation.t == pytest.approx(0.275, abs=1e-4)
    assert qp.NoCollision(margin=0.05).first(run) is not None

"""Clearances along whole motions: against dense sampling, against motions known in closed form, and
what is allowed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.clearance.clearances import (
    SLACK,
    Clearances,
    clearances,
    gap_in,
    gaps_along,
    least_among,
    scene_of,
    select_pairs,
)
from quirkpy.maths import quat
from quirkpy.mechanics.solids import solids_of
from quirkpy.motion.interpolation import ALLOWED, fastest
from tests.motion import floating_chain
from tests.random_systems import seeds
from tests.solids import Placed, found

SIDE = 0.1
CUBE = (SIDE, SIDE, SIDE)
REACH = 0.5 * SIDE * math.sqrt(3.0)


def cube(name: str, at: tuple[float, float, float], **rest: Any) -> qp.Body:
    return qp.Body.box(name, CUBE, 1.0, position=at, **rest)


def hinged(rate: float, lead: float = 0.0) -> qp.Multibody:
    """A cube that swings at a steady rate about the edge that it shares with another; flush at
    angle zero."""
    base = qp.Body.box("base", CUBE, position=(0, 0, 0), fixed=True)
    edge, turn = np.array([0.5 * SIDE, -0.5 * SIDE, 0.0]), qp.rotation((0, 0, 1), lead)
    arm = np.array([0.5 * SIDE, 0.5 * SIDE, 0.0])
    at = edge + np.array([math.cos(lead) * arm[0] - math.sin(lead) * arm[1],
                          math.sin(lead) * arm[0] + math.cos(lead) * arm[1], 0.0])  # fmt: skip
    velocity = np.cross((0.0, 0.0, rate), at - edge)
    wing = qp.Body.box(
        "wing",
        CUBE,
        1.0,
        position=at,
        orientation=turn,
        velocity=velocity,
        angular_velocity=(0, 0, rate),
    )
    return qp.Multibody(base, wing, qp.Revolute("hinge", base, wing, at=edge, axis=(0, 0, 1)))


def sampled(run: qp.Trajectory, count: int) -> dict[frozenset[str], float]:
    """The least clearance of every pair at so many instants."""
    shapes = {
        b.name: b.shape
        for b in (*run.system.tables.bodies, *run.system.tables.fixed)
        if b.shape is not None
    }
    names, least = list(shapes), dict[frozenset[str], float]()
    for t in np.linspace(run.t[0], run.t[-1], count):
        state = run.at(float(t))
        placed = {
            n: Placed(shapes[n], np.array(state[n].position), turn_of(state[n].orientation))
            for n in names
        }
        pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
        for pair, gap in zip(
            pairs, found([(placed[a], placed[b]) for a, b in pairs]).gap, strict=True
        ):
            key = frozenset(pair)
            least[key] = min(least.get(key, math.inf), float(gap))
    return least


def turn_of(q: Any) -> np.ndarray:
    return np.array(quat.rotation_matrix(q.w, q.x, q.y, q.z)).reshape(3, 3)


# --- against what is known ------------------------------------------------------------------------
@pytest.mark.kernels
def test_a_ball_flies_past_a_ball() -> None:
    """Free flight takes a handful of steps; the least distance of the lines is known."""
    here = qp.Body.sphere("here", 0.1, fixed=True)
    ball = qp.Body.sphere("ball", 0.2, 1.0, position=(-5.0, 0.31, 0.0), velocity=(1.0, 0.0, 0.0))
    run = qp.Multibody(here, ball).simulate(9.0)
    result = clearances(run)
    assert result.collisions == ()
    assert result.least == pytest.approx(0.01, abs=1e-5)
    assert least_among(run, result.pairs) == pytest.approx(0.01, abs=1e-12)
    assert fastest(run.course, run.system.clusters).tolist() == [1.0, 0.0]
    assert result.pairs[0].t == pytest.approx(5.0, abs=0.05)
    assert result.error < 1e-9


@pytest.mark.parametrize("graze", [-2e-3, -1e-4, 1e-4, 2e-3])
@pytest.mark.parametrize("rate", [0.0, 0.7, 12.0])
def test_a_corner_in_passing_is_found_in_one_long_step(graze: float, rate: float) -> None:
    """A cube, turned by 45 degrees, flies past another so that its edge would overlap for a
    moment."""
    base = qp.Body.box("base", CUBE, fixed=True)
    out = 0.5 * SIDE + 0.5 * SIDE * math.sqrt(2.0) + graze
    lead = 0.25 * math.pi - 3.0 * rate  # so that the edge points down when it passes
    passer = cube(
        "passer", (-3.0, out, 0.0), velocity=(1, 0, 0), orientation=qp.rotation((0, 0, 1), lead),
        angular_velocity=(0, 0, rate),
    )  # fmt: skip
    run = qp.Multibody(base, passer).simulate(6.0)
    if rate == 0.0:
        assert len(run.t) < 10
    result, x = clearances(run), np.linspace(-0.15, 0.15, 3001)  # of the passer
    gap = gaps_at(x, 0.25 * math.pi + rate * x, out)
    assert (result.first is not None) == (gap.min() < 0.0)
    assert result.least == pytest.approx(gap.min(), abs=1e-5)
    if result.first is not None:
        assert result.first.t == pytest.approx(3.0 + x[np.argmax(gap < -SLACK * REACH)], abs=2e-4)


def gaps_at(x: np.ndarray, angle: np.ndarray, y: float) -> np.ndarray:
    """Of a cube at x, y, turned about z, from one at the origin."""
    box, pairs = qp.Box(CUBE), []
    for a, place in zip(angle, x, strict=True):
        c, s = math.cos(a), math.sin(a)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        pairs.append(
            (Placed(box, np.zeros(3), np.eye(3)), Placed(box, np.array([place, y, 0.0]), turn))
        )
    return found(pairs).gap


def chain_of_cubes() -> qp.Multibody:
    """Four modules hinged at edges, tumbling fast, that run through each other and past a rod that
    stands."""
    bodies = [
        cube(f"c{k}", (k * SIDE, 0, 0), velocity=(0, 0.05, 0), angular_velocity=(0, 0.4, 0))
        for k in range(4)
    ]
    hinges = [
        qp.Revolute(f"h{k}", bodies[k], bodies[k + 1], at=((k + 0.5) * SIDE, y, 0), axis=(0, 0, 1))
        for k, y in enumerate((-0.05, 0.05, -0.05))
    ]
    rod = qp.Body.cylinder("rod", 0.03, 0.5, axis="z", position=(0.1, 0.3, 0.1), fixed=True)
    pull = qp.PotentialWell("pull", bodies[3], (0.0, 0.3, 0.1), 1.0)
    return qp.Multibody(rod, *bodies, *hinges, pull)


@pytest.mark.parametrize(("system", "duration"), [(floating_chain(), 2.0), (chain_of_cubes(), 3.0)])
def test_no_instant_is_nearer(system: qp.Multibody, duration: float) -> None:
    """Every pair, at four hundred instants of the run, integrated anew for each."""
    run = system.simulate(duration)
    result, truth = clearances(run), sampled(run, 400)
    assert len(result.pairs) == len(truth)
    for pair in result.pairs:
        least = truth[frozenset((pair.one, pair.two))]
        slack = max(1e-3 * abs(least), SLACK * REACH) + result.error
        assert pair.least <= least + slack, pair
        assert pair.least >= least - 2e-3, pair  # what it may fall between two instants


def test_curves_tell_a_clearance_at_any_times() -> None:
    """In any order, on rows and between them; a body that stands included."""
    run = chain_of_cubes().simulate(1.0)
    names, solids = solids_of(run.system.tables)
    t = np.random.default_rng(3).permutation(np.concatenate([run.t, np.linspace(0.0, 1.0, 40)]))
    for pair in (("c0", "c3"), ("rod", "c2")):
        row = select_pairs(names, solids, [pair])
        scene = scene_of(run, solids, row)
        motion = [gap_in(scene, row, run.rows_at(float(x))) for x in t]
        np.testing.assert_allclose(
            gaps_along(run.between, scene, row, t), motion, rtol=0.0, atol=2.0 * ALLOWED * REACH
        )


# --- what is allowed ------------------------------------------------------------------------------
@pytest.mark.parametrize("axis", [1.0, -1.0])
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-8])
def test_hinged_cubes_never_collide_from_flush_to_flush(axis: float, rtol: float) -> None:
    """Half a turn, or three quarters until the other face is reached; at any tolerance of the
    run."""
    system = hinged(-1.0)
    run = system.simulate(math.pi, rtol=rtol)
    result = clearances(run, margin=0.01 if axis > 0.0 else 0.0)
    assert result.collisions == ()
    pair = result.pairs[0]
    assert (pair.partners, pair.begins) == (True, "flush")
    assert abs(pair.least) < SLACK * REACH


@pytest.mark.parametrize("beyond", [1e-3, 0.1, 0.5])
def test_turning_beyond_flush_is_a_collision(beyond: float) -> None:
    """Where the corners are as deep as the slack: at an angle of slack over side."""
    run = hinged(-1.0).simulate(math.pi + beyond)
    result = clearances(run)
    assert result.first is not None
    assert result.first.t - math.pi == pytest.approx(SLACK * REACH / SIDE, rel=0.1)
    assert result.first.lie == "flush"
    assert result.pairs[0].least == pytest.approx(-SIDE * math.sin(beyond), rel=0.02)


def test_the_wrong_way_collides_at_once() -> None:
    result = clearances(hinged(1.0).simulate(0.3))
    assert result.first is not None
    assert result.first.t == pytest.approx(SLACK * REACH / SIDE, rel=0.1)


def slide(gap: float, speed: float, side: float = 0.0) -> qp.Multibody:
    """A cube that moves along the face of another, or away from it."""
    base = qp.Body.box("base", CUBE, fixed=True)
    return qp.Multibody(base, cube("sled", (SIDE + gap, side, 0.0), velocity=(0, speed, 0)))


def test_sliding_flush_along_a_face_is_allowed() -> None:
    for margin in (0.0, 1e-3):
        result = clearances(slide(0.0, 0.05).simulate(1.0), margin=margin)
        assert result.collisions == ()
        assert (result.pairs[0].begins, result.pairs[0].ends) == ("flush", "flush")


def test_a_margin_counts_for_those_that_are_not_flush() -> None:
    """Half a millimetre apart from the beginning; and in passing."""
    early = clearances(slide(5e-4, 0.05).simulate(1.0), margin=1e-3).first
    assert early is not None
    assert early.t < 1e-6
    assert clearances(slide(5e-4, 0.05).simulate(1.0)).first is None
    passing = clearances(slide(5e-4, 1.0, side=-2.0).simulate(4.0), margin=1e-3).first
    assert passing is not None
    # from there on the edges are a millimetre, less the slack, apart
    there = 2.0 - SIDE - math.sqrt((1e-3 - SLACK * REACH) ** 2 - 5e-4**2)
    assert passing.t == pytest.approx(there, abs=1e-4)


def test_what_begins_flush_has_the_margin_once_it_has_parted() -> None:
    """A cube on a spring leaves the face and comes back to it, slightly turned about the normal:
    flush again."""
    base = qp.Body.box("base", CUBE, fixed=True)
    mover = cube("mover", (SIDE, 0, 0), velocity=(0.1, 0, 0))
    system = qp.Multibody(base, mover, qp.PotentialWell("well", mover, (SIDE, 0, 0), 1.0))
    there_and_back = system.simulate(math.pi)
    assert clearances(there_and_back, margin=0.01).first is None
    beyond = clearances(system.simulate(math.pi + 0.1), margin=0.01).first
    assert beyond is not None
    assert beyond.t == pytest.approx(
        math.pi - math.asin(0.1), abs=2e-3
    )  # within the margin, and not flush at the end


def test_bodies_that_touch_without_a_face_aligned_are_jammed() -> None:
    """A cube swings until its edge meets the face of a third one."""
    wall = qp.Body.box("wall", (SIDE, 1.0, SIDE), position=(0.05 + 0.12 + 0.05, 0, 0), fixed=True)
    system = hinged(-1.0).with_(wall)
    # the far corner is sqrt(2) sides from the hinge, at 45 degrees less the angle: x = 0.05 +
    # sqrt(2) SIDE cos
    at = 0.25 * math.pi - math.acos(0.12 / (math.sqrt(2.0) * SIDE))
    assert at > 0.0
    result = clearances(system.simulate(at), pairs=[("wing", "wall")])
    assert result.first is None
    assert [(pair.one, pair.two) for pair in result.jammed] == [("wall", "wing")]
    through = clearances(system.simulate(at + 0.1), pairs=[("wing", "wall")]).first
    assert through is not None
    assert through.lie == "jammed"
    assert through.t == pytest.approx(at, abs=1e-3)


def test_locked_cubes_are_looked_at_once() -> None:
    """A block of eight that tumbles: neighbours are flush, and nothing moves between them."""
    spots = [(x * SIDE, y * SIDE, z * SIDE) for x in range(2) for y in range(2) for z in range(2)]
    bodies = [cube(f"c{k}", spot) for k, spot in enumerate(spots)]
    locks = [
        qp.Fixed(f"{a.name} {b.name}", a, b)
        for k, a in enumerate(bodies)
        for b in bodies[k + 1 :]
        if math.dist(a.position, b.position) < 1.01 * SIDE
    ]
    system = qp.Multibody(*bodies, *locks)
    run = system.simulate(10.0)
    result = clearances(run)
    assert result.collisions == ()
    assert {pair.ends for pair in result.pairs} == {"flush"}
    assert result.looks < 20 * len(result.pairs)


# --- the answer -----------------------------------------------------------------------------------
def least_of(result: Clearances) -> list[float]:
    return [pair.least for pair in result.pairs]


def test_it_does_not_depend_on_the_steps() -> None:
    rough, fine = (clearances(hinged(-1.0).simulate(1.0, rtol=rtol)) for rtol in (1e-3, 1e-11))
    np.testing.assert_allclose(least_of(rough), least_of(fine), rtol=0.0, atol=SLACK * REACH)


def test_an_impact_is_followed() -> None:
    """A ball bounces off the stop of its rail: velocities jump, and curves on either side do not
    know of it."""
    base = qp.Body.box("base", CUBE, position=(0, 0.3, 0), fixed=True)
    ball = qp.Body.sphere("ball", 0.05, 1.0, position=(-1.0, 0, 0), velocity=(1.0, 0, 0))
    rail = qp.Prismatic("rail", qp.GROUND, ball, at=(0, 0, 0), axis=(1, 0, 0))
    run = qp.Multibody(
        base, ball, rail, qp.JointStop("stop", rail, upper=0.9, restitution=1.0)
    ).simulate(2.0)
    result = clearances(run)
    assert result.error < 1e-6
    # it turns round a tenth of a metre short of the nearest point: corners are 0.05 to the left of
    # the centre
    assert result.least == pytest.approx(math.hypot(0.05, 0.25) - 0.05, abs=2e-4)


@seeds(12, 6, attack=2000)
def test_a_collision_is_dated_to_its_beginning(seed: int) -> None:
    """Balls that fly past, into and out of a spinning box: closed forms at many times tell since
    when they are too near, also where they begin so."""
    rng = np.random.default_rng(seed)
    size, radius, spin = (
        rng.uniform(0.1, 0.3, 3),
        float(rng.uniform(0.05, 0.15)),
        float(rng.uniform(-2.0, 2.0)),
    )
    margin = float(rng.choice([0.0, rng.uniform(0.005, 0.05)]))
    way = rng.normal(size=3)
    start = way / np.linalg.norm(way) * rng.uniform(0.1, 0.5)
    velocity = 0.5 * rng.normal(size=3) - start
    box = qp.Body.box("box", size, 1.0, angular_velocity=(0.0, 0.0, spin))
    ball = qp.Body.sphere("ball", radius, 1.0, position=start, velocity=velocity)
    run = qp.Multibody(box, ball).simulate(2.0)
    level = margin - SLACK * min(radius, 0.5 * float(np.linalg.norm(size)))

    def gap(t: Any) -> Any:
        c, s, r = np.cos(spin * t), np.sin(spin * t), start + np.multiply.outer(t, velocity)
        x, y, z = c * r[..., 0] + s * r[..., 1], c * r[..., 1] - s * r[..., 0], r[..., 2]
        beyond = abs(np.stack([x, y, z], axis=-1)) - 0.5 * size
        outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=-1)
        return np.where(outside > 0.0, outside, beyond.max(axis=-1)) - radius

    t = np.linspace(0.0, 2.0, 20001)
    below = np.flatnonzero(gap(t) < level)
    first = clearances(run, margin=margin).first
    if first is None:
        assert (gap(t) >= level - 1e-6).all()
    elif len(below) and below[0] == 0:
        assert first.t == 0.0
        assert first.clearance == pytest.approx(float(gap(0.0)), abs=1e-9)
    else:
        assert float(gap(first.t)) == pytest.approx(level, abs=1e-6)
        assert (gap(t[t < first.t - 1e-6]) >= level - 1e-6).all()
        assert first.clearance == pytest.approx(float(gap(first.t)), abs=1e-4)

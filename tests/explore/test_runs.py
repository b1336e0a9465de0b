"""What comes of one choice: saddles at its start and on its way, schedules, criteria, sensors that
meet together."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import quirkpy as qp
from demos.cubesat_pair import DAMPING, SIDE, STIFFNESS, UP, a, b, pair
from demos.imaging_mission import study as block_study
from quirkpy.explore.model.graph import node_of
from quirkpy.explore.run.runner import UNMET, run_choice
from tests.studies import Swing, changed

DIAGONAL = 1.0 / math.sqrt(2.0)


def explored(study: qp.Study, **options: Any) -> qp.ReconfigurationGraph:
    """Without reductions: every edge has a run of its own."""
    return study.explore(progress=False, reductions=False, **options)


def choice_of(study: qp.Study, node: qp.Node, potential: str, *labels: str) -> qp.Choice:
    """The choice at a node that gives its pairs these options."""
    (found,) = (
        choice for choice in study.choices(node)
        if (choice.potential, *(label for _, label in choice.joints)) == (potential, *labels)
    )  # fmt: skip
    return found


# --- saddles --------------------------------------------------------------------------------------
def balanced_pair() -> qp.Study:
    """Two cubes at cut corners of a third, each pulled straight away through its hinge."""
    sensors, options, wells = [], {}, []
    for side, name, stiffness in ((1.0, "right", 0.05), (-1.0, "left", 0.04)):
        out = (side * DIAGONAL, -DIAGONAL, 0.0)
        arm = qp.Body.box(name, (SIDE,) * 3, 1.0, position=(side * SIDE, -SIDE, 0.0))
        here = a.site(name, at=(0.5 * side * SIDE, -0.5 * SIDE, 0.0), z=out, x=UP)
        there = arm.site(
            "corner", at=(-0.5 * side * SIDE, 0.5 * SIDE, 0.0), z=[-c for c in out], x=UP
        )
        sensors += [
            qp.Sensor(f"hub {name}", here, kind=f"hub {name}", accepts=(name,)),
            qp.Sensor(f"{name} corner", there, kind=name, accepts=(f"hub {name}",)),
        ]
        options[f"hub {name}", name] = [qp.Lock(), Swing()]
        wells.append(
            qp.PotentialWell(
                f"well {name}", arm, centre=(-side * SIDE, SIDE, 0.0), stiffness=stiffness
            )
        )
    bodies = [sensor.site.body for sensor in sensors[1::2]]
    return qp.Study(
        qp.Multibody(a, *bodies),
        sensors=sensors,
        options=options,
        potentials={"none": [], "away": wells},
        always=[qp.ViscousHinges(DAMPING)],
    )


def test_every_way_off_a_ridge_is_taken() -> None:
    """Two directions: four runs, and each comes by the saddle of the other cube, with two more ways
    each.  A seeded nudge there would find one of two."""
    study = balanced_pair()
    graph = explored(study)
    edge = next(
        e
        for e in graph.edges
        if e.selection == choice_of(study, graph["n0"], "away", "swing", "swing")
    )
    assert edge.kind == "ambiguous"
    assert edge.target is None
    every = [(s * 1e-6, k) for k in (0, 1) for s in (-1.0, 1.0) for _ in range(2)]
    assert sorted((outcome.nudge for outcome in edge.outcomes), key=lambda n: (n[1], n[0])) == every
    places = {
        tuple(graph[str(outcome.target)].state.r[:, :2].round(6).ravel())
        for outcome in edge.outcomes
    }
    right, left = ((0.1, 0.0), (0.0, -0.1)), ((-0.1, 0.0), (0.0, -0.1))
    assert places == {(*one, *two) for one, two in itertools.product(right, left)}
    assert {node.verdict for node in graph.nodes.values()} == {"stable"}
    assert f"{len(edge.outcomes)} runs" in graph.report()
    for outcome in edge.outcomes:  # what was switched on is lost, stretch by stretch
        switched = 0.5 * sum(k * (2.0 * SIDE) ** 2 * 2.0 for k in (0.05, 0.04))
        left_over = 0.5 * sum(k * 5.0 * SIDE**2 for k in (0.05, 0.04))
        assert outcome.switching == pytest.approx(switched, rel=1e-9)
        assert outcome.dissipated + outcome.lost == pytest.approx(switched - left_over, rel=1e-4)


class Slide(qp.Option):
    """The pair parts along the normal of its faces."""

    def parts(self, name: str, one: qp.Site, two: qp.Site) -> tuple[qp.Part, ...]:
        return (qp.Prismatic(name, one, two),)


def carried_rod() -> qp.Study:
    """A rod that points away from a well, on a carriage which slides straight at another: nothing
    breaks the symmetry until it rests."""
    hub = qp.Body.box("hub", (SIDE,) * 3, 1.0, fixed=True)
    car = qp.Body.box("car", (SIDE,) * 3, 1.0, position=(SIDE, 0.0, 0.0))
    rod = qp.Body.box("rod", (SIDE, 0.02, 0.02), 0.5, position=(2.0 * SIDE, 0.0, 0.0))
    pin = qp.Revolute("pin", car, rod, at=(1.5 * SIDE, 0.0, 0.0), axis=UP)
    sensors = [
        qp.Sensor(f"{body.name} face", body.site("face", at=(s * 0.05, 0, 0), z=(s, 0, 0), x=UP))
        for body, s in ((hub, 1.0), (car, -1.0))
    ]
    wells = [
        qp.PotentialWell("far", car, (0.3, 0, 0), 0.05),
        qp.PotentialWell("back", rod, (0.1, 0, 0), 0.01),
    ]
    drag = qp.Spring(
        "drag",
        hub,
        car,
        at1=(0, 1, 0),
        at2=(0.1, 1, 0),
        stiffness=1e-3,
        rest_length=0.1,
        damping=0.05,
    )
    return qp.Study(
        qp.Multibody(hub, car, rod, pin, qp.JointStop("ends", pin, lower=-1.0, upper=1.0)),
        sensors=sensors, options={("face", "face"): [Slide()]},
        potentials={"none": [], "out": wells}, always=[qp.ViscousHinges(1e-3), drag],
    )  # fmt: skip


def test_a_motion_that_ends_on_a_saddle_goes_on_from_there() -> None:
    """Both ways; a saddle is no node."""
    graph = explored(carried_rod(), budget=2)
    (edge,) = (edge for edge in graph.edges if edge.selection.potential == "out")
    assert edge.kind == "ambiguous"
    one, two = (graph[str(outcome.target)] for outcome in edge.outcomes)
    assert one.verdict == two.verdict == "stable"
    np.testing.assert_allclose(one.state.r, two.state.r * (1.0, -1.0, 1.0), atol=1e-9)
    assert abs(one.state.r[1, 1]) > 0.02
    started = 0.5 * (0.05 * 0.2**2 + 0.01 * 0.1**2)
    for outcome, node in zip(edge.outcomes, (one, two), strict=True):
        assert outcome.switching == pytest.approx(started, rel=1e-12)
        assert outcome.dissipated == pytest.approx(started - node.energy, rel=1e-5)


def test_what_never_settles_is_an_edge() -> None:
    """Without dampers B swings about the line to the far well, past faces for which there is no
    joint."""
    study = changed(pair(0.2), always=[], options={("A east", "B west"): [qp.Hinge(1)]})
    graph = explored(study)
    _, near, far = graph.edges
    for edge in (near, far):
        assert (edge.kind, edge.target, edge.reason) == (
            "never settles",
            None,
            "sensors meet again and again",
        )
        assert edge.duration > 100.0
    assert {name for _, name in near.contacts} == {"A east | B west"}
    assert "never settles" in graph.report()


def test_faces_for_which_there_is_no_joint_meet_in_passing() -> None:
    """Damped, B comes to rest on the line to the well, 18.43 degrees from where it would lie on the
    south face."""
    study = changed(pair(0.2), options={("A east", "B west"): [qp.Hinge(1)]})
    for on_contact in ("lock", "stop"):
        graph = explored(changed(study, on_contact=on_contact))
        (edge,) = (e for e in graph.edges if (e.source, e.selection.potential) == ("n0", "-y"))
        assert edge.kind == "moved"
        assert not edge.contacts
        at = graph[str(edge.target)].state.r[0] - (0.5 * SIDE, -0.5 * SIDE, 0.0)
        assert math.atan2(-at[0], -at[1]) == pytest.approx(math.atan2(0.05, 0.15), abs=1e-9)


# --- schedules ------------------------------------------------------------------------------------
def test_a_push_that_comes_late_is_waited_for() -> None:
    """Nothing acts at first, and nothing rests before the schedule has ended: momentum, and angle,
    by hand.

    A torque T for a time D turns the hinged cube, J w' = T - c w, which then coasts to T D / c.
    The other way round it presses the faces together."""
    torque, begin, last, drag = 1e-6, 100.0, 20.0, 1e-4
    open_, shut = (
        qp.Schedule((0.0, begin, begin + last), [(0, 0, 0), (0, 0, s * torque), (0, 0, 0)])
        for s in (-1, 1)
    )
    study = changed(
        pair(),
        always=[qp.ViscousHinges(drag)],
        options={("A east", "B west"): [qp.Lock(), qp.Hinge(1)]},
        potentials={
            "open": [qp.Load("turn", b, torque=open_)],
            "shut": [qp.Load("turn", b, torque=shut)],
        },
    )
    graph = explored(study, budget=4)
    held, moved, held_too, shut_too = graph.edges
    assert [edge.kind for edge in graph.edges] == ["stayed", "moved", "stayed", "stayed"]
    assert held.duration == held_too.duration == 0.0
    assert shut_too.duration == begin + last
    w, _, _, z = graph[str(moved.target)].state.q[0]
    assert -2.0 * math.atan2(z, w) == pytest.approx(torque * last / drag, rel=1e-5)
    assert moved.put_in == pytest.approx(moved.dissipated, rel=1e-5)
    assert moved.duration > begin + last
    assert moved.switching == 0.0


# --- criteria -------------------------------------------------------------------------------------
class NotWest(qp.Safety):
    """B stays east of a line."""

    x: float

    def first(self, run: qp.Trajectory) -> qp.Violation | None:
        t = run.between.first(lambda states: states[:, 0, 0] - self.x)
        return None if t is None else qp.Violation("goes west", t - float(run.t[0]), ("B",))


HINGE = "A east | B west: hinge 1"
CONE = qp.KeepOut(a.site("eye", z=(DIAGONAL, -DIAGONAL, 0.0)), half_angle=0.2)
CRITERIA: dict[str, tuple[qp.Safety, str, tuple[str, ...]]] = {
    "speed": (qp.Limit("speed", 0.02), "speed above 0.02", ("B",)),
    "turning": (qp.Limit("turning", 0.2), "turning above 0.2", ("B",)),
    "load": (qp.Limit("load", 7.5e-3), "load above 0.0075", (HINGE,)),
    "cone": (CONE, "enters a cone that must stay clear", ("B", "A")),
    "own": (NotWest(0.09), "goes west", ("B",)),
}


@pytest.fixture(scope="module")
def swing() -> tuple[qp.Node, qp.Edge, qp.Replay]:
    """The way from the east face to the south one, with no criterion but one that never fails."""
    study = changed(pair(), safety=[])
    graph = explored(study)
    edge = next(graph.moves())
    return graph["n0"], edge, graph.replay([edge])


def passed(name: str, run: qp.Replay, t: float) -> float:
    """What a criterion looks at, less its bound."""
    state = run.at(t)["B"]
    if name == "speed":
        return float(np.linalg.norm(state.velocity)) - 0.02
    if name == "turning":
        return float(np.linalg.norm(state.angular_velocity)) - 0.2
    if name == "cone":
        x, y, _ = state.position
        return 0.2 - abs(math.atan2(y, x) + 0.25 * math.pi)
    if name == "own":
        return 0.09 - float(state.position[0])
    stretch = run.legs[0].runs[0]
    load = stretch.system.reactions(stretch.at(t))[HINGE]
    return float(max(np.linalg.norm(load.force), np.linalg.norm(load.torque))) - 7.5e-3


@pytest.mark.parametrize("name", CRITERIA)
def test_a_criterion_rejects_where_it_is_first_violated(
    name: str, swing: tuple[qp.Node, qp.Edge, qp.Replay]
) -> None:
    """With reason, time and parts; on the same motion without it the quantity passes its bound just
    then."""
    node, edge, run = swing
    rule, reason, parts = CRITERIA[name]
    outcome = run_choice(changed(pair(), safety=[rule]), node, edge.selection).outcomes[0]
    assert (outcome.kind, outcome.reason, outcome.parts, outcome.target) == (
        "rejected",
        reason,
        parts,
        None,
    )
    assert outcome.t is not None
    assert 0.0 < outcome.t < edge.duration
    assert abs(passed(name, run, outcome.t)) < 1e-6
    times = np.linspace(0.0, outcome.t - 1e-3, 300)
    assert all(passed(name, run, t) < 0.0 for t in times)


def test_pieces_that_may_part_a_little() -> None:
    """B drifts free in its well: d (1 - cos w t)."""
    study = changed(pair(), safety=[qp.StayTogether(apart=0.05)])
    node = explored(study, budget=0)["n0"]
    outcome = run_choice(study, node, choice_of(study, node, "-y", "free")).outcomes[0]
    assert (outcome.kind, outcome.reason, outcome.parts) == ("rejected", "comes apart", ("B",))
    way = SIDE * math.sqrt(2.0)
    assert outcome.t == pytest.approx(math.acos(1.0 - 0.05 / way) / math.sqrt(STIFFNESS), abs=1e-6)


# --- the energy of the paper's study --------------------------------------------------------------
def test_energy_of_the_pair_falls_as_its_one_equation_says(
    swing: tuple[qp.Node, qp.Edge, qp.Replay],
) -> None:
    """Figure 5 of Shoer and Peck: what switching gives, 2 k d^2 = 5e-4 J, goes to the damper and,
    as the faces lock, to the joint; then nothing is left.  J phi'' = k d^2 sin(phi) - c phi' from
    the ridge, the angle phi off it."""
    _, edge, run = swing
    moment, arm = SIDE**2 * 2.0 / 3.0, SIDE * DIAGONAL

    def slope(t: float, y: Any) -> list[float]:
        return [y[1], (STIFFNESS * arm**2 * math.sin(y[0]) - DAMPING * y[1]) / moment]

    end = float(run.t[-1])
    known = solve_ivp(
        slope, (0.0, end), [1e-6, 0.0], method="DOP853", rtol=1e-12, atol=1e-14, dense_output=True
    )
    dense = run.sampled(0.5)
    phi, rate = known.sol(dense.t)
    energy = 0.5 * moment * rate**2 + STIFFNESS * arm**2 * (1.0 + np.cos(phi))
    np.testing.assert_allclose(dense.energy[:-1], energy[:-1], atol=2e-5 * 5e-4)
    assert dense.energy[0] == pytest.approx(5e-4, rel=1e-9)
    assert edge.switching == pytest.approx(5e-4, rel=1e-12)
    assert (np.diff(dense.energy) < 1e-12).all()
    assert phi[-1] == pytest.approx(math.pi - 1e-2, abs=5e-4)  # where the sensors meet
    assert edge.lost == pytest.approx(energy[-1], rel=1e-4)


# --- loops that are flat --------------------------------------------------------------------------
@pytest.mark.parametrize("potential", ["apart", "shear"])
@pytest.mark.parametrize(
    "labels",
    [("lock", "hinge 1", "hinge 2", "hinge 2"), ("hinge 1", "lock", "hinge 1", "hinge 1")],
    ids=str,
)
def test_three_hinges_in_a_line_hold_a_block(labels: tuple[str, ...], potential: str) -> None:
    """Of four cubes two are one; their two outer hinges are as far apart as the others reach when
    straight: what moves to first order, and has no stop in its way, does not move."""
    node = block_study.explore(budget=0, progress=False)["n0"]
    (outcome,) = run_choice(
        block_study, node, choice_of(block_study, node, potential, *labels)
    ).outcomes
    assert (outcome.kind, outcome.reason) == ("stayed", "nothing in it can move")


def test_a_ring_of_squares_opens() -> None:
    """Hinges in turn outside and inside: all open alike, pushed to where the hole is as large as a
    cube."""
    node = block_study.explore(budget=0, progress=False)["n0"]
    choice = choice_of(block_study, node, "apart", "hinge 1", "hinge 2", "hinge 1", "hinge 1")
    record = run_choice(block_study, node, choice)
    assert {outcome.kind for outcome in record.outcomes} == {"moved"}
    for reached in record.reached:
        assert reached is not None
        r = np.array(reached["r"])
        sides = [float(np.linalg.norm(r[i] - r[j])) for i, j in ((0, 1), (1, 2), (2, 3), (3, 0))]
        np.testing.assert_allclose(sides, SIDE * math.sqrt(2.0), atol=1e-6)


def test_a_ring_comes_to_rest_where_it_lies_flat() -> None:
    """What the far side of the block has opened closes again, and with the last lock the ring is
    stuck in a singular pose: it moves on by a hair, through rows of which no run could begin, and
    must end all the same."""
    node = block_study.explore(budget=0, progress=False)["n0"]
    hinges = "hinge 1", "hinge 2", "hinge 2"
    opened = run_choice(block_study, node, choice_of(block_study, node, "apart", "free", *hinges))
    assert opened.reached[0] is not None
    ajar = node_of(opened.reached[0], 1, block_study.system.bodies)
    closed = run_choice(block_study, ajar, choice_of(block_study, ajar, "together", *hinges))
    assert [(outcome.kind, outcome.reason) for outcome in closed.outcomes] == [
        ("moved", "nothing in it can move")
    ]
    assert [name for _, name in closed.outcomes[0].contacts] == ["A east | B west"]


# --- sensors that meet at the same instant --------------------------------------------------------
def mirrored() -> qp.Study:
    """Cubes east and west of a third; a well each pulls one round to the south and the other to the
    north."""
    east, west = (
        qp.Body.box(name, (SIDE,) * 3, 1.0, position=(s * SIDE, 0, 0))
        for name, s in (("E", 1.0), ("W", -1.0))
    )
    sensors, options = [], {}
    for body, s, (first, second), edge in (
        (east, 1.0, ("east", "south"), 1),
        (west, -1.0, ("west", "north"), 1),
    ):
        faces = ((first, (s, 0, 0), (-s, 0, 0), edge), (second, (0, -s, 0), (0, -s, 0), 3 - edge))
        for name, mine, its, number in faces:
            kinds = f"hub {name}", f"{body.name} {name}"
            sensors += [
                qp.Sensor(
                    kind,
                    who.site(kind, at=[0.5 * SIDE * c for c in z], z=z, x=UP),
                    kind=kind,
                    accepts=(other,),
                )
                for who, z, kind, other in ((a, mine, *kinds), (body, its, *kinds[::-1]))
            ]
            options[kinds] = [qp.Lock(), qp.Hinge(number)]
    pull = [
        qp.PotentialWell(
            f"well {body.name}", body, centre=(0.0, -s * 2.0 * SIDE, 0.0), stiffness=STIFFNESS
        )
        for body, s in ((east, 1.0), (west, -1.0))
    ]
    return qp.Study(
        qp.Multibody(a, east, west),
        sensors=sensors,
        options=options,
        potentials={"none": [], "round": pull},
        always=[qp.ViscousHinges(DAMPING)],
        safety=[qp.StayTogether()],
    )


def test_sensors_that_meet_together_lock_together() -> None:
    """In the order of the pairs, at one time, and as one impact; half of what is lost is that of
    one cube alone."""
    study = mirrored()
    node = explored(study, budget=0)["n0"]
    both = run_choice(study, node, choice_of(study, node, "round", "hinge 1", "hinge 1")).outcomes[
        0
    ]
    alone = run_choice(study, node, choice_of(study, node, "round", "hinge 1", "lock")).outcomes[0]
    assert both.kind == "moved"
    (t, first), (t2, second) = both.contacts
    assert (first, second) == ("hub south | E south", "hub north | W north")
    assert t == t2 == both.duration == pytest.approx(alone.duration, rel=1e-6)
    assert both.lost == pytest.approx(2.0 * alone.lost, rel=1e-5)
    # U_new(start) = k (d^2 + 4 d^2), at the end k d^2, for each half of that
    assert both.dissipated + both.lost == pytest.approx(4.0 * STIFFNESS * SIDE**2, rel=1e-4)


# --- joints that take hold ------------------------------------------------------------------------
def test_a_pose_within_reach_snaps_onto_its_joints() -> None:
    off = qp.Body.box(
        "B",
        (SIDE,) * 3,
        1.0,
        position=(SIDE + 3e-4, 2e-4, -2e-4),
        orientation=qp.rotation(UP, 2e-3),
    )
    kinds = ("A east", "B west")
    sensors = [
        qp.Sensor(
            kind,
            body.site(kind, at=(s * 0.05, 0, 0), z=(s, 0, 0), x=UP),
            kind=kind,
            accepts=(other,),
        )
        for body, s, kind, other in ((a, 1.0, *kinds), (off, -1.0, *kinds[::-1]))
    ]
    study = qp.Study(
        qp.Multibody(a, off), sensors=sensors, options={kinds: [qp.Lock(), qp.Hinge(1)]}
    )
    graph = explored(study)
    np.testing.assert_allclose(graph["n0"].state.r, [(SIDE, 0.0, 0.0)], atol=1e-12)
    np.testing.assert_allclose(abs(graph["n0"].state.q), [(1.0, 0.0, 0.0, 0.0)], atol=1e-12)
    assert graph.kinds == {"stayed": 2}


def test_joints_that_cannot_all_be_met_are_rejected() -> None:
    """A ring of four cubes of which one is 0.4 mm too wide: within reach of all sensors, but no
    ring of locks."""
    wide = 4e-4
    places = {"P": (0.0, 0.0), "Q": (1.0, 0.0), "R": (1.0, 1.0), "S": (0.0, 1.0)}
    cubes = {
        name: qp.Body.box(
            name,
            (SIDE + (wide if name == "R" else 0.0), SIDE, SIDE),
            1.0,
            position=(SIDE * x, SIDE * y, 0),
        )
        for name, (x, y) in places.items()
    }
    sensors = []
    for one, two, way in (
        ("P", "Q", (1, 0)),
        ("Q", "R", (0, 1)),
        ("R", "S", (-1, 0)),
        ("S", "P", (0, -1)),
    ):
        for body, other, s in ((one, two, 1.0), (two, one, -1.0)):
            reach = 0.5 * (cubes[body].shape.size[0] if way[0] else SIDE)  # type: ignore[union-attr]
            z = (s * way[0], s * way[1], 0.0)
            kind = f"{body} to {other}"
            site = cubes[body].site(kind, at=[reach * c for c in z], z=z, x=UP)
            sensors.append(qp.Sensor(kind, site, kind=kind, accepts=(f"{other} to {body}",)))
    options = {
        (f"{p} to {q}", f"{q} to {p}"): [qp.Free(), qp.Lock()] for p, q in ("PQ", "QR", "RS", "SP")
    }
    graph = explored(
        qp.Study(qp.Multibody(*cubes.values()), sensors=sensors, options=options), budget=16
    )
    rejected = [edge for edge in graph.edges if edge.kind == "rejected"]
    assert {edge.reason for edge in rejected} == {UNMET}
    assert all([label for _, label in edge.selection.joints] == ["lock"] * 4 for edge in rejected)
    assert rejected
    assert any(
        [label for _, label in edge.selection.joints].count("lock") == 3 for edge in graph.edges
    )

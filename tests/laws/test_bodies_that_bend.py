"""Bodies that bend: three evaluators, mass points one by one, and what no motion may change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import quaternion

import quirkpy as qp
from quirkpy.maths import quat
from quirkpy.maths.rotations import cross
from quirkpy.maths.types import Floats
from quirkpy.mechanics import bending, equation
from quirkpy.motion.frames import frames_of, poses_shown
from quirkpy.motion.readings import columns_of
from quirkpy.views import report
from quirkpy.views.stage import Stage
from tests.clouds import Cloud, stirred
from tests.random_systems import seeds

JOINTS = (
    qp.Revolute, qp.Spherical, qp.Fixed, qp.Prismatic, qp.Universal, qp.Cylindrical, qp.Planar,
)  # fmt: skip


def assembly(seed: int, *more: str) -> qp.Multibody:
    """A stiff hub, a cloud on it, and on that two others; more: closed to a loop, or on the
    ground."""
    rng = np.random.default_rng(seed)
    hub = qp.Body.box("hub", (1, 1, 1), 5.0)
    one = Cloud("one", seed=seed, modes=4, position=(1, 0, 0))
    two = Cloud("two", seed=seed + 50, modes=2, position=(2, 0, 0))
    three = Cloud("three", seed=seed + 90, position=(1, 1, 0))
    kinds = [JOINTS[k] for k in rng.integers(len(JOINTS), size=3)]
    tip, foot = two.site("tip", at=(0.2, 0.2, 0.2)), hub.site("foot", at=(0, 0, 0.3))
    parts = [
        hub, one, two, three, qp.Gravity((0.0, 0.3, -9.0)),
        kinds[0]("a", hub.site("a", at=(0.5, 0, 0)), one.site("a", at=(-0.5, 0, 0))),
        kinds[1]("b", one.site("b", at=(0.4, 0, 0.3)), two.site("b", at=(-0.6, 0, 0.3))),
        kinds[2]("c", one.site("c", at=(0.1, 0.5, 0)), three.site("c", at=(0.1, -0.5, 0))),
        qp.Spring("spring", tip, foot, stiffness=30.0, damping=2.0),
    ]  # fmt: skip
    if "loop" in more:
        ends = three.site("d", at=(0.5, -0.2, 0.1)), two.site("d", at=(-0.5, 0.8, 0.1))
        parts.append(qp.Spherical("d", *ends))
    if "ground" in more:
        ends = qp.GROUND.site("e", at=(2.3, 0.1, 0.0)), two.site("e", at=(0.3, 0.1, 0.0))
        parts.append(qp.Spherical("e", *ends))
    return qp.Multibody(*parts)


def all_rates(system: qp.Multibody, state: qp.State) -> Floats:
    """Rates of all speeds by the recursion."""
    with system.clusters.lend() as engine:
        return engine.all_accelerations(state.instant(system.selection))


def by_equation(found: equation.Solution) -> Floats:
    return np.concatenate([found.acceleration.reshape(-1), found.further])


@pytest.mark.parametrize("more", [(), ("loop",), ("ground",), ("loop", "ground")])
@seeds(6, 2, attack=200)
def test_three_evaluators_agree(seed: int, more: tuple[str, ...]) -> None:
    """Recursion, null space and the printed equation, with closing rows on bending sites."""
    system = assembly(seed, *more)
    state = stirred(system, seed)
    at = state.instant(system.selection)
    dense = by_equation(equation.solve_dense(at))
    size = abs(dense).max()
    assert abs(at.rows.phi).max(initial=0.0) < 1e-12
    assert abs(all_rates(system, state) - dense).max() < 1e-9 * size
    assert abs(by_equation(equation.solve_literal(at)) - dense).max() < 1e-9 * size


@pytest.mark.kernels
def test_a_tree_that_bends_runs_uncompiled() -> None:
    """Alone and as one of many, from rest in a loop: no kernel reaches beyond its arrays."""
    system = assembly(3, "loop")
    state = stirred(system, 3)
    dense = by_equation(equation.solve_dense(state.instant(system.selection)))
    assert abs(all_rates(system, state) - dense).max() < 1e-9 * abs(dense).max()
    run = system.simulate(0.02, progress=False)
    assert abs(run["one"].modes).max() > 0.0
    many = system.simulate_many(states=[system.initial], duration=0.02)
    assert np.array_equal(many["one"].modes[0], run["one"].modes[-1])
    assert many.events[0] == run.events


def particle_terms(body: Cloud, at: bending.Bent) -> tuple[Floats, Floats]:
    """Mass matrix and bias of mass points that move along straight lines p + phi q, by their
    Jacobians, over velocity in N, spin in body axes and rates of modes."""
    points, n = body.points, len(at.q)
    M, h = np.zeros((6 + n, 6 + n)), np.zeros(6 + n)
    for m, p, phi in zip(points.masses, points.points, points.displacements.swapaxes(0, 1)):
        place, rate = p + at.q @ phi, at.u @ phi
        J = np.hstack([np.eye(3), -at.axes @ bending.skew(place), at.axes @ phi.T])
        bias = cross(at.omega, cross(at.omega, place)) + 2.0 * cross(at.omega, rate)
        M += m * J.T @ J
        h += m * J.T @ (at.axes @ bias)
    return M, h


@seeds(4, 2, attack=200)
def test_mass_points_one_by_one_accelerate_alike(seed: int) -> None:
    """Without foreshortening, the mass matrix of the modes is exact: so are accelerations."""
    body = Cloud("cloud", seed=seed, drawing_near=False)
    system = qp.Multibody(body)
    state = stirred(system, seed, bent=0.3)
    at = state.instant(system.selection)
    (bent,) = bending.bent_bodies(at)
    M, h = particle_terms(body, bent)
    load = np.zeros(len(h))
    load[6:] = body.modal.stiffness @ bent.q + body.modal.damping @ bent.u
    wanted = np.linalg.solve(M, -h - load)
    assert abs(all_rates(system, state) - wanted).max() < 1e-11 * abs(wanted).max()


def test_a_frame_that_turns_or_moves_on_changes_nothing() -> None:
    """Accelerations turn with the whole, and do not depend on its velocity."""
    system = qp.Multibody(Cloud("cloud", seed=5))
    state = stirred(system, 5)
    moved = state.changed(v=state.v + np.array([3.0, -2.0, 1.0]), r=state.r + 7.0)
    assert abs(all_rates(system, moved) - all_rates(system, state)).max() < 1e-11


def energies(system: qp.Multibody, run: qp.Trajectory) -> Floats:
    return run.energy - run.work + run.dissipated


def momenta(system: qp.Multibody, run: qp.Trajectory, t: float) -> Floats:
    p, h = bending.momenta(run.at(t).instant(system.selection))
    return np.concatenate([p.sum(axis=0), h.sum(axis=0)])


def free_chain(*more: str) -> qp.Multibody:
    """Three clouds and a hub in free flight, hinged to each other at sites that bend."""
    hub = qp.Body.box("hub", (1, 1, 1), 5.0)
    one = Cloud("one", seed=1, modes=4, position=(1, 0, 0))
    two = Cloud("two", seed=2, modes=2, position=(2, 0, 0))
    three = Cloud("three", seed=7, position=(1, 1, 0))
    tip, foot = two.site("tip", at=(0.2, 0.2, 0.2)), hub.site("foot", at=(0, 0, 0.3))
    ends = three.site("d", at=(0.5, -0.2, 0.1)), two.site("d", at=(-0.5, 0.8, 0.1))
    return qp.Multibody(
        hub, one, two, three, qp.Spring("spring", tip, foot, stiffness=30.0),
        qp.Revolute("a", hub.site("a", at=(0.5, 0, 0)), one.site("a", at=(-0.5, 0, 0))),
        qp.Spherical("b", one.site("b", at=(0.4, 0, 0.3)), two.site("b", at=(-0.6, 0, 0.3))),
        qp.Revolute("c", one.site("c", at=(0.1, 0.5, 0)), three.site("c", at=(0.1, -0.5, 0))),
        *([qp.Spherical("d", *ends)] if "loop" in more else []),
    )  # fmt: skip


@pytest.mark.parametrize("more", [(), ("loop",)])
def test_flight_keeps_momenta_and_its_ledger(more: tuple[str, ...]) -> None:
    """Trees and loops of bodies that bend, with modal damping: momenta, and energy less what
    damping took, stay what they were."""
    system = free_chain(*more)
    system = system.at(stirred(system, 4, bent=0.02, fast=0.2))
    run = system.simulate(2.0, rtol=1e-10, atol=1e-11, progress=False)
    E = energies(system, run)
    assert run.dissipated[-1] > 1e-4
    assert abs(E - E[0]).max() < 1e-8 * run.kinetic[0]
    before = momenta(system, run, 0.0)
    assert abs(momenta(system, run, 2.0) - before).max() < 1e-9
    assert abs(momenta(system, run, 1.2345) - before).max() < 1e-8


def test_states_and_runs_tell_of_modes() -> None:
    """Amounts and rates of modes stand in states and in runs, and agree."""
    system = free_chain()
    system = system.at(stirred(system, 4, bent=0.02, fast=0.2))
    run = system.simulate(0.3, progress=False)
    assert run["one"].modes.shape == (len(run.t), 4)
    assert np.array_equal(run.final["one"].modes, run["one"].modes[-1])
    assert np.array_equal(run.final["two"].mode_rates, run["two"].mode_rates[-1])
    assert isinstance(run.final["hub"], qp.BodyState)
    assert isinstance(run["hub"], qp.BodyState)
    h, k = 1e-5, 0.2
    rate = (run.at(k + h)["one"].modes - run.at(k - h)["one"].modes) / (2.0 * h)
    assert abs(rate - run.at(k)["one"].mode_rates).max() < 1e-5


def test_sites_move_as_their_places_do() -> None:
    """Velocity and spin of sites that bend, in a joint or nowhere, by differences along a run."""
    system = free_chain()
    system = system.at(stirred(system, 6, bent=0.05, fast=0.3))
    run = system.simulate(0.2, rtol=1e-11, atol=1e-12, progress=False)
    one = system["one"]
    ends = one.site("b", at=(0.4, 0, 0.3)), one.site("new", at=(0.1, -0.3, 0.2), z=(0, 0.6, 0.8))
    h, t = 1e-4, 0.1
    before, here, after = (run.at(x).instant().at_sites(*ends) for x in (t - h, t, t + h))
    rate = (after.position - before.position) / (2.0 * h)
    assert abs(rate - here.velocity).max() < 1e-6
    turned = (after.axes - before.axes) / (2.0 * h) @ here.axes.swapaxes(1, 2)
    assert abs(turned - [bending.skew(w) for w in here.spin]).max() < 1e-5


@pytest.mark.slow
def test_implicit_steps_bend_alike() -> None:
    """Radau's method in the coordinates of the tree, and explicit steps."""
    system = free_chain("loop")
    system = system.at(stirred(system, 4, bent=0.02, fast=0.2))
    one = system.simulate(0.3, rtol=1e-9, atol=1e-10, progress=False)
    two = system.simulate(0.3, method="radau", rtol=1e-8, atol=1e-9, progress=False)
    assert abs(one.final["three"].modes - two.final["three"].modes).max() < 1e-6
    assert abs(one.final["two"].position - two.final["two"].position).max() < 1e-6


def test_modes_are_exchanged_in_a_state() -> None:
    """By name, like poses; the wrong number of them is refused in a sentence."""
    system = qp.Multibody(qp.Body.box("box", (1, 1, 1), 2.0), Cloud("cloud", seed=5))
    state = system.initial.replace({"cloud": {"modes": (0.1, 0.0, -0.2), "mode_rates": (0, 1, 0)}})
    assert state["cloud"].modes.tolist() == [0.1, 0.0, -0.2]
    assert state["cloud"].mode_rates.tolist() == [0.0, 1.0, 0.0]
    assert system.at(state).energy().potential > 0.0
    with pytest.raises(qp.PartError, match="replace: modes of body 'cloud'"):
        state.replace({"cloud": {"modes": (0.1, 0.0)}})


REFUSED = {
    "conserve": lambda system: system.simulate(0.1, energy="conserve", progress=False),
    "kane": lambda system: system.acceleration(evaluator="kane"),
    "linear models": lambda system: system.linearize(),
    "Study": lambda system: qp.Study(system, sensors=[], options={}),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_takes_rigid_bodies_alone_says_so(what: str) -> None:
    with pytest.raises(qp.PartError, match=rf"{what}.*: body .cloud. bends, .* rigid Body"):
        REFUSED[what](qp.Multibody(Cloud("cloud", seed=5)))


def test_fields_of_rigid_bodies_are_refused() -> None:
    cloud = Cloud("cloud", seed=5)
    with pytest.raises(qp.PartError, match=r"body .cloud. bends, .* Gravity"):
        qp.Multibody(cloud, qp.PointGravity(1e3, centre=(100.0, 0.0, 0.0)))


def hinged(*more: qp.Part) -> tuple[qp.Multibody, qp.Revolute]:
    """A cloud that hangs on a hinge at a site that bends, under its weight."""
    cloud = Cloud("cloud", seed=3, position=(0.6, 0, 0))
    ends = qp.GROUND.site("o", z=(0, 1, 0)), cloud.site("o", at=(-0.6, 0, 0), z=(0, 1, 0))
    hinge = qp.Revolute("hinge", *ends)
    return qp.Multibody(cloud, hinge, qp.Gravity((0, 0, -9.81)), *more), hinge


def test_a_driven_hinge_puts_in_what_the_ledger_says() -> None:
    """Power of a prescribed motion through a site that bends, loads and all modes included."""
    system, hinge = hinged()
    drive = qp.Prescribed("drive", hinge, qp.Schedule((0.0, 1.0), (0.0, 0.8), "smooth"))
    run = system.with_(drive).simulate(1.2, rtol=1e-10, atol=1e-11, progress=False)
    E = energies(system, run)
    assert abs(run.work[-1]) > 1.0
    assert abs(E - E[0]).max() < 1e-7 * abs(run.work).max()


def test_a_stop_that_is_hit_rings_the_modes() -> None:
    """An impact at a site that bends: what it takes stands in the ledger."""
    system, hinge = hinged()
    stop = qp.JointStop("stop", hinge, upper=0.3)
    run = system.with_(stop).simulate(0.8, rtol=1e-10, atol=1e-11, progress=False)
    assert any(event.name == "stop reached" for event in run.events)
    E = energies(system, run)
    assert abs(E - E[0]).max() < 1e-6 * abs(run.potential).max()


def test_too_much_bending_is_refused_in_a_sentence() -> None:
    """Where the mass matrix to second order is none any more."""
    system = qp.Multibody(Cloud("cloud", seed=5))
    with pytest.raises(qp.PartError, match="mass matrix of 'cloud' is not positive"):
        system.acceleration(
            system.initial.replace({"cloud": {"modes": (90.0, -80.0, 70.0)}}), evaluator="dense"
        )


# --- beams in systems -----------------------------------------------------------------------------
def boom_with_payload(*more: qp.Part) -> qp.Multibody:
    """A hub with a slender boom, at whose tip a payload hangs on a hinge."""
    hub = qp.Body.box("hub", (0.4, 0.4, 0.4), 20.0)
    boom = slender()
    payload = qp.Body.box("payload", (0.1, 0.1, 0.1), 0.5, position=(8.3, 0, 0))
    return qp.Multibody(
        hub, boom, payload, qp.Fixed("root", hub.site("root", at=(0.2, 0, 0)), boom.at(0.0)),
        qp.Revolute("hinge", boom.at(1.0), payload.site("in", at=(-0.1, 0, 0))),
        qp.Load("slew", hub, torque=(0.0, 0.5, 2.0)), *more,
    )  # fmt: skip


def slender() -> qp.Beam:
    return qp.Beam("boom", start=(0.2, 0, 0), end=(8.2, 0, 0), EA=5e6, EI=567.0, GJ=440.0,
                   mass_per_length=0.2, modes=4)  # fmt: skip


def test_many_runs_tell_of_modes_and_of_joints_on_them() -> None:
    """What the ends and samples of many runs say of bending is what each run says."""
    system = boom_with_payload()
    runs = system.simulate_many(states=[system.initial] * 2, duration=1.0, samples=[0.5])
    run = system.simulate(1.0, progress=False)
    assert np.array_equal(runs["boom"].modes[1], run["boom"].modes[-1])
    assert np.array_equal(runs["boom"].tip[1], run["boom"].tip[-1])
    assert np.array_equal(runs.samples["boom"].mode_rates[0, 0], run.at(0.5)["boom"].mode_rates)
    for moments, wanted in ((runs["hinge"], run.final), (runs.samples["hinge"], run.at(0.5))):
        found = np.array([moments.angle.ravel()[0], moments.rate.ravel()[0]])
        assert abs(found - [wanted["hinge"].angle, wanted["hinge"].rate]).max() < 1e-12


def test_bending_is_measured(tmp_path: Path) -> None:
    """Tables, CSV files and thresholds know modes and tips, and points between them."""
    system = boom_with_payload()
    run = system.simulate(1.0, stop=[qp.When.below("boom.tip.y", -0.02)], progress=False)
    assert run.events
    assert abs(run.final["boom"].tip[1] + 0.02) < 1e-9
    table = run.table(["boom.tip", "boom.modes", "boom.mode_rates.3"])
    assert np.array_equal(table["boom.tip"], run["boom"].tip)
    assert np.array_equal(table["boom.modes"], run["boom"].modes)
    assert np.array_equal(table["boom.mode_rates.3"], run["boom"].mode_rates[:, 3])
    run.save(tmp_path / "run.csv")
    head = (tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert {"boom.modes.0", "boom.tip.y"} < set(head)
    assert "hub.modes.0" not in head
    assert np.array_equal(run["boom"].deflection(1.0), run["boom"].tip)
    assert abs(run["boom"].deflection(0.0)).max() < 1e-12
    assert "boom: 1.6 kg, 4 modes from 2.925 rad/s" in system.explain()


def drawn_line(stage: Stage, state: qp.State, body: str) -> Floats:
    """Ends of the straight pieces of a body (k, 2, 3)."""
    sight = stage.at(state)
    pieces = [s for s, name in zip(sight.solids, sight.names, strict=True) if name == body]
    ways = np.array([quat.rotation_matrix(*piece.q) for piece in pieces]).reshape(-1, 3, 3)[:, :, 0]
    half = 0.5 * ways * np.array([piece.shape.size[0] for piece in pieces])[:, None]
    middles = np.array([piece.r for piece in pieces])
    return np.stack([middles - half, middles + half], axis=1)


def test_beams_are_drawn_as_they_bend() -> None:
    """The line of a beam goes from its start to where its bent tip is."""
    eye = qp.Sensor("eye", slender().at(1.0), kind="end", accepts=("end",), reach=0.1)
    run = boom_with_payload(eye).simulate(1.0, progress=False)
    line = drawn_line(Stage(run.system), run.final, "boom")
    assert line.shape == (16, 2, 3)
    assert abs(line[1:, 0] - line[:-1, 1]).max() < 1e-5
    tip, root = (run.measure(f"boom.at {k}.position")[-1] for k in (1, 0))
    assert abs(line[-1, 1] - tip).max() < 1e-5
    assert abs(line[0, 0] - root).max() < 1e-5
    straight = line[0, 0] + (line[0, 1] - line[0, 0]) * 16
    off = line[-1, 1] - straight
    assert abs(off).max() > 0.01
    more = drawn_line(Stage(run.system, exaggerate=3.0), run.final, "boom")
    axes = run.final.instant().frames.axes[1]
    sideways = (more[-1, 1] - tip) @ axes
    assert sideways[1] == pytest.approx(2.0 * run["boom"].tip[-1, 1], rel=1e-3)


def test_pages_show_pieces_that_follow_the_bending(tmp_path: Path) -> None:
    """Each piece has a row of the motion of the page, and stands where it is drawn in pictures."""
    run = boom_with_payload().simulate(1.0, progress=False)
    tolerances = report.tolerances_of(run.system.parts)
    data = report.run_page(run, frames_of(run.pieces, *tolerances, 1.0))
    pieces = [body for body in data["bodies"] if body["row"] is not None and body["row"] >= 3]
    assert [body["row"] for body in pieces] == list(range(3, 19))
    assert [body["name"] for body in pieces].count("boom") == 1
    assert [body["name"] for body in data["bodies"][:3]] == ["hub", "", "payload"]
    shown = poses_shown(run.system.tables, [run.final], 1.0)[0][0, 3:]
    assert np.array_equal(shown, drawn_line(Stage(run.system), run.final, "boom").mean(axis=1))
    run.report(tmp_path / "run.html", exaggerate=5.0)
    with pytest.raises(qp.PartError, match=r"report: exaggerate .* positive"):
        run.report(tmp_path / "run.html", exaggerate=-1.0)


def test_nodes_of_a_body_are_joined_by_the_shortest_lines() -> None:
    nodes = [(-1.5, 0, 0), (-0.5, 0, 0), (0.5, 0, 0), (1.5, 0, 0)]
    shapes = [[(0, 0, x * x) for x, _, _ in nodes]]
    body = qp.ModalBody(
        "rod", nodes=nodes, shapes=shapes, frequencies=[3.0], mass=4.0, inertia=(0.01, 5.0, 5.0)
    )
    system = qp.Multibody(body)
    state = system.initial.replace({"rod": {"modes": [0.5]}})
    line = drawn_line(Stage(system), state, "rod")
    points = np.array(nodes) + 0.5 * body.mass_points.displacements[0]
    ends = line.reshape(-1, 3)
    assert len(line) == 3
    away = np.linalg.norm(ends[:, None] - points, axis=2)
    assert np.sort(away.argmin(axis=1)).tolist() == [0, 1, 1, 2, 2, 3]
    assert away.min(axis=1).max() < 0.1 * abs(points[:, 2]).max()


def test_a_beam_on_a_hub_may_bend_beyond_what_it_may_alone() -> None:
    """Where the mass matrix of the body alone is not positive, only along the joints."""
    system = boom_with_payload()
    state = stirred(system, 2, bent=0.2)
    at = state.instant(system.selection)
    assert np.linalg.eigvalsh(bending.mass_matrix(at))[0] < 0.0
    dense = by_equation(equation.solve_dense(at))
    assert abs(all_rates(system, state) - dense).max() < 1e-9 * abs(dense).max()


@pytest.mark.parametrize("pieces", [1, 2])
def test_beams_end_to_end_bend_as_one(pieces: int) -> None:
    """Turned ever faster by a hub, slowly: the tip lags as the loads of inertia say."""
    hub = qp.Body.box("hub", (0.4, 0.4, 0.4), 20.0)
    parts, end, L = [hub], hub.site("root", at=(0.2, 0, 0)), 8.0 / pieces
    for k in range(pieces):
        beam = qp.Beam(f"b{k}", start=(0.2 + k * L, 0, 0), end=(0.2 + (k + 1) * L, 0, 0), EA=5e6,
                       EI=567.0, GJ=440.0, mass_per_length=0.2, modes=(0, 3, 0, 0), damping=1.0,
                       shapes="polynomials")  # fmt: skip
        parts, end = [*parts, beam, qp.Fixed(f"f{k}", end, beam.at(0.0))], beam.at(1.0)
    eye = qp.Sensor("eye", end, kind="end", accepts=("end",), reach=0.1)
    system = qp.Multibody(*parts, eye, qp.Load("slew", hub, torque=(0.0, 0.0, 1e-3)))
    run = system.simulate(60.0, method="radau", progress=False)
    faster = run.final["hub"].angular_velocity[2] / 60.0
    arm = 0.2 - 4.2 * 1.6 / 21.6  # from the centre of mass to the root
    lag = 0.2 * faster / 567.0 * (11.0 * 8.0**5 / 120.0 + arm * 8.0**4 / 8.0)
    tip = run.measure(f"b{pieces - 1}.at 1.position")[-1] - run.final["hub"].position
    axes = quaternion.as_rotation_matrix(run.final["hub"].orientation)
    assert abs((axes.T @ tip)[1] + lag) < 1e-4 * lag


@pytest.mark.slow
def test_a_run_that_collapses_has_its_page(tmp_path: Path) -> None:
    """A boom torn at until its steps became too small: the page shows what there is."""
    hub, boom = qp.Body.box("hub", (0.4, 0.4, 0.4), 20.0), slender()
    root = qp.Fixed("root", hub.site("root", at=(0.2, 0, 0)), boom.at(0.0))
    tear = qp.Load("tear", hub, torque=(0.0, 0.0, 60.0))
    run = qp.Multibody(hub, boom, root, tear).simulate(1.5, progress=False)
    assert run.stop is qp.Stop.COLLAPSE
    assert np.diff(run.t).min() < 1e-12
    run.report(tmp_path / "run.html")
    assert (tmp_path / "run.html").stat().st_size > 1e4


class Reader(qp.Controller):
    """Reads, and does nothing."""

    def command(self, t: float, measured: Any, memory: Any) -> dict[str, Any]:
        return {"slew.torque": (0.0, 0.5, 2.0)}


def test_controllers_read_all_that_a_bent_system_has() -> None:
    """Every measure at a sample is that of the run at its time."""
    system = boom_with_payload()
    reads = [name for name in system.measures if not name.startswith("slew")]
    run = system.with_(Reader("reader", period=0.25, reads=reads, drives=["slew.torque"])).simulate(
        0.6, progress=False
    )
    k = [int(np.flatnonzero(run.t == t)[0]) for t in run["reader"].t]
    assert len(k) == 3
    for name in reads:
        wanted = np.asarray(run.measure(name))[k]
        found = run["reader"].measured[name]
        found = quaternion.as_float_array(found) if found.dtype != float else found
        assert found.shape == wanted.shape, name
        if name not in LEDGER:
            assert abs(found - wanted).max() <= 1e-9 * (1.0 + abs(wanted).max()), name
    titles = columns_of(run, ["reader.boom.modes", "reader.inertia"])
    assert {"reader.boom.modes.3", "reader.inertia.8"} < set(titles)


#: Columns of the ledger: at a sample they are told before what the sample itself puts in.
LEDGER = ("work", "dissipated", "lost", "projected")


@pytest.mark.parametrize("force", [1e-3, 1.0])
def test_a_beam_on_the_wall_bends_without_a_word(force: float) -> None:
    """Joints take no hold of a beam that leaves its frame at rest: rounding there is no event.  Its
    tip moves as its modes do, whose shapes are 2 at the tip over the root of the mass."""
    boom = slender()
    wall = qp.GROUND.site("wall", at=(0.2, 0, 0))
    load = qp.Load("load", boom, force=(0.0, force, 0.0), at=(8.2, 0, 0))
    system = qp.Multibody(boom, qp.Fixed("root", wall, boom.at(0.0)), load)
    run = system.simulate(1.0, progress=False)
    assert not run.events
    tip = 0.0
    for beta in (1.875104068711961, 4.694091132974175):
        speed = beta**2 * np.sqrt(567.0 / (0.2 * 8.0**4))
        decay, swing = 0.005 * speed, speed * np.sqrt(1.0 - 0.005**2)
        course = np.cos(swing * run.t) + decay / swing * np.sin(swing * run.t)
        tip += 4.0 * force / (1.6 * speed**2) * (1.0 - np.exp(-decay * run.t) * course)
    assert abs(run["boom"].tip[:, 1] - tip).max() < 0.05 * force**3 + 1e-6 * force

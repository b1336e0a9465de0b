"""Tensegrities against minimal coordinates, shapes and frequencies known by hand, and laws."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import quirkpy as qp
from tests.motion import TIGHT
from tests.random_systems import seeds

LENGTH, RADIUS, STIFFNESS = 5.0, 0.05, 100.0
MASS = 500.0 * math.pi * RADIUS**2 * LENGTH
SIDE = LENGTH / math.sqrt(2.0)
STEEL: dict[str, Any] = {
    "bar": {"density": 1300.0, "radius": 0.01},
    "string": {"EA": 2e9 * math.pi * 1e-6},
}
BY_GRAVITY = qp.Gravity((0, 0, -9.806))


def places(made: qp.Tensegrity, run: qp.Trajectory) -> np.ndarray:
    """Of all nodes at all rows (k, n, 3)."""
    return np.array([made.places(run.at(t)) for t in run.t])


# --- the benchmark of the paper -------------------------------------------------------------------
def pulls(state: np.ndarray, rests: tuple[float, float, float]) -> np.ndarray:
    """Stretches of the strings of a T-bar and their slopes over both angles (3, 3)."""
    a, b = state[:2]
    tips = np.array([[math.cos(a), math.sin(a)], [-math.cos(b), math.sin(b)]]) * LENGTH
    tips[1, 0] += SIDE
    slopes = np.array([[-math.sin(a), math.cos(a)], [math.sin(b), math.cos(b)]]) * LENGTH
    ways = tips[0] - (SIDE, 0.0), tips[1], tips[0] - tips[1]
    units = [way / np.linalg.norm(way) for way in ways]
    out = np.zeros((3, 3))
    out[:, 0] = [np.linalg.norm(way) - rest for way, rest in zip(ways, rests, strict=True)]
    out[0, 1], out[1, 2] = units[0] @ slopes[0], units[1] @ slopes[1]
    out[2, 1], out[2, 2] = units[2] @ slopes[0], -units[2] @ slopes[1]
    return out


def by_angles(start: list[float], rests: tuple[float, float, float], t: np.ndarray) -> np.ndarray:
    """The angles of both bars over their feet and their rates (k, 4), from minimal coordinates:
    string by string with the phase that it has, from kink to kink."""
    inertia = MASS * (LENGTH**2 / 3.0 + RADIUS**2 / 4.0)
    state, now, out = np.array(start), 0.0, np.zeros((len(t), 4))
    taut = pulls(state, rests)[:, 0] > -1e-12  # the one along the top begins just taut
    while now < t[-1]:

        def slope(_: float, y: np.ndarray, taut: np.ndarray = taut) -> list[float]:
            s = pulls(y, rests)
            load = -STIFFNESS * (s[taut, 0] @ s[taut, 1:])
            return [y[2], y[3], load[0] / inertia, load[1] / inertia]

        kinks = []
        for k in range(3):
            kinks.append(lambda _, y, k=k: pulls(y, rests)[k, 0])
            kinks[k].terminal, kinks[k].direction = True, -1.0 if taut[k] else 1.0
        found = solve_ivp(
            slope, (now, t[-1]), state, "DOP853", events=kinks, dense_output=True, rtol=1e-13,
            atol=1e-14, max_step=0.05,
        )  # fmt: skip
        mine = (t >= now) & (t <= found.t[-1])
        if mine.any():
            out[mine] = found.sol(t[mine]).T
        state, now = found.y[:, -1], found.t[-1]
        for k, times in enumerate(found.t_events):
            taut[k] ^= len(times) > 0
    return out


@pytest.mark.slow
@pytest.mark.parametrize("push", [(0.0, 0.0), (0.25, -0.1)], ids=["symmetric", "not"])
def test_a_t_bar_moves_as_two_angles_do(push: tuple[float, float]) -> None:
    """Through many slack strings, to 1e-10 m."""
    made = qp.tensegrities.t_bar(
        bar={"density": 500.0, "radius": RADIUS},
        string={"stiffness": STIFFNESS, "rest": (0.9, 0.9, 1.0)},
    )
    start = made.system.initial
    turning = {}
    for body, foot, rate in zip(made.bars, made.places()[:2], (-push[0], push[1]), strict=True):
        spin = np.array([0.0, rate, 0.0])
        turning[body.name] = {
            "velocity": np.cross(spin, start[body.name].position - foot),
            "angular_velocity": body.matrix.T @ spin,
        }
    run = made.system.simulate(40.0, state=start.replace(turning), keep=10, rtol=1e-13, atol=1e-14)
    rests = (0.9 * SIDE, 0.9 * SIDE, SIDE)
    angles = by_angles([math.pi / 4, math.pi / 4, *push], rests, run.t)
    tips = places(made, run)[:, 2:4]
    expected = LENGTH * np.array([np.cos(angles[:, 0]), np.sin(angles[:, 0])]).T
    np.testing.assert_allclose(tips[:, 0, [0, 2]], expected, rtol=0, atol=1e-10)
    other = np.array([SIDE - LENGTH * np.cos(angles[:, 1]), LENGTH * np.sin(angles[:, 1])]).T
    np.testing.assert_allclose(tips[:, 1, [0, 2]], other, rtol=0, atol=1e-10)
    assert any(push) == (len(run.events) > 50)
    assert np.ptp(run.energy) <= 1e-11 * run.energy[0]


# --- shapes and tensions known by hand ------------------------------------------------------------
@pytest.mark.parametrize("order", [3, 4, 5, 7])
def test_a_prism_stands_at_one_twist_alone(order: int) -> None:
    """pi/2 - pi/n; upright strings then pull as hard, per length, as bars push, and 2 sin(pi/n)
    times as hard as those of the polygons; there is one state of self-stress and, of n = 3, one
    mechanism."""
    made = qp.tensegrities.prism(order, fixed=False, **STEEL)
    found = qp.prestress(made.system, minimum=2.0)
    density = np.array(list(found.density.values()))
    np.testing.assert_allclose(density[: 2 * order] / density[0], 1.0, rtol=1e-9)
    ratio = 2.0 * math.sin(math.pi / order)
    np.testing.assert_allclose(density[2 * order :] / density[0], ratio, rtol=1e-9)
    assert min(found.tension.values()) == pytest.approx(2.0)
    assert len(found.states) == 1
    assert len(found.mechanisms) == 2 * order - 5
    assert np.abs(found.system.acceleration()[:, :3]).max() < 1e-9
    nodes = made.places()
    turned = nodes.copy()
    turn = 0.1
    c, s = math.cos(turn), math.sin(turn)
    turned[order:, :2] = nodes[order:, :2] @ np.array([[c, s], [-s, c]])
    other = qp.tensegrity(
        turned, [(i, order + (i + 1) % order) for i in range(order)],
        [*qp.tensegrities.around(0, order), *qp.tensegrities.around(order, order),
         *((i, order + i) for i in range(order))], **STEEL,
    )  # fmt: skip
    with pytest.raises(qp.PartError, match=r"no tensions of 2 N or more .* moves node 'n\d+'"):
        qp.prestress(other.system, minimum=2.0)


def test_a_ball_and_its_payload_hold_themselves() -> None:
    """Six bars and 24 strings: one state of self-stress, all alike, and one mechanism, as is
    known; eight strings to a payload carry it in weight."""
    found = qp.prestress(qp.tensegrities.ball(**STEEL).system)
    np.testing.assert_allclose(list(found.tension.values()), 1.0, rtol=1e-9)
    assert (len(found.states), len(found.mechanisms)) == (1, 1)
    loaded = qp.tensegrities.ball(payload=2.0, **STEEL)
    assert len(loaded.strings) == 32
    held = qp.prestress(loaded.system, 5.0)
    assert np.abs(held.system.acceleration()[:, :3]).max() < 1e-9


def test_what_stands_under_weight_and_what_does_not() -> None:
    """An arm does; a prism sinks by its mechanism, whose weight no tensions can hold."""
    made = qp.tensegrities.arm(3, **STEEL)
    found = qp.prestress(made.system, 10.0, under=BY_GRAVITY)
    still = found.system.with_(BY_GRAVITY)
    assert np.abs(still.acceleration()[:, :3]).max() < 1e-8
    assert min(found.tension.values()) >= 10.0 - 1e-9
    tower = qp.tensegrities.prism(3, **STEEL)
    (sinking,) = qp.prestress(tower.system).mechanisms
    assert all(move[2] * sinking["n4"][2] > 0.01 for move in sinking.values())
    with pytest.raises(qp.PartError, match=r"moves node 'n[456]'"):
        qp.prestress(tower.system, under=BY_GRAVITY)


def test_a_mass_between_two_strings_swings_as_they_pull() -> None:
    """Along them at sqrt(2 k / m), across at sqrt(2 T / (L m)); the turning of a point is none."""
    nodes = [(-1, 0, 0), (0, 0, 0), (1, 0, 0)]
    made = qp.tensegrity(
        nodes, strings=[(0, 1), (1, 2)], fixed=[0, 2], masses={1: 0.5},
        string={"stiffness": 800.0, "rest": 0.9},
    )  # fmt: skip
    rates = sorted(abs(mode.eigenvalue.imag) for mode in made.system.settle().modes)[-3:]
    across, along = math.sqrt(2.0 * 80.0 / 0.5), math.sqrt(2.0 * 800.0 / 0.5)
    np.testing.assert_allclose(rates, [across, across, along], rtol=1e-6)


def test_form_finding_gives_prisms_and_nets() -> None:
    """Densities of a prism bring any shape near it to one that holds itself; a net of equal
    densities between four fixed corners lies in their middle."""
    made = qp.tensegrities.prism(3, fixed=False, **STEEL)
    found = qp.prestress(made.system)
    members = [(i, 3 + (i + 1) % 3) for i in range(3)]
    strings = [*qp.tensegrities.around(0, 3), *qp.tensegrities.around(3, 3)]
    members += [*strings, *((i, 3 + i) for i in range(3))]
    upright = found.density["s7"]
    q = [-upright] * 3 + list(found.density.values())
    bent = made.places() + 0.1 * np.random.default_rng(1).normal(size=(6, 3))
    shape = qp.form_find(bent, members, q)
    again = qp.tensegrity(shape, members[:3], members[3:], **STEEL)
    density = np.array(list(qp.prestress(again.system).density.values()))
    np.testing.assert_allclose(density / density[0], np.array(q[3:]) / q[3], rtol=1e-7)
    corners = [(0, 0, 0), (2, 0, 1), (2, 2, 0), (0, 2, 1), (0.3, 0.1, 9.0)]
    net = qp.form_find(corners, [(i, 4) for i in range(4)], [1.0] * 4, fixed=range(4))
    np.testing.assert_allclose(net[4], (1.0, 1.0, 0.5), atol=1e-14)
    with pytest.raises(qp.PartError, match="hold no shape in space"):
        qp.form_find(bent, members, np.array(q) + 0.1)


# --- laws -----------------------------------------------------------------------------------------
def tangle(seed: int) -> qp.Tensegrity:
    """Random bars that float, some meeting at nodes, two masses, and random strings."""
    rng = np.random.default_rng(seed)
    nodes = rng.uniform(-1.0, 1.0, (10, 3))
    bars = [(0, 1), (2, 3), (4, 5), (5, 6), (5, 7)]
    ways = {tuple(sorted(rng.choice(10, 2, replace=False).tolist())) for _ in range(24)}
    strings = [pair for pair in sorted(ways) if pair not in bars]
    strings += [(i, i + 1) for i in range(7, 9) if (i, i + 1) not in strings]
    over = rng.choice(10, 3, replace=False).tolist()
    return qp.tensegrity(
        nodes, bars, [*strings, over], masses={8: 0.3, 9: 0.7, 5: 0.2},
        bar={"density": 2000.0, "radius": 0.02},
        string={"stiffness": 300.0, "rest": rng.uniform(0.6, 1.1, len(strings) + 1)},
    )  # fmt: skip


@seeds(4, 2)
def test_random_ones_keep_energy_and_momenta(seed: int) -> None:
    run = tangle(seed).system.simulate(2.0, **TIGHT)
    assert len(run.events) > 5
    assert np.ptp(run.energy) <= 1e-10 * run.energy[0]
    size = math.sqrt(2.0 * run.energy[0] * 10.0)
    assert np.ptp(run.momentum, axis=0).max() <= 1e-11 * size
    assert np.ptp(run.angular_momentum, axis=0).max() <= 1e-10 * size


def test_what_a_bar_resists_spin_with_matters_to_nothing() -> None:
    """A hundredth of it, or as much as a ball would have: nodes move alike."""
    made = tangle(0)
    axial, *across = made.bars[0].inertia
    inertias = np.array([(share, *across) for share in (0.01 * axial, axial, across[0])])
    runs = made.system.simulate_many(
        parameters={"b1.inertia": inertias}, duration=1.0, rtol=1e-12, atol=1e-13
    )
    one, *others = (made.places(state) for state in runs.final)
    assert np.abs(one - made.places()).max() > 0.1
    for other in others:
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-9)


# --- ways to write one ----------------------------------------------------------------------------
def test_matrices_and_files_say_the_same(tmp_path: Path) -> None:
    C_b = [[-1, 0, 1, 0], [0, -1, 0, 1]]
    C_s = [[0, -1, 1, 0], [-1, 0, 0, 1], [0, 0, -1, 1]]
    N = np.array([(0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)], dtype=float).T
    one = qp.tensegrities.from_matrices(N, C_b, C_s, [0, 1], normal=(0, 1, 0), **STEEL)
    (tmp_path / "nodes.csv").write_text(
        "x,y,z,fixed,mass\n0,0,0,1,\n1,0,0,1,\n1,0,1,0,\n0,0,1,,\n", encoding="utf-8"
    )
    (tmp_path / "members.csv").write_text(
        "kind,nodes\nbar,0 2\nbar,1 3\nstring,1 2\nstring,0 3\nstring,2 3\n", encoding="utf-8"
    )
    two = qp.tensegrities.read_csv(
        tmp_path / "nodes.csv", tmp_path / "members.csv", normal=(0, 1, 0), **STEEL
    )
    three = qp.tensegrities.t_bar(math.sqrt(2.0), **STEEL)
    assert qp.to_json(one.system) == qp.to_json(two.system)
    np.testing.assert_allclose(three.system.acceleration(), one.system.acceleration(), atol=1e-9)


def test_files_tell_options_of_each_member(tmp_path: Path) -> None:
    """As columns, also between semicolons or tabs, empty for what is given to all or has a
    default."""
    (tmp_path / "nodes.txt").write_text(
        "x;y;z;fixed\n0;0;0;1\n1;0;0;1\n1;0;1;0\n0;0;1;\n", encoding="utf-8"
    )
    (tmp_path / "members.txt").write_text(
        "kind\tnodes\tmass\tradius\tEA\trest\tdamping\nbar\t0 2\t1.5\t0.02\nbar\t1 3\t2\t\n"
        "string\t1 2\t\t\t400\t0.9\t\nstring\t0 3\t\t\t400\t\t3\nstring\t2 3\t\t\t500\t0.8\t\n",
        encoding="utf-8",
    )
    made = qp.tensegrities.read_csv(
        tmp_path / "nodes.txt", tmp_path / "members.txt", normal=(0, 1, 0), string={"damping": 1.0}
    )
    assert [body.mass for body in made.bars] == [1.5, 2.0]
    assert made.bars[0].inertia[0] == pytest.approx(0.5 * 1.5 * 0.02**2)
    assert [string.EA for string in made.strings] == [400.0, 400.0, 500.0]
    assert [string.rest_length for string in made.strings] == pytest.approx([0.9, 1.0, 0.8])
    assert [string.damping for string in made.strings] == [1.0, 3.0, 1.0]


def test_rest_lengths_are_inputs_of_linear_models() -> None:
    """Of a mass between two strings: half of what one is paid out moves it, at rest; a slack string
    is told, and one just taut is no linear one."""
    nodes = [(-1, 0, 0), (0, 0, 0), (1, 0, 0)]

    def hung(rest: float) -> qp.Multibody:
        return qp.tensegrity(
            nodes, strings=[(0, 1), (1, 2)], fixed=[0, 2], masses={1: 0.5},
            string={"stiffness": 800.0, "rest": rest, "damping": 3.0},
        ).system  # fmt: skip

    model = hung(0.9).linearize(inputs=["s1.rest_length"], outputs=["p1.position.x"])
    gain = model.C @ np.linalg.lstsq(-model.A, model.B, rcond=1e-12)[0]  # the ball may turn
    np.testing.assert_allclose(gain, [[0.5]], rtol=1e-6)
    with pytest.warns(qp.PartWarning, match="'s1.rest_length' changes nothing here"):
        hung(1.1).linearize(inputs=["s1.rest_length"])
    with pytest.raises(qp.PartError, match="just between taut and slack"):
        hung(1.0).linearize(inputs=["s1.rest_length"])


@pytest.mark.parametrize(("rest", "stiffness"), [(0.9, 800.0), (1.1, 0.0), (1.0, None)])
def test_a_state_where_stiffness_jumps_has_no_linear_model_without_a_word(
    rest: float, stiffness: float | None
) -> None:
    """Of a mass on one string: k where it is taut, nothing where it is slack, and between them no
    number for both sides."""
    held = qp.Body.sphere("held", 0.1, 1.0, fixed=True)
    hung = qp.Body.sphere("hung", 0.1, 0.5, position=(0, 0, -1))
    system = qp.Multibody(held, hung, qp.String("s", held, hung, stiffness=800.0, rest_length=rest))
    if stiffness is None:
        with pytest.warns(qp.PartWarning, match="stiffness jumps at this state, where s is just"):
            system.linearize()
    else:
        largest = np.linalg.eigvals(system.linearize().stiffness).real.max()
        assert largest == pytest.approx(stiffness / 0.5, rel=1e-6, abs=1e-6)


def test_a_prestress_holds_the_system_where_it_stands() -> None:
    """A mass on a rail between two strings, moved by half a metre: rest lengths for that place."""
    ball = qp.Body.sphere("ball", 0.1, 1.0)
    rail = qp.Prismatic("rail", qp.GROUND, ball, at=(0, 0, 0), axis=(1, 0, 0))
    strings = [
        qp.String(name, qp.GROUND, ball, at1=(x, 0, 0), at2=(0, 0, 0), stiffness=100.0)
        for name, x in (("left", -2), ("right", 2))
    ]
    system = qp.Multibody(ball, rail, *strings)
    moved = system.at(system.initial.replace({"ball": {"position": (0.5, 0, 0)}}))
    found = qp.prestress(moved, minimum=20.0)
    assert found.rest_length == pytest.approx({"left": 2.3, "right": 1.3})
    assert abs(found.system.acceleration()).max() < 1e-12

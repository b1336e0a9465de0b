"""Linear models of strings: forces and displacements at nodes, tensions as inputs, norms."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.linalg import expm, solve_continuous_lyapunov

import quirkpy as qp
from quirkpy.rest.gains import Realisation

K, C, M, REST = 800.0, 3.0, 0.5, 0.9


def hung(rest: float = REST) -> qp.Tensegrity:
    """A mass between two strings along x."""
    nodes = [(-1, 0, 0), (0, 0, 0), (1, 0, 0)]
    return qp.tensegrity(
        nodes, strings=[(0, 1), (1, 2)], fixed=[0, 2], masses={1: M},
        string={"stiffness": K, "rest": rest, "damping": C},
    )  # fmt: skip


def test_a_force_at_a_node_moves_it_as_far_as_its_strings_yield() -> None:
    """Along them 1 / (2 k), across L / (2 T)."""
    made = hung()
    node = made.nodes[1]
    model = made.system.linearize(inputs=[node], outputs=[node])
    assert model.inputs == model.outputs == ("p1 n2.x", "p1 n2.y", "p1 n2.z")
    across = 1.0 / (2.0 * K * (1.0 - REST))
    expected = np.diag([1.0 / (2.0 * K), across, across])
    np.testing.assert_allclose(model.at_rest(), expected, rtol=1e-6, atol=1e-12)
    with pytest.raises(qp.PartError, match="site 'n1' of 'ground', which is fixed"):
        made.system.linearize(inputs=[made.nodes[0]])


@pytest.mark.parametrize("rest", [REST, 1.0, 1.1])
def test_tensions_are_inputs_also_of_slack_strings(rest: float) -> None:
    """A newton of the first string pulls to the left; a newton per metre as much times its length;
    neither column is zero where the string is slack, and nothing is to be warned of."""
    made = hung(rest)
    with warnings.catch_warnings():
        if rest == 1.0:  # that the stiffness jumps there is told
            warnings.simplefilter("ignore", qp.PartWarning)
        model = made.system.linearize(
            inputs=["s1.tension", "s1.density", "s2.tension", "p1.force"], outputs=["p1.velocity"]
        )
    pushed = model.C @ model.B
    np.testing.assert_allclose(pushed[:, 0], [-1.0 / M, 0, 0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(pushed[:, 1], pushed[:, 0], rtol=1e-12)
    np.testing.assert_allclose(pushed[:, 2], -pushed[:, 0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(pushed[:, 3:], np.eye(3) / M, rtol=1e-7, atol=1e-9)


def test_norms_are_those_by_hand() -> None:
    """Of m x'' + c x' + k x = u: H2 and energy to peak 1 / sqrt(2 c k), the largest gain 1 / (c
    w_d); of two of them the larger one, and the root of the sum of squares for H2."""
    model = along_x().linearize(inputs=["a.force"], outputs=["a.position"])
    small = model.minimal()
    assert (len(model.A), len(small.A)) == (8, 4)
    k, c = 2.0 * K, 2.0 * C
    each = [1.0 / math.sqrt(2.0 * c * stiff) for stiff in (k, 4.0 * k)]
    peak = 1.0 / (c * math.sqrt(k / M - c**2 / (4.0 * M**2)))
    assert small.h2() == pytest.approx(math.hypot(*each), rel=1e-6)
    assert small.energy_to_peak() == pytest.approx(max(each), rel=1e-6)
    assert small.hinf() == pytest.approx(peak, rel=1e-6)
    np.testing.assert_allclose(small.at_rest(), model.at_rest(), rtol=1e-9, atol=1e-15)
    w = np.array([0.0, 20.0, 57.0, 300.0])
    np.testing.assert_allclose(
        [small.gain(one) for one in w], [model.realisation.gain(one) for one in w], rtol=1e-9
    )


@pytest.mark.parametrize("stiffness", [1e2, 5e4])
def test_a_net_has_its_norms_though_its_masses_spin(stiffness: float) -> None:
    """Three masses between four points: their spin, which nothing resists, neither reaches outputs
    nor spoils the units of what does. H2 of Newton's equations written out."""
    rng = np.random.default_rng(0)
    nodes = np.vstack([3.0 * (np.eye(4)[:, :3] - 0.25), 0.2 * rng.normal(size=(3, 3))])
    pairs = [(a, b) for b in (4, 5, 6) for a in range(b)]
    masses = {4: 0.7, 5: 1.9, 6: 3.1}
    made = qp.tensegrity(
        nodes, strings=pairs, fixed=[0, 1, 2, 3], masses=masses,
        string={"stiffness": stiffness, "rest": 0.6, "damping": 2.0},
    )  # fmt: skip
    rest = made.system.settle()
    model = made.system.linearize(rest, inputs=[made.nodes[4]], outputs=[made.nodes[5]])
    places, M = made.places(rest.state), np.repeat(list(masses.values()), 3)
    K, C = np.zeros((9, 9)), np.zeros((9, 9))
    for a, b in pairs:
        slack = 0.6 * np.linalg.norm(nodes[b] - nodes[a])
        d = places[b] - places[a]
        length = float(np.linalg.norm(d))
        if length < slack:
            continue
        along = np.outer(d, d) / length**2
        ends = np.array([float(n == b) - float(n == a) for n in masses])
        across = (1.0 - slack / length) * (np.eye(3) - along)
        K += stiffness * np.kron(np.outer(ends, ends), along + across)
        C += 2.0 * np.kron(np.outer(ends, ends), along)
    A = np.block([[np.zeros((9, 9)), np.eye(9)], [-K / M[:, None], -C / M[:, None]]])
    B, see = np.zeros((18, 3)), np.zeros((3, 18))
    B[9:12], see[:, 3:6] = np.eye(3) / masses[4], np.eye(3)
    P = solve_continuous_lyapunov(A, -B @ B.T)
    small = model.minimal()
    assert small.h2() == pytest.approx(math.sqrt(np.trace(see @ P @ see.T)), rel=1e-6)
    np.testing.assert_allclose(small.at_rest(), np.linalg.inv(K)[3:6, :3], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.at_rest(), small.at_rest(), rtol=1e-6, atol=1e-9)


def test_what_floats_has_no_compliance_as_a_whole() -> None:
    """A constant force draws it away; beside the whole it yields as the string between."""
    one, two = (
        qp.Body.sphere(name, 0.1, 1.0, position=(x, 0, 0)) for name, x in (("a", 0), ("b", 1))
    )
    line = qp.Multibody(one, two, qp.Spring("s", one, two, stiffness=K, rest_length=1.0, damping=C))
    with pytest.raises(qp.PartError, match=r"nothing resists .* input 'a.force.x' moves output 'a"):
        line.linearize(inputs=["a.force"], outputs=["a.position"]).at_rest()
    inner = line.linearize(inputs=["s.rest_length"], outputs=["s.length"]).at_rest()
    np.testing.assert_allclose(inner, [[1.0]], rtol=1e-6)


def along_x() -> qp.Multibody:
    """A mass that springs hold along x and y, four times as stiff; it turns, and a wheel beside it,
    which no force at the mass moves."""
    a = qp.Body.sphere("a", 0.1, M)
    b = qp.Body.sphere("b", 0.1, 1.0, position=(0, 0, 5))
    lock = qp.PointOnPlane("plane", qp.GROUND.site("o"), a.site("o"))
    turn = qp.Revolute("hinge", qp.GROUND, b, at=(0, 0, 5), axis=(0, 0, 1))
    lever = qp.Parallel("upright", qp.GROUND.site("u"), a.site("u"))
    still = qp.JointSpring("still", lever, coordinate="angle", stiffness=1.0, damping=1.0)
    parts = [
        qp.Spring(f"{axis}{sense}", qp.GROUND, a, stiffness=stiff, damping=C, rest_length=1.0,
                  at1=tuple(sense * np.eye(3)[n]))
        for n, (axis, stiff) in enumerate((("x", K), ("y", 4.0 * K))) for sense in (-1, 1)
    ]  # fmt: skip
    spin = qp.HingeSpring("spin", turn, stiffness=2.0, damping=0.1)
    return qp.Multibody(a, b, turn, spin, lock, lever, still, *parts)


@pytest.mark.parametrize("beads", [1, 4])
def test_a_string_with_mass_swings_as_lagrange_says(beads: int) -> None:
    """n beads of mass m between n + 1 pieces of length a under the tension T: 2 sqrt(T / (m a))
    sin(j pi / (2 n + 2)) across; sums of masses and the stiffness of the whole are kept."""
    made = qp.tensegrity(
        [(0, 0, 0), (2, 0, 0)], strings=[(0, 1)], fixed=[0, 1],
        string={"stiffness": 900.0, "rest": 0.95, "mass": 0.3, "beads": beads},
    )  # fmt: skip
    assert [string.name for string in made.strings] == [f"s1 {k + 1}" for k in range(beads + 1)]
    mass, piece, tension = 0.3 / (beads + 1), 2.0 / (beads + 1), 900.0 * 0.1
    assert made.masses[0].mass == pytest.approx(mass)
    K = made.system.linearize().stiffness
    found = np.sort(np.sqrt(abs(np.linalg.eigvals(K))))
    rates = 2.0 * math.sqrt(tension / (mass * piece)) * np.sin(
        np.arange(1, beads + 1) * math.pi / (2 * beads + 2)
    )  # fmt: skip
    across = found[3 * beads : 5 * beads]  # beads spin freely; across in two planes, then along
    np.testing.assert_allclose(across, np.repeat(rates, 2), rtol=1e-6)
    stiff = 2.0 * math.sqrt(900.0 * (beads + 1) / mass)
    np.testing.assert_allclose(found[-1], stiff * math.sin(beads * math.pi / (2 * beads + 2)))


def test_masses_of_strings_hang_on_bars_and_balls() -> None:
    """Half a share at each end, and nothing is lost."""
    plain, heavy = (
        qp.tensegrities.prism(
            3, fixed=False, bar={"mass": 1.0, "modulus": modulus},
            string={"stiffness": 500.0, "mass": [0.1 * k for k in range(9)], "beads": 2, **more},
        )
        for modulus, more in ((None, {}), (1e8, {"rest": 0.9}))
    )  # fmt: skip
    for made in (plain, heavy):
        total = sum(part.mass for part in made.system.parts if isinstance(part, qp.Body))
        assert total == pytest.approx(3.0 + 3.6)
        assert made.strings[0].name == "s1"  # without mass
        assert len(made.nodes) == 6 + 16


def damped(m: float, c: float, k: float) -> Realisation:
    """The displacement of a mass under a force."""
    A, b, see = [[0.0, 1.0], [-k / m, -c / m]], [[0.0], [1.0 / m]], [[1.0, 0.0]]
    return Realisation(*(np.array(one) for one in (A, b, see, [[0.0]])))


@pytest.mark.parametrize("share", [0.003, 0.1, 0.5, 1.0, 1.0 + 1e-9, 3.0, 30.0])
@pytest.mark.parametrize(("m", "k"), [(1.0, 1.0), (1e-6, 1e3), (1e3, 1e-6)])
def test_the_peak_to_peak_norm_of_a_damped_mass(m: float, k: float, share: float) -> None:
    """A force that always pushes along: coth(pi z / (2 sqrt(1 - z^2))) / k for a share z of
    critical damping, 1 / k where it does not swing."""
    swings = share < 1.0
    known = 1.0 / math.tanh(0.5 * math.pi * share / math.sqrt(1.0 - share**2)) if swings else 1.0
    found = damped(m, 2.0 * share * math.sqrt(k * m), k).peak_to_peak()
    assert found == pytest.approx(known / k, rel=1e-6)


def test_the_peak_to_peak_norm_of_several_inputs_and_outputs() -> None:
    """The largest sum over a row, feedthrough included; never below the gain of one input; and an
    integral by Simpson's rule. What dies out too slowly beside the rest is refused."""
    rng = np.random.default_rng(5)
    A = rng.normal(size=(5, 5))
    A -= (np.linalg.eigvals(A).real.max() + 0.3) * np.eye(5)
    B, C, D = rng.normal(size=(5, 2)), rng.normal(size=(3, 5)), rng.normal(size=(3, 2))
    step, x, rows = expm(1e-3 * A), B, []
    for _ in range(60_001):
        rows.append(abs(C @ x))
        x = step @ x
    known = (simpson(np.array(rows), dx=1e-3, axis=0) + abs(D)).sum(axis=1).max()
    assert Realisation(A, B, C, D).peak_to_peak() == pytest.approx(known, rel=1e-5)
    one = Realisation(A, B[:, :1], C[:1], D[:1, :1])
    assert one.hinf() <= one.peak_to_peak() * (1.0 + 1e-6)
    with pytest.raises(qp.PartError, match="peak-to-peak norm cannot be known"):
        damped(1.0, 1e6, 1.0).peak_to_peak()
    with pytest.raises(qp.PartError, match="the peak-to-peak norm needs motions that all die out"):
        hung(1.1).system.linearize(inputs=["p1.force"], outputs=["p1.position"]).peak_to_peak()

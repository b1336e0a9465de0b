"""How many equilibria there are, and how high the lowest pass is, told in other ways: in closed
form, by roots on a grid, and by the lowest way across one."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from tests.random_systems import ATTACKING, seeds

G = 9.81
#: Searches of each system from which coverage is counted.
SEARCHES = 40 if ATTACKING else 1


class Counted(NamedTuple):
    """A system, and how many equilibria it has."""

    system: qp.Multibody
    count: int


def chain(rng: np.random.Generator, n: int, *, aligned: bool = False, sprung: bool = False) -> Any:
    """Rods hinged to each other and to the ground in a plane, hanging in gravity from random
    angles; its weights c, so that U = -sum c cos a over the angles from below, stiffnesses of
    springs on the hinges, and the angles at which it begins, where these are at rest."""
    length, mass, first = (
        rng.uniform(0.2, 0.5, n),
        rng.uniform(0.3, 1.0, n),
        rng.uniform(-3.0, 3.0, n),
    )
    stiffness = rng.uniform(0.5, 2.0, n) if sprung else np.zeros(n)
    angles = np.zeros(n) if aligned else first
    parts: list[Any] = [qp.Gravity((0, 0, -G))]
    at, before = np.zeros(3), qp.GROUND
    for k, angle in enumerate(angles):
        end = at + length[k] * np.array([math.sin(angle), 0.0, -math.cos(angle)])
        rod = qp.Body.rod(f"rod {k}", tuple(at), tuple(end), mass=mass[k])
        hinge = qp.Revolute(f"hinge {k}", before, rod, at=tuple(at), axis=(0, -1, 0))
        parts += [
            rod,
            hinge,
            *([qp.JointSpring(f"spring {k}", hinge, stiffness=stiffness[k])] if sprung else []),
        ]
        at, before = end, rod
    weights = np.array([(0.5 * mass[k] + mass[k + 1 :].sum()) * length[k] * G for k in range(n)])
    return qp.Multibody(*parts), weights, stiffness, angles


def roots(
    gradient: Callable[[Floats], Floats], bend: Callable[[Floats], Floats], axes: list[Floats]
) -> list[Floats]:
    """Where a gradient vanishes, by Newton's method from each place of a grid."""
    found: list[Floats] = []
    for start in itertools.product(*axes):
        x = np.array(start)
        for _ in range(40):
            step = np.linalg.lstsq(bend(x), gradient(x))[0]
            size = float(np.linalg.norm(step))
            x = x - step * min(1.0, 0.5 / max(size, 1e-300))
            if size < 1e-12:
                break
        if np.linalg.norm(gradient(x)) < 1e-9 and all(
            abs(x - other).max() > 1e-6 for other in found
        ):
            found.append(x)
    return found


# --- pendulums ------------------------------------------------------------------------------------
@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize(
    "n", [1, 2, 3, pytest.param(4, marks=pytest.mark.slow), pytest.param(5, marks=pytest.mark.slow)]
)
def test_hinged_rods_rest_with_each_up_or_down(n: int, aligned: bool) -> None:
    """Of 2^n equilibria as many as n over k have k rods up, and fall along k modes."""
    system, weights, _, _ = chain(np.random.default_rng(n), n, aligned=aligned)
    found = system.equilibria(seeds=(4, 4, 10, 12, 24)[n - 1])
    known = sorted(
        float(weights @ np.array(signs)) for signs in itertools.product((-1, 1), repeat=n)
    )
    np.testing.assert_allclose(
        [e.energy - found[0].energy for e in found], np.array(known) - known[0], atol=1e-9
    )
    ups = [len(e.unstable) for e in found]
    assert [ups.count(k) for k in range(n + 1)] == [math.comb(n, k) for k in range(n + 1)]
    assert 0.0 < found.unseen < 0.5
    assert f"{found.unseen:.2g}" in repr(found)


@pytest.mark.parametrize("n", [1, 2, 3, pytest.param(5, marks=pytest.mark.slow)])
def test_the_lowest_pass_of_hinged_rods_turns_the_lightest_over(n: int) -> None:
    system, weights, _, _ = chain(np.random.default_rng(n), n)
    over = system.saddle(system.equilibria(seeds=4)[0])
    assert over is not None
    assert over.barrier == pytest.approx(2.0 * weights.min(), rel=1e-9)
    assert over.bound == "upper"
    assert "lowest pass found" in repr(over)
    assert "at most" in over.explain()


@pytest.mark.slow
@seeds(2, 0, attack=100)
def test_two_sprung_rods_rest_where_a_grid_finds_roots(seed: int) -> None:
    """U = -sum c cos a + sum k (change of hinge angle)^2 / 2, whole turns included."""
    system, c, k, first = chain(np.random.default_rng([1, seed]), 2, sprung=True)

    def gradient(a: Floats) -> Floats:
        moment = k * np.diff(np.append(0.0, a - first))
        return np.asarray(c * np.sin(a) + moment - np.append(moment[1:], 0.0))

    def bend(a: Floats) -> Floats:
        return np.diag(c * np.cos(a) + k + [k[1], 0.0]) - k[1] * np.array([[0.0, 1.0], [1.0, 0.0]])

    far = np.cumsum([c.sum() / k[0], c[1] / k[1]]) + 0.5
    known = roots(gradient, bend, [np.arange(a - w, a + w, 0.4) for a, w in zip(first, far)])
    found = system.equilibria(seeds=12)
    angles = [first + np.cumsum([e.state[f"hinge {j}"].angle for j in range(2)]) for e in found]
    assert all(min(abs(a - b).max() for b in known) < 1e-6 for a in angles)
    assert (len(known) - len(found)) / len(known) <= found.unseen


@seeds(6, 2, attack=200)
def test_a_rod_between_stops_rests_on_them_too(seed: int) -> None:
    """Where the moment is zero, and at each stop towards which it turns."""
    rng = np.random.default_rng([2, seed])
    system, c, k, first = chain(rng, 1, sprung=bool(seed % 2))
    low, high = float(-rng.uniform(0.1, 3.0)), float(rng.uniform(0.1, 3.0))
    hinge: Any = system["hinge 0"]
    stopped = system.with_(qp.JointStop("stop", hinge, lower=low, upper=high))
    turn = np.linspace(low, high, 20_001)
    rises = c[0] * np.sin(first[0] + turn) + k[0] * turn
    inside = int((np.sign(rises[1:]) != np.sign(rises[:-1])).sum())
    found = stopped.equilibria(seeds=12)
    held = sorted(label for e in found for label in e.state.held)
    assert held == ["stop lower"] * bool(rises[0] > 0.0) + ["stop upper"] * bool(rises[-1] < 0.0)
    assert len(found) - len(held) == inside


def test_two_balls_on_rods_rest_with_each_up_or_down_and_turned_any_way() -> None:
    """Each equilibrium is a family: all turns about the vertical, and each ball's own about its
    rod."""
    one, two = (
        qp.Body.sphere(n, 0.05, 1.0, position=p)
        for n, p in (("one", (0.3, 0, -0.4)), ("two", (0.3, 0.3, -0.8)))
    )
    knees = (
        qp.Spherical("foot", qp.GROUND, one, at=(0, 0, 0)),
        qp.Spherical("knee", one, two, at=(0.3, 0, -0.4)),
    )
    system = qp.Multibody(one, two, *knees, qp.Gravity((0, 0, -G)))
    found = system.equilibria(seeds=4)
    known = [G * (2.0 * x + y) * 0.5 for x, y in ((-1, -1), (-1, 1), (1, -1), (1, 1))]
    np.testing.assert_allclose([e.energy for e in found], known, rtol=1e-9)


def test_mirror_images_are_two_equilibria_though_a_ball_may_turn_in_both() -> None:
    """Three springs in a plane hold a ball above it, or below."""
    posts = [qp.Body.sphere(f"p{k}", 0.05, 1.0, position=p, fixed=True)
             for k, p in enumerate([(1, 0, 0), (-1, 0, 0), (0, 1.2, 0)])]  # fmt: skip
    ball = qp.Body.sphere("ball", 0.05, 1.0, position=(0.1, 0.2, 0.1))
    springs = [
        qp.Spring(f"s{k}", post, ball, stiffness=3.0 + k, rest_length=1.3)
        for k, post in enumerate(posts)
    ]
    found = qp.Multibody(*posts, ball, *springs).equilibria(seeds=6)
    wells = [e.state["ball"].position[2] for e in found if e.verdict == "stable"]
    np.testing.assert_allclose(np.sort(wells), (-0.8101783, 0.8101783), atol=1e-6)


def test_half_a_turn_is_judged_as_any_other_angle() -> None:
    """U = -A cos a - B cos 2a with 4 B > A has minima at zero and at half a turn, where an angle
    beside its whole turns is as near to plus as to minus half a turn."""
    long, short = (
        qp.Body.rod(n, (x, 0, 0), (x, 0, -size), mass=m)
        for n, x, size, m in (("a", 0, 0.5, 1.0), ("b", 1, 0.3, 0.7))
    )
    hinges = [
        qp.Revolute(f"h{b.name}", qp.GROUND, b, at=(x, 0, 0), axis=(0, 1, 0))
        for b, x in ((long, 0), (short, 1))
    ]
    system = qp.Multibody(
        long, short, *hinges, qp.Gear("gear", *hinges, ratio=2.0), qp.Gravity((0, 0, -G))
    )
    A, B = G * 0.25, 0.7 * G * 0.15
    top = math.acos(-A / (4.0 * B))
    found = system.equilibria(seeds=6)
    known = sorted([-A - B, A - B, *2 * [-A * math.cos(top) - B * math.cos(2.0 * top)]])
    np.testing.assert_allclose([e.energy for e in found], known, rtol=1e-9)
    assert [e.verdict for e in found] == ["stable", "stable", "unstable", "unstable"]
    over = system.saddle(found[0])
    assert over is not None
    assert over.barrier == pytest.approx(known[2] - known[0], rel=1e-9)


# --- four-bars ------------------------------------------------------------------------------------
def four_bar(rng: np.random.Generator) -> Counted:
    """A four-bar of rods under tilted gravity; its equilibria are where energy is level along its
    circuit, which is traced by the coordinates of its two free hinges."""
    while True:
        ground, *length = rng.uniform(0.3, 1.0, 4)
        turn = rng.uniform(-3.0, 3.0)
        B, D = length[0] * np.array([math.cos(turn), math.sin(turn)]), np.array([ground, 0.0])
        d = float(np.linalg.norm(D - B))
        sides = sorted([ground, *length])
        if (
            sides[3] < 0.9 * sum(sides[:3])
            and abs(length[1] - length[2]) + 0.05 < d < length[1] + length[2] - 0.05
        ):
            break
    mass, tilt = rng.uniform(0.3, 1.0, 3), rng.uniform(-1.0, 1.0)
    along = (length[1] ** 2 - length[2] ** 2 + d * d) / (2.0 * d)
    u = (D - B) / d
    C = B + along * u + math.sqrt(length[1] ** 2 - along**2) * np.array([-u[1], u[0]])
    down = G * np.array([math.sin(tilt), -math.cos(tilt)])

    def place(p: Floats) -> tuple[float, float, float]:
        return float(p[0]), 0.0, float(p[1])

    ends = ((np.zeros(2), B), (B, C), (D, C))
    rods = [
        qp.Body.rod(name, place(p), place(q), mass=m) for name, (p, q), m in zip("abc", ends, mass)
    ]
    joined = (
        (qp.GROUND, rods[0], np.zeros(2)),
        (rods[0], rods[1], B),
        (rods[1], rods[2], C),
        (rods[2], qp.GROUND, D),
    )
    hinges = [
        qp.Revolute(f"h{k}", p, q, at=place(x), axis=(0, 1, 0))
        for k, (p, q, x) in enumerate(joined)
    ]
    system = qp.Multibody(*rods, *hinges, qp.Gravity(place(down)))

    def missed(y: Floats) -> Floats:
        b, c = y[:2], y[2:]
        return np.array([b @ b, (c - b) @ (c - b), (c - D) @ (c - D)]) - np.square(length)

    def slope(y: Floats) -> Floats:
        b, c, zero = y[:2], y[2:], np.zeros(2)
        return 2.0 * np.array([[*b, *zero], [*(b - c), *(c - b)], [*zero, *(c - D)]])

    weight = -np.concatenate([0.5 * (mass[0] + mass[1]) * down, 0.5 * (mass[1] + mass[2]) * down])
    y = begun = np.concatenate([B, C])
    way = np.linalg.svd(slope(y))[2][3]
    rises, stride = [float(weight @ way)], 2e-3
    for k in range(20_000):
        y = y + stride * way
        for _ in range(3):
            y = y - np.linalg.lstsq(slope(y), missed(y))[0]
        onward = np.linalg.svd(slope(y))[2][3]
        way = onward * np.sign(onward @ way)
        rises.append(float(weight @ way))
        if k > 10 and np.linalg.norm(y - begun) < 0.8 * stride:
            break
    signs = np.sign(rises)
    return Counted(system, int((signs[1:] != signs[:-1]).sum()))


@seeds(4, 1, attack=100)
def test_four_bars_rest_where_energy_is_level_along_their_circuit(seed: int) -> None:
    system, count = four_bar(np.random.default_rng([3, seed]))
    assert len(system.equilibria(seeds=20)) == count


# --- a bead among springs -------------------------------------------------------------------------
class Landscape(NamedTuple):
    """A bead on a stage of two rails among springs, and its potential energy at places (..., 2)."""

    system: qp.Multibody
    energy: Callable[[Floats], Floats]


def landscape(seed: int) -> Landscape:
    rng = np.random.default_rng([4, seed])
    n = 3 + seed % 4
    at, rest, stiff = (
        rng.uniform(-1.0, 1.0, (n, 2)),
        rng.uniform(0.5, 2.0, n),
        rng.uniform(1.0, 10.0, n),
    )
    pull = rng.uniform(-3.0, 3.0, 2)
    carriage, bead = qp.Body.sphere("carriage", 0.05, 0.5), qp.Body.sphere("bead", 0.05, 1.0)
    rails = (
        qp.Prismatic("x", qp.GROUND, carriage, at=(0, 0, 0), axis=(1, 0, 0)),
        qp.Prismatic("y", carriage, bead, at=(0, 0, 0), axis=(0, 1, 0)),
    )
    springs = [
        qp.Spring(
            f"s{k}",
            qp.GROUND,
            bead,
            at1=(*at[k], 0.3),
            at2=(0, 0, 0),
            stiffness=stiff[k],
            rest_length=rest[k],
        )
        for k in range(n)
    ]
    system = qp.Multibody(carriage, bead, *rails, *springs, qp.Gravity((*pull, 0.0)))

    def energy(x: Floats) -> Floats:
        out = -1.5 * pull[0] * x[..., 0] - pull[1] * x[..., 1]
        for k in range(n):
            length = np.sqrt(((x - at[k]) ** 2).sum(axis=-1) + 0.09)
            out = out + 0.5 * stiff[k] * (length - rest[k]) ** 2
        return np.asarray(out)

    return Landscape(system, energy)


def lowest_way(U: Floats, start: tuple[int, int]) -> Floats:
    """To each place of a grid, how high its lowest way from one place goes."""
    best = np.full(U.shape, np.inf)
    best[start] = U[start]
    ahead = [(float(U[start]), start)]
    while ahead:
        height, (i, j) = heapq.heappop(ahead)
        for p in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
            if 0 <= p[0] < len(U) and 0 <= p[1] < len(U) and max(height, U[p]) < best[p]:
                best[p] = max(height, U[p])
                heapq.heappush(ahead, (float(best[p]), p))
    return best


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.slow] * (s > 7)) for s in (7, 18, 26)]
)
def test_the_barrier_is_that_of_the_lowest_way_across_a_grid(seed: int) -> None:
    """From each minimum to the others; a grid of 1 cm is some 0.1 % of a height off."""
    system, energy = landscape(seed)
    axis = np.arange(-3.0, 3.0, 0.0125)
    U = energy(np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1))
    wells = [e for e in system.equilibria(seeds=8) if e.verdict == "stable"]
    places = [
        tuple(int(abs(axis - x).argmin()) for x in e.state["bead"].position[:2]) for e in wells
    ]
    for well, place in zip(wells, places):
        best = lowest_way(U, place)  # type: ignore[arg-type]
        known = min(
            (best[other] - U[place] for other in places if other != place), default=math.inf
        )
        over = system.saddle(well)
        assert over is None or over.barrier <= known * 1.002 + 1e-3
        assert math.isinf(known) or (over is not None and over.barrier >= known * 0.998 - 1e-3)


# --- how many were not seen -----------------------------------------------------------------------
def counted() -> list[tuple[str, Counted]]:
    out = [
        (f"{n} rods {k}", Counted(chain(np.random.default_rng([5, n, k]), n)[0], 2**n))
        for n in range(1, 6)
        for k in (0, 1)
    ]
    return out + [(f"four-bar {k}", four_bar(np.random.default_rng([6, k]))) for k in range(8)]


@pytest.mark.slow
@pytest.mark.attack
def test_the_share_unseen_is_bounded_in_nine_of_ten_searches() -> None:
    """Little effort, so that much is missed: what is stated covers that, and comes down with
    effort."""
    stated: dict[int, list[float]] = {}
    covered = []
    for _, (system, count) in counted():
        for effort in (1, 2, 4):
            for seed in range(SEARCHES):
                found = system.equilibria(seeds=effort, seed=seed)
                assert len(found) <= count
                covered.append(1.0 - len(found) / count <= found.unseen)
                stated.setdefault(effort, []).append(found.unseen)
    assert np.mean(covered) >= 0.9
    means = [np.mean(stated[effort]) for effort in (1, 2, 4)]
    assert means == sorted(means, reverse=True)
    assert means[-1] < 0.4


# --- copies ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("change", ["turned", "shifted", "renamed", "heavy", "light"])
def test_copies_rest_alike(change: str) -> None:
    """Energies in units of the heaviest weight, to rounding."""

    def made(turned: bool, shift: float, mass: float, name: str) -> list[float]:
        rng = np.random.default_rng(12)
        length, m, a = rng.uniform(0.2, 0.5, 3), rng.uniform(0.3, 1.0, 3), rng.uniform(-3.0, 3.0, 3)
        c, s = (math.cos(0.7), math.sin(0.7)) if turned else (1.0, 0.0)

        def place(x: float, y: float, z: float) -> tuple[float, float, float]:
            return (c * x - s * z + shift, y + 2.0 * shift, s * x + c * z - shift)

        axis, down = (0.0, -1.0, 0.0), (G * s, 0.0, -G * c)
        parts: list[Any] = [qp.Gravity(down)]
        at, before = np.zeros(3), qp.GROUND
        for k in range(3):
            end = at + length[k] * np.array([math.sin(a[k]), 0.0, -math.cos(a[k])])
            rod = qp.Body.rod(f"{name}{k}", place(*at), place(*end), mass=mass * m[k])
            parts += [rod, qp.Revolute(f"hinge {name}{k}", before, rod, at=place(*at), axis=axis)]
            at, before = end, rod
        found = qp.Multibody(*parts).equilibria(seeds=8)
        return [(e.energy - found[0].energy) / mass for e in found]

    known = made(False, 0.0, 1.0, "a")
    asked = {
        "turned": (True, 0.0, 1.0, "a"),
        "shifted": (False, 30.0, 1.0, "a"),
        "renamed": (False, 0.0, 1.0, "z"),
        "heavy": (False, 0.0, 1e6, "a"),
        "light": (False, 0.0, 1e-6, "a"),
    }
    assert len(known) == 8
    np.testing.assert_allclose(made(*asked[change]), known, rtol=1e-7, atol=1e-7)

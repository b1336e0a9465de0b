"""Verdicts where stiff and soft, fast and slow, heavily and hardly damped meet in one system:
right, or marginal.

Truths come from how the matrices are put together: signs in exact fractions, and closed forms of
small blocks."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.linalg import block_diag

import quirkpy as qp
from quirkpy.kernels.base.eigen import eigen
from quirkpy.maths.types import Floats
from quirkpy.rest.verdicts import Around, Judgement, judge
from tests.random_systems import seeds

EPS = float(np.finfo(float).eps)
VERDICTS = {"rises": "stable", "dies": "stable", "falls": "unstable", "grows": "unstable"}


def negative(matrix: Floats) -> int:
    """How many eigenvalues of a symmetric matrix are below zero, in exact arithmetic (Sylvester's
    law of inertia)."""
    a, count = [[Fraction(float(x)) for x in row] for row in matrix], 0
    while a:
        k = max(range(len(a)), key=lambda i: abs(a[i][i]))
        pivot = a[k][k]
        assert pivot != 0
        count += pivot < 0
        rest = [i for i in range(len(a)) if i != k]
        a = [[a[i][j] - a[i][k] * a[k][j] / pivot for j in rest] for i in rest]
    return count


def judged(K: Floats, D: Floats, dK: Floats, dD: Floats, free: int = 0) -> Judgement:
    """The last `free` coordinates are neutral."""
    unit = np.eye(len(K))
    split = len(K) - free
    return judge(Around(K, D, dK, dD), unit[split:], unit[:split], np.zeros((0, 2 * len(K))))


def verdict(found: Judgement) -> str:
    return VERDICTS.get(found.ground, "marginal")


def graded(rng: np.random.Generator, f: int, falling: int) -> Floats:
    """Stiffnesses over 16 powers of ten, coupled as bodies couple them, so many of them
    negative."""
    signs = np.where(np.arange(f) < falling, -1.0, 1.0)
    rng.shuffle(signs)
    couplings = rng.uniform(-1.0, 1.0, (f, f)) * 0.4 / f
    sizes = 10.0 ** rng.uniform(-5.0, 3.0, f)
    return np.asarray((np.diag(signs) + couplings + couplings.T) * np.outer(sizes, sizes))


def brakes(rng: np.random.Generator, K: Floats, share: float) -> Floats:
    """Symmetric damping at ratios from 1e-6 to 1e6 in each coordinate; so many of them without
    any."""
    f = len(K)
    sizes = np.sqrt(np.sqrt(abs(np.diag(K))) * 10.0 ** rng.uniform(-6.0, 6.0, f)) * (
        rng.random(f) < share
    )
    couplings = rng.uniform(-1.0, 1.0, (f, f)) * 0.4 / f
    return np.asarray((np.eye(f) + couplings + couplings.T) * np.outer(sizes, sizes))


@seeds(60, 10, attack=20_000)
def test_what_has_a_potential_is_judged_by_its_signs(seed: int) -> None:
    """Where nothing turns a system is stable if no direction falls, whatever damps it, and unstable
    if any does."""
    rng = np.random.default_rng([1, seed])
    f = int(rng.integers(1, 9))
    K = graded(rng, f, int(rng.integers(0, 3)))
    D = brakes(rng, K, rng.choice([0.0, 0.5, 1.0]))
    falling = negative(K)
    found = judged(K, D, 4.0 * EPS * abs(K), 4.0 * EPS * abs(D))
    assert verdict(found) == ("unstable" if falling else "stable")
    assert found.motions.growing.sum() == falling
    free = int(rng.integers(1, 3))  # coordinates that nothing holds, braked or not, change nothing
    wide, damped = (
        block_diag(K, np.zeros((free, free))),
        block_diag(D, np.diag(rng.choice([0.0, 1.0], free))),
    )
    assert verdict(
        judged(wide, damped, 4.0 * EPS * abs(wide), 4.0 * EPS * abs(damped), free)
    ) == verdict(found)


@seeds(60, 10, attack=20_000)
def test_what_rounding_hides_is_marginal_with_its_figures(seed: int) -> None:
    """In axes that lie anyhow, every number is in doubt by rounding of the largest: right, or
    marginal with a value that its error hides."""
    rng = np.random.default_rng([2, seed])
    f = int(rng.integers(2, 9))
    K = graded(rng, f, int(rng.integers(0, 3)))
    falling = negative(K)
    turn = np.linalg.qr(rng.normal(size=(f, f)))[0]
    mixed, error = turn @ K @ turn.T, np.full((f, f), 4.0 * f * EPS * abs(K).max())
    D = turn @ brakes(rng, K, 1.0) @ turn.T
    found = judged(
        0.5 * (mixed + mixed.T),
        0.5 * (D + D.T),
        error,
        np.full((f, f), 4.0 * f * EPS * abs(D).max()),
    )
    truth = "unstable" if falling else "stable"
    assert verdict(found) in (truth, "marginal")
    if verdict(found) == "marginal":
        assert abs(found.value) <= found.error


def spinning(rng: np.random.Generator) -> tuple[Floats, Floats, str]:
    """x'' + g J x' + d x' + diag(k1, k2) x = 0 and its verdict: on a maximum turning holds it if
    g^2 > (sqrt(-k1) + sqrt(-k2))^2, as long as nothing damps it."""
    size = 10.0 ** rng.uniform(-4.0, 4.0)
    one, two = rng.uniform(0.3, 2.0, 2)
    below = rng.choice([0, 0, 1, 2])
    k = np.array([one, two]) ** 2 * (np.where(np.arange(2) < below, -1.0, 1.0))
    g = (one + two) * rng.choice([0.5, 0.9, 1.1, 3.0])
    d = rng.choice([0.0, 10.0 ** rng.uniform(-3.0, 0.0)])
    if below == 0:
        truth = "stable"
    elif below == 1 or g < one + two or d > 0.0:
        truth = "unstable"
    else:
        truth = "marginal"
    return size**2 * np.diag(k), size * np.array([[d, g], [-g, d]]), truth


def swept(rng: np.random.Generator) -> tuple[Floats, Floats, str]:
    """x'' + d x' + [[k, c], [-c, k]] x = 0 and its verdict: forces that follow put energy in; s^2 +
    d s + k = +- i c has a root to the right of zero if c > d sqrt(k)."""
    size = 10.0 ** rng.uniform(-4.0, 4.0)
    d = 10.0 ** rng.uniform(-2.0, 0.5)
    share = rng.choice([0.3, 0.9, 1.1, 3.0])
    c = share * d
    return (
        size**2 * np.array([[1.0, c], [-c, 1.0]]),
        size * d * np.eye(2),
        "stable" if share < 1.0 else "unstable",
    )


@pytest.mark.parametrize("make", [spinning, swept])
@seeds(60, 10, attack=20_000)
def test_closed_forms_of_small_blocks_hold_side_by_side(make: object, seed: int) -> None:
    """Over eight powers of ten in frequency; in their own axes, and in any, where rounding may hide
    the slow ones."""
    assert callable(make)
    rng = np.random.default_rng([3, seed])
    blocks = [make(rng) for _ in range(int(rng.integers(1, 4)))]
    K, D = (np.asarray(block_diag(*(block[i] for block in blocks))) for i in (0, 1))
    truths = [block[2] for block in blocks]
    truth = next((t for t in ("unstable", "marginal") if t in truths), "stable")
    own = judged(K, D, 4.0 * EPS * abs(K), 4.0 * EPS * abs(D))
    f = len(K)
    turn = np.linalg.qr(rng.normal(size=(f, f)))[0]
    errors = (np.full((f, f), 4.0 * f * EPS * abs(half).max()) for half in (K, D))
    mixed = judged(turn @ K @ turn.T, turn @ D @ turn.T, *errors)
    assert verdict(own) in (truth, "marginal")
    assert verdict(mixed) in (truth, "marginal")
    if len(blocks) == 1:
        assert verdict(own) == verdict(mixed) == truth


@seeds(20, 5, attack=5_000)
def test_small_eigenvalues_are_known_beside_large_ones(seed: int) -> None:
    """Against signs in exact arithmetic, each eigenvalue between shifts a billionth below and above
    it."""
    rng = np.random.default_rng([4, seed])
    K = graded(rng, int(rng.integers(2, 8)), 1)
    values, axes = eigen(K)
    np.testing.assert_allclose(axes.T @ axes, np.eye(len(K)), rtol=0.0, atol=1e-13)
    for value in values:
        low, high = (negative(K - value * (1.0 + s * 1e-9) * np.eye(len(K))) for s in (-1.0, 1.0))
        assert abs(high - low) == 1


# --- any springs, dampers, gyroscopes and followers -----------------------------------------------
Polynomial = list[Fraction]  # the highest power first


def characteristic(K: Floats, D: Floats) -> Polynomial:
    """det(s^2 + D s + K) in exact arithmetic (Faddeev and LeVerrier)."""
    f = len(K)
    flow = np.block([[np.zeros((f, f)), np.eye(f)], [-K, -D]])
    A = np.array([[Fraction(float(x)) for x in row] for row in flow], dtype=object)
    out, M = [Fraction(1)], np.full(A.shape, Fraction(0))
    for k in range(1, 2 * f + 1):
        M = A.dot(M) + out[-1] * np.array(np.eye(2 * f, dtype=int), dtype=object)
        out.append(-np.trace(A.dot(M)) / k)
    return out


def changes(numbers: list[Fraction]) -> int:
    """How often the sign changes along some numbers, zeros left out."""
    signs = [x > 0 for x in numbers if x != 0]
    return sum(one != two for one, two in itertools.pairwise(signs))


def below_zero(p: Polynomial) -> int:
    """How many different real roots below zero (Sturm)."""
    n = len(p) - 1
    chain = [p, [c * (n - k) for k, c in enumerate(p[:-1])]]
    while len(chain[-1]) > 1:
        left, by = list(chain[-2]), chain[-1]
        while len(left) >= len(by):
            share = left[0] / by[0]
            left = [
                c - share * d for c, d in itertools.zip_longest(left, by, fillvalue=Fraction(0))
            ]
            left = left[1:]
        while left and left[0] == 0:
            left = left[1:]
        if not left:
            break
        chain.append([-c for c in left])
    far = [q[0] * (-1) ** (len(q) - 1) for q in chain]
    return changes(far) - changes([q[-1] for q in chain])


def to_the_right(p: Polynomial) -> int:
    """How many roots have a real part above zero, where none lies on the axis (Routh)."""
    one, two, column = p[0::2], p[1::2], [p[0]]
    for _ in range(len(p) - 1):
        column.append(two[0])
        wide = [*two, Fraction(0)][: len(one)]
        wide += [Fraction(0)] * (len(one) - len(wide))
        share = one[0] / two[0]
        one, two = two, [a - share * b for a, b in zip(one[1:], wide[1:], strict=True)]
        two = two or [Fraction(0)]
    return changes(column)


def is_left(K: Floats, D: Floats) -> bool:
    """Whether x'' + D x' + K x = 0 has a motion that grows."""
    p = characteristic(K, D)
    if any(p[1::2]):  # not all roots lie on the axis: where they add up to zero, one is beyond it
        return p[1] == 0 or to_the_right(p) > 0
    return below_zero(p[0::2]) < len(K)  # nothing damps it: s^2 is real and below zero, or it grows


@seeds(60, 15, attack=5_000)
def test_no_verdict_is_against_the_count_of_roots(seed: int) -> None:
    """Over eight powers of ten in frequency, twelve in damping; with gyroscopes, and with forces
    that follow."""
    rng = np.random.default_rng([6, seed])
    f, kind = int(rng.integers(2, 5)), int(rng.integers(3))
    sizes = 10.0 ** rng.uniform(-4.0, 4.0, f)

    def spread(a: Floats, share: float) -> Floats:
        return np.asarray(np.diag(a) + share * rng.uniform(-1.0, 1.0, (f, f)))

    signs = np.where(rng.random(f) < rng.choice([0.0, 0.3]), -1.0, 1.0)
    K = spread(signs, 0.5 / f) * np.outer(sizes, sizes)
    K = 0.5 * (K + K.T)
    brake = 10.0 ** rng.uniform(-3.0, 3.0, f) * (rng.random(f) < rng.choice([0.0, 0.5, 1.0]))
    roots = np.sqrt(sizes) * brake
    D = spread(np.ones(f), 0.4 / f) * np.outer(roots, roots)
    D = 0.5 * (D + D.T)
    if kind > 0:
        turns = np.sqrt(np.outer(sizes, sizes)) * rng.uniform(-1.0, 1.0, (f, f))
        D = D + 10.0 ** rng.uniform(-3.0, 1.0) * (turns - turns.T)
    if kind == 2:
        swept_by = np.outer(sizes, sizes) * rng.uniform(-1.0, 1.0, (f, f))
        K = K + 10.0 ** rng.uniform(-3.0, 0.0) * (swept_by - swept_by.T)
    found = verdict(judged(K, D, 4.0 * EPS * abs(K), 4.0 * EPS * abs(D)))
    assert found != ("stable" if is_left(K, D) else "unstable")


# --- bodies ---------------------------------------------------------------------------------------
def in_line(rng: np.random.Generator) -> tuple[qp.Multibody, Floats]:
    """Bodies on rails along one line, held and joined by springs and bushings from 1e-6 to 1e8 N/m,
    some of them pushing away, with dampers of any strength; and their matrix of stiffness."""
    n = int(rng.integers(1, 5))
    along = rng.normal(size=3)
    along /= np.linalg.norm(along)
    across = np.linalg.qr(np.column_stack([along, rng.normal(size=(3, 2))]))[0][:, 1]
    shift = rng.normal(size=3)
    bodies = [
        qp.Body.sphere(f"b{k}", 0.05, 1.0 + rng.random(), position=shift + 0.2 * k * along)
        for k in range(n)
    ]
    rails: list[qp.Part] = [
        qp.Prismatic(f"r{k}", qp.GROUND, b, at=tuple(b.position), axis=tuple(along))
        for k, b in enumerate(bodies)
    ]
    K, parts = np.zeros((n, n)), list(rails)
    for k in range(n):
        size, damping = (
            10.0 ** rng.uniform(-6.0, 8.0),
            10.0 ** rng.uniform(-6.0, 4.0) * rng.choice([0.0, 1.0]),
        )
        stiffness = size * rng.choice([-1.0, 1.0, 1.0])
        ends = [x.site(f"s{k}", at=at, z=tuple(along), x=tuple(across)) for x, at in
                ((qp.GROUND, tuple(bodies[k].position)), (bodies[k], (0, 0, 0)))]  # fmt: skip
        parts.append(
            qp.Bushing(
                f"h{k}",
                *ends,
                stiffness=(0, 0, stiffness, 0, 0, 0),
                damping=(0, 0, damping, 0, 0, 0),
            )
        )
        K[k, k] += stiffness
    for k in range(n - 1):
        size = 10.0 ** rng.uniform(-6.0, 8.0)
        parts.append(
            qp.Spring(f"c{k}", bodies[k].site("o"), bodies[k + 1].site("i"), stiffness=size)
        )
        K[k : k + 2, k : k + 2] += size * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return qp.Multibody(*bodies, *parts), K


@seeds(24, 6, attack=3_000)
def test_springs_and_bushings_from_soft_to_stiff(seed: int) -> None:
    system, K = in_line(np.random.default_rng([5, seed]))
    truth = "unstable" if negative(K) else "stable"
    found = system.settle(nudge=0.0)
    assert found.verdict in (truth, "marginal"), found.reason
    softest = min(abs(eigen(K)[0]))
    if softest > 1e-7 * abs(K).max():
        assert found.verdict == truth


def linked(
    hertz: float, along: int, at: tuple[float, float, float], spin: float = 0.0
) -> qp.Multibody:
    """Two cubes in orbit on a bushing with a tenth of critical damping, radial, along the track or
    normal to it."""
    w = 2.0 * math.pi * hertz
    k = 0.5 * w * w * np.array([1.0, 1.0, 1.0, *[1.0 / 600.0] * 3])
    turn = qp.rotation(tuple(np.eye(3)[along]), spin)
    cubes = [
        qp.Body.box(
            name, (0.1, 0.1, 0.1), 1.0, position=at + s * 0.05 * np.eye(3)[along], orientation=turn
        )
        for name, s in (("one", -1.0), ("two", 1.0))
    ]
    pin = qp.Bushing("pin", *cubes, at=at, stiffness=k, damping=0.1 * k / w)
    return qp.Multibody(*cubes, pin, qp.HillFrame(1.1e-3))


@pytest.mark.parametrize("at", [(0.0, 0.0, 0.0), (0.0, 3.0, 0.0)], ids=["here", "ahead"])
@pytest.mark.parametrize("hertz", [0.1, 10.0, 50.0, 200.0, 1e3, 1e4, 1e6])
@pytest.mark.parametrize(("along", "truth"), [(0, "stable"), (1, "unstable"), (2, "unstable")])
def test_a_pinned_pair_in_orbit_is_judged_as_the_dumbbell_that_it_is(
    along: int, truth: str, hertz: float, at: tuple[float, float, float]
) -> None:
    """Radial it hangs as a plumb line, along the track it falls at sqrt(3) n times a factor of its
    moments, normal to the orbit it turns over: as one rigid body in the same orbit does, however
    stiff the pin is."""
    found = linked(hertz, along, at).settle(nudge=0.0)
    assert found.verdict in (truth, "marginal"), found.reason
    if hertz <= 200.0:
        assert found.verdict == truth
    if hertz <= 50.0:
        rigid = dumbbell(along, at).settle(nudge=0.0)
        slow = sorted(abs(m.eigenvalue) for m in found.modes if m.frequency < 0.01)
        np.testing.assert_allclose(slow, sorted(abs(m.eigenvalue) for m in rigid.modes), rtol=1e-3)
    if found.verdict == "marginal":
        assert "known to" in found.reason


def dumbbell(along: int, at: tuple[float, float, float]) -> qp.Multibody:
    own, far = 2.0 / 600.0, 2.0 * 0.05**2
    moments = [own if k == along else own + far for k in range(3)]
    return qp.Multibody(qp.Body("both", 2.0, moments, position=at), qp.HillFrame(1.1e-3))


@pytest.mark.parametrize("damping", [0.0, 1e-6, 0.05, 4.6, 4.6e3, 1e7])
def test_a_maximum_is_left_at_every_damping(damping: float) -> None:
    """s^2 J + d s = m g l / 2: at J = 1/12 kg m2, as slow as 2e-7 1/s, beside 1e8 1/s."""
    rod = qp.Body.rod("rod", (0, 0, 0), (0, 0, 0.5), mass=1.0)
    hinge = qp.Revolute("hinge", qp.GROUND, rod, at=(0, 0, 0), axis=(0, 1, 0))
    brake = qp.HingeSpring("brake", hinge, stiffness=0.0, damping=damping)
    system = qp.Multibody(rod, hinge, qp.Gravity((0, 0, -9.81)), brake)
    found = system.settle(nudge=0.0)
    assert (found.verdict, found.reason) == ("unstable", "rod leaves it")
    J, k = 1.0 / 12.0, 9.81 * 0.25
    rate = 2.0 * k / (damping + math.sqrt(damping**2 + 4.0 * J * k))
    assert found.unstable[0].eigenvalue.real == pytest.approx(rate, rel=1e-8)
    left = system.settle(evaluations=20_000)
    assert left.nudge is not None
    assert "keeps moving" not in left.reason

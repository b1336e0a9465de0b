"""A flat four-bar at rest: two branches of motion meet, and each is judged by its own closed form.

Uprights of length L from feet at 0 and d, a coupler of length d, all along x; angles a and b.  To
second order the loop closes on L (a^2 - b^2) + L^2 (b - a)^2 / d = 0: on b = a, the parallelogram,
and on b = a (L + d) / (L - d), crossed.  Weight m g along x, uprights and coupler, gives U = (g L /
4) (mu + mc) (a^2 + b^2), a spring at a foot k a^2 / 2."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import quirkpy as qp

L, D, UPRIGHT, COUPLER, G = 1.0, 0.6, 0.8, 0.5, 9.81
THIN = 1e-3
#: b / a on the two branches.
BRANCHES = {"parallelogram": 1.0, "crossed": (L + D) / (L - D)}


def four_bar(
    weight: float, stiffness: float = 0.0, damping: float = 0.0, y: float = 0.0, name: str = ""
) -> list[qp.Part]:
    """weight: of all bars along x [m/s2]."""
    bars = [
        qp.Body(
            f"{name}{n}",
            m,
            (THIN, m * size**2 / 12.0, m * size**2 / 12.0),
            position=(x + 0.5 * size, y, 0.0),
        )
        for n, m, size, x in (
            ("up0", UPRIGHT, L, 0.0),
            ("up1", UPRIGHT, L, D),
            ("over", COUPLER, D, L),
        )
    ]
    pairs = [(qp.GROUND, 0, 0.0), (qp.GROUND, 1, D), (bars[0], 2, L), (bars[1], 2, L + D)]
    hinges = [
        qp.Revolute(f"{name}h{k}", one, bars[two], at=(x, y, 0.0), axis=(0, 0, 1))
        for k, (one, two, x) in enumerate(pairs)
    ]
    spring = qp.JointSpring(f"{name}spring", hinges[0], stiffness=stiffness, damping=damping)
    weights = [qp.Load(f"{name}weight of {b.name}", b, force=(b.mass * weight, 0, 0)) for b in bars]
    return [*bars, *hinges, spring, *weights]


def square(ratio: float, weight: float, stiffness: float) -> float:
    """w^2 on the branch b = ratio a."""
    a, b = 1.0, ratio
    bend = 0.5 * weight * L * (UPRIGHT + COUPLER) * (a * a + b * b) + stiffness * a * a
    moving = UPRIGHT * L**2 / 3.0 * (a * a + b * b)
    moving += COUPLER * (L * (a + b) / 2.0) ** 2 + COUPLER * D**2 / 12.0 * (L * (b - a) / D) ** 2
    return bend / moving


#: Of the crossed branch: where the spring holds a against a weight of one that pushes.
NEEDED = {n: 0.5 * G * L * (UPRIGHT + COUPLER) * (1.0 + r * r) for n, r in BRANCHES.items()}


@pytest.mark.parametrize(
    ("weight", "stiffness", "verdict"),
    [
        (G, 0.0, "stable"),
        (-G, 0.0, "unstable"),
        (
            -G,
            0.5 * (NEEDED["parallelogram"] + NEEDED["crossed"]),
            "unstable",
        ),  # on the crossed branch alone
        (
            -G,
            1.1 * NEEDED["crossed"],
            "stable",
        ),  # though the first-order directions fall between the branches
        (-G, 0.99 * NEEDED["crossed"], "unstable"),
        (0.0, 0.0, "marginal"),
    ],
)
def test_a_flat_four_bar_is_judged_on_its_true_branches(
    weight: float, stiffness: float, verdict: str
) -> None:
    found = qp.Multibody(*four_bar(weight, stiffness)).settle(nudge=0.0)
    assert found.verdict == verdict
    assert "branches of motion meet" in found.reason
    if weight == 0.0:
        return
    known = sorted(square(r, weight, stiffness) for r in BRANCHES.values())
    squares = sorted(-(m.eigenvalue**2).real for m in found.modes)
    np.testing.assert_allclose(squares, known, rtol=1e-7)


def test_the_branch_that_leaves_is_the_crossed_one() -> None:
    stiffness = 0.5 * (NEEDED["parallelogram"] + NEEDED["crossed"])
    found = qp.Multibody(*four_bar(-G, stiffness)).settle(nudge=0.0)
    (falls,) = found.unstable
    assert falls.shape[1, 5] / falls.shape[0, 5] == pytest.approx(BRANCHES["crossed"], rel=1e-6)


def test_damping_on_a_branch_is_that_of_its_spring() -> None:
    found = qp.Multibody(*four_bar(G, 0.0, damping=0.05)).settle()
    assert (found.verdict, found.damped) == ("stable", True)
    for m in found.modes:
        ratio = min(BRANCHES.values(), key=lambda r: abs(m.shape[1, 5] / m.shape[0, 5] - r))
        moving = square(ratio, 0.0, 1.0)  # 1 / moving mass, for a = 1
        assert -2.0 * m.eigenvalue.real == pytest.approx(0.05 * moving, rel=1e-6)


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [(1.1, 1.3, "stable"), (1.1, 0.9, "unstable"), (0.8, 0.5, "unstable")],
)
def test_two_flat_four_bars_have_two_forms(first: float, second: float, verdict: str) -> None:
    parts = [
        *four_bar(-G, first * NEEDED["crossed"], name="one "),
        *four_bar(-G, second * NEEDED["crossed"], y=3.0, name="two "),
    ]
    found = qp.Multibody(*parts).settle(nudge=0.0)
    assert found.verdict == verdict


@pytest.mark.parametrize("angle", [0.3, 1.2])
def test_a_pose_that_is_not_singular_is_judged_as_ever(angle: float) -> None:
    """Merely redundant rows bend nothing: the parallelogram, opened, falls to where its weight
    hangs."""
    system = qp.Multibody(*four_bar(G, 0.0, damping=0.3))
    assert len(system.mobility().redundant) == 4
    start = system.initial
    turn = qp.rotation((0, 0, 1), angle)
    tip = L * np.array([math.cos(angle), math.sin(angle), 0.0])
    opened = start.replace({
        "up0": {"position": 0.5 * tip, "orientation": turn},
        "up1": {"position": 0.5 * tip + (D, 0, 0), "orientation": turn},
        "over": {"position": tip + (0.5 * D, 0, 0)},
    })  # fmt: skip
    assert abs(system.residual(opened).position).max() < 1e-15
    assert system.mobility(opened).degrees_of_freedom == 1
    assert system.mobility().degrees_of_freedom == 2
    assert system.mobility(opened).smallest > 1e-2


# --- close to a singular pose ---------------------------------------------------------------------
def partner(angle: float, ratio: float) -> tuple[float, float, float]:
    """The other upright's angle b on a branch, and its two derivatives: tan(b / 2) = ratio tan(a /
    2)."""
    t = math.tan(0.5 * angle)
    q = 1.0 + (ratio * t) ** 2
    return (
        2.0 * math.atan(ratio * t),
        ratio * (1.0 + t * t) / q,
        ratio * t * (1.0 - ratio**2) * (1.0 + t * t) / q**2,
    )


def beside(
    angle: float, ratio: float, weight: float, stiffness: float
) -> tuple[qp.Multibody, float]:
    """At rest on a branch, held there by a torque on the first upright; and the closed form of
    w^2."""
    b, slope, bend = partner(angle, ratio)
    load = 0.5 * weight * L * (UPRIGHT + COUPLER)
    torque = load * (math.sin(angle) + slope * math.sin(b)) + stiffness * angle
    stiff = load * (math.cos(angle) + bend * math.sin(b) + slope**2 * math.cos(b)) + stiffness
    tips = [
        np.array([x + L * math.cos(one), L * math.sin(one), 0.0])
        for x, one in ((0.0, angle), (D, b))
    ]
    go = [
        rate * L * np.array([-math.sin(one), math.cos(one), 0.0])
        for rate, one in ((1.0, angle), (slope, b))
    ]
    along = (tips[1] - tips[0]) / D
    turning, middle = np.cross(along, go[1] - go[0])[2] / D, 0.5 * (go[0] + go[1])
    moving = UPRIGHT * L**2 / 3.0 * (1.0 + slope**2) + COUPLER * (
        middle @ middle + D**2 / 12.0 * turning**2
    )
    parts = four_bar(weight, stiffness, damping=0.1)
    system = qp.Multibody(*parts, qp.Load("hold", parts[0], torque=(0, 0, torque)))  # type: ignore[arg-type]
    places = (0.5 * tips[0], 0.5 * (tips[1] + (D, 0, 0)), 0.5 * (tips[0] + tips[1]))
    turned = (angle, b, math.atan2(along[1], along[0]))
    pose = {
        name: {"position": place, "orientation": qp.rotation((0, 0, 1), turn)}
        for name, place, turn in zip(("up0", "up1", "over"), places, turned)
    }
    return system.at(system.initial.replace(pose)), stiff / moving


@pytest.mark.parametrize("angle", [0.1, 1e-2, 1e-3, 1e-4, 5e-6])
@pytest.mark.parametrize("branch", BRANCHES)
@pytest.mark.parametrize(("weight", "stiffness"), [(G, 0.0), (-G, 60.0), (-G, 150.0)])
def test_close_to_the_flat_pose_the_one_branch_counts_that_it_is_on(
    branch: str, weight: float, stiffness: float, angle: float
) -> None:
    """Where weight lets one branch fall and not the other, however near both are; from where they
    count as one on, at some 1e-6 rad, all branches do."""
    system, known = beside(angle, BRANCHES[branch], weight, stiffness)
    assert system.mobility().degrees_of_freedom == 1
    found = system.settle(nudge=0.0)
    assert found.run is None
    assert found.verdict == ("stable" if known > 0.0 else "unstable")
    ((bend,),) = system.linearize(found.state).stiffness
    assert bend == pytest.approx(known, rel=1e-6)
    assert (known > 0.0) == (weight > 0.0 or stiffness > NEEDED[branch])


def chain(lengths: list[float], seed: int, name: str = "") -> list[qp.Part]:
    """Bars on one line between two feet, hinged to each other, those of negative length back;
    forces across it."""
    rng = np.random.default_rng(seed)
    turn, (along, across, axis) = Rotation.random(random_state=seed), np.eye(3)
    marks = np.append(0.0, np.cumsum(lengths))
    parts: list[qp.Part] = []
    before = qp.GROUND
    for k, size in enumerate(lengths):
        middle = turn.apply((marks[k] + 0.5 * size) * along)
        bar = qp.Body(f"{name}bar{k}", 1.0, (THIN, 0.1, 0.1), position=middle, orientation=turn)
        hinge = qp.Revolute(
            f"{name}h{k}", before, bar, at=turn.apply(marks[k] * along), axis=turn.apply(axis)
        )
        parts += [
            bar,
            hinge,
            qp.Load(f"{name}load{k}", bar, force=turn.apply(rng.normal() * across)),
        ]
        before = bar
    foot = qp.Revolute(
        f"{name}foot", before, qp.GROUND, at=turn.apply(marks[-1] * along), axis=turn.apply(axis)
    )
    return [*parts, foot]


def closes_nowhere(lengths: list[float]) -> bool:
    """Whether sum (y_k+1 - y_k)^2 / l_k, by which a chain's ends come nearer, has but one sign for
    hinges that lie off the line by y_k: then it cannot move at all."""
    differences = np.diff(np.eye(len(lengths) + 1), axis=0)[:, 1:-1]
    sizes = np.linalg.eigvalsh(differences.T @ (differences / np.array(lengths)[:, None]))
    return bool(sizes.min() * sizes.max() > 0.0)


@pytest.mark.parametrize("bars", [2, 3, 4])
@pytest.mark.parametrize("seed", range(8))
def test_bars_on_one_line_stand_where_no_motion_closes_them(bars: int, seed: int) -> None:
    """To first order each hinge between two bars could leave the line."""
    rng = np.random.default_rng(100 * bars + seed)
    signs = np.ones(bars) if seed < 2 else rng.choice([-1.0, 1.0], size=bars)
    lengths = (signs * rng.uniform(0.3, 1.0, size=bars)).tolist()
    found = qp.Multibody(*chain(lengths, seed)).settle(duration=1e-3)
    assert (found.reason == "nothing in it can move") == closes_nowhere(lengths)
    assert (found.run is None) == closes_nowhere(lengths)
    assert found.verdict == "stable" or not closes_nowhere(lengths)


def test_two_flat_triangles_stand_beside_each_other() -> None:
    """Neither form is definite alone; their sum is."""
    both = qp.Multibody(*chain([0.5, 0.4], 0, "one "), *chain([0.7, -0.3], 1, "two "))
    found = both.settle(duration=1e-3)
    assert (found.verdict, found.reason, found.run) == ("stable", "nothing in it can move", None)

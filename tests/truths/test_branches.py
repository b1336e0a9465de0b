"""The motions that singular poses allow, against what is known of them: a flat four-bar, flat and
shut maps, and corners of creases; and runs along them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from tests.random_systems import seeds
from tests.truths.test_origami import corner
from tests.truths.test_rest_where_branches_meet import BRANCHES, four_bar

#: Rates of joints, relative to the fastest [1]; gaps [m]; energies, relative.
RATE, GAP, ENERGY = 1e-7, 1e-10, 1e-8


def ledger(run: qp.Trajectory) -> float:
    """The largest change of a run's ledger, relative to its energies."""
    kept = run.energy + run.dissipated + run.lost - run.work
    return float(abs(kept - kept[0]).max() / abs(run.kinetic).max())


def lines(rates: dict[str, float]) -> set[str]:
    """Of the creases of a map that move, the families."""
    return {name[0] for name in rates}


# --- which there are ------------------------------------------------------------------------------
def test_a_flat_four_bar_is_a_parallelogram_or_crossed() -> None:
    found = qp.Multibody(*four_bar(0.0)).branches()
    assert len(found) == 2
    ratios = sorted(branch.rates["h1"] / branch.rates["h0"] for branch in found)
    assert ratios == pytest.approx(sorted(BRANCHES.values()), abs=RATE)
    for branch in found:
        assert branch.freedoms == 1
        assert branch.bodies == ("up0", "up1", "over")
        assert max(map(abs, branch.rates.values())) == pytest.approx(1.0)
        assert branch.pull == 0.0


@pytest.mark.parametrize(("columns", "rows"), [(2, 2), (2, 4), (3, 3), (4, 3)])
@pytest.mark.parametrize("fold", [0.0, math.pi])
def test_a_map_flat_or_shut_folds_between_its_rows_or_between_its_columns(
    columns: int, rows: int, fold: float
) -> None:
    """All creases of one line turn alike, but for their sense; the lines of a family each in its
    own way."""
    sheet = qp.origami.map_fold(columns, rows, fold=fold)
    found = sheet.system.branches()
    ways = {family: branch.freedoms for branch in found for family in lines(branch.rates)}
    assert len(found) == 2
    assert ways == {"x": columns - 1, "y": rows - 1}
    for branch in found:
        (family,) = lines(branch.rates)
        place = 1 if family == "x" else 3
        for line in range(ways[family]):
            sizes = [abs(r) for name, r in branch.rates.items() if int(name[place + 1]) == line]
            assert sizes == pytest.approx([sizes[0]] * len(sizes), abs=RATE)
        moving = [name for name in sheet.system.bodies if int(name[place]) > 0]
        assert list(branch.bodies) == moving


def test_a_flat_miura_has_its_fold_among_its_branches() -> None:
    """More forms than freedoms: opposite creases of a corner turn alike, rows by cos(sector)."""
    found = qp.origami.miura(3, 3, sector=1.0).system.branches()
    assert len(found) >= 2
    ratios = [b.rates.get("x 0,0", 0.0) / b.rates.get("y 0,0", math.inf) for b in found]
    assert min(abs(abs(ratio) - math.cos(1.0)) for ratio in ratios) < RATE


def modes(sectors: Sequence[float]) -> list[Floats]:
    """Rates of the four creases of a flat corner, (2, 4): they add up to no turn, to first order,
    sum r_k u_k = 0, and to second, sum of r_j r_k (u_j x u_k) over j < k = 0."""
    turns = np.cumsum([0.0, *sectors[:-1]])
    u = np.array([np.cos(turns), np.sin(turns)])
    across = np.triu(np.sin(turns[None, :] - turns[:, None]), 1)
    one, two = np.linalg.svd(u)[2][2:]
    a, b, c = one @ across @ one, one @ (across + across.T) @ two, two @ across @ two
    return [x * one + y * two for x, y in _roots(a, b, c)]


def _roots(a: float, b: float, c: float) -> list[tuple[float, float]]:
    """Directions (x, y) with a x^2 + b x y + c y^2 = 0."""
    angle, reach = 0.5 * math.atan2(b, a - c), math.acos(-(a + c) / math.hypot(a - c, b))
    return [(math.cos(t), math.sin(t)) for t in (angle + 0.5 * reach, angle - 0.5 * reach)]


@seeds(20, 4)
@pytest.mark.parametrize("foldable", [True, False])
def test_a_flat_corner_of_four_creases_has_two_modes(seed: int, foldable: bool) -> None:
    rng = np.random.default_rng(seed)
    s, t = rng.uniform(0.4, 1.4, 2)
    sectors = (s, t, math.pi - s, math.pi - t)
    if not foldable:
        some = rng.uniform(0.7, 1.3, 4)
        sectors = tuple(2.0 * math.pi * some / some.sum())
    system = qp.origami.from_creases(*corner(sectors)).system
    known = [mode / mode[np.argmax(abs(mode))] for mode in modes(sectors)]
    found = system.branches()
    assert len(found) == 2
    for branch in found:
        rates = np.array([branch.rates[f"0-{k}"] for k in range(1, 5)])
        rates /= rates[np.argmax(abs(rates))]
        assert min(abs(rates - mode).max() for mode in known) < RATE
    if foldable:
        p = math.cos(0.5 * (s + t)) / math.cos(0.5 * (s - t))
        ratios = [abs(b.rates["0-2"] / b.rates["0-1"]) for b in found]
        assert min(abs(ratio - p) for ratio in ratios) < RATE


@seeds(12, 5, attack=40)
def test_a_flat_corner_of_six_creases_goes_on_in_three_ways(seed: int) -> None:
    """Its directions are no plane: along the sum of two the corner need not fold. They are one
    cone, around whose axis a straight way does not lead."""
    drawn = np.random.default_rng(seed).uniform(0.5, 1.3, 6)
    turns = tuple(2.0 * math.pi * drawn / drawn.sum())
    found = qp.origami.from_creases(*corner(turns)).system.branches()
    assert [branch.freedoms for branch in found] == [3]


def test_ordinary_poses_and_rigid_ones() -> None:
    half_way = qp.origami.map_fold(3, 3, fold=1.0).system
    (branch,) = half_way.branches()
    assert branch.freedoms == 2
    assert lines(branch.rates) == {"x"}
    parts = four_bar(0.0)
    braced = qp.Multibody(*parts, qp.Fixed("brace", parts[0], qp.GROUND, at=(0.5, 0, 0)))
    assert braced.branches() == ()


@seeds(12, 3)
def test_turned_shifted_and_renamed_copies_have_the_same_branches(seed: int) -> None:
    rng = np.random.default_rng(seed)
    system = (
        qp.Multibody(*(part for part in four_bar(1.0) if not isinstance(part, qp.Load))),
        qp.origami.map_fold(3, 2, stiffness=0.1, rest_angle=0.4).system,
        qp.origami.miura(2, 3, stiffness=0.1, rest_angle=0.4).system,
    )[seed % 3]
    turn, shift = qp.rotation(rng.normal(size=3), rng.uniform(0.5, 3.0)), rng.normal(size=3)
    floats = seed % 3 > 0
    poses = {
        name: {
            "position": qp.quat.matrix(turn) @ system.initial[name].position + shift,
            "orientation": turn * system.initial[name].orientation,
        }
        for name in system.bodies
    }
    there = system.initial.replace(poses) if floats else system.initial
    for one, two in zip(system.branches(), system.branches(there), strict=True):
        assert one.freedoms == two.freedoms
        assert one.bodies == two.bodies
        assert one.rates == pytest.approx(two.rates, abs=RATE)
        assert one.pull == pytest.approx(two.pull, rel=1e-6)
    text = re.sub(r'"(up0|p0,0|y 0,0|h0)"', r'"zz \1"', qp.to_json(system))
    renamed = qp.from_json(text)
    for one, two in zip(system.branches(), renamed.branches(), strict=True):
        np.testing.assert_allclose(one.direction, two.direction, rtol=0.0, atol=RATE)

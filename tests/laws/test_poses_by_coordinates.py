"""Joints are brought to given coordinates along what they allow."""

from __future__ import annotations

import math

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.rest.posing import names_of
from tests.faults.sentence import check_refused
from tests.random_systems import random_system, seeds


def coordinates_of(system: qp.Multibody, state: qp.State) -> dict[str, float]:
    """The values of all coordinates of active joints, by name."""
    values = state.instant().coordinates(np.arange(len(state.joints)))[:, 0]
    return {name: float(values[c]) for name, c in names_of(system.selection).items()}


@seeds(20, 6)
def test_a_tree_takes_any_coordinates(seed: int) -> None:
    """All at once; then one alone, and the others stay."""
    system, rng = random_system("trees", seed), np.random.default_rng(seed)
    names = list(coordinates_of(system, system.initial))
    wanted = {name: float(rng.uniform(-1.2, 1.2)) for name in names}
    state = system.pose(wanted)
    assert coordinates_of(system, state) == pytest.approx(wanted, abs=1e-10)
    assert abs(system.at(state).residual().position).max(initial=0.0) < 1e-9
    assert not state.v.any()
    if names:
        one = names[int(rng.integers(len(names)))]
        other = system.pose({one: 0.3}, state)
        assert coordinates_of(system, other) == pytest.approx(wanted | {one: 0.3}, abs=1e-8)
        assert coordinates_of(system, other)[one] == pytest.approx(0.3, abs=1e-10)


def arm_of(hinges: int) -> qp.Multibody:
    """A chain of rods along x, each hinged about z."""
    parts: list[qp.Part] = []
    before = qp.GROUND
    for k in range(hinges):
        rod = qp.Body.rod(f"rod {k}", start=(k, 0, 0), end=(k + 1.0, 0, 0), radius=0.05, mass=1.0)
        parts += [rod, qp.Revolute(f"j{k}", before, rod, at=(k, 0, 0), axis=(0, 0, 1))]
        before = rod
    return qp.Multibody(*parts)


def test_a_chain_stands_where_its_angles_add_up_to() -> None:
    """Also after more than a turn."""
    angles = {"j0": 0.4, "j1": -7.1, "j2": 2.0}
    state = arm_of(3).pose(angles)
    place, turned = np.zeros(2), 0.0
    for k, angle in enumerate(angles.values()):
        turned += angle
        along = np.array([math.cos(turned), math.sin(turned)])
        np.testing.assert_allclose(state[f"rod {k}"].position[:2], place + 0.5 * along, atol=1e-9)
        assert state[f"j{k}"].angle == pytest.approx(angle, abs=1e-10)
        place = place + along


def four_bar() -> qp.Multibody:
    """Ground 4 m long, crank 1 m, coupler 3 m, rocker 3 m, open."""
    crank_end, rocker_end = np.array([0.0, 1.0, 0.0]), np.array([4.0, 0.0, 0.0])
    apart = float(np.linalg.norm(rocker_end - crank_end))
    way = (rocker_end - crank_end) / apart
    across = np.array([-way[1], way[0], 0.0])
    top = crank_end + 0.5 * apart * way + math.sqrt(9.0 - 0.25 * apart**2) * across
    ends = {
        "crank": ((0, 0, 0), crank_end),
        "coupler": (crank_end, top),
        "rocker": (rocker_end, top),
    }
    crank, coupler, rocker = (
        qp.Body.rod(name, start=start, end=end, radius=0.05, mass=1.0)
        for name, (start, end) in ends.items()
    )
    axis = (0, 0, 1)
    return qp.Multibody(
        crank, coupler, rocker,
        qp.Revolute("a", qp.GROUND, crank, at=(0, 0, 0), axis=axis),
        qp.Revolute("b", crank, coupler, at=crank_end, axis=axis),
        qp.Revolute("c", coupler, rocker, at=top, axis=axis),
        qp.Revolute("d", qp.GROUND, rocker, at=rocker_end, axis=axis),
    )  # fmt: skip


@pytest.mark.parametrize("angle", [-1.5, -0.4, 0.7, 3.0, 6.2])
def test_a_loop_stays_closed_and_obeys_freudenstein(angle: float) -> None:
    """K1 cos(rocker) - K2 cos(crank) + K3 = cos(crank - rocker), angles from the ground."""
    system = four_bar()
    state = system.pose({"a": angle})
    assert state["a"].angle == pytest.approx(angle, abs=1e-10)
    assert abs(system.at(state).residual().position).max() < 1e-9
    crank = angle + math.pi / 2
    x, y, _ = 2.0 * (state["rocker"].position - np.array([4.0, 0.0, 0.0]))
    rocker = math.atan2(y, x)
    left = 4.0 * math.cos(rocker) - 4.0 / 3.0 * math.cos(crank) + (1 + 9 + 16 - 9) / 6.0
    assert left == pytest.approx(math.cos(crank - rocker), abs=1e-9)


def test_what_cannot_be_posed_is_refused() -> None:
    """The crank turns round, its rocker does not."""
    system = four_bar()
    check_refused(lambda: system.pose({"d": 3.0}), "'d'", ("pose", "cannot be brought to 3"))
    check_refused(lambda: system.pose({"e": 3.0}), "'e'", ("pose", "there are: a, b, c, d"))
    check_refused(lambda: system.pose({"a": "1"}), "'a'", ("pose", "must be one number"))
    check_refused(lambda: system.pose([1.0]), "[1.0]", ("pose", "dict of coordinates"))
    with pytest.raises(qp.PartError) as caught:
        system.pose({"d": 3.0})
    assert caught.value.code == "pose"

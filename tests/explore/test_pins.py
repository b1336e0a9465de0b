"""Flux pins as options: cold where the pair stands, whatever that is, and frozen anew with every
choice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from demos.flux_pinned_layouts import layouts
from quirkpy.explore.scope.options import mating_frame
from quirkpy.maths.constants import MU0_4PI
from tests.faults.sentence import check_refused

SIDE, GAP, MOMENT = 0.1, 0.03, 5.7
PULL = 4e-4  # [N]
HUB = qp.Body.box("hub", (SIDE,) * 3, 1.0, fixed=True)
CUBE = qp.Body.box("cube", (SIDE,) * 3, 1.0, position=(SIDE + GAP, 0.0, 0.0))
COLD = HUB.site("face", at=(0.5 * SIDE, 0, 0), z=(1, 0, 0), x=(0, 0, 1))
BACK = CUBE.site("back", at=(-0.5 * SIDE, 0, 0), z=(-1, 0, 0), x=(0, 0, 1))
SENSORS = (
    qp.Sensor("cold", COLD, kind="cold", accepts=("magnet",), reach=0.05, alignment=0.8),
    qp.Sensor("magnet", BACK, kind="magnet", accepts=("cold",), reach=0.05, alignment=0.8),
)


def pinned(option: qp.Pin) -> tuple[qp.Multibody, qp.FluxPinning]:
    """The cube, pinned where it stands."""
    state = qp.Multibody(HUB, CUBE).initial
    parts: tuple[Any, ...] = option.hold(
        option.parts("pin", COLD, mating_frame(SENSORS[1], 0.0)), state
    )
    return qp.Multibody(HUB, CUBE, *parts), parts[0]


def pulled(*options: qp.Option) -> qp.Study:
    """A cube that a steady force pulls sideways, or none does."""
    return qp.Study(
        qp.Multibody(HUB, CUBE), sensors=SENSORS, options={("cold", "magnet"): options},
        potentials={"none": [], "pull": [qp.Load("pull", CUBE, force=(0.0, PULL, 0.0))]},
        safety=[qp.StayTogether()],
    )  # fmt: skip


# --- one pin --------------------------------------------------------------------------------------
def test_a_pin_has_the_stiffness_of_its_images() -> None:
    """Kordyuk's dipole along the normal: 3/4 C/z^5 along it, half as much across, C/(8 z^3) in
    tilt, none in spin."""
    system, force = pinned(qp.Pin(MOMENT))
    np.testing.assert_allclose(system.acceleration(), 0.0, atol=1e-12)
    c = MU0_4PI * MOMENT**2
    expected = [0.75 * c / GAP**5, *[0.375 * c / GAP**5] * 2, 0.0, *[c / (8 * GAP**3)] * 2]
    np.testing.assert_allclose(
        np.diag(force.linearized("k").stiffness), expected, rtol=1e-9, atol=1e-12
    )


def test_a_ring_of_magnets_holds_the_spin() -> None:
    spins = []
    for ring in (None, 0.03):
        system, force = pinned(qp.Pin(MOMENT, ring=ring))
        np.testing.assert_allclose(system.acceleration(), 0.0, atol=1e-11)
        spins.append(np.array(force.linearized("k").stiffness)[3, 3])
    assert spins[0] == pytest.approx(0.0, abs=1e-12)
    assert spins[1] > 0.05


def test_motions_die_out_as_asked_for_and_spin_as_it_says() -> None:
    system, _ = pinned(qp.Pin(MOMENT, damping=0.04, spin=2e-3))
    modes = system.settle().modes
    ringing = [mode for mode in modes if mode.eigenvalue.imag != 0.0]
    assert len(ringing) == 5
    for mode in ringing:
        share = -mode.eigenvalue.real / abs(mode.eigenvalue)
        assert share == pytest.approx(0.04, rel=0.02)
    rate = 2e-3 / CUBE.inertia_matrix[0, 0]
    state = system.initial.replace({"cube": dict(angular_velocity=(1e-3, 0.0, 0.0))})
    run = system.at(state).simulate(0.5, rtol=1e-10)
    assert run["cube"].angular_velocity[-1, 0] == pytest.approx(
        1e-3 * np.exp(-0.5 * rate), rel=1e-6
    )


# --- in an exploration ----------------------------------------------------------------------------
def test_a_pin_is_frozen_anew_where_the_cube_stands(tmp_path: Path) -> None:
    """Pulled aside and then let go it does not go back: the next choice freezes it there."""
    study = pulled(qp.Pin(MOMENT, spin=1e-3))
    graph = study.explore(tmp_path / "pins.db", budget=4)
    kinds = [
        (edge.source, edge.selection.potential, edge.kind, edge.target) for edge in graph.edges
    ]
    assert kinds == [
        ("n0", "none", "stayed", "n0"), ("n0", "pull", "moved", "n1"),
        ("n1", "none", "stayed", "n1"), ("n1", "pull", "moved", "n2"),
    ]  # fmt: skip
    system, _ = pinned(qp.Pin(MOMENT, spin=1e-3))
    rest = system.with_(qp.Load("pull", CUBE, force=(0.0, PULL, 0.0))).settle().state
    np.testing.assert_allclose(graph.nodes["n1"].state.r, rest.r, atol=1e-8)
    y = [graph.nodes[key].state.r[0, 1] for key in ("n0", "n1", "n2")]
    assert y[1] > 1e-4
    assert y[2] - y[1] == pytest.approx(
        y[1] - y[0], rel=1e-2
    )  # the same pull, from where it was frozen
    assert all(edge.switching == 0.0 for edge in graph.edges)  # it was cold that made the images
    with ThreadPoolExecutor(2) as pool:
        assert study.explore(workers=pool, budget=4).to_json() == graph.to_json()
    assert qp.ReconfigurationGraph.load(tmp_path / "pins.db").to_json() == graph.to_json()
    run = graph.replay([graph.edges[1], graph.edges[3]])
    assert run["cube"].position[-1, 1] == pytest.approx(y[2], abs=1e-6)


def test_reductions_know_pins() -> None:
    """Runs that others speak for end where they would have ended themselves."""
    options = qp.Pin(MOMENT, spin=1e-3), qp.Pin(MOMENT, ring=0.03), qp.Free()
    one = pulled(*options).explore(budget=12)
    assert len(one.edges) > 12
    other = pulled(*options).explore(budget=len(one.edges), reductions=False)
    for mine, theirs in zip(one.edges, other.edges, strict=True):
        assert (mine.source, mine.selection, mine.kind, mine.target) == (
            theirs.source, theirs.selection, theirs.kind, theirs.target
        )  # fmt: skip
        assert mine.duration == pytest.approx(theirs.duration, rel=1e-9)
        assert mine.switching == theirs.switching == 0.0
    for key, node in one.nodes.items():
        np.testing.assert_allclose(node.state.r, other.nodes[key].state.r, atol=1e-9)


def test_edges_of_pinned_modules_are_flown_to_their_ends() -> None:
    """Turned by a quarter, the same pin counts as held in another turn, and strained a little; it
    is the same shape."""
    graph = layouts(2).explore()
    still = qp.Spread(start=0.0, mass=0.0, strength=0.0)
    for edge in graph.edges:
        assert graph.robustness(edge, 1, spread=still).outcomes == ((edge.target, 1),)
    assert graph.robustness(next(graph.moves()), 3).successes == 3


@pytest.mark.slow
def test_four_modules_turn_one_pin_at_a_time() -> None:
    """From the first layout one move for each of the three pins; the rest is held, or turns to
    where it is."""
    graph = layouts(4).explore(budget=21)
    first = [edge for edge in graph.edges if edge.source == "n0"]
    assert len(first) == 21  # three pins that may spin, each without a pulse and under six
    moved = [edge for edge in first if edge.kind == "moved"]
    assert len(moved) == len({edge.target for edge in moved}) == 3
    assert {edge.kind for edge in first} == {"moved", "stayed"}
    assert sorted(edge.selection.potential for edge in moved) == [
        f"pin {k} to 90" for k in (1, 2, 3)
    ]


def test_a_cube_that_is_warm_comes_apart() -> None:
    graph = pulled(qp.Pin(MOMENT, spin=1e-3), qp.Free()).explore(budget=4)
    free = [edge for edge in graph.edges if dict(edge.selection.joints)["cold | magnet"] == "free"]
    assert {edge.kind for edge in free} == {"rejected"}
    assert free[0].reason == "comes apart"


def test_a_pin_survives_writing() -> None:
    study = pulled(qp.Pin(MOMENT, ring=0.03, damping=0.1, spin=1e-3))
    again = qp.from_json(qp.to_json(study))
    assert again.document() == study.document()
    assert again.options == study.options


def test_pins_that_cannot_be_are_refused() -> None:
    check_refused(lambda: qp.Pin(0.0), "Pin: moment is 0", ())
    check_refused(lambda: qp.Pin(MOMENT, ring=-0.1), "Pin: ring is -0.1", ())

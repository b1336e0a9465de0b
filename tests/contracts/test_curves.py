"""What charts show of a run, beside numbers from elsewhere; and that they can be painted."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import pair
from demos.hinged_cubes import EDGE, damping, hinge, pulled_to
from quirkpy.explore.answers.replay import Replay
from quirkpy.views import curves
from quirkpy.views.charts import draw
from quirkpy.views.curves import Line, Panel, Sheet, prefix_unit, sheet_of

K, MASS, SIDE = 0.05, 1.0, 0.1


@pytest.fixture(scope="module")
def run() -> qp.Trajectory:
    shut = qp.When("shut", lambda state: state["hinge"].angle + math.pi)
    return pulled_to(0.0, -0.2, 0.0).simulate(60.0, stop=[shut])


@pytest.fixture(scope="module")
def replay() -> Replay:
    graph = pair().explore()
    return graph.replay([*graph.plan("n0", "n1"), *graph.plan("n1", "n0")])


def lines(panel: Panel) -> dict[str, np.ndarray]:
    return {line.name: line.values for line in panel.lines}


def unit(panel: Panel) -> float:
    """By how much the values of a panel were divided."""
    word = panel.y_label.partition("[")[2].rstrip("]")
    return {"m": 1e-3, "\u00b5": 1e-6, "n": 1e-9, "k": 1e3}.get(
        word[0] if len(word) > 1 else "", 1.0
    )


def angles(panel: Panel) -> np.ndarray:
    return lines(panel)["hinge"] * (1e-3 if "mrad" in panel.y_label else 1.0)


def test_joints_and_energy_of_hinged_cubes(run: qp.Trajectory) -> None:
    """Everything follows from the angle of the hinge: J = 2/3 m a^2, the well's pull, and what the
    damper takes."""
    angle, rate, energy = sheet_of(run).panels
    assert [panel.y_label for panel in (angle, rate, energy)] == [
        "angle [rad]",
        "rate of angle [mrad/s]",
        "energy [mJ]",
    ]
    assert len(angle.x) >= 400
    phi, omega = angles(angle), angles(rate)
    np.testing.assert_allclose(np.gradient(phi, angle.x)[5:-5], omega[5:-5], atol=2e-4)
    arm = np.array([0.5 * SIDE, 0.5 * SIDE])
    turned = [
        np.cos(phi) * arm[0] - np.sin(phi) * arm[1],
        np.sin(phi) * arm[0] + np.cos(phi) * arm[1],
    ]
    centre = EDGE[:2] + np.stack(turned, axis=1)
    found = lines(energy)
    np.testing.assert_allclose(
        1e-3 * found["kinetic"], 0.5 * (2 / 3 * MASS * SIDE**2) * omega**2, atol=1e-9
    )
    potential = 0.5 * K * ((centre - (0.0, -0.2)) ** 2).sum(axis=1)
    np.testing.assert_allclose(1e-3 * found["potential"], potential, atol=1e-9)
    taken = np.concatenate(
        [[0.0], np.cumsum(2e-4 * 0.5 * (omega[1:] ** 2 + omega[:-1] ** 2) * np.diff(angle.x))]
    )
    np.testing.assert_allclose(1e-3 * found["dissipated"], taken, atol=1e-7)
    total = found["kinetic + potential"] + found["dissipated"]
    assert np.ptp(total) < 1e-7
    assert "put in by loads" not in found
    assert [name for _, name in energy.moments] == ["shut"]


def test_momenta_states_and_reactions(run: qp.Trajectory) -> None:
    """The hinge gives what the well does not: m a - F."""
    states, momenta, loads = (
        sheet_of(run, [word]).panels for word in ("states", "momenta", "reactions")
    )
    position, orientation, velocity, spin = states
    assert orientation.y_label == "orientation"
    np.testing.assert_allclose(sum(line.values**2 for line in orientation.lines), 1.0, atol=1e-12)
    for axis in "xy":
        np.testing.assert_allclose(
            lines(momenta[0])[axis] * 1e-3,
            MASS * lines(velocity)[f"B {axis}"] * unit(velocity),
            atol=1e-12,
        )
    x, y = (lines(position)[f"B {axis}"] * unit(position) for axis in "xy")
    vx, vy = (lines(velocity)[f"B {axis}"] * unit(velocity) for axis in "xy")
    turning = MASS * (x * vy - y * vx) + MASS * SIDE**2 / 6.0 * lines(spin)["B z"] * unit(spin)
    assert momenta[1].y_label == "angular momentum [10\u207b\u00b3 kg m\u00b2/s]"
    np.testing.assert_allclose(1e-3 * lines(momenta[1])["z"], turning, atol=1e-12)
    rate, well = lines(spin)["B z"] * unit(spin), np.array([0.0, -0.2])
    centre = np.stack([x, y], axis=1)
    arm, pull = centre - EDGE[:2], K * (well - centre)
    growth = (arm[:, 0] * pull[:, 1] - arm[:, 1] * pull[:, 0] - 2e-4 * rate) / (
        2.0 / 3.0 * MASS * SIDE**2
    )
    across = np.stack([-arm[:, 1], arm[:, 0]], axis=1)
    force = MASS * (growth[:, None] * across - rate[:, None] ** 2 * arm) - pull
    found = np.stack([lines(loads[0])[f"hinge {axis}"] * unit(loads[0]) for axis in "xy"], axis=1)
    np.testing.assert_allclose(found, force, atol=1e-9)
    assert not any(line.values.any() for line in loads[1].lines)  # 1e-19 N m is rounding


def test_drift_is_that_of_the_stored_steps(run: qp.Trajectory) -> None:
    removed, ledger = sheet_of(run, ["drift"]).panels
    assert len(removed.x) == len(run.t)
    np.testing.assert_array_equal(removed.lines[0].values[1:], run.drift[1:, 0])
    off = ledger.lines[0].values
    assert np.isnan(off[0])
    assert np.nanmax(off) < 1e-10


def test_phase_and_power(run: qp.Trajectory) -> None:
    (orbit,) = sheet_of(run, ["phase"]).panels
    assert (orbit.x_label, orbit.y_label, orbit.kind) == (
        "angle [rad]",
        "rate of angle [mrad/s]",
        "orbit",
    )
    assert orbit.x[-1] == pytest.approx(-math.pi)
    (power,) = sheet_of(run, ["power"]).panels
    taken, dt = lines(power)["taken by dampers"] * unit(power), np.diff(power.x)
    assert (taken[1:] @ dt) == pytest.approx(run.dissipated[-1], rel=1e-12)


def test_the_power_of_coils_is_supplied_while_they_act() -> None:
    """Two coils of 0.25 W, from a switch on; beside that the power of a load."""
    bodies = [qp.Body.box(f"b{k}", (0.1,) * 3, 1.0, position=(0.3 * k, 0, 0)) for k in range(2)]
    made = [qp.Electromagnet(f"c{k}", b.site("top"), 0.1, holding_power=0.25)
            for k, b in enumerate(bodies)]  # fmt: skip
    coils, push = qp.Dipoles(made, name="coils"), qp.Load("push", bodies[0], force=(0.1, 0, 0))
    system = qp.Multibody(*bodies, push, candidates=[coils])
    run = system.simulate(2.0, switches=[qp.Switch(1.0, forces=("push", "coils"))], step=0.1)
    watts, later = curves.supply(run), np.arange(len(run.t)) > 11
    speed = 0.5 * (run["b0"].velocity[1:, 0] + run["b0"].velocity[:-1, 0])
    np.testing.assert_allclose(watts[1:11], 0.1 * speed[:10], atol=1e-9)
    np.testing.assert_allclose(watts[later], 0.5 + 0.1 * speed[-later.sum() :], atol=1e-4)
    power = sheet_of(run, ["power"]).panels[0]
    assert lines(power)["supplied"].max() * unit(power) == pytest.approx(watts.max(), rel=1e-2)


def test_impulses_are_those_of_the_run() -> None:
    """A wing that is caught: bars at the time of the catch, of the hinge and of its latch."""
    hub = qp.Body.box("hub", (0.1, 0.1, 0.1), 1.0, fixed=True)
    arm = qp.Body.box("arm", (0.1, 0.1, 0.1), 1.0, position=(0.1, 0, 0))
    hinge = qp.Revolute("hinge", hub, arm, at=(0.05, -0.05, 0), axis=(0, 0, 1))
    spring = qp.HingeSpring("spring", hinge, stiffness=0.05, rest_angle=2.0)
    latch = qp.Latch("latch", hinge, at=1.0, sense=+1)
    run = qp.Multibody(hub, arm, hinge, spring, latch).simulate(3.0)
    force, couple = sheet_of(run, ["impulses"]).panels
    (event,) = run.events
    for panel, which in ((force, 0), (couple, 1)):
        np.testing.assert_array_equal(panel.x, [event.t])
        assert panel.kind == "bars"
        for name, values in lines(panel).items():
            assert values[0] * unit(panel) == pytest.approx(run.shocks[name][which], rel=1e-12)
    assert set(lines(force)) == {"hinge", "latch"}
    run.plot("impulses", "energy")
    with pytest.raises(qp.PartError, match="no velocity jumps"):
        qp.Multibody(hub, arm, hinge, spring).simulate(0.1).plot("impulses")


def test_a_replay_shows_each_leg(replay: Replay) -> None:
    """Switching puts in 0.5 mJ at the start of each leg; dampers and the lock take it; hinges act
    in one leg each."""
    angle, _, energy, power, switching = sheet_of(replay, ["joints", "energy", "power"]).panels
    assert [name for _, name in energy.moments] == ["n0 \u2192 n1", "n1 \u2192 n0"]
    first, second = angle.lines
    half = angle.x < replay.legs[1].t
    assert np.isnan(second.values[half]).all()
    assert np.isfinite(first.values[half]).all()
    assert np.nanmax(first.values) == pytest.approx(
        math.pi, abs=0.0101
    )  # the alignment of the sensors
    found = lines(energy)
    assert found["put in by switching"][-1] == pytest.approx(
        1.0
    )  # mJ: twice k d^2 / 2 of d = 0.1 sqrt 2
    left = (
        found["kinetic + potential"]
        + found["dissipated"]
        + found["taken by joints"]
        - found["put in by switching"]
    )
    np.testing.assert_allclose(
        left, 0.0, atol=1e-6
    )  # it starts with nothing, at the bottom of its well
    assert switching.kind == "bars"
    np.testing.assert_allclose(switching.lines[0].values * unit(switching), 0.5e-3, rtol=1e-9)
    np.testing.assert_array_equal(lines(power)["supplied"], 0.0)


def test_long_runs_are_thinned(run: qp.Trajectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "MOST", 50)
    few = curves.readable(run.sampled(0.1))
    assert len(few.t) == 50
    assert (few.t[0], few.t[-1]) == (run.t[0], run.t[-1])


@pytest.mark.parametrize(
    ("largest", "expected"),
    [
        (0.0, (1.0, "J")),
        (2.0, (1.0, "J")),
        (0.03, (1e-3, "mJ")),
        (5e4, (1e3, "kJ")),
        (1e-30, (1.0, "J")),
    ],
)
def test_units_suit_their_values(largest: float, expected: tuple[float, str]) -> None:
    assert prefix_unit("J", np.array([0.0, -largest, np.nan])) == expected


@pytest.mark.parametrize(
    ("what", "of", "sentence"),
    [
        (["heat"], None, "plot: 'heat' is none of 'joints', 'energy'"),
        (["states"], ["C"], "plot: of has 'C', but the bodies here are: B."),
        (["states"], "B", r"plot: of is 'B', but must be a list of names, such as \['B'\]."),
    ],
)
def test_wrong_words_are_refused(
    run: qp.Trajectory, what: list[curves.Chart], of: list[str], sentence: str
) -> None:
    with pytest.raises(qp.PartError, match=sentence):
        run.plot(*what, of=of)


def test_what_does_not_fit_is_refused() -> None:
    balls = [qp.Body.sphere(f"b{k}", 0.1, 1.0, position=(k, 0, 0)) for k in range(7)]
    run = qp.Multibody(*balls).simulate(1.0)
    with pytest.raises(qp.PartError, match="7 bodies are too many for one page; name up to 6"):
        run.plot("states")
    with pytest.raises(qp.PartError, match="no joint here has a coordinate"):
        run.plot("phase")
    with pytest.raises(qp.PartError, match="do not fit on one page"):
        run.plot("energy", "states", of=["b0", "b3"])
    with pytest.raises(qp.PartError, match="there are no joints"):
        run.plot("reactions")
    assert sheet_of(run, ["states"], ["b0", "b3"]).columns == 2
    assert [panel.title for panel in sheet_of(run).panels] == ["Energy"]


def test_joints_of_several_coordinates_are_numbered() -> None:
    ball = qp.Body.sphere(
        "ball", 0.1, 1.0, velocity=(0.0, 0.0, 1.0), angular_velocity=(0.0, 0.0, 2.0)
    )
    free = qp.Cylindrical("sleeve", qp.GROUND, ball, at=(0, 0, 0), axis=(0, 0, 1))
    angle, turning, travel, sliding = sheet_of(
        qp.Multibody(ball, free).simulate(2.0), ["joints"]
    ).panels
    assert angle.lines[0].values[-1] == pytest.approx(4.0)
    assert travel.lines[0].values[-1] == pytest.approx(2.0)
    assert turning.lines[0].values.min() == pytest.approx(2.0)
    assert sliding.lines[0].values.max() == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["run.png", "run.svg", "run.pdf"])
def test_they_are_painted(run: qp.Trajectory, name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    one, two = tmp_path / f"1{name}", tmp_path / f"2{name}"
    for path in (one, two):
        run.plot("energy").save(path)
    assert one.read_bytes() == two.read_bytes()
    assert one.stat().st_size > 8000


@pytest.mark.slow
def test_labels_do_not_overlap(run: qp.Trajectory, replay: Replay) -> None:
    """Of every chart: no axes reach into others, nothing leaves the page."""
    pytest.importorskip("matplotlib")
    for drawing in (
        run.plot("states"),
        run.plot("momenta", "drift"),
        replay.plot("joints", "energy", "power"),
    ):
        drawing.png()
        figure = drawing.figure
        boxes = [axes.get_tightbbox() for axes in figure.axes]
        for k, one in enumerate(boxes):
            assert min(one.x0, one.y0) > -1.0
            assert (
                max(one.x1 - figure.bbox.x1, one.y1 - figure.bbox.y1) < 4.0
            )  # a legend's empty margin
            for two in boxes[:k]:
                assert (
                    min(one.x1, two.x1) - max(one.x0, two.x0) < 1
                    or min(one.y1, two.y1) - max(one.y0, two.y0) < 1
                )
        labels = [axes.get_ylabel() for axes in figure.axes]
        assert all(
            "[" in label or label in ("orientation", "removed, each step") for label in labels
        )


def test_settings_of_others_stay(run: qp.Trajectory) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    before = dict(matplotlib.rcParams)
    run.plot("energy").png()
    assert dict(matplotlib.rcParams) == before


def test_a_name_that_says_nothing_is_refused(run: qp.Trajectory, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(qp.PartError, match=r"save: 'run.bmp' ends in none of .png, .svg, .pdf"):
        run.plot("energy").save(tmp_path / "run.bmp")


def test_nothing_to_show_is_said() -> None:
    nothing = Panel(
        "Drift", "time [s]", "largest", np.arange(3.0), (Line("a", np.full(3, np.nan)),), (), "log"
    )
    pytest.importorskip("matplotlib")
    drawing = draw(Sheet((nothing,), 1))
    assert [text.get_text() for text in drawing.figure.axes[0].texts] == ["zero throughout"]


def test_damping_is_that_of_the_demo() -> None:
    assert (damping.joint, damping.damping) == (hinge, 2e-4)


def test_angles_are_shown_in_degrees_on_request(run: qp.Trajectory) -> None:
    """The same numbers in another unit, whatever the prefix; other quantities stay."""
    for what in ("joints", "energy", "phase"):
        for plain, turned in zip(
            curves.sheet_of(run, [what]).panels,
            curves.sheet_of(run, [what], degrees=True).panels,
            strict=True,
        ):
            for ours, theirs, label, named in (
                (plain.x, turned.x, plain.x_label, turned.x_label),
                (plain.lines[0].values, turned.lines[0].values, plain.y_label, turned.y_label),
            ):
                unit = re.search(r"\[(.*?)(rad)?(/s)?\]", label)
                assert unit is not None
                scale = {"m": 1e-3, "": 1.0}[unit[1]] / qp.deg if unit[2] else 1.0
                np.testing.assert_allclose(theirs, scale * ours, rtol=1e-14)
                assert ("rad" in label) == ("deg" in named)
                assert "rad" not in named

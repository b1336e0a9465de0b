"""Strings: where they become taut and slack, what they keep, and the way over several sites."""

from __future__ import annotations

import math

import numpy as np
import pytest

import quirkpy as qp
from tests.motion import TIGHT


def bob(drop: float = 0.5, damping: float = 0.0) -> qp.Multibody:
    """1 kg on a string of 1 m and 400 N/m, in weight, at rest so far above where it is taut."""
    ball = qp.Body.sphere("ball", 0.01, 1.0, position=(0, 0, drop - 1.0))
    string = qp.String("s", qp.GROUND, ball, stiffness=400.0, rest_length=1.0, damping=damping)
    return qp.Multibody(ball, string, qp.Gravity((0, 0, -9.81)))


def turns(run: qp.Trajectory, name: str) -> np.ndarray:
    return np.array([event.t for event in run.events if event.name == name])


def test_it_is_taut_and_slack_when_it_should_be() -> None:
    """Half a metre of free fall, then a swing about 9.81/400 m below, and so on."""
    run = bob().simulate(20.0, **TIGHT)
    fall, w = math.sqrt(2.0 * 0.5 / 9.81), 20.0
    pull = 2.0 * (math.pi - math.atan(9.81 * fall * w / 9.81)) / w
    n = np.arange(len(turns(run, "s taut")))
    assert len(n) == 25
    np.testing.assert_allclose(turns(run, "s taut"), fall + n * (2.0 * fall + pull), atol=1e-9)
    m = n[: len(turns(run, "s slack"))]
    np.testing.assert_allclose(
        turns(run, "s slack"), fall + pull + m * (2.0 * fall + pull), atol=1e-9
    )
    assert np.ptp(run.energy) <= 2e-10 * run.kinetic.max()


def test_its_kinks_cost_few_steps() -> None:
    """A thousand of them in a T-bar, fewer refused steps than one for each, and energy held to
    rounding."""
    made = qp.tensegrities.t_bar(
        bar={"density": 500.0, "radius": 0.05},
        string={"stiffness": 1e4, "rest": (0.99, 0.99, 1.0)},
    )
    turning = {}
    for body, foot, rate in zip(made.bars, made.places()[:2], (-0.5, -0.2), strict=True):
        spin = np.array([0.0, rate, 0.0])
        turning[body.name] = {
            "velocity": np.cross(spin, np.array(body.position) - foot),
            "angular_velocity": body.matrix.T @ spin,
        }
    start = made.system.initial.replace(turning)
    run = made.system.simulate(45.0, state=start, energy="conserve")
    kinks = len(run.events)
    assert kinks > 1000
    assert run.counts.rejections < kinks
    assert run.counts.steps < 5 * kinks
    assert np.ptp(run.energy) <= 1e-12 * run.energy[0]


def test_with_damping_it_lets_go_before_it_is_as_short_as_at_rest() -> None:
    """Its tension is never below zero, and the ledger knows what it takes meanwhile."""
    run = bob(damping=8.0).simulate(3.0, **TIGHT)
    tension, length = run["s"].tension, run["s"].length
    assert tension.min() == 0.0 < tension.max()
    limp = (tension == 0.0) & (length > 1.0 + 1e-6)
    assert limp.any()
    account = run.energy + run.dissipated
    assert np.ptp(account) <= 1e-10 * run.kinetic.max()


def test_it_settles_where_it_carries_the_weight_and_not_where_it_is_slack() -> None:
    rest = bob(damping=8.0).settle()
    assert rest.verdict == "stable"
    assert rest.state["ball"].position[2] == pytest.approx(-1.0 - 9.81 / 400.0, abs=1e-9)


def test_what_winds_it_up_works() -> None:
    """Wound up by 0.2 m/s, it lifts what hangs on it, taut from where it has caught up."""
    system = bob(0.1, damping=2.0).without("s")
    winch = qp.Schedule((0.0, 3.0), (1.0, 0.4), "linear")
    string = qp.String(
        "s", qp.GROUND, system["ball"], stiffness=400.0, rest_length=winch, damping=2.0
    )
    run = system.with_(string).simulate(3.0, **TIGHT)
    assert run.events[0].name == "s taut"
    account = run.energy + run.dissipated - run.work
    assert np.ptp(account) <= 1e-9 * abs(run.energy).max()
    assert run["ball"].position[-1, 2] == pytest.approx(-0.4 - 9.81 / 400.0, abs=0.02)


def test_what_jumps_makes_it_taut_at_once() -> None:
    system = bob(0.1).without("s")
    jump = qp.Schedule((0.0, 0.05), (1.0, 0.5), "hold")
    string = qp.String("s", qp.GROUND, system["ball"], stiffness=400.0, rest_length=jump)
    run = system.with_(string).simulate(0.06, **TIGHT)
    (taut,) = turns(run, "s taut")
    assert taut == 0.05
    assert np.ptp(run.energy - run.work) <= 1e-11 * run.kinetic.max()


def pulley(reach: float = 0.0) -> qp.Multibody:
    """Two weights on one string over two sites of the ground."""
    one, two = (
        qp.Body.sphere(name, 0.01, mass, position=(x, 0, -1.0))
        for name, mass, x in (("one", 1.0, 0.0), ("two", 1.0, 1.0))
    )
    over = [qp.GROUND.site("left", at=(0, 0, 0)), qp.GROUND.site("right", at=(1.0, 0, 0))]
    string = qp.String("s", one, two, over=over, stiffness=1e3, rest_length=2.9 - reach)
    return qp.Multibody(one, two, string, qp.Gravity((0, 0, -9.81)))


def test_over_several_sites_it_has_one_tension() -> None:
    """Equal weights hang in balance wherever they are, and the length is that of the way."""
    system = pulley(9.81 / 1e3 - 0.1)
    assert np.abs(system.acceleration()[:, :3]).max() < 1e-12
    run = system.simulate(0.5, **TIGHT)
    np.testing.assert_allclose(run["s"].tension, 9.81, rtol=1e-9)
    np.testing.assert_allclose(run["s"].length, 3.0, rtol=1e-12)


def test_it_is_written_and_read() -> None:
    for system in (bob(), pulley()):
        again = qp.from_json(qp.to_json(system))
        assert again.without("gravity")["s"].elements() == system["s"].elements()


def test_its_elasticity_is_that_of_its_length() -> None:
    ball = qp.Body.sphere("ball", 0.01, 1.0, position=(0, 0, -1.25))
    made = qp.String("s", qp.GROUND, ball, EA=500.0, rest_length=1.0)
    assert qp.Multibody(ball, made).acceleration()[0, 2] == pytest.approx(125.0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "String 's': give its stiffness [N/m], or EA [N], and not both."),
        ({"stiffness": 1.0, "EA": 1.0}, "and not both"),
        ({"EA": 1.0, "rest_length": qp.Sine(0.1, 2.0, mean=1.0)}, "rest_length that is a number"),
        ({"EA": 1.0, "rest_length": 0.0}, "above 0"),
        ({"stiffness": 1.0, "over": "s"}, "must be a list of sites"),
    ],
)
def test_what_is_no_string_is_refused(options: dict[str, object], sentence: str) -> None:
    ball = qp.Body.sphere("ball", 0.01, 1.0, position=(0, 0, -1.0))
    with pytest.raises((ValueError, TypeError)) as refused:
        qp.String("s", qp.GROUND, ball, **options)
    assert sentence in str(refused.value)


class Winch(qp.Controller):
    """Winds a string up by 0.2 m/s."""

    def command(self, t: float, measured: object, memory: object) -> dict[str, float]:
        return {"s.rest_length": 1.0 - 0.2 * t}


def test_a_controller_winds_it_up() -> None:
    """Step by step: what hangs on it rises, and the ledger closes."""
    system = bob(0.02, damping=20.0)
    winch = Winch("winch", period=0.05, reads=["ball.position"], drives=["s.rest_length"])
    run = system.with_(winch).simulate(1.0, **TIGHT)
    assert run["ball"].position[-1, 2] > -0.9
    assert np.ptp(run.energy + run.dissipated - run.work) <= 1e-9 * abs(run.energy).max()


# --- on one side of a kink ------------------------------------------------------------------------
@pytest.mark.parametrize("stretch", [1e-3, 1e-7, 1e-9, -1e-9, -1e-7, -1e-3])
@pytest.mark.parametrize("over", [False, True])
def test_a_linear_model_is_that_of_the_side_it_is_on(stretch: float, over: bool) -> None:
    """However near to where the string becomes slack: k and c where it is taut, nothing where it is
    slack; and the same for the answer to its rest length, also where that was left to its
    default."""
    held = qp.Body.sphere("held", 0.1, 1.0, fixed=True)
    hung = qp.Body.sphere("hung", 0.1, 0.5, position=(0, 0, -1))
    way = [qp.GROUND.site("pulley", at=(0, 0, -0.5))] if over else []
    string = qp.String("s", held, hung, stiffness=800.0, damping=3.0, over=way,
                       rest_length=1.0 - stretch)  # fmt: skip
    slide = qp.Prismatic("slide", held, hung, at=(0, 0, -1), axis=(0, 0, 1))
    system = qp.Multibody(held, hung, string, slide)
    if stretch < 0.0:
        with pytest.warns(qp.PartWarning, match="'s.rest_length' changes nothing here"):
            model = system.linearize(inputs=["s.rest_length"], outputs=["hung.position"])
    else:
        model = system.linearize(inputs=["s.rest_length"], outputs=["hung.position"])
    k, c = (1600.0, 6.0) if stretch > 0.0 else (0.0, 0.0)
    np.testing.assert_allclose(model.A, [[0, 1], [-k, -c]], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.C[2, 0] * model.B[1, 0], -k, rtol=1e-6)


def test_a_rest_length_left_to_its_default_is_an_input_and_a_drive() -> None:
    held = qp.Body.sphere("held", 0.1, 1.0, fixed=True)
    hung = qp.Body.sphere("hung", 0.1, 0.5, position=(0, 0, -1))
    for string in (
        qp.String("s", held, hung, stiffness=800.0, damping=9.0),
        qp.Spring("s", held, hung, stiffness=800.0, damping=9.0),
    ):
        assert string.value_of("rest_length") == 1.0
        slide = qp.Prismatic("slide", held, hung, at=(0, 0, -1), axis=(0, 0, 1))
        system = qp.Multibody(held, hung, string, slide, qp.Gravity((0, 0, -9.81)))
        rest = system.settle().state
        model = system.linearize(rest, inputs=["s.rest_length"], outputs=["hung.position"])
        gain = model.C @ np.linalg.lstsq(-model.A, model.B, rcond=1e-12)[0]
        np.testing.assert_allclose(gain[2, 0], -1.0, rtol=1e-6)  # it hangs lower by as much

    class Winch(qp.Controller):
        def command(self, t: float, measured: dict, memory: dict) -> dict:
            return {"s.rest_length": 0.99 - t}

    winch = Winch("winch", period=0.1, drives=["s.rest_length"], hold="first")
    hauled = qp.Multibody(held, hung, qp.String("s", held, hung, stiffness=800.0), winch)
    assert hauled.simulate(0.3).final["hung"].position[2] > -0.9
    with pytest.raises(qp.PartError, match=r"returned -0.\d+ for 's.rest_length', .* not be nega"):
        hauled.simulate(1.5)


# --- what is no string ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    "falling",
    [
        qp.Schedule((0, 1), (1.0, -0.1), "linear"), qp.Sine(1.0, 2.0, 0.0, 0.5),
        qp.Ramp(-0.4, 1.0), qp.Ramp(-0.4, 1.0) + qp.Sine(0.01, 3.0),
    ],
    ids=["schedule", "sine", "ramp", "sum"],
)  # fmt: skip
@pytest.mark.parametrize("field", ["rest_length", "stiffness"])
def test_no_strength_falls_below_zero_without_a_word(falling: object, field: str) -> None:
    """Where the definition shows it when the part is made, else before the run that it concerns."""
    ball = qp.Body.sphere("ball", 0.1, 1.0, position=(0, 0, -1))
    given = {"stiffness": 100.0, "rest_length": 1.0, field: falling}
    for kind in (qp.String, qp.Spring):
        with pytest.raises(
            qp.PartError, match=rf"{kind.__name__} 's': {field} falls to -.*must be"
        ):
            qp.Multibody(ball, kind("s", qp.GROUND, ball, **given)).simulate(4.0)
    if isinstance(falling, qp.Ramp):
        qp.Multibody(ball, qp.String("s", qp.GROUND, ball, **given)).simulate(0.1)


def test_no_string_joins_one_point_to_itself() -> None:
    ball = qp.Body.sphere("ball", 0.1, 1.0)
    top = ball.site("top", at=(0, 0, 0.1))
    for ends in ((ball, ball), (top, top), (top, ball.site("same", at=(0, 0, 0.1)))):
        for make in (qp.String, qp.Spring):
            with pytest.raises(qp.PartError, match="both its ends are one point of 'ball'"):
                make("s", *ends, stiffness=1.0)
        with pytest.raises(qp.PartError, match="both its ends are one point of 'ball'"):
            qp.Damper("s", *ends, damping=1.0)
    qp.String("s", top, top, stiffness=1.0, over=[qp.GROUND.site("ring", at=(0, 0, 1))])

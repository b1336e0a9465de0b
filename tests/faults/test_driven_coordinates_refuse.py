"""Functions of time, laws of coordinates and names of measures that cannot be are refused in one
sentence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.faults.sentence import case, check_refused, check_sentence

HUB = qp.Body.box("hub", (0.1, 0.1, 0.1), 1.0, fixed=True)
ARM = qp.Body.box("arm", (0.1, 0.1, 0.1), 1.0, position=(0.1, 0.0, 0.0))
HINGE = qp.Revolute("hinge", HUB, ARM, at=(0.05, -0.05, 0), axis=(0, 0, 1))
HELD = qp.Schedule((0.0, 1.0), (0.0, 1.0))
TAPE: Any = dict(stiffness=1.0, peak=0.2, plateau=0.1)


class Backwards(qp.CompiledJointLaw):
    """A law whose energy has the wrong sign."""

    stiffness: float

    @staticmethod
    def load(x: float, stiffness: float) -> float:
        return -stiffness * x

    @staticmethod
    def energy(x: float, stiffness: float) -> float:
        return -0.5 * stiffness * x * x


class Late(qp.CompiledFunction):
    """A function that states a wrong rate."""

    growth: float

    @staticmethod
    def value(t: float, growth: float) -> float:
        return growth * t * t

    @staticmethod
    def rate(t: float, growth: float) -> float:
        return growth * t


class Bare(qp.CompiledFunction):
    """A function that states no rate."""

    growth: float

    @staticmethod
    def value(t: float, growth: float) -> float:
        return growth * t


class Wordy(qp.CompiledJointLaw):
    """A law that returns a text."""

    @staticmethod
    def load(x: float) -> Any:
        return "much"


def system() -> qp.Multibody:
    return qp.Multibody(HUB, ARM, HINGE)


REFUSED: list[Any] = [
    case(lambda: qp.HingeSpring("s", HINGE, stiffness=1.0, rest_angle=2.0 * Bare(1.0)),
         "HingeSpring 's'", "rest_angle states no rate", "define rate", id="a rest without a rate"),
    case(lambda: qp.HingeSpring("s", HINGE, stiffness=-1.0), "HingeSpring 's'",
         "stiffness is -1.0", id="negative stiffness"),
    case(lambda: qp.Spring("s", HUB, ARM, stiffness=qp.Sine((1.0, 0.0, 0.0), 1.0)), "Spring 's'",
         "Sine of vectors", id="a vector for a stiffness"),
    case(lambda: qp.Load("l", ARM, force=qp.Sine(1.0, 1.0)), "Load 'l'", "plain numbers",
         id="a number for a vector"),
    case(lambda: qp.Prescribed("d", HINGE, qp.Ramp(1.0) * HELD), "Prescribed 'd'", "smooth",
         id="a drive that jumps"),
    case(lambda: qp.Prescribed("d", HINGE, Late(0.0)), "Prescribed 'd'", "smooth",
         id="a drive without an acceleration"),
    case(lambda: Late(1.0), "Late", "differences of value give", id="a wrong rate"),
    case(lambda: Backwards("law", HINGE, 2.0), "Backwards 'law'", "disagree", "leave energy out",
         id="a wrong energy"),
    case(lambda: qp.JointLaw("law", HINGE), "JointLaw 'law'", "a base", id="a bare law"),
    case(lambda: qp.Multibody(HUB, ARM, HINGE, Wordy("law", HINGE)).acceleration(),
         "Wordy 'law'", "must return one number", id="a law that gives no number"),
    case(lambda: qp.Servo("m", HINGE, target=0.1, stiffness=1.0, limit=0.0), "Servo 'm'",
         "limit is 0.0", id="a limit of nothing"),
    case(lambda: qp.TapeSpring("t", HINGE, **{**TAPE, "plateau": 0.3}), "TapeSpring 't'",
         "plateau of 0.3", "above its peak", id="a plateau above the peak"),
    case(lambda: qp.TapeSpring("t", HINGE, **{**TAPE, "peak": (0.1, 0.2, 0.3)}), "TapeSpring 't'",
         "peak has shape (3,)", id="three peaks"),
    case(lambda: qp.Sum((qp.Ramp(1.0), qp.Ramp((1.0, 0.0, 0.0)))), "Sum", "add one kind",
         id="a number and a vector"),
    case(lambda: qp.Ramp((1.0, 0, 0)) * qp.Ramp((1.0, 0, 0)), "Product", "more than one",
         id="two vectors"),
    case(lambda: (qp.Ramp(1.0) + 1.0) * 1.0 * _long() * _long(), "Product", "at most",
         id="more products than anybody means"),
    case(lambda: system().simulate(0.1).measure("hinge.agnle"), "measure", "'hinge.angle'",
         id="a name with a slip"),
    case(lambda: system().simulate(0.1).table("hinge.angle"), "table", "['hinge.angle']",
         id="a bare name"),
    case(lambda: system().simulate(0.1).group("hub"), "group", "'hub'", "arm", id="a fixed body"),
    case(lambda: system().simulate(0.1, stop=[qp.When.above("arm.position", 1.0)]),
         "Threshold 'arm.position above 1'", "'arm.position.x'", id="a vector as an event"),
    case(lambda: system().simulate(0.1, stop=[qp.When.below("arn.position.x", 1.0)]),
         "Threshold", "'arm.position.x'", id="an event of nobody"),
    case(lambda: system().linearize(outputs=["hinge.load"]), "linearize", "to loads at once",
         id="a reaction as an output"),
    case(lambda: system().simulate(0.1).save("run.npz", names=["hinge.angle"]), "save", ".csv",
         id="names for an archive"),
]  # fmt: skip


def _long() -> qp.TimeFunction:
    """A sum of nine."""
    return qp.Sum(tuple(qp.Ramp(float(k)) for k in range(9)))


@pytest.mark.parametrize(("make", "name", "words"), REFUSED)
def test_refused_in_one_sentence(make: Any, name: str, words: tuple[str, ...]) -> None:
    check_refused(make, name, words)


def test_classes_say_what_is_missing() -> None:
    with pytest.raises(TypeError, match="defines load"):
        type("Empty", (qp.JointLaw,), {})
    with pytest.raises(TypeError, match="asks for 'speed', which is neither t, x, rate"):
        type("Odd", (qp.JointLaw,), {"load": staticmethod(lambda x, speed: 0.0)})
    with pytest.raises(TypeError, match="defines value"):
        type("Nothing", (qp.CompiledFunction,), {})


def test_pandas_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    run = system().simulate(0.1)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(qp.PartError, match=r"pip install 'quirkpy\[tables\]'"):
        run.table(["hinge.angle"], frame=True)


def test_a_frame_has_a_column_for_each_number(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    import types

    fake = types.ModuleType("pandas")
    fake.DataFrame = dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", fake)
    frame = system().simulate(0.1).table(["hinge.angle", "arm.velocity"], frame=True)
    assert list(frame) == [
        "t", "hinge.angle", "arm.velocity.x", "arm.velocity.y", "arm.velocity.z",
    ]  # fmt: skip
    assert np.ndim(frame["arm.velocity.x"]) == 1


class Root(qp.CompiledFunction):
    """A function that is none beyond its end."""

    end: float

    @staticmethod
    def value(t: float, end: float) -> float:
        return math.sqrt(end - t)


@pytest.mark.parametrize("factor", [(0.0, 1.0, 0.0), qp.Sine((0.0, 1.0, 0.0), rate=2.0)])
@pytest.mark.parametrize("end", [-1.0, 0.5])
def test_a_function_of_time_that_ends_is_named(factor: Any, end: float) -> None:
    """At the start, or on the way; whoever it acts through."""
    arm = qp.Body.box("arm", (0.1, 0.1, 0.1), 1.0)
    sweep = qp.Load("sweep", arm, force=Root(end) * factor)
    with pytest.raises(qp.PartError, match="Root gives no number at t = ") as caught:
        qp.Multibody(arm, sweep).simulate(1.0)
    check_sentence(str(caught.value), "sweep", (f"{max(0.0, end):g}",))
    if end > 0.0:
        assert caught.value.trajectory.t[-1] == pytest.approx(end, abs=1e-6)

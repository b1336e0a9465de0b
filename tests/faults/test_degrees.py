"""Angles in degrees, and periods for rates, do not pass in silence; turns in radians do."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import math
import re
import warnings
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest

import quirkpy as qp
from tests.contracts.catalogue import PARTS
from tests.faults.sentence import check_refused, check_sentence
from tests.studies import changed, far_pair

HUB = qp.Body.box("hub", (0.1, 0.1, 0.1), mass=1.0, fixed=True)
ARM = qp.Body.box("arm", (0.1, 0.1, 0.1), mass=1.0, position=(0.1, 0.0, 0.0))
HINGE = qp.Revolute("hinge", HUB, ARM, at=(0.05, -0.05, 0.0), axis=(0.0, 0.0, 1.0))
RAIL = qp.Prismatic("rail", HUB, ARM, at=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0))
SLEEVE = qp.Cylindrical("sleeve", HUB, ARM, at=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0))
SITE = ARM.site("eye", z=(1.0, 0.0, 0.0))
TAPE = qp.TapeSpring("tape", HINGE, stiffness=1.0, peak=0.1, plateau=0.05)

#: What is written with an angle; as it would be with some degrees, there is a warning.
WARNED: dict[str, Callable[[float], Any]] = {
    "lower": lambda x: qp.JointStop("stop", HINGE, lower=-abs(x)),
    "upper": lambda x: qp.JointStop("stop", HINGE, lower=0.0, upper=abs(x)),
    "rest_angle": lambda x: qp.HingeSpring("spring", HINGE, stiffness=1.0, rest_angle=x),
    "rest": lambda x: qp.JointSpring("spring", HINGE, stiffness=1.0, rest=x),
    "SprungHinges.rest": lambda x: qp.SprungHinges(1.0, rest=x),
    "schedule": lambda x: qp.Prescribed(
        "drive", HINGE, qp.Schedule((0.0, 1.0, 2.0), (0.0, x, 0.0), "smooth")
    ),
    "motion": lambda x: qp.Prescribed("drive", HINGE, lambda t: (x + t, 1.0, 0.0)),
    "offset": lambda x: qp.Gear(
        "gear", SLEEVE, HINGE, ratio=1.0, first_coordinate="travel", offset=x
    ),
    "angle": lambda x: qp.rotation((0.0, 0.0, 1.0), x),
    "TapeSpring.moment.angle": lambda x: TAPE.moment(x),
    "TapeSpring.energy.angle": lambda x: TAPE.energy(x),
}


@pytest.mark.parametrize("what", WARNED)
@pytest.mark.parametrize(
    "degrees",
    [10.0, 20, 22.5, 30.0, 36.0, 45.0, 67.5, 72.0, 90, 108.0, 120.0, 144.0, 180.0, 270.0, 360.0],
)
def test_degrees_are_warned_of_at_the_line_that_has_them(what: str, degrees: float) -> None:
    with pytest.warns(qp.PartWarning, match="radians") as told:
        WARNED[what](degrees)
    assert len(told) == 1
    assert told[0].filename == __file__
    said = f"{degrees:g} degrees are {math.radians(degrees):.3g}"
    check_sentence(
        str(told[0].message).replace("-", ""),
        what.split(".")[-1],
        ("is an angle in radians", said, f"qp.deg * {degrees:g}"),
    )


#: Stops and rests are written once, and seldom beyond a turn; the others may be computed.
WRITTEN = ("lower", "upper", "rest_angle", "rest", "SprungHinges.rest")


@pytest.mark.parametrize("what", WRITTEN)
@pytest.mark.parametrize(
    "degrees", [7, 8.5, 33.0, 47, 51.3, 54.7356, 89.9, 91, 109.47122063449069, 359.0, 1e4 + 1.0]
)
def test_stops_and_rests_beyond_a_turn_are_warned_of_round_or_not(
    what: str, degrees: float
) -> None:
    for sense in (1.0,) if what in ("lower", "upper") else (1.0, -1.0):
        with pytest.warns(qp.PartWarning, match="an angle in radians") as told:
            WARNED[what](sense * degrees)
        assert len(told) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            WARNED[what](sense * degrees * qp.deg)


@pytest.mark.parametrize("what", WARNED)
def test_turns_are_not(what: str) -> None:
    """Up to a hundred of them, quarters and thirds too; nor anything up to a whole one."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(1, 1201):
            WARNED[what](k * math.pi / 6.0)
            WARNED[what](k * (math.pi / 4.0))
            WARNED[what](math.radians(5.0 * k))
            WARNED[what](qp.deg * 7.21 * k)
        for x in (5.0, 6.0, 6.28, 0.5, -1.0, 3.5 * math.pi, qp.deg * 20.0 + 4.0 * math.pi):
            WARNED[what](x)
        for x in () if what in WRITTEN else (1.0 + 4.0 * math.pi, 7.3, 100.3):
            WARNED[what](x)


def test_levels_of_angles_are_warned_of() -> None:
    """Where the run begins, which knows what is measured."""
    degrees, turns = qp.When.above("hinge.angle", 90.0), qp.When.above("hinge.angle", 7.0 * math.pi)
    with pytest.warns(qp.PartWarning, match="hinge.angle above 90': level is 90, which"):
        turning().simulate(1e-3, stop=[degrees])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        turning().simulate(1e-3, stop=[turns, qp.When.above("hinge.rate", 90.0)])
        qp.Multibody(HUB, ARM, RAIL).simulate(1e-3, stop=[qp.When.above("rail.travel", 90.0)])


def test_a_spread_in_degrees_is_warned_of() -> None:
    """Of bodies beside each other; of bodies far apart it may be meant in metres."""
    with pytest.warns(qp.PartWarning, match="equilibria: spread is 90, which is an angle in"):
        turning().equilibria(seeds=1, spread=90.0)
    away = qp.Body.sphere("away", 0.1, mass=1.0, position=(40.0, 0.0, 0.0))
    string = qp.Spring("string", ARM, away, stiffness=1.0, rest_length=40.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        turning().equilibria(seeds=1, spread=2.0 * math.pi)
        qp.Multibody(HUB, ARM, away, HINGE, string).equilibria(seeds=1, spread=90.0)


def test_lengths_are_no_angles() -> None:
    qp.JointStop("stop", RAIL, lower=-20.0, upper=90.0)
    qp.JointSpring("spring", RAIL, stiffness=1.0, rest=20.0)
    qp.Prescribed("drive", RAIL, qp.Schedule((0.0, 1.0), (0.0, 90.0), "smooth"))
    qp.Gear("gear", HINGE, RAIL, ratio=1.0, offset=90.0)


# --- every class ----------------------------------------------------------------------------------
#: What studies are made of, beside the parts of systems.
STUDIES = (
    qp.Hinge(1),
    qp.KeepOut(SITE, half_angle=0.5),
    qp.SameShape(),
    qp.Lock(),
    qp.SettleRule(),
)
#: Examples whose coordinate is an angle.
TURNING = (
    qp.JointSpring("spring", HINGE, stiffness=1.0),
    qp.JointStop("stop", HINGE, lower=0.0, upper=1.0),
    qp.Gear("gear", SLEEVE, HINGE, ratio=1.0, first_coordinate="travel"),
)


def angles_of(part: qp.Part) -> list[str]:
    """Parameters that the docstring of its class gives in radians."""
    return angles_said(type(part), [field.name for field in dataclasses.fields(part)])


def angles_said(of: Any, names: Collection[str]) -> list[str]:
    """Which of some names a docstring gives in radians: the name stands before the unit, after no
    other unit."""
    said = " ".join((inspect.getdoc(of) or "").split())
    before = re.findall(r"([^\[\].;]*)(?:\[[^\]]*\] (?:or|and) )?\[(?:m or )?rad\]", said)
    found = [[name for name in re.findall(r"\w+", words) if name in names] for words in before]
    return [words[-1] for words in found if words]


WALKED = [(part, name) for part in (*TURNING, *PARTS, *STUDIES) for name in angles_of(part)]


def test_every_angle_of_every_class_is_found() -> None:
    assert {(type(part).__name__, name) for part, name in WALKED} == {
        ("HingeSpring", "rest_angle"),
        ("JointSpring", "rest"),
        ("SprungHinges", "rest"),
        ("JointStop", "lower"),
        ("JointStop", "upper"),
        ("Latch", "at"),
        ("Gear", "offset"),
        ("Prescribed", "motion"),
        ("Sensor", "alignment"),
        ("Sensor", "roll"),
        ("Hinge", "opens"),
        ("KeepOut", "half_angle"),
        ("SameShape", "tolerance"),
        ("Servo", "target"),
        ("TapeSpring", "straight"),
        ("TapeSpring", "snap"),
        ("Sine", "phase"),
        ("Switch", "reach"),
        ("Switch", "nudge"),
    }


@pytest.mark.parametrize("name", sorted({name for _, name in WALKED}))
def test_ninety_is_no_angle_anywhere(name: str) -> None:
    """For every class that has a parameter of this name, in radians by its docstring."""
    classes = {type(part) for part, named in WALKED if named == name}
    for cls in classes:
        part = next(part for part, _ in WALKED if type(part) is cls)
        value = -90.0 if name == "lower" else 90.0
        given: Any = qp.Schedule((0.0, 1.0), (0.0, value), "smooth") if name == "motion" else value
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(
                (qp.PartWarning, qp.PartError), match=r"90, which is an angle in radians"
            ):
                dataclasses.replace(part, **{name: given})


REFUSED: dict[str, tuple[Callable[[float], Any], float]] = {
    "half_angle": (lambda x: qp.KeepOut(SITE, half_angle=x), math.pi),
    "alignment": (lambda x: qp.Sensor("s", SITE, alignment=x), math.pi),
    "roll": (lambda x: qp.Sensor("s", SITE, roll=x), 2.0 * math.pi),
    "opens": (lambda x: qp.Hinge(1, opens=x), 2.0 * math.pi),
    "tolerance": (lambda x: qp.SameShape(tolerance=x), math.pi),
    "nudge": (lambda x: turning().settle(nudge=x), math.pi),
    "start": (lambda x: qp.Spread(start=x), math.pi),
    "hinge": (lambda x: qp.Spread(hinge=x), math.pi),
    "reach": (lambda x: qp.Switch(1.0, joints=(), reach=x), math.pi),
    "subtended": (
        lambda x: qp.TapeSpring.steady_moments(1e11, 0.3, 1e-4, subtended=x),
        2.0 * math.pi,
    ),
    "Study: nudge": (lambda x: study(nudge=x), math.pi),
    "Study: disturbance": (lambda x: study(disturbance=x), math.pi),
}


#: Where public functions take an angle, by its docstring: the case above or below, or the test,
#: that holds it.
ARGUMENTS = {
    ("Multibody.equilibria", "spread"): "test_a_spread_in_degrees_is_warned_of",
    ("Multibody.settle", "nudge"): "nudge",
    ("Multibody.pose", "coordinates"): "test_angles_of_a_state_are_warned_of",
    ("ReconfigurationGraph.robustness", "within"): "test_what_is_beside_a_node_is_no_angle",
    ("State.next_to", "angles"): "test_angles_of_a_state_are_warned_of",
    ("TapeSpring.moment", "angle"): "TapeSpring.moment.angle",
    ("TapeSpring.energy", "angle"): "TapeSpring.energy.angle",
    ("TapeSpring.steady_moments", "subtended"): "subtended",
    ("Study", "nudge"): "Study: nudge",
    ("Study", "disturbance"): "Study: disturbance",
    ("Spread", "start"): "start",
    ("rotation", "angle"): "angle",
}
#: What the package answers, and what is no number.
NO_ARGUMENTS = {
    ("JointState", "angle"),
    ("Outcome", "nudge"),
    ("SensorState", "misalignment"),
    ("JointLaw", "coordinate"),
}


def public_callables() -> Iterator[Any]:
    """Functions and classes of the package, and methods of these."""
    for name in (name for name in dir(qp) if not name.startswith("_")):
        one = getattr(qp, name)
        if callable(one) and (getattr(one, "__module__", None) or "").startswith("quirkpy"):
            yield one
            methods = inspect.getmembers(one, inspect.isroutine) if inspect.isclass(one) else ()
            yield from (made for method, made in methods if not method.startswith("_"))


def test_every_angle_that_a_function_takes_is_held() -> None:
    """A new argument in radians needs a case here."""
    found = set()
    for made in public_callables():
        with contextlib.suppress(ValueError, TypeError):  # of C, without a signature
            names = inspect.signature(made).parameters
            found |= {(made.__qualname__, told) for told in angles_said(made, names)}
    of_parts = {(type(part).__name__, told) for part, told in WALKED}
    assert found - of_parts == {*ARGUMENTS, *NO_ARGUMENTS}
    assert all(case in {*WARNED, *REFUSED, *globals()} for case in ARGUMENTS.values())


def test_what_is_beside_a_node_is_no_angle() -> None:
    graph = far_pair().explore(budget=2)
    edge = next(graph.moves())
    for ask in (graph.robustness, graph.margins):
        words = "within is 20, which is an angle in radians", "20 degrees are 0.349"
        check_refused(lambda ask=ask: ask(edge, within=20.0), "robustness or margins", words)


def turning() -> qp.Multibody:
    """An arm on a hinge that a spring holds."""
    spring = qp.HingeSpring("spring", HINGE, stiffness=1.0, damping=0.1)
    return qp.Multibody(HUB, ARM, HINGE, spring)


def study(**options: Any) -> qp.Study:
    """Two cubes that may meet."""
    return changed(far_pair(), **options)


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_radians_is_refused(what: str) -> None:
    make, most = REFUSED[what]
    make(most)
    words = what, "is 20, which is an angle in radians", "20 degrees are 0.349", "qp.deg * 20"
    check_refused(lambda: make(20.0), "", words)
    make(qp.deg * 20.0)


@pytest.mark.parametrize("degrees", [54.7, 179.0, 44.0])
def test_what_cannot_turn_so_far_is_refused_though_it_is_no_round_number(degrees: float) -> None:
    for make, _ in REFUSED.values():
        with pytest.raises(qp.PartError, match="angle in radians"):
            make(degrees)


def test_no_displacement_is_one_and_of_either_sense() -> None:
    assert turning().settle(nudge=0.0).verdict == turning().settle(nudge=-1e-3).verdict == "stable"
    assert qp.Spread(start=0.0, hinge=0.0).start == study(nudge=0.0).nudge == 0.0


@pytest.mark.parametrize("off", [1e-10, -1e-10, 1e-13])
def test_degrees_with_rounding_are_degrees(off: float) -> None:
    with pytest.warns(qp.PartWarning, match="90 degrees are 1.57"):
        WARNED["angle"](90.0 * (1.0 + off))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WARNED["angle"](90.0 * (1.0 + 1e-6 * math.copysign(1.0, off)))


def test_angles_of_a_state_are_warned_of() -> None:
    start = turning().initial
    with pytest.warns(qp.PartWarning, match="with_angles: an angle is 90, which is an angle in"):
        start.with_angles([90.0])
    assert start.with_angles([qp.deg * 720.0])["hinge"].angle == pytest.approx(4.0 * math.pi)
    with pytest.warns(qp.PartWarning, match="pose: coordinate '.*' is 90, which is an angle in"):
        turning().pose({HINGE.name: 90.0})
    check_refused(lambda: start.with_angles([math.nan]), "with_angles", ("finite",))
    check_refused(lambda: start.with_angles([1.0, 2.0]), "with_angles", ("shape (2,)",))


@pytest.mark.parametrize("ends", [1.0, 10.0, 60.0, 500.0])
def test_functions_that_come_to_degrees_are_warned_of_as_schedules_are(ends: float) -> None:
    """Whenever they stay there; what only passes by, or fails at times of no run, is let be."""
    degrees = qp.Schedule((0.0, ends), (0.0, 90.0), "smooth")
    turns = qp.Schedule((0.0, ends), (0.0, 6.0 * math.pi), "smooth")
    with pytest.warns(qp.PartWarning, match="drive.*stays is 90, which is an angle in radians"):
        qp.Prescribed("drive", HINGE, lambda t: degrees.motion(t))

    def short(t: float) -> tuple[float, float, float]:
        if t > ends:
            raise ValueError("too late")
        return degrees.motion(t)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for motion in (turns.motion, short, lambda t: (0.5 * t, 0.5, 0.0)):
            qp.Prescribed("drive", HINGE, motion)
        qp.Prescribed("drive", RAIL, lambda t: degrees.motion(t))


def test_a_document_is_not_warned_of_again() -> None:
    """Where its parts were; a document that somebody else wrote is."""
    with pytest.warns(qp.PartWarning) as told:
        spring = qp.HingeSpring("sluggish", HINGE, stiffness=1.0, rest_angle=75.0)
    assert len(told) == 1
    text = qp.to_json(qp.Multibody(HUB, ARM, HINGE, spring))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        qp.from_json(text)
    with pytest.warns(qp.PartWarning, match="'sluggish': rest_angle is 85"):
        qp.from_json(text.replace("75.0", "85.0"))


def test_a_period_is_no_rate() -> None:
    words = (
        "rate is 5700",
        "radians per second",
        "an orbit of 5700 s has the rate 2 pi / 5700 = 0.0011",
    )
    check_refused(lambda: qp.HillFrame(5700), "'hill frame'", words)
    qp.HillFrame(2.0 * math.pi / 5700.0)


@pytest.mark.parametrize("rate", [0.2, 4.0])
def test_a_rate_that_no_orbit_has_is_warned_of(rate: float) -> None:
    with pytest.warns(
        qp.PartWarning, match=f"'hill frame': rate of an orbit is {rate:g} rad/s, one turn in"
    ):
        qp.HillFrame(rate)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        qp.HillFrame(0.1)


def test_a_degree() -> None:
    assert qp.deg * 180.0 == math.pi

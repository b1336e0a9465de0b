"""Controllers that cannot be, and commands that are none, are refused in one sentence; what was
flown until then is kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.faults.sentence import case, check_refused, check_sentence

BUS = qp.Body.box("bus", (0.2,) * 3, 4.0)
ARM = qp.Body.box("arm", (0.1,) * 3, 1.0, position=(0.2, 0.0, 0.0))
HINGE = qp.Revolute("hinge", BUS, ARM, at=(0.1, 0, 0), axis=(0, 0, 1))
MOTOR = qp.Motor("motor", HINGE)
WHEEL = qp.ReactionWheel("wheel", BUS.site("wheel"), (0.0, 0.0, 0.0))
PUSH = qp.Load("push", ARM)
LED = qp.Load("led", ARM, force=qp.Schedule((0.0, 1.0), [(0.0,) * 3] * 2))
SERVO = qp.Servo("servo", HINGE, target=0.0, stiffness=0.0)
PARTS = BUS, ARM, HINGE, MOTOR, WHEEL, PUSH, LED, SERVO


class Says(qp.Controller):
    """Whatever it is told to say."""

    said: Any = 0.0

    def command(self, t: float, measured: dict[str, Any], memory: dict[str, Any]) -> Any:
        return {"motor.torque": self.said} if t < 0.25 else self.later()

    def later(self) -> Any:
        return {"motor.torque": self.said}


def says(later: Callable[[], Any]) -> qp.Multibody:
    """A system whose controller says something else from the third sample on."""

    class Later(Says):
        def later(self) -> Any:
            return later()

    return qp.Multibody(*PARTS, Later("pd", period=0.1, drives=["motor.torque"]))


def compiled(said: Callable[..., Any], **options: Any) -> qp.Multibody:
    """A system whose controller is compiled."""

    class Static(qp.Controller):
        command = staticmethod(said)  # type: ignore[assignment]

    pd = Static("pd", period=0.1, drives=["motor.torque"], compiled=True, **options)
    return qp.Multibody(*PARTS, pd)


def system(*drives: str, **options: Any) -> qp.Multibody:
    return qp.Multibody(
        *PARTS, Says("pd", period=0.1, drives=drives or ["motor.torque"], **options)
    )


@pytest.mark.parametrize(
    ("make", "name", "words"),
    [
        case(
            lambda: Says("pd", period=0.0, drives=["a.b"]),
            "Says 'pd'",
            "period",
            "positive",
            id="period",
        ),
        case(
            lambda: Says("pd", period=0.1, drives=[]), "Says 'pd'", "wheel.torque", id="no drives"
        ),
        case(
            lambda: Says("pd", period=0.1, drives=["motor"]),
            "Says 'pd'",
            "'motor'",
            "field",
            id="a force without its field",
        ),
        case(lambda: Says("pd", period=0.1, drives="a.b"), "Says 'pd'", "['a.b']", id="a text"),
        case(
            lambda: Says("pd", period=0.1, drives=["a.b", "a.b"]), "Says 'pd'", "twice", id="twice"
        ),
        case(
            lambda: Says("pd", period=0.1, drives=["a.b"], hold="second"),
            "Says 'pd'",
            "'first'",
            id="hold",
        ),
        case(
            lambda: Says("pd", period=0.1, drives=["a.b"], limit={"c.d": 1.0}),
            "Says 'pd'",
            "'c.d'",
            "a.b",
            id="limit",
        ),
        case(
            lambda: Says("pd", period=0.1, drives=["a.b"], noise={"x": 1.0}),
            "Says 'pd'",
            "'x'",
            "none",
            id="noise",
        ),
        case(
            lambda: Says("pd", period=0.1, drives=["a.b"], noise=3.0),
            "Says 'pd'",
            "by name",
            id="noise of all",
        ),
        case(
            lambda: system("mottor.torque"),
            "Says 'pd'",
            "mottor.torque",
            "led, motor, push",
            id="no such force",
        ),
        case(
            lambda: system("motor.force"),
            "Says 'pd'",
            "motor.force",
            "'motor.torque'",
            id="a force along an angle",
        ),
        case(
            lambda: system("motor.speed"),
            "Says 'pd'",
            "motor.speed",
            "'motor.torque'",
            id="no such field",
        ),
        case(
            lambda: system("push.at"),
            "Says 'pd'",
            "push.at",
            "'push.force', 'push.torque'",
            id="no function of time",
        ),
        case(lambda: system("hinge.torque"), "Says 'pd'", "qp.Motor('motor', hinge)", id="a joint"),
        case(
            lambda: system("wheel.momentum"),
            "Says 'pd'",
            "must not jump",
            "hold='first'",
            id="a jump of momentum",
        ),
        case(
            lambda: system("wheel.torque", hold="first"),
            "Says 'pd'",
            "hold='zero'",
            id="a ramp of torque",
        ),
        case(
            lambda: system("led.force"),
            "Says 'pd'",
            "led.force",
            "function of time",
            id="a schedule",
        ),
        case(
            lambda: system(reads=["hinge.angel"]),
            "Says 'pd'",
            "hinge.angel",
            "'hinge.angle'",
            id="no such measure",
        ),
        case(
            lambda: system(reads=["arm.orientation"], quantum={"arm.orientation": 0.1}),
            "Says 'pd'",
            "quantum",
            id="a quantum of a turn",
        ),
        case(
            lambda: qp.Multibody(
                *PARTS, *(Says(n, period=0.1, drives=["push.force"]) for n in "ab")
            ),
            "Says 'b'",
            "'a push.force'",
            id="two of one drive",
        ),
        case(
            lambda: qp.Multibody(
                *PARTS, candidates=[Says("pd", period=0.1, drives=["push.force"])]
            ),
            "Says 'pd'",
            "candidates",
            id="a candidate",
        ),
        case(
            lambda: system("wheel.torque").with_(qp.HillFrame(1e-3)),
            "Says 'pd'",
            "wheel.torque",
            "HillFrame",
            id="a wheel in a turning frame",
        ),
        case(lambda: system().settle(), "Says 'pd'", "settle", "constant=True", id="settle"),
        case(
            lambda: system().equilibria(),
            "Says 'pd'",
            "equilibria",
            "constant=True",
            id="equilibria",
        ),
        case(
            lambda: system().linearize(), "Says 'pd'", "linearize", "constant=True", id="linearize"
        ),
        case(
            lambda: qp.continue_equilibrium(lambda p: system(), system().initial, (0.0, 1.0)),
            "Says 'pd'",
            "continue_equilibrium",
            id="continuation",
        ),
        case(
            lambda: system().simulate_many([system().initial], duration=1.0),
            "Says 'pd'",
            "simulate_many",
            "compiled=True",
            id="simulate many",
        ),
        case(
            lambda: Says("pd", period=0.1, drives=["push.force"], compiled=True),
            "Says 'pd'",
            "@staticmethod",
            id="a compiled method",
        ),
        case(
            lambda: Says("pd", period=0.1, drives=["push.force"], memory=(0.0,)),
            "Says 'pd'",
            "memory",
            "compiled=True",
            id="memory in Python",
        ),
        case(
            lambda: compiled(lambda t, gain: gain),
            "Static 'pd'",
            "'gain'",
            "measured",
            id="what no compiled command is given",
        ),
        case(
            lambda: compiled(lambda t: (1.0, 2.0)).simulate(1.0),
            "Static 'pd'",
            "1 numbers of 'motor.torque'",
            id="two numbers for one",
        ),
        case(
            lambda: compiled(lambda t: np.array([t, 2.0])).simulate(1.0),
            "Static 'pd'",
            "returned 2 numbers",
            id="an array that is too long",
        ),
        case(
            lambda: compiled(lambda t: "full").simulate(1.0),
            "Static 'pd'",
            "command must return",
            id="a compiled text",
        ),
        case(
            lambda: compiled(lambda t: math.sqrt(0.25 - t) if t < 0.25 else math.nan).simulate(1.0),
            "Static 'pd'",
            "t = 0.3 s",
            "nan",
            "finite",
            id="a compiled nan",
        ),
        case(
            lambda: compiled(lambda measured: measured[0], reads=["energy"]).simulate(1.0),
            "Static 'pd'",
            "'energy'",
            "Python",
            id="what only Python measures",
        ),
        case(lambda: qp.Study(system(), sensors=[], options={}), "Says 'pd'", "study", id="study"),
        case(
            lambda: system().simulate(1.0, state=system().initial.replace(t=1e10)),
            "Says 'pd'",
            "too short",
            id="late",
        ),
    ],
)
def test_controllers_that_cannot_be(
    make: Callable[[], Any], name: str, words: tuple[str, ...]
) -> None:
    check_refused(make, name, words)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (None, ("must return a dict",)),
        ({}, ("nothing for 'motor.torque'",)),
        ({"motor.torque": 0.0, "wheel.torque": 0.0}, ("something for 'wheel.torque'",)),
        ({"motor.torque": float("nan")}, ("nan", "finite")),
        ({"motor.torque": np.inf}, ("inf", "finite")),
        ({"motor.torque": (1.0, 2.0, 3.0)}, ("one number",)),
        ({"motor.torque": "full"}, ("'full'", "one number")),
        ({"motor.torque": None}, ("None", "one number")),
    ],
    ids=str,
)
def test_commands_that_are_none(said: Any, words: tuple[str, ...]) -> None:
    """The sentence says when; the run until then goes with it."""
    with pytest.raises(qp.PartError) as caught:
        says(lambda: said).simulate(1.0)
    check_sentence(str(caught.value), "Later 'pd'", ("t = 0.3 s", *words))
    run: qp.Trajectory = caught.value.trajectory  # type: ignore[attr-defined]
    assert run.stop is qp.Stop.FAILED
    assert run.t[-1] == 0.3
    np.testing.assert_array_equal(run["pd"].t, [0.0, 0.1, 0.2])


def test_a_command_keeps_its_shape() -> None:
    class Shrinks(qp.Controller):
        def command(self, t: float, measured: Any, memory: Any) -> dict[str, Any]:
            return {"jet.thrust": (0.0, 0.0, 1.0) if t < 0.25 else 1.0}

    jet = qp.Thruster("jet", BUS.site("nozzle"), 0.0)
    made = Shrinks("pd", period=0.1, drives=["jet.thrust"])
    check_refused(
        lambda: qp.Multibody(BUS, jet, made).simulate(1.0),
        "Shrinks 'pd'", ("t = 0.3 s", "three numbers, as before"),
    )  # fmt: skip


def test_an_error_says_whose_and_when() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        says(lambda: 1 / 0).simulate(1.0)
    notes = " ".join(caught.value.__notes__)
    assert "Later 'pd'" in notes
    assert "t = 0.3 s" in notes
    run: qp.Trajectory = caught.value.trajectory  # type: ignore[attr-defined]
    assert run.t[-1] == 0.3
    assert run.system["motor"] == MOTOR.__class__("motor", HINGE, torque=qp.Schedule(
        (0.0, 0.1, 0.2), (0.0, 0.0, 0.0)))  # fmt: skip


def test_an_error_in_machine_code_is_that_of_python() -> None:
    """What a compiled command raises is raised when it is asked once more, and says whose it is;
    the run until then is kept."""
    wrong = compiled(lambda t, measured: measured[1 if t < 0.25 else 9], reads=["arm.position"])
    with pytest.raises(IndexError) as caught:
        wrong.simulate(1.0)
    assert "Static 'pd'" in " ".join(caught.value.__notes__)
    run: qp.Trajectory = caught.value.trajectory  # type: ignore[attr-defined]
    assert run.t[-1] == 0.3
    assert len(run["pd"].t) == 3


def test_a_base_commands_nothing() -> None:
    with pytest.raises(TypeError, match="command"):
        qp.Controller("pd", period=0.1, drives=["motor.torque"])  # type: ignore[abstract]


def test_a_constant_command_is_one_to_settle() -> None:
    """A controller that says that its command rests as everything does: where that stands the
    system rests as under a constant."""

    class Same(qp.Controller):
        torque: float

        def command(self, t: float, measured: Any, memory: Any) -> dict[str, Any]:
            return {"motor.torque": self.torque}

    base = qp.Body.box("base", (0.2,) * 3, 4.0, fixed=True)
    hinge = qp.Revolute("hinge", base, ARM, at=(0.1, 0, 0), axis=(0, 0, 1))
    spring = qp.HingeSpring("spring", hinge, stiffness=0.5, damping=0.3)
    pd = Same("pd", 0.2, period=0.1, drives=["motor.torque"], constant=True)
    made = qp.Multibody(base, ARM, hinge, spring, qp.Motor("motor", hinge), pd)
    assert made.settle().state["hinge"].angle == pytest.approx(0.0, abs=1e-9)
    begun = made.simulate(0.5).final
    rest = made.settle(begun)
    assert rest.verdict == "stable"
    assert rest.state["hinge"].angle == pytest.approx(0.4, abs=1e-9)

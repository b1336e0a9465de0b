"""A user's own class that cannot be, or that returns what it should not: the sentence names class
or part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.faults.sentence import case, check_refused, check_sentence

BAR = qp.Body.box("bar", (0.1, 0.1, 0.3), mass=1.0)
LID = qp.Body.box("lid", (0.1, 0.1, 0.1), mass=1.0, position=(0.0, 0.0, 0.2))
STRANGER = qp.Body.box("stranger", (0.1, 0.1, 0.1), mass=1.0)


class Anything(qp.Force):
    """A load that returns whatever a test wants."""

    result: Any

    def load(self, at: qp.MotionView) -> Any:
        return Returned.values[self.result]


class Potential(qp.Force):
    """A potential that returns whatever a test wants."""

    result: Any

    def potential(self, at: qp.MotionView) -> Any:
        return Returned.values[self.result]


class Lines(qp.Joint):
    """Primitives as a test wants them."""

    result: Any

    def primitives(self) -> Any:
        return self.result


class Equation(qp.GeneralJoint):
    """One row; one of its methods returns what a test wants."""

    units = ("m",)
    wrong: str
    result: Any

    def phi(self, at: qp.MotionView) -> Any:
        return self._value("phi", np.zeros(1))

    def jacobian(self, at: qp.MotionView) -> Any:
        return self._value("jacobian", np.eye(1, 12))

    def gamma(self, at: qp.MotionView) -> Any:
        return self._value("gamma", np.zeros(1))

    def rate(self, at: qp.MotionView) -> Any:
        return self._value("rate", np.zeros(1))

    def _value(self, name: str, right: Any) -> Any:
        return Returned.values[self.result] if name == self.wrong else right


class Returned:
    """What the classes above return, by a word: parts hold no lists and no arrays."""

    values = {
        "nothing": None,
        "a list": [qp.Wrench()],
        "a word": "up",
        "two": np.zeros(2),
        "nan": np.array([np.nan]),
        "a matrix": np.zeros((1, 6)),
        "inf": float("inf"),
        "bool": True,
        "by name": {"bar": qp.Wrench()},
        "stranger": {STRANGER: qp.Wrench()},
        "bare": {BAR: (0.0, 0.0, 1.0)},
        "flat": {BAR: qp.Wrench(force=(0.0, 1.0))},
        "nan force": {BAR: qp.Wrench(torque=(0.0, np.nan, 0.0))},
        "nowhere": {BAR: qp.Wrench(point=(0.0, 0.0))},
    }


def loads(force: qp.Force) -> Any:
    return qp.Multibody(BAR, LID, force).acceleration()


def rows(wrong: str, result: str) -> Any:
    return qp.Multibody(
        BAR, LID, Equation("eq", BAR, LID, wrong, result, at=(0, 0, 0), axis=(0, 0, 1))
    ).acceleration()


def lines(result: Any) -> Any:
    return Lines("lines", BAR, LID, result, at=(0, 0, 0), axis=(0, 0, 1))


RESULTS = [
    case(
        lambda: loads(Anything("wind", "nothing")),
        "'wind'",
        "load(at) must return",
        "not None",
        id="load none",
    ),
    case(
        lambda: loads(Anything("wind", "a list")),
        "'wind'",
        "load(at) must return",
        id="load a list",
    ),
    case(
        lambda: loads(Anything("wind", "by name")),
        "'wind'",
        "keys must be bodies",
        id="load by name",
    ),
    case(
        lambda: loads(Anything("wind", "stranger")),
        "'wind'",
        "'stranger'",
        "of the system",
        id="load on a stranger",
    ),
    case(lambda: loads(Anything("wind", "bare")), "'wind'", "qp.Wrench", id="load without wrench"),
    case(
        lambda: loads(Anything("wind", "flat")), "'wind'", "'bar'", "shape (2,)", id="force of two"
    ),
    case(
        lambda: loads(Anything("wind", "nan force")), "'wind'", "'bar'", "finite", id="torque nan"
    ),
    case(
        lambda: loads(Anything("wind", "nowhere")),
        "'wind'",
        "'bar'",
        "shape (2,)",
        id="point of two",
    ),
    case(
        lambda: loads(Potential("well", "nothing")),
        "'well'",
        "potential(at) at t = 0.0 is None",
        id="none",
    ),
    case(
        lambda: loads(Potential("well", "two")),
        "'well'",
        "potential(at)",
        "one number",
        id="potential of two",
    ),
    case(
        lambda: loads(Potential("well", "inf")),
        "'well'",
        "potential(at)",
        "finite",
        id="potential inf",
    ),
    case(
        lambda: loads(Potential("well", "bool")),
        "'well'",
        "potential(at)",
        "one number",
        id="potential bool",
    ),
    case(
        lambda: Potential("well", "two").load(None),
        "'well'",
        "load() is not defined",
        id="load of a potential",
    ),
    case(
        lambda: rows("phi", "two"),
        "'eq'",
        "phi(at) at t = 0.0",
        "shape (2,)",
        "(1,)",
        id="phi of two",
    ),
    case(lambda: rows("phi", "nan"), "'eq'", "phi(at)", "finite", id="phi nan"),
    case(lambda: rows("phi", "nothing"), "'eq'", "phi(at)", id="phi none"),
    case(
        lambda: rows("jacobian", "a matrix"),
        "'eq'",
        "jacobian(at)",
        "(1, 6)",
        "(1, 12)",
        id="jacobian of six",
    ),
    case(lambda: rows("gamma", "a word"), "'eq'", "gamma(at)", "real numbers", id="gamma a word"),
    case(lambda: rows("rate", "two"), "'eq'", "rate(at)", "shape (2,)", id="rate of two"),
    case(lambda: lines(()), "'lines'", "tuple of primitives", "()", id="no primitives"),
    case(
        lambda: lines(qp.OriginOnLine("x")),
        "'lines'",
        "tuple of primitives",
        "OriginOnLine",
        id="bare primitive",
    ),
    case(lambda: lines(("z",)), "'lines'", "tuple of primitives", "('z',)", id="primitive a word"),
    case(
        lambda: lines({"z": 1}),
        "'lines'",
        "result is {'z': 1}",
        "can change later",
        id="a dict in a part",
    ),
    case(lambda: lines([{1, 2}]), "'lines'", "result is", "can change later", id="a set in a part"),
]


@pytest.mark.parametrize(("make", "name", "words"), RESULTS)
def test_refused(make: Any, name: str, words: tuple[str, ...]) -> None:
    check_refused(make, name, words)


def test_a_body_that_is_not_there_is_named() -> None:
    class Curious(qp.Force):
        def potential(self, at: qp.MotionView) -> float:
            return float(at[STRANGER].position[0])

    with pytest.raises(KeyError, match="body 'stranger' is not in the system"):
        loads(Curious("curious"))


# --- classes --------------------------------------------------------------------------------------
def class_of(base: type, **members: Any) -> Any:
    return lambda: type("Mine", (base,), members)


def something(self: Any, at: Any = None) -> Any:
    """A method."""


THREE = {"phi": something, "jacobian": something, "gamma": something}


@pytest.mark.parametrize(
    ("define", "words"),
    [
        (class_of(qp.Force), ("load(self, at) or potential(self, at)",)),
        (class_of(qp.CompiledForce), ("defines law",)),
        (
            class_of(qp.CompiledForce, law=staticmethod(lambda pace: None)),
            ("law asks for 'pace'", "neither t nor"),
        ),
        (class_of(qp.Joint), ("primitives(self)",)),
        (class_of(qp.GeneralJoint), ("phi, jacobian, gamma",)),
        (class_of(qp.GeneralJoint, units=("m",)), ("phi, jacobian, gamma",)),
        (
            class_of(qp.GeneralJoint, units=("m",), phi=something, gamma=something),
            ("missing: jacobian",),
        ),
        (class_of(qp.GeneralJoint, **THREE), ("missing: units",)),
        (
            class_of(qp.GeneralJoint, units=("deg",), **THREE),
            ("units is ('deg',)", "'m' and 'rad'"),
        ),
        (class_of(qp.GeneralJoint, units="rad", **THREE), ("units is 'rad'", "tuple")),
    ],
)
def test_class_without_its_method_is_refused_when_it_is_defined(
    define: Any, words: tuple[str, ...]
) -> None:
    with pytest.raises(TypeError) as caught:
        define()
    check_sentence(str(caught.value), "Mine", words)


class Law(qp.CompiledForce):
    """A law as a test wants it, between a body and a site."""

    body: qp.Body
    site: qp.Site
    size: Any = 1.0

    @staticmethod
    def law(body: Any, site: Any) -> Any:
        return qp.Wrench((0.0, 0.0, 0.0)), qp.Wrench((0.0, 0.0, 0.0))


def law_of(function: Any, energy: Any = None, size: Any = 1.0) -> Any:
    """What a system with such a law says of its accelerations."""
    members = {
        "law": staticmethod(function),
        **({"energy": staticmethod(energy)} if energy else {}),
    }
    made: Any = type("Mine", (Law,), members)
    return qp.Multibody(BAR, LID, made("f", BAR, LID.site("eye"), size)).acceleration()


def alone(body: Any, site: Any) -> Any:
    return qp.Wrench((0.0, 0.0, 0.0))


def with_a_point(body: Any, site: Any) -> Any:
    f = (0.0, 0.0, 0.0)
    return qp.Wrench(f, f, site.position), qp.Wrench(f)


def of_two(body: Any, site: Any) -> Any:
    return qp.Wrench((0.0, 0.0)), qp.Wrench((0.0, 0.0))


def bare(body: Any, site: Any) -> Any:
    return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


def misspelt(body: Any, site: Any) -> Any:
    return qp.Wrench(body.pose), qp.Wrench(site.pose)


def words(body: Any, site: Any) -> Any:
    return "up"


def sized(body: Any, site: Any, size: Any) -> Any:
    f = (size, 0.0, 0.0)
    return qp.Wrench(f), qp.Wrench(f)


def quotient(body: Any, site: Any, size: Any) -> Any:
    f = (site.velocity[0] / size, 0.0, 0.0)
    return qp.Wrench(f), qp.Wrench(f)


def raising(t: float, body: Any, site: Any) -> Any:
    if t > 0.5:
        raise ValueError("too late")
    return qp.Wrench((0.0, 0.0, 0.0)), qp.Wrench((0.0, 0.0, 0.0))


def importing(body: Any, site: Any) -> Any:
    import math

    f = (math.sin(body.position[0]), 0.0, 0.0)
    return qp.Wrench(f), qp.Wrench(f)


def importing_names(body: Any, site: Any) -> Any:
    from math import sin

    f = (sin(body.position[0]), 0.0, 0.0)
    return qp.Wrench(f), qp.Wrench(f)


def importing_energy(body: Any, site: Any) -> Any:
    import math

    return math.pi


def defining(body: Any, site: Any) -> Any:
    class Mine:
        pass

    return Mine()


def renaming(body: Any, site: Any) -> Any:
    global TABLE
    TABLE = 1
    return qp.Wrench((0.0, 0.0, 0.0)), qp.Wrench((0.0, 0.0, 0.0))


def within(body: Any, site: Any) -> Any:
    with open("table") as file:
        return file


def catching(body: Any, site: Any) -> Any:
    try:
        f = 1.0 / body.position[0]
    except ZeroDivisionError as error:
        f = float(str(error))
    return qp.Wrench((f, 0.0, 0.0)), qp.Wrench((f, 0.0, 0.0))


TABLE = np.zeros(4)


def out_of_bounds(body: Any, site: Any, size: Any) -> Any:
    f = (TABLE[int(size)], 0.0, 0.0)
    return qp.Wrench(f), qp.Wrench(f)


LAWS = [
    case(lambda: law_of(alone), "'f'", "law must return 2 qp.Wrench", id="one wrench for two"),
    case(
        lambda: law_of(with_a_point),
        "'f'",
        "law must return 2 qp.Wrench",
        "without a point",
        id="a point",
    ),
    case(
        lambda: law_of(of_two),
        "'f'",
        "law must return 2 qp.Wrench",
        "three numbers",
        id="force of two numbers",
    ),
    case(lambda: law_of(bare), "'f'", "law must return 2 qp.Wrench", id="no wrenches"),
    case(lambda: law_of(misspelt), "'f'", "numba cannot compile its law", "'pose'", id="misspelt"),
    case(
        lambda: law_of(importing),
        "'f'",
        "cannot compile its law",
        "outside of the law",
        id="import",
    ),
    case(
        lambda: law_of(importing_names),
        "'f'",
        "cannot compile its law",
        "outside of the law",
        id="from import",
    ),
    case(lambda: law_of(Law.law, importing_energy), "'f'", "imports a module", id="energy imports"),
    case(lambda: law_of(defining), "'f'", "numba cannot compile its law", id="a class"),
    case(lambda: law_of(renaming), "'f'", "numba cannot compile its law", id="a global"),
    case(lambda: law_of(within), "'f'", "numba cannot compile its law", id="with"),
    case(
        lambda: law_of(catching), "'f'", "numba cannot compile its law", id="an exception by name"
    ),
    case(lambda: law_of(words), "'f'", "law must return 2 qp.Wrench", id="law a word"),
    case(
        lambda: law_of(Law.law, words), "'f'", "energy must return one number", id="energy a word"
    ),
    case(
        lambda: law_of(sized, size="up"),
        "'f'",
        "asks for size, which is 'up'",
        "a number",
        id="size a word",
    ),
    case(
        lambda: law_of(sized, size=float("nan")),
        "'f'",
        "asks for size, which is nan",
        id="size nan",
    ),
    case(lambda: law_of(sized, size=(1.0,) * 43), "'f'", "more than 42 numbers", id="many numbers"),
]


@pytest.mark.parametrize(("make", "name", "words"), LAWS)
def test_law_refused(make: Any, name: str, words: tuple[str, ...]) -> None:
    check_refused(make, name, words)


def test_a_law_without_a_number_is_told() -> None:
    """Machine code divides by zero where Python raises: the error is that of Python."""
    with pytest.raises(ZeroDivisionError) as caught:
        law_of(quotient, size=0.0)
    assert "in load(at) of Mine 'f'" in caught.value.__notes__


def test_a_law_that_acts_on_nothing_is_refused() -> None:
    nothing: Any = type(
        "Mine", (Law,), {"law": staticmethod(lambda size: qp.Wrench((size, 0.0, 0.0)))}
    )
    check_refused(lambda: nothing("f", BAR, LID.site("eye")), "'f'", ("no body and no site",))


def test_a_law_between_four_bodies_is_refused() -> None:
    class Net(qp.CompiledForce):
        a: qp.Body
        b: qp.Body
        c: qp.Body
        d: qp.Body

        @staticmethod
        def law(a: Any, b: Any, c: Any, d: Any) -> Any:
            return None

    check_refused(lambda: Net("f", BAR, LID, BAR, LID), "'f'", ("more than 3 bodies and sites",))


def test_an_array_is_not_read_beyond_its_end() -> None:
    with pytest.raises(IndexError) as caught:
        law_of(out_of_bounds, size=1e6)
    assert "in load(at) of Mine 'f'" in caught.value.__notes__


def test_what_a_law_raises_ends_the_run() -> None:
    made: Any = type("Mine", (Law,), {"law": staticmethod(raising)})
    with pytest.raises(ValueError, match="too late") as caught:
        qp.Multibody(BAR, LID, made("f", BAR, LID.site("eye"))).simulate(1.0)
    run = caught.value.trajectory  # type: ignore[attr-defined]
    assert 0.0 < run.t[-1] <= 0.5
    assert run.stop is qp.Stop.FAILED


@pytest.mark.parametrize("base", [qp.Primitive, qp.Shape, qp.Joint, qp.GeneralJoint])
def test_bases_are_no_parts(base: type) -> None:
    with pytest.raises(TypeError, match="abstract"):
        base()


def test_bare_bases_refuse_to_act() -> None:
    with pytest.raises(qp.PartError, match=r"Force 'f': load\(\) is not defined"):
        qp.Force("f").load(None)
    with pytest.raises(qp.PartError, match="CompiledForce 'f': its law asks for no body"):
        qp.CompiledForce("f")

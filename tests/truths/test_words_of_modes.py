"""What is said of motions around a state of rest, for systems whose motions are known."""

from __future__ import annotations

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.rest.wording import axis_of, different, in_words
from quirkpy.views import explain
from quirkpy.views.poses import motions_of
from quirkpy.views.report_graph import rest_of


def cube(name: str, x: float, **more: object) -> qp.Body:
    return qp.Body.box(name, (0.1, 0.1, 0.1), 1.0, position=(x, 0, 0), **more)  # type: ignore[arg-type]


def row(joints: int, mirrored: int | None = None) -> qp.Multibody:
    """Rods in a row from the ground, on sprung hinges; one of them with its axis the other way."""
    rods = [qp.Body.box(f"b{k}", (0.2, 0.02, 0.02), 1.0, position=(0.1 + 0.2 * k, 0, 0))
            for k in range(joints)]  # fmt: skip
    hinges = [
        qp.Revolute(f"h{k}", (qp.GROUND, *rods)[k], rods[k], at=(0.2 * k, 0, 0),
                    axis=(0, 0, -1 if k == mirrored else 1))
        for k in range(joints)
    ]  # fmt: skip
    springs = [qp.HingeSpring(f"s{k}", h, stiffness=1.0) for k, h in enumerate(hinges)]
    return qp.Multibody(*rods, *hinges, *springs)


def said_of(system: qp.Multibody) -> list[str]:
    return [mode.words for mode in system.settle().modes]


@pytest.mark.parametrize("mirrored", [None, 0, 1, 2])
def test_motions_of_a_row_change_sign_one_by_one(mirrored: int | None) -> None:
    """The k-th motion of a chain changes its sense k times, whichever way the axes point."""
    assert said_of(row(2, mirrored)) == ["turns about h0 and h1", "turns about h0, against h1"]
    first, second, third = said_of(row(3, mirrored))
    assert first == "turns about h0, h1 and h2"
    assert "against" in second and second != third  # noqa: PT018
    assert third == "turns about h0 and h2, against h1"


def test_one_hinge_is_told_with_both_its_bodies() -> None:
    """On the ground the arm turns alone; afloat both turn, one against the other."""
    hub, arm = cube("hub", 0.0), cube("arm", 0.1)
    for fixed, words in (
        (True, "arm turns about hinge"),
        (False, "arm turns about hinge, against hub"),
    ):
        base = cube("hub", 0.0, fixed=True) if fixed else hub
        hinge = qp.Revolute("hinge", base, arm, at=(0.05, -0.05, 0), axis=(0, 0, 1))
        system = qp.Multibody(base, arm, hinge, qp.HingeSpring("spring", hinge, stiffness=0.1))
        assert said_of(system) == [words]
        assert repr(system.settle().modes[0]).endswith(f": {words})")


def test_bodies_without_joints_are_told_by_axes_of_n() -> None:
    """Two balls on a spring between them and one on each to the ground: along x with and against
    each other; turned a quarter, along y."""
    for axis in "xyz":
        e = np.eye(3)["xyz".index(axis)]
        one, two = (
            qp.Body.sphere(
                name, 0.1, 1.0, position=tuple(place * e), orientation=qp.rotation((1, 2, 3), 1.0)
            )
            for name, place in (("one", 1.0), ("two", 2.0))
        )
        ends = (
            ("left", qp.GROUND, one, 0.0, 1.0),
            ("mid", one, two, 1.0, 2.0),
            ("right", two, qp.GROUND, 2.0, 3.0),
        )
        springs = [
            qp.Spring(
                name, a, b, at1=tuple(x * e), at2=tuple(y * e), stiffness=1.0, rest_length=0.5
            )
            for name, a, b, x, y in ends
        ]
        told = said_of(qp.Multibody(one, two, *springs))
        for words in (f"one and two move along {axis}", f"one moves along {axis}, against two"):
            assert told.count(words) == 1


def test_no_two_motions_of_one_rest_have_the_same_words() -> None:
    body = qp.Body.box("cube", (0.1, 0.1, 0.1), 1.0, position=(0, 0, 0.08))
    cold = qp.Superconductor("cold", qp.GROUND.site("face"))
    magnet = qp.Magnet("magnet", body.site("below", at=(0, 0, -0.05)), moment=5.7)
    rest = qp.Multibody(body, qp.FluxPinning(cold, magnet)).settle()
    told = [line[:40].strip() for line in explain.motion_lines(rest)[1:]]
    assert len(set(told)) == len(told) == 6
    assert {"cube moves along z", "cube turns about z"} <= set(told)
    page = [mode["moving"] for mode in rest_of(rest)["modes"]]
    assert page == told[: len(page)] == [words for _, _, words in motions_of(rest)][: len(page)]
    assert different(["a", "b", "a"]) == ["a (1)", "b", "a (2)"]


def test_what_grows_stands_on_the_page_once_and_first() -> None:
    """A pendulum upside down, and one beside it that hangs."""
    parts: list[qp.Part] = [qp.Gravity((0, 0, -9.81))]
    for name, way in (("up", 1.0), ("down", -1.0)):
        rod = qp.Body.rod(name, start=(0, way, 0), end=(0, way, way), radius=0.01, mass=1.0)
        pivot = qp.Revolute(f"pivot of {name}", qp.GROUND, rod, at=(0, way, 0), axis=(1, 0, 0))
        parts += [rod, pivot]
    rest = qp.Multibody(*parts).settle(nudge=0.0)
    told = [(mode["moving"], mode["grows"]) for mode in rest_of(rest)["modes"]]
    assert [grows for _, grows in told] == [True, *[False] * (len(told) - 1)]
    assert "up" in told[0][0]
    assert len({words for words, _ in told}) == len(told) == len(rest.modes)


def test_directions_and_lists_in_words() -> None:
    assert [axis_of(np.array(v)) for v in ((0, -2.0, 0.02), (-1.0, -1.0, 0.0))] == [
        "y",
        "(0.71, 0.71, 0)",
    ]
    assert in_words("ab") == "a and b"
    assert in_words("abcdef") == "a, b, c and 3 more"

"""What is likely a mistake is found by `system.check()`, and what is none is left alone."""

from __future__ import annotations

import warnings

import pytest

import quirkpy as qp

HUB = qp.Body.box("hub", (0.1, 0.1, 0.1), 1.0, fixed=True)
ARM = qp.Body.box("arm", (0.1, 0.1, 0.1), 1.0, position=(0.1, 0, 0))
HINGE = qp.Revolute("hinge", HUB, ARM, at=(0.05, -0.05, 0), axis=(0, 0, 1))
FACE = qp.Sensor("face", ARM.site("face"))


def findings(*parts: qp.Part, **more: object) -> dict[str, qp.Finding]:
    """The findings of the two cubes with some parts, by their codes."""
    return {one.code: one for one in qp.Multibody(HUB, ARM, HINGE, *parts, **more).check()}


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    push = qp.Load("push", ARM, force=(0, -0.01, 0))
    other = qp.Sensor("other", HUB.site("other"))
    assert findings(push, FACE, other, qp.ViscousHinges(1e-3)) == {}


CASES = {
    "idle": [qp.Load("push", ARM)],
    "nothing": [qp.PotentialWell("well", HUB, (0, 0, 0), 1.0)],
    "sensor": [FACE],
    "density": [qp.Body.box("mote", (100, 100, 100), 1.33)],
    "redundant": [qp.Revolute("twin", HUB, ARM, at=(0.05, -0.05, 0.05), axis=(0, 0, 1))],
    "far": [qp.Body.box("far one", (0.1, 0.1, 0.1), 1.0, position=(10, 0, 0)),],
}  # fmt: skip


@pytest.mark.parametrize("code", CASES)
def test_likely_mistakes_are_found(code: str) -> None:
    parts = CASES[code]
    if code == "far":
        parts = [*parts, qp.Revolute("joint", ARM, parts[0], at=(50, 0, 0), axis=(0, 0, 1))]
    found = findings(*parts)
    assert list(found) == [code]
    assert found[code].part in {getattr(part, "name", "") for part in (*parts, HINGE)} | {""}
    assert found[code].sentence.endswith(".")
    assert "\n" not in found[code].sentence


def test_degrees_are_found_again() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stop = qp.JointStop("stop", HINGE, upper=90.0)
    found = findings(stop)
    assert found["degrees"].part == "stop"
    assert "qp.deg * 90" in found["degrees"].sentence


def test_wrong_units_of_mass_are_named() -> None:
    gram = qp.Body.box("gram", (0.1, 0.1, 0.1), 1330.0 * 1000.0)
    assert "heavier than gold" in findings(gram)["density"].sentence


def studied(**more: object) -> qp.Study:
    """Two faces that may lock, and two potentials; or with other arguments."""
    east = qp.Sensor(
        "east", HUB.site("east", at=(0.05, 0, 0), z=(1, 0, 0)), kind="e", accepts=("w",)
    )
    west = qp.Sensor(
        "west", ARM.site("west", at=(-0.05, 0, 0), z=(-1, 0, 0)), kind="w", accepts=("e",)
    )
    given = {
        "sensors": [east, west],
        "options": {("e", "w"): [qp.Free(), qp.Lock()]},
        "potentials": {"none": [], "pull": [qp.PotentialWell("pull", ARM, (0.1, 0, 0), 0.05)]},
    }
    return qp.Study(qp.Multibody(HUB, ARM), **{**given, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize("place", ["potentials", "always"])
@pytest.mark.parametrize("code", ["idle", "nothing"])
def test_forces_that_a_study_brings_along_are_judged(code: str, place: str) -> None:
    more = {"potentials": {"none": [], "a": CASES[code], "b": CASES[code]}, "always": CASES[code]}
    found = studied(**{place: more[place]}).check()
    assert [(one.code, one.part) for one in found] == [(code, CASES[code][0].name)]


def test_a_study_without_sensors_may_choose_among_potentials() -> None:
    none: dict[str, object] = {"sensors": [], "options": {}}
    assert studied(**none).check() == studied().check() == ()
    assert [one.code for one in studied(**none, potentials={"none": []}).check()] == ["sensors"]

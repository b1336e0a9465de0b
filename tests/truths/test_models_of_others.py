"""Models of URDF and MJCF files move as Pinocchio and MuJoCo move them.

`models/accelerations.json` holds what the peers say of the files beside it, at a random pose in
motion: ``python -m benchmarks.models tests/truths/models --record
tests/truths/models/accelerations.json`` made it, where both are installed.  Contacts, limits and
other constraints of MuJoCo's solver are off there."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp

MODELS = Path(__file__).parent / "models"
KEPT: dict[str, Any] = json.loads((MODELS / "accelerations.json").read_text(encoding="utf-8"))
#: Relative to the largest acceleration of the model.
EQUAL = 1e-9


@cache
def read(name: str) -> qp.Imported:
    """A model as `benchmarks.models` reads it."""
    if name.endswith(".xml"):
        return qp.read_mjcf(MODELS / name)
    return qp.read_urdf(MODELS / name, free=name == "bus.urdf", gravity=(0.0, 0.0, -9.81))


def value_of(kept: Any) -> Any:
    """A number; four as a quaternion; two lists as what floats has."""
    if isinstance(kept, float):
        return kept
    if len(kept) == 2:
        return np.array(kept[0]), value_of(kept[1])
    return qp.quat.from_array(np.array(kept)) if len(kept) == 4 else np.array(kept)


def tree_of(imported: qp.Imported) -> qp.Imported:
    """The model without its loops, stops and dry friction."""
    tree = imported.opened()
    kinds = (qp.JointStop, qp.JointFriction)
    hard = [p.name for p in tree.system.parts if isinstance(p, kinds)]
    return qp.Imported(tree.system.without(*hard), (), assembly=tree.assembly)


@pytest.mark.parametrize("name", sorted(KEPT))
def test_accelerations_are_those_of_the_peer(name: str) -> None:
    kept, imported = KEPT[name], read(name)
    tree = tree_of(imported) if name.endswith(".xml") else imported
    values, rates = (
        {joint: value_of(v) for joint, v in kept[word].items()} for word in ("values", "rates")
    )
    state = tree.state(values, rates)
    ours = dict(zip(tree.system.bodies, tree.system.acceleration(state), strict=True))
    largest = max(np.abs(row).max() for row in kept["theirs"].values())
    for body, row in kept["theirs"].items():
        assert np.abs(ours[body] - row).max() < EQUAL * largest, body


def test_coordinates_are_those_of_the_file() -> None:
    """Zeros, references and whole turns included."""
    arm = read("arm.urdf")
    state = arm.state({"elbow": 9.0, "shoulder": 0.7}, {"elbow": -2.0})
    assert state["elbow"].angle == pytest.approx(9.0, abs=1e-14)
    assert state["elbow"].rate == pytest.approx(-2.0, abs=1e-14)
    assert state["shoulder"].angle == pytest.approx(0.7, abs=1e-14)
    assert arm.system.initial["shoulder"].angle == pytest.approx(0.2)  # its lower limit
    chain = read("chain.xml").system.initial
    assert chain["turn"].angle == pytest.approx(np.radians(15.0))
    assert chain["slide"].travel == pytest.approx(0.1)


def test_sites_of_the_file_are_sites_of_its_bodies() -> None:
    arm, chain = read("arm.urdf"), read("chain.xml")
    assert arm.site("tool").body.name == "fore"
    assert arm.site("camera").body.name == "camera"
    assert chain.sites["tip"].body.name == "end"
    with pytest.raises(qp.PartError, match="no link is called 'hand'"):
        arm.site("hand")


def test_loops_are_closed_and_stay_so() -> None:
    """To 1e-12, at the start and after a second of motion; what is not active is a candidate."""
    model = read("four_bar.xml")
    system = model.system
    assert set(model.loops) == {"closing", "couple", "held"}
    assert {part.name for part in system.candidates} == {"later", "apart"}
    assert np.abs(system.residual().position).max() < 1e-12
    run = system.simulate(1.0, rtol=1e-10, atol=1e-12, keep="ends")
    assert np.abs(system.residual(run.final).position).max() < 1e-12
    dial, crank = (run.final[model.joints[name].name].angle for name in ("dial", "crank"))
    assert dial - 0.4 == pytest.approx(-0.7 * crank, abs=1e-12)
    assert run.energy[-1] == pytest.approx(run.energy[0], abs=1e-7)
    assert np.linalg.norm(run.final["rod"].position - run.final["piston"].position) < 0.3


def test_a_tree_comes_back_from_a_urdf(tmp_path: Path) -> None:
    """Bodies, joints, limits, damping, mimics, and how it moves, in the same axes."""
    first = read("arm.urdf").system.without("gravity", "shoulder friction")
    told = qp.write_urdf(first, tmp_path / "again.urdf")
    assert [one.code for one in told] == ["shape"]  # a box beside the mass centre is a mesh here
    again = qp.read_urdf(tmp_path / "again.urdf")
    assert set(again.system.bodies) == set(first.bodies)
    rates = {"rail": 0.3, "shoulder": -0.4, "elbow": 1.0, "grip": 0.2, "grip too": -0.1}
    values = {"rail": 0.2, "shoulder": 1.0, "elbow": -0.6, "grip": 0.3, "grip too": -0.05}
    one = read("arm.urdf").state(values, rates).on(first.selection)
    two = again.state(values, rates)
    for body in first.bodies:
        assert np.allclose(one[body].position, two[body].position, rtol=0, atol=1e-13)
    rows = (dict(zip(s.bodies, s.acceleration(at), strict=True)) for s, at in
            ((first, one), (again.system, two)))  # fmt: skip
    ours, theirs = rows
    assert max(np.abs(ours[body] - theirs[body]).max() for body in ours) < 1e-10


def test_what_floats_comes_back_from_a_urdf(tmp_path: Path) -> None:
    hub = qp.Body.box("hub", (0.2, 0.1, 0.1), 3.0, position=(1, 2, 3),
                      orientation=qp.rotation((1, 2, 3), 1.0))  # fmt: skip
    arm = qp.Body.cylinder("arm", 0.02, 0.5, 0.4, "y", position=(1.3, 2, 3))
    hinge = qp.Revolute("hinge", arm, hub, at=(1.1, 2, 3), axis=(0, 1, 1))
    system = qp.Multibody(hub, arm, hinge)
    qp.write_urdf(system, tmp_path / "pair.urdf")
    again = qp.read_urdf(tmp_path / "pair.urdf").system
    assert set(again.bodies) == {"hub", "arm"}
    assert again.mobility().degrees_of_freedom == 7
    assert again["arm"].shape == arm.shape
    assert np.allclose(again.initial["hub"].position, hub.position, rtol=0, atol=1e-15)

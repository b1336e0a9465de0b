"""What every part keeps: it is a value.  Equal, hashable, frozen, readable; pickled and written to
JSON bit for bit."""

from __future__ import annotations

import dataclasses
import math
import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import quirkpy as qp
from quirkpy.maths import quat
from tests.contracts.catalogue import ARM, EAST, HUB, PARTS, label

every_part = pytest.mark.parametrize("part", PARTS, ids=label)


def bits(value: Any) -> Any:
    """Everything in a part down to the last bit: the sign of zero, and the type of each value."""
    if isinstance(value, qp.Part):
        return type(value), [
            (field.name, bits(getattr(value, field.name))) for field in dataclasses.fields(value)
        ]
    if isinstance(value, tuple):
        return tuple(bits(item) for item in value)
    if isinstance(value, float):
        return type(value), value.hex()
    return quat.to_array(value).tobytes() if isinstance(value, qp.Quaternion) else value


# --- values ---------------------------------------------------------------------------------------
@every_part
def test_equal_by_value_and_hashed_alike(part: qp.Part) -> None:
    twin = dataclasses.replace(part)
    assert twin is not part
    assert twin == part
    assert hash(twin) == hash(part)
    assert sum(part == other for other in PARTS) == 1


@every_part
def test_another_value_makes_another_part(part: qp.Part) -> None:
    changes = {
        "name": "another",
        "mass": 0.123,
        "offset": 9.0,
        "length": 9.0,
        "radius": 9.0,
        "size": (9, 9, 9),
    }
    fields = {field.name for field in dataclasses.fields(part) if field.init}
    if isinstance(part, qp.ModalBody):
        fields -= {"mass"}  # its moments belong to it
    if isinstance(part, qp.String) and part.over:
        fields -= {"mass"}  # only between two points
    for name in fields & changes.keys():
        assert dataclasses.replace(part, **{name: changes[name]}) != part


@every_part
def test_frozen(part: qp.Part) -> None:
    for field in dataclasses.fields(part):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(part, field.name, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        part.mark = "mine"


@every_part
def test_everything_derived_is_read_only(part: qp.Part) -> None:
    names = (
        ["matrix", "inertia_matrix"]
        if isinstance(part, qp.Body)
        else ["axes"] * isinstance(part, qp.Site)
    )
    for array in (getattr(part, name) for name in names if part is not qp.GROUND):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 7.0


@every_part
def test_pickled_it_is_the_same_to_the_bit(part: qp.Part) -> None:
    before = bits(part)
    for name in ("sites", "axes", "matrix"):
        getattr(part, name, None)  # what is derived and kept is not pickled along
    copy = pickle.loads(pickle.dumps(part))
    assert copy == part
    assert bits(copy) == before
    assert pickle.dumps(copy) == pickle.dumps(pickle.loads(pickle.dumps(copy)))
    assert vars(copy).keys() == {field.name for field in dataclasses.fields(part)}


@every_part
def test_json_brings_it_back_to_the_bit(part: qp.Part) -> None:
    text = qp.to_json(part)
    copy = qp.from_json(text)
    assert bits(copy) == bits(part)
    assert copy == part
    assert qp.to_json(copy) == text


@every_part
def test_names_stand_in_it_in_full(part: qp.Part) -> None:
    """Readable: the class, its own name, and of other parts only their names; defaults are left
    out."""
    shown = repr(part)
    assert shown.startswith(type(part).__name__ + "(")
    assert "\n" not in shown
    assert "object at" not in shown
    assert len(shown) < 300
    name = getattr(part, "name", None)
    usual = {field.name: field.default for field in dataclasses.fields(part)}.get("name")
    assert name is None or repr(name) in shown or name == usual
    for field in dataclasses.fields(part):
        other = getattr(part, field.name)
        if isinstance(other, qp.Body):
            assert f"<{other.name}>" in shown
        if isinstance(other, qp.Site):
            assert f"<{other.body.name} {other.name}>" in shown


def test_repr_says_what_was_given() -> None:
    body = qp.Body(
        "rod", mass=2, inertia=(0.1, 0.2, 0.2), position=(1 / 3, 0, 0), shape=qp.Sphere(0.5)
    )
    assert repr(body) == (
        "Body('rod', mass=2, inertia=(0.1, 0.2, 0.2), position=(0.333333333333, 0, 0), "
        "shape=Sphere(0.5))"
    )
    assert repr(body.site("tip", at=(1, 0, 0))) == "Site(<rod>, name='tip', at=(1, 0, 0))"
    assert repr(qp.Gravity((0, 0, -9.81))) == "Gravity((0, 0, -9.81))"


@pytest.mark.parametrize("number", [1, np.float32(1.0), np.int64(1), np.array(1.0)])
def test_numbers_of_any_kind_are_kept_as_floats(number: Any) -> None:
    body = qp.Body("b", mass=number, inertia=np.array([1, 1, 1]), position=[0, number, 0])
    assert bits(body) == bits(
        qp.Body("b", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.0, 1.0, 0.0))
    )


@pytest.mark.parametrize("color", [None, "red", "#4477aa", (0.0, 0.5, 1.0)])
def test_colours_are_kept(color: Any) -> None:
    assert qp.Body("b", fixed=True, color=color).color == color


def test_x_a_little_askew_is_made_square() -> None:
    site = HUB.site("s", z=(0, 0, 2), x=(3, 0, 1e-6))
    assert site.x == (3.0, 0.0, 1e-6)
    np.testing.assert_allclose(site.axes, np.eye(3), rtol=0.0, atol=1e-16)


# --- awkward floats -------------------------------------------------------------------------------
floats = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=5e-324, allow_infinity=False)
vectors = st.tuples(floats, floats, floats)


def same_in_json_and_pickle(part: qp.Part) -> None:
    for copy in (qp.from_json(qp.to_json(part)), pickle.loads(pickle.dumps(part))):
        assert bits(copy) == bits(part)


@given(positive, vectors, vectors)
@example(1.0, (-0.0, 0.0, 0.0), (0.0, -0.0, 5e-324))
def test_body_keeps_awkward_floats(mass: float, position: Any, velocity: Any) -> None:
    same_in_json_and_pickle(
        qp.Body("b", mass=mass, inertia=(1, 1, 1), position=position, velocity=velocity)
    )


@pytest.mark.filterwarnings("ignore::quirkpy.PartWarning")  # some of them are round
@given(vectors.filter(any), floats)
def test_body_keeps_awkward_turns(axis: Any, angle: float) -> None:
    body = qp.Body("b", mass=1, inertia=(1, 1, 1), orientation=qp.rotation(axis, angle))
    same_in_json_and_pickle(body)
    assert abs(body.matrix @ body.matrix.T - np.eye(3)).max() < 1e-15 * 5


@given(vectors, vectors.filter(any))
@example((0.0, 0.0, 0.0), (2204119827145.0, 0.0, 5257871197.0))
def test_site_keeps_awkward_floats_and_stays_square(at: Any, z: Any) -> None:
    site = HUB.site("s", at=at, z=z)
    same_in_json_and_pickle(site)
    assert abs(site.axes.T @ site.axes - np.eye(3)).max() < 1e-15 * 5
    assert np.linalg.det(site.axes) > 0.0


@given(vectors, st.lists(floats, min_size=1, max_size=5, unique=True), st.data())
def test_forces_keep_awkward_floats(force: Any, times: list[float], data: st.DataObject) -> None:
    values = [data.draw(vectors) for _ in times]
    schedule = qp.Schedule(sorted(times), values)
    same_in_json_and_pickle(qp.Load("push", ARM, force=force, torque=schedule))
    assert schedule.at(sorted(times)[-1]).tolist() == list(values[-1])


@pytest.mark.filterwarnings("ignore::quirkpy.PartWarning")  # some of them are round
@given(floats, st.floats(min_value=0.0, allow_infinity=False))
@example(-0.0, 0.0)
def test_springs_keep_awkward_floats(angle: float, stiffness: float) -> None:
    hinge = qp.Revolute("hinge", HUB, ARM, at=(angle, -0.0, 0.0), axis=(0, 0, 1))
    same_in_json_and_pickle(qp.HingeSpring("t", hinge, stiffness=stiffness, rest_angle=angle))


# --- JSON documents -------------------------------------------------------------------------------
def test_shared_parts_are_written_once() -> None:
    system = qp.Multibody(
        HUB, ARM, qp.Fixed("lock", HUB, ARM), qp.Spring("s", EAST, ARM, stiffness=1.0)
    )
    text = qp.to_json(system)
    assert len(re.findall(r'"type": "Body"', text)) == 2
    copy = qp.from_json(text)
    assert copy == system
    assert copy.parts[2].first is copy.parts[0]


def test_parts_of_one_name_stay_apart() -> None:
    """Sites of two bodies may share a name."""
    spring = qp.Spring("s", HUB.site("tip"), ARM.site("tip"), stiffness=1.0)
    assert bits(qp.from_json(qp.to_json(spring))) == bits(spring)


def test_state_and_system_come_back() -> None:
    hinge = qp.Revolute("hinge", HUB, ARM, at=(0.1, 0.1, 0.2), axis=(0, 0, 1))
    lock = qp.Fixed("lock", HUB, ARM)
    system = qp.Multibody(HUB, ARM, hinge, candidates=[lock])
    state = system.initial.replace({"arm": dict(velocity=(1 / 3, -0.0, 5e-324))}, t=math.pi)
    copy = qp.from_json(qp.to_json(state))
    assert copy == state
    assert copy.v.tobytes() == state.v.tobytes()
    later = system.at(state)
    assert qp.from_json(qp.to_json(later)) == later
    assert qp.from_json(qp.to_json(later)).candidates == (lock,)


def test_default_start_is_the_written_one() -> None:
    system = qp.Multibody(HUB, ARM)
    assert (
        qp.from_json(qp.to_json(system.at(system.initial))) == system.at(system.initial) == system
    )

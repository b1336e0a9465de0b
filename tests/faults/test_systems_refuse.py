"""Systems, states and selections that cannot be, and the sentence that each of them gets."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.faults.sentence import case, check_refused
from tests.studies import far_pair

BAR = qp.Body.box("bar", (0.1, 0.1, 0.3), mass=1.0)
LID = qp.Body.box("lid", (0.1, 0.1, 0.1), mass=1.0, position=(0.0, 0.0, 0.2))
BASE = qp.Body.box("base", (1, 1, 0.1), fixed=True, position=(0.0, 0.0, -0.2))
HINGE = qp.Revolute("hinge", BAR, LID, at=(0.05, 0.0, 0.15), axis=(0, 1, 0))
LATER = qp.Fixed("later", BAR.site("east", at=(1, 0, 0)), LID.site("west"))
SPRING = qp.HingeSpring("coil", HINGE, stiffness=1.0)
PUSH = qp.Load("push", LID, force=qp.Schedule((0.0, 1.0), np.eye(3)[:2]))
EYE = qp.Sensor("eye", LID.site("top"))
SYSTEM = qp.Multibody(BASE, BAR, LID, HINGE, SPRING, PUSH, EYE, candidates=[LATER])
STATE = SYSTEM.initial

OTHER_BAR = qp.Body.box("bar", (0.1, 0.1, 0.3), mass=2.0)
OTHER_HINGE = qp.Revolute("hinge", BAR, LID, at=(0.0, 0.0, 0.15), axis=(0, 1, 0))


def load_on(body: qp.Body) -> qp.Load:
    return qp.Load("tug", body, force=(1, 0, 0))


SYSTEMS = [
    case(lambda: qp.Multibody(), "Multibody", "no body", id="nothing"),
    case(lambda: qp.Multibody(qp.GROUND), "Multibody", "no body", id="ground alone"),
    case(
        lambda: qp.Multibody(BAR, "lid"),
        "Multibody",
        "'lid'",
        "neither a body nor a joint",
        id="a word",
    ),
    case(
        lambda: qp.Multibody([BAR, LID]),
        "Multibody",
        "neither a body nor a joint",
        "*parts",
        id="a list",
    ),
    case(lambda: qp.Multibody(BAR, np.eye(3)), "Multibody", "array(", "neither", id="an array"),
    case(
        lambda: qp.Multibody(BAR, qp.Sphere(1.0)), "Multibody", "Sphere(1)", "neither", id="a shape"
    ),
    case(lambda: qp.Multibody(BAR, BAR), "'bar'", "two parts are called", id="a body twice"),
    case(
        lambda: qp.Multibody(BAR, qp.Gravity((0, 0, 1), name="bar")),
        "'bar'",
        "two parts",
        id="one name twice",
    ),
    case(
        lambda: qp.Multibody(BAR, qp.Body("ground", fixed=True, color="red")),
        "'ground'",
        "two parts",
        id="ground",
    ),
    case(
        lambda: qp.Multibody(BAR, HINGE),
        "'hinge'",
        "refers to the body 'lid'",
        "not in the system",
        id="no body 2",
    ),
    case(
        lambda: qp.Multibody(OTHER_BAR, LID, HINGE),
        "'hinge'",
        "body 'bar'",
        "differs",
        "same",
        id="other body",
    ),
    case(
        lambda: qp.Multibody(BAR, LID, SPRING),
        "'coil'",
        "refers to the joint 'hinge'",
        id="no joint",
    ),
    case(
        lambda: qp.Multibody(BAR, LID, OTHER_HINGE, SPRING),
        "'coil'",
        "joint 'hinge'",
        "differs",
        id="other joint",
    ),
    case(
        lambda: qp.Multibody(BAR, load_on(LID)),
        "'tug'",
        "refers to the body 'lid'",
        id="load on no body",
    ),
    case(
        lambda: qp.Multibody(BAR, qp.Load("lid", BAR), load_on(LID)),
        "'tug'",
        "'lid'",
        id="body is a force",
    ),
    case(
        lambda: qp.Multibody(BAR, EYE), "'eye'", "refers to the body 'lid'", id="sensor on no body"
    ),
    case(
        lambda: qp.Multibody(BAR, LID, candidates=[EYE]),
        "'eye'",
        "only joints and forces",
        id="candidate sensor",
    ),
    case(
        lambda: qp.Multibody(BAR, candidates=LATER),
        "Multibody",
        "candidates is Fixed('later'",
        id="candidate bare",
    ),
    case(
        lambda: qp.Multibody(BAR, candidates="later"),
        "Multibody",
        "candidates is 'later'",
        id="candidate word",
    ),
    case(
        lambda: qp.Multibody(BAR, start=0.0),
        "Multibody",
        "start is 0.0",
        "State",
        id="start a number",
    ),
    case(
        lambda: qp.Multibody(BAR, LID, LATER),
        "'later'",
        "'bar' and 'lid'",
        "1.02 m apart",
        "tolerance 1e-06",
        "candidates=",
        id="ends apart",
    ),
    case(
        lambda: qp.Multibody(
            BAR, LID, qp.Fixed("lock", BAR.site("top", at=(0, 0, 0.2), z=(1, 0, 0)), LID.site("c"))
        ),
        "'lock'",
        "2.09 rad apart",
        id="ends askew",
    ),
    case(
        lambda: qp.Multibody(
            BAR, LID, qp.Revolute("pin", BAR.site("t", at=(0, 0, 0.2), z=(0, 0, -1)), LID.site("c"))
        ),
        "'pin'",
        "3.14 rad apart",
        id="wrong branch",
    ),
    case(lambda: SYSTEM.with_(LATER), "'later'", "m apart", id="candidate too early"),
    case(lambda: SYSTEM.with_(BAR), "'bar'", "two parts", id="with a body twice"),
    case(lambda: SYSTEM.with_("later"), "Multibody", "'later'", "neither", id="with a word"),
    case(lambda: SYSTEM.without("bar"), "'bar'", "not in the system", id="without a body in use"),
    case(lambda: SYSTEM.at(3.0), "at: 3.0", "not a State", id="at a number"),
    case(
        lambda: SYSTEM.at(qp.Multibody(BAR).initial),
        "at:",
        "has the bodies bar,",
        "bar, lid",
        id="at other bodies",
    ),
    case(
        lambda: SYSTEM.acceleration(evaluator="fast"),
        "evaluator is 'fast'",
        "'dense', 'literal'",
        id="evaluator",
    ),
]

STATES = [
    case(
        lambda: STATE.replace({"nose": dict(position=(0, 0, 0))}),
        "'nose'",
        "bar, lid",
        id="unknown body",
    ),
    case(
        lambda: STATE.replace({"base": dict(position=(0, 0, 0))}),
        "'base'",
        "no moving body",
        id="fixed body",
    ),
    case(
        lambda: STATE.replace({"hinge": dict(angle=1.0)}), "'hinge'", "no moving body", id="a joint"
    ),
    case(
        lambda: STATE.replace({"lid": dict(place=(0, 0, 0))}),
        "'lid'",
        "'place'",
        "orientation",
        id="unknown key",
    ),
    case(
        lambda: STATE.replace({"lid": (0, 0, 0)}),
        "'lid'",
        "needs a dict",
        "(0, 0, 0)",
        id="no dict",
    ),
    case(
        lambda: STATE.replace({"lid": dict(position=(0, 0))}),
        "'lid'",
        "position",
        "shape (2,)",
        id="short",
    ),
    case(
        lambda: STATE.replace({"lid": dict(velocity=(0, 0, math.nan))}),
        "'lid'",
        "velocity",
        "finite",
        id="nan",
    ),
    case(
        lambda: STATE.replace({"lid": dict(orientation=[1, 0, 0, 0])}),
        "'lid'",
        "four bare numbers",
        id="bare",
    ),
    case(lambda: STATE.replace(t="now"), "replace", "t is 'now'", id="time a word"),
    case(lambda: STATE.replace(t=math.inf), "replace", "t is inf", id="time inf"),
    case(
        lambda: STATE.replace({"lid": dict(position=(0, 0, 0.25))}),
        "'hinge'",
        "0.05 m apart",
        id="joint broken",
    ),
    case(
        lambda: qp.from_json(qp.to_json(STATE)).replace({"lid": dict(velocity=(0, 0, 1))}),
        "state",
        "belongs to no system",
        id="no system",
    ),
    case(
        lambda: qp.from_json(qp.to_json(STATE)).instant(),
        "state",
        "belongs to no system",
        id="instant of none",
    ),
    case(
        lambda: qp.from_json(qp.to_json(STATE))["hinge"],
        "'hinge'",
        "belongs to no system",
        id="joint of none",
    ),
]


def select(**words: Any) -> Any:
    return SYSTEM.tables.select(**words)


def tuned(name: str, changes: Any) -> Any:
    return select(parameters={name: changes})


SELECTIONS = [
    case(lambda: select(joints=["nose"]), "'nose'", "no joint", "hinge, later", id="unknown joint"),
    case(lambda: select(forces=["nose"]), "'nose'", "no force", "coil, push", id="unknown force"),
    case(lambda: select(joints="hinge"), "'hinge'", "list of names", "['hinge']", id="a text"),
    case(
        lambda: qp.Multibody(BAR).tables.select(joints=["hinge"]),
        "'hinge'",
        "none",
        id="no joints at all",
    ),
    case(lambda: select(parameters=3), "parameters: 3", "dict", id="parameters a number"),
    case(lambda: tuned("nose", {}), "'nose'", "parameters", id="parameter of nothing"),
    case(
        lambda: tuned("base", {"mass": 1}),
        "'base'",
        "no moving body",
        id="parameter of a fixed body",
    ),
    case(lambda: tuned("eye", {"reach": 1}), "'eye'", "no moving body", id="parameter of a sensor"),
    case(
        lambda: tuned("coil", {"stifness": 1}),
        "'coil'",
        "'stifness'",
        "damping, joint, rest_angle",
        id="typo",
    ),
    case(lambda: tuned("coil", {"name": "c"}), "'coil'", "no parameter 'name'", id="name"),
    case(lambda: tuned("coil", {"stiffness": -1}), "'coil'", "stiffness is -1.0", id="bad value"),
    case(lambda: tuned("coil", 5), "'coil'", "are 5", "dict", id="force no dict"),
    case(lambda: tuned("lid", 5), "'lid'", "are 5", "dict", id="body no dict"),
    case(
        lambda: tuned("lid", {"position": (0, 0, 0)}),
        "'lid'",
        "'position'",
        "mass and inertia",
        id="pose",
    ),
    case(lambda: tuned("lid", {"mass": 0}), "'lid'", "mass is 0.0", id="bad mass"),
    case(lambda: tuned("lid", {"mass": None}), "'lid'", "mass is missing", id="no mass"),
    case(
        lambda: tuned("hinge", {"second": BASE}),
        "'hinge'",
        "not what the part acts on",
        id="other body",
    ),
    case(
        lambda: tuned("push", {"body": BAR}),
        "'push'",
        "not what the part acts on",
        id="load elsewhere",
    ),
    case(
        lambda: tuned("push", {"force": qp.Schedule((0,), ((0, 0, 0),))}),
        "'push'",
        "number of knots",
        id="fewer knots",
    ),
    case(
        lambda: tuned("push", {"force": (1, 0, 0)}), "'push'", "not what", id="schedule to constant"
    ),
]


@pytest.mark.parametrize(("make", "name", "words"), [*SYSTEMS, *STATES, *SELECTIONS])
def test_refused(make: Any, name: str, words: tuple[str, ...]) -> None:
    check_refused(make, name, words)


def test_ends_apart_are_accepted_in_a_candidate() -> None:
    assert qp.Multibody(BAR, LID, candidates=[LATER]).candidates == (LATER,)


#: All that is read by names in square brackets, or asks for such a name; and a name of each.
ASKED: dict[str, tuple[Any, str]] = {
    "system": (lambda: SYSTEM["nose"], "base, bar, lid, hinge, coil, push, eye, later."),
    "without": (lambda: SYSTEM.without("nose"), "base"),
    "state": (lambda: STATE["nose"], "bar, lid, base, ground, hinge, later, eye."),
    "run": (lambda: SYSTEM.simulate(0.01)["nose"], "hinge"),
    "runs": (lambda: SYSTEM.simulate_many(duration=0.01, states=[STATE])["nose"], "hinge"),
    "graph": (lambda: far_pair().explore()["nose"], "n0, n1"),
    "plan": (lambda: far_pair().explore().plan("n0", "nose"), "n0, n1"),
    "table": (lambda: far_pair().explore().table("n1")["nose"], "'n1'"),
}


@pytest.mark.parametrize("who", ASKED)
def test_unknown_names_are_key_errors_that_list_the_known(who: str) -> None:
    """And refusals with a sentence and a code like all others."""
    ask, known = ASKED[who]
    check_refused(ask, "'nose'", (known,))
    with pytest.raises(KeyError) as caught:
        ask()
    assert caught.value.code == "name"  # type: ignore[attr-defined]
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_what_lacks_a_coordinate_is_told_of_joints_that_have_it() -> None:
    """Not of the very joint that was given."""
    for kind, wanted in (("angle", qp.Prismatic), ("travel", qp.Revolute), ("length", qp.Revolute)):
        joint = wanted("joint", qp.GROUND, BAR, at=(0, 0, 0), axis=(0, 0, 1))
        with pytest.raises(qp.PartError, match=f"has no {kind}") as caught:
            joint.named_coordinate(None, joint, kind)  # type: ignore[arg-type]
        told = str(caught.value).partition("such as a ")[2].rstrip(".")
        assert hasattr(qp, told)
        assert told != wanted.__name__


def test_parameter_that_changes_the_rows_is_refused() -> None:
    groove = Groove("groove", BAR, qp.GROUND, at=(0, 0, 0), axis=(0, 0, 1))
    tables = qp.Multibody(BAR, groove).tables
    check_refused(
        lambda: tables.select(parameters={"groove": {"along": "x"}}),
        "'groove'",
        ("not what the part acts on",),
    )


class Groove(qp.Joint):
    along: str = "z"

    def primitives(self) -> tuple[qp.Primitive, ...]:
        return (qp.OriginOnLine(self.along),)

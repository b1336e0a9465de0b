"""What cannot be written to JSON, and documents that cannot be read."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

import quirkpy as qp
from tests.faults.sentence import case, check_refused

BAR = qp.Body.box("bar", (0.1, 0.1, 0.3), mass=1.0)


class Curve(qp.Force):
    """Holds what JSON cannot."""

    shape: Any

    def potential(self, at: qp.MotionView) -> float:
        return 0.0


class Typed(qp.Force):
    """A field that is called like a word of the document."""

    type: str

    def potential(self, at: qp.MotionView) -> float:
        return 0.0


def local() -> qp.Force:
    class Hidden(qp.Force):
        def potential(self, at: qp.MotionView) -> float:
            return 0.0

    return Hidden("hidden")


def wave(t: float) -> tuple[float, float, float]:
    return math.sin(t), 0.0, 0.0


def document(**changes: Any) -> str:
    return json.dumps({"quirkpy": 1, "parts": {}, "root": None} | changes)


def read(text: Any, *modules: str) -> Any:
    return lambda: qp.from_json(text, modules=modules)


def part(**fields: Any) -> str:
    return document(root=fields)


CASES = [
    case(
        lambda: qp.to_json(qp.Load("p", BAR, force=wave)),
        "'p'",
        "force",
        "Python function",
        id="function",
    ),
    case(
        lambda: qp.to_json(qp.Multibody(BAR, qp.Load("p", BAR, torque=lambda t: (t, t, t)))),
        "'p'",
        "torque",
        "Python function",
        "Schedule",
        id="function in a system",
    ),
    case(
        lambda: qp.to_json(Curve("c", math.inf)), "'c'", "shape", "inf cannot be written", id="inf"
    ),
    case(
        lambda: qp.to_json(Curve("c", (1.0, math.nan))),
        "'c'",
        "shape",
        "nan cannot be written",
        id="nan",
    ),
    case(lambda: qp.to_json(Curve("c", 1j)), "'c'", "shape", "complex", id="complex"),
    case(lambda: qp.to_json(Curve("c", frozenset("a"))), "'c'", "shape", "frozenset", id="set"),
    case(lambda: qp.to_json(object()), "to_json", "object", id="no part at all"),
    case(lambda: qp.to_json(local()), "'hidden'", "inside a function", id="local class"),
    case(lambda: qp.to_json(Typed("t", "x")), "'t'", "called type", id="field called type"),
    case(read("spam"), "from_json", "not JSON", id="not JSON"),
    case(read(""), "from_json", "not JSON", id="empty"),
    case(read(None), "from_json", "not JSON", id="none"),
    case(read("[]"), "from_json", "nothing that to_json wrote", "no schema", id="a list"),
    case(read("{}"), "from_json", "nothing that to_json wrote", "no schema", id="no schema"),
    case(read(document(quirkpy=99)), "from_json", "schema 99", "reads 1", id="another schema"),
    case(read('{"quirkpy": 1}'), "from_json", "damaged", "'parts'", id="no parts"),
    case(read(document(parts=3)), "from_json", "damaged", id="parts a number"),
    case(
        read(document(root={"part": "nose"})),
        "from_json",
        "damaged",
        "'nose'",
        id="dangling reference",
    ),
    case(read(part(radius=1.0)), "from_json", "damaged", "'type'", id="no type"),
    case(
        read(part(type="Sphere", diameter=1.0)),
        "from_json",
        "damaged",
        "'diameter'",
        id="unknown field",
    ),
    case(read(part(type="Sphere")), "from_json", "damaged", "'radius'", id="missing field"),
    case(read(part(type="Sphere", radius=-1.0)), "Sphere", "radius is -1.0", id="bad value"),
    case(read(part(type="Donut")), "from_json", "'Donut'", "modules=", id="unknown type"),
    case(
        read(part(type="os:system"), "json"),
        "from_json",
        "'os:system'",
        "modules=['os']",
        id="unknown module",
    ),
    case(read(part(type="os:system"), "os"), "from_json", "not a class of parts", id="no part"),
    case(
        read(part(type="os:nothing"), "os"), "from_json", "not a class of parts", id="nothing there"
    ),
    case(
        read(part(type="no.such:Thing"), "no.such"),
        "from_json",
        "cannot be imported",
        id="no module",
    ),
    case(read(part(type="State", t=0.0)), "from_json", "damaged", id="state without arrays"),
]


@pytest.mark.parametrize(("make", "name", "words"), CASES)
def test_refused(make: Any, name: str, words: tuple[str, ...]) -> None:
    check_refused(make, name, words)


def test_no_code_of_the_documents_choosing_runs(tmp_path: Any, monkeypatch: Any) -> None:
    (tmp_path / "trap.py").write_text("raise SystemExit('sprung')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(qp.PartError, match="name its module"):
        qp.from_json(part(type="trap:Part"))

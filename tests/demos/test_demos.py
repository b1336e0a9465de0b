"""Every demo runs, and one number of each is right."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

DEMOS = Path(__file__).resolve().parents[2] / "demos"


def two_cubes(told: Mapping[str, float]) -> None:
    """Closed form: a force k (w - r) on the arm d from the hinge, over J = m (a^2 / 6 + d^2) = m a^2 2/3."""
    k, side, d = 0.05, 0.1, 0.1 / math.sqrt(2.0)
    moment = side**2 * 2.0 / 3.0
    assert told["opening"] == pytest.approx(-k * 0.1 * d * math.sin(math.pi / 4) / moment, rel=1e-12)
    assert told["freedoms"] == 1
    assert told["difference"] < 1e-15
    assert abs(told["balanced"]) < 1e-15
    assert told["ahead"] == pytest.approx(k * d * d * math.sin(0.01) / moment, rel=1e-12)
    assert told["back"] == pytest.approx(-told["ahead"], rel=1e-12)


def hinged_cubes(told: Mapping[str, float]) -> None:
    """J phi'' = z . (lever x k (well - centre)) - c phi', solved to 30 digits: when, how fast, with what energy."""
    assert told["arrival"] == pytest.approx(11.326927871167443, abs=1e-7)
    assert told["rate"] == pytest.approx(-0.47643223375695193, abs=1e-8)
    assert told["energy"] == pytest.approx(1.006625577875463e-3, abs=1e-10)
    assert told["back"] == pytest.approx(told["arrival"], abs=1e-7)
    assert 0.0 < told["half"] < told["arrival"]
    assert told["ledger"] < 1e-10


def own_force(told: Mapping[str, float]) -> None:
    """Two cubes on a tether of cubic stiffness: a quarter of the period, by the lemniscate constant."""
    exact = math.sqrt(1.0 / 20.0) / 0.1 * math.gamma(0.25) ** 2 / (4.0 * math.sqrt(2.0 * math.pi))
    assert told["exact"] == pytest.approx(exact, rel=1e-14)
    for kind in ("Tether", "FastTether"):
        assert told[kind] == pytest.approx(exact, rel=1e-9)
        assert told[f"{kind} there"] == told[kind]
        assert told[f"{kind} drift"] < 1e-9
    assert told["FastTether"] == pytest.approx(told["Tether"], rel=1e-12)


def own_joint(told: Mapping[str, float]) -> None:
    """m g L / 2 = I w^2 / 2, and nothing moves the middle of the bar aside."""
    assert told["exact"] == pytest.approx(-math.sqrt(2.0 * 9.81 * 0.5 / (1.01 / 12.0)), rel=1e-14)
    assert told["here"] == pytest.approx(told["exact"], rel=1e-9)
    assert told["there"] == told["here"]
    assert told["aside"] < 1e-12
    assert told["drift"] < 1e-8
    assert told["rolled"] == pytest.approx(0.5, rel=1e-9)


#: Demo -> what must hold of the numbers that its main() returns.
TRUTHS: dict[str, Callable[[Mapping[str, float]], None]] = {
    "two_cubes": two_cubes, "hinged_cubes": hinged_cubes, "own_force": own_force, "own_joint": own_joint,
}  # fmt: skip


def test_every_demo_has_a_truth() -> None:
    assert {path.stem for path in DEMOS.glob("*.py")} == TRUTHS.keys()


@pytest.mark.parametrize("name", TRUTHS)
def test_demo(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    TRUTHS[name](importlib.import_module(f"demos.{name}").main())  # by a name that worker processes find too
    assert capsys.readouterr().out

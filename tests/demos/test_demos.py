"""Every demo runs, and one number of each is right."""

from __future__ import annotations

import math
import runpy
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


#: Demo -> what must hold of the numbers that its main() returns.
TRUTHS: dict[str, Callable[[Mapping[str, float]], None]] = {"two_cubes": two_cubes, "hinged_cubes": hinged_cubes}


def test_every_demo_has_a_truth() -> None:
    assert {path.stem for path in DEMOS.glob("*.py")} == TRUTHS.keys()


@pytest.mark.parametrize("name", TRUTHS)
def test_demo(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    TRUTHS[name](runpy.run_path(str(DEMOS / f"{name}.py"))["main"]())
    assert capsys.readouterr().out

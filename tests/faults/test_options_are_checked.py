"""Options of runs, rests and readings that make no sense are refused in one sentence, before any
work is done; none ends raw, and none makes a call that never ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.faults.sentence import check_refused, check_sentence


def hinged() -> qp.Multibody:
    """A cube on a hinge that a well pulls open against a damper."""
    hub = qp.Body.box("hub", size=(0.1, 0.1, 0.1), mass=1.0, fixed=True)
    arm = qp.Body.box("arm", size=(0.1, 0.1, 0.1), mass=1.0, position=(0.1, 0, 0))
    hinge = qp.Revolute("hinge", hub, arm, at=(0.05, -0.05, 0), axis=(0, 0, 1))
    well = qp.PotentialWell("well", arm, centre=(0.2, 0, 0), stiffness=0.05)
    return qp.Multibody(hub, arm, hinge, well, qp.ViscousHinges(2e-4))


SYSTEM = hinged()
RUN = SYSTEM.simulate(0.1, progress=False)

#: Values that somebody's arithmetic may come to, and some that no option takes.
ODD = (
    0, -1, -0.0, math.nan, math.inf, -math.inf, 1e300, 1e-300, 5e-324, 1.0, None, "3", True, 1 + 2j,
    np.float64(1.0), np.array([1.0]), np.array([1.0, 2.0]), [], 10**400, np.int64(1), object(),
)  # fmt: skip
#: What takes them; the runs are short, and bounded where a tiny tolerance would make them long.
CALLS: dict[str, Callable[[Any], Any]] = {
    **{
        f"simulate {name}": lambda x, name=name: SYSTEM.simulate(
            1e-3, **({"max_steps": 50, "progress": False} | {name: x})
        )
        for name in (
            "rtol", "atol", "step", "max_steps", "keep", "gains", "drift", "energy", "method",
        )
    },
    "simulate duration": lambda x: SYSTEM.simulate(x, max_steps=50, progress=False),
    "simulate step without a bound": lambda x: SYSTEM.simulate(1e-3, step=x, progress=False),
    **{
        f"settle {name}": lambda x, name=name: SYSTEM.settle(
            **({"evaluations": 600, "progress": False} | {name: x})
        )
        for name in (
            "nudge", "seed", "rest", "duration", "evaluations", "rtol", "atol", "method", "stop",
            "keep", "state",
        )
    },
    **{
        f"equilibria {name}": lambda x, name=name: SYSTEM.equilibria(**({"seeds": 1} | {name: x}))
        for name in ("seeds", "seed", "spread", "state")
    },
    "linearize": lambda x: SYSTEM.linearize(x),
    "caught": lambda x: SYSTEM.caught(x),
    "at": lambda x: RUN.at(x),
    "sampled": lambda x: RUN.sampled(x),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_options_are_taken_or_refused_in_a_sentence(call: str) -> None:
    """Any other exception fails here."""
    for value in ODD:
        try:
            CALLS[call](value)
        except qp.PartError as error:
            check_sentence(str(error), "", ())


def test_what_would_never_end_is_refused_with_its_figure() -> None:
    check_refused(lambda: SYSTEM.simulate(1.0, step=1e-12), "simulate", ("1e+12", "max_steps"))
    check_refused(lambda: RUN.sampled(1e-12), "sampled", ("1e-12 s", "1e+11", "1e-08 s or more"))
    check_refused(lambda: SYSTEM.equilibria(spread=1e5), "equilibria", ("spread", "below 3000"))
    run = SYSTEM.simulate(1.0, step=1e-12, max_steps=3, progress=False)
    assert run.stop is qp.Stop.STEPS
    assert len(RUN.sampled(1e-3).t) >= 100


@pytest.mark.parametrize("seconds", [1e17, 1e10, -1e10])
def test_a_duration_that_is_lost_beside_the_time_is_refused(seconds: float) -> None:
    """However it is lost: in all, or in part."""
    late = SYSTEM.at(SYSTEM.initial.replace(t=seconds))
    told = (seconds + 1.0) - seconds
    duration = 1.0 if told != 1.0 else 1.0 + 1e-7
    words = (f"t = {seconds:g} s", "after rounding", "state.replace(t=0.0)")
    check_refused(lambda: late.simulate(duration), "simulate", words)
    check_refused(lambda: late.settle(duration=duration), "simulate", words)


def test_times_late_enough_for_any_mission_are_not() -> None:
    late = SYSTEM.at(SYSTEM.initial.replace(t=1e8))  # three years
    run = late.simulate(64.0, max_steps=5, progress=False)
    assert run.t[-1] > 1e8


def test_a_state_of_another_system_is_named() -> None:
    other = qp.Multibody(qp.Body.sphere("ball", 0.1, 1.0)).initial
    for ask in (SYSTEM.equilibria, SYSTEM.linearize, SYSTEM.caught, SYSTEM.settle):
        check_refused(lambda ask=ask: ask(other), "", ("ball", "arm"))

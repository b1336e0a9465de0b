"""What the steps of plans cost: energy that the spacecraft supplies, time, switches, risk, or a
function of an edge."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from quirkpy.parts.checks import show
from quirkpy.parts.part import PartError

if TYPE_CHECKING:
    from quirkpy.explore.model.graph import Edge, Outcome
    from quirkpy.explore.scope.scope import Scope

#: What a plan may be cheapest in, by word.
CostWord: TypeAlias = Literal["energy", "time", "switches", "risk"]
Cost: TypeAlias = "CostWord | Callable[[Edge], float]"
COST_WORDS: tuple[str, ...] = get_args(CostWord)


def supply_for(outcome: Any) -> float:
    """The energy that the spacecraft supplies for a motion [J] from a node as it was first reached:
    the work of switching, where it is not given back, and `supply_in_motion`."""
    return max(0.0, float(outcome.switching)) + supply_in_motion(outcome)


def supply_in_motion(outcome: Any) -> float:
    """The energy that the spacecraft supplies during a motion [J]: the work of loads, the power
    that forces state, and what joints draw as they take hold and let go."""
    held = float(outcome.holding * outcome.duration)
    return max(0.0, float(outcome.put_in)) + held + float(outcome.changing)


def time_of(study: Scope | None, outcome: Outcome) -> float:
    """How long a motion counts [s]: without the waiting near unstable rests, which follows from the
    nudge; or with the waiting that a disturbance of the size that the study states would leave."""
    disturbance = None if study is None else study.disturbance
    if study is None or disturbance is None:
        return outcome.moving
    later = math.log(study.nudge / disturbance) if study.nudge else 0.0
    return outcome.moving + math.fsum(
        max(0.0, at.waiting + later / at.growth) for at in outcome.leavings
    )


def risk(edge: Edge, outcome: Outcome) -> float:
    """Minus the logarithm of the probability that a step ends where this outcome does, at the lower
    end of its interval; infinite where that is not known."""
    low = 0.0 if edge.robustness is None else edge.robustness.towards(outcome.target).interval()[0]
    return -math.log(low) if low > 0.0 else math.inf


def price(study: Scope | None, cost: Any, edge: Edge, outcome: Outcome) -> float:
    """What a step costs whatever comes before it; in energy, beside the work of switching."""
    if callable(cost):
        value = cost(edge)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise PartError(
                f"plan: the cost of {edge!r} is {show(value)}, but must be a number from 0 up."
            ) from None
    prices: dict[str, Callable[[], float]] = {
        "energy": lambda: supply_in_motion(outcome), "time": lambda: time_of(study, outcome),
        "switches": lambda: 1.0, "risk": lambda: risk(edge, outcome),
    }  # fmt: skip
    return prices[cost]()


def price_of(study: Scope | None, cost: Any, edge: Edge, outcome: Outcome) -> float:
    """What an edge costs after what its source was first reached with."""
    return supply_for(outcome) if cost == "energy" else price(study, cost, edge, outcome)


def check_cost(cost: Any) -> None:
    """Refuse what is no cost."""
    if not (callable(cost) or cost in COST_WORDS):
        raise PartError(
            f"plan: cost is {show(cost)}, but must be one of {', '.join(map(repr, COST_WORDS))}, "
            "or a function."
        )

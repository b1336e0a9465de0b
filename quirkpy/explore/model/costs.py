"""Costs of the steps of plans: energy supplied by the spacecraft, time, switches, risk, or a
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

#: The quantities that a plan may minimise.
CostWord: TypeAlias = Literal["energy", "time", "switches", "risk"]
Cost: TypeAlias = "CostWord | Callable[[Edge], float]"
COST_WORDS: tuple[str, ...] = get_args(CostWord)


def supply_for(outcome: Any) -> float:
    """The energy that the spacecraft supplies for a motion [J] from a node as it was first reached:
    the work of switching, if positive, and `supply_in_motion`."""
    return max(0.0, float(outcome.switching)) + supply_in_motion(outcome)


def supply_in_motion(outcome: Any) -> float:
    """The energy that the spacecraft supplies during a motion [J]."""
    return sum(supplies_in_motion(outcome))


def supplies_in_motion(outcome: Any) -> tuple[float, float]:
    """The energies that the spacecraft supplies during a motion [J]: the work of loads with the
    energy for locking and releasing joints, and the holding power of forces over its duration."""
    driven = max(0.0, float(outcome.put_in)) + float(outcome.changing)
    return driven, float(outcome.holding * outcome.duration)


def time_of(study: Scope | None, outcome: Outcome) -> float:
    """The time of a motion in plans [s]: without the waiting near unstable equilibria, which
    depends on the size of the displacement; or with the waiting after a disturbance of the size
    given by the study."""
    disturbance = None if study is None else study.disturbance
    if study is None or disturbance is None:
        return outcome.moving
    later = math.log(study.nudge / disturbance) if study.nudge else 0.0
    return outcome.moving + math.fsum(
        max(0.0, at.waiting + later / at.growth) for at in outcome.leavings
    )


def risk(edge: Edge, outcome: Outcome) -> float:
    """Minus the logarithm of the probability that a step ends in this outcome, at the lower end of
    its confidence interval; infinite where that is not known."""
    low = 0.0 if edge.robustness is None else edge.robustness.towards(outcome.target).interval()[0]
    return -math.log(low) if low > 0.0 else math.inf


def price(study: Scope | None, cost: Any, edge: Edge, outcome: Outcome) -> float:
    """The cost of a step that is independent of the steps before; in energy, apart from the work of
    switching."""
    if callable(cost):
        value = cost(edge)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise PartError(
                f"plan: the cost of {edge!r} is {show(value)}, but must be a number from 0 up.",
                code="yours",
            ) from None
    prices: dict[str, Callable[[], float]] = {
        "energy": lambda: supply_in_motion(outcome), "time": lambda: time_of(study, outcome),
        "switches": lambda: 1.0, "risk": lambda: risk(edge, outcome),
    }  # fmt: skip
    return prices[cost]()


def price_of(study: Scope | None, cost: Any, edge: Edge, outcome: Outcome) -> float:
    """The cost of an edge after the first arrival at its source."""
    return supply_for(outcome) if cost == "energy" else price(study, cost, edge, outcome)


def check_cost(cost: Any) -> None:
    """Refuse an invalid cost."""
    if not (callable(cost) or cost in COST_WORDS):
        raise PartError(
            f"plan: cost is {show(cost)}, but must be one of {', '.join(map(repr, COST_WORDS))}, "
            "or a function."
        )

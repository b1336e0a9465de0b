"""Perturbations in flight, and the results of an edge that was simulated many times."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quirkpy.parts.checks import not_negative, small
from quirkpy.parts.part import Part, checked, fields_of


class Spread(Part):
    """Deviations with which an edge is simulated; zero: exactly as defined.

    start [m or rad]: displacement, along each freedom, of the body that it moves most; speed [m/s
    or rad/s]: the corresponding velocity. mass, strength: logarithms of the factors of mass and
    inertia of each body, and of the loads of each force: 0.01 is one per cent. hinge [m]:
    displacement of each movable joint, along each axis of its site."""

    start: float = checked(small, default=1e-3, kw_only=True)
    speed: float = checked(not_negative, default=0.0, kw_only=True)
    mass: float = checked(not_negative, default=0.01, kw_only=True)
    strength: float = checked(not_negative, default=0.02, kw_only=True)
    hinge: float = checked(small, default=0.0, kw_only=True)


@dataclass(frozen=True)
class Robustness:
    """The results of an edge that was simulated `samples` times.

    outcomes: the number of each: the name of a node, or another kind of outcome; successes: those
    that reached the target; spread and seed: the random perturbations; reasons: for those that
    ended in no shape of the graph, the number of each."""

    target: str
    samples: int
    outcomes: tuple[tuple[str, int], ...]
    spread: Spread
    seed: int
    reasons: tuple[tuple[str, int], ...] = ()

    def towards(self, node: str | None) -> Robustness:
        """The results with another node as the target."""
        return self if node in (None, self.target) else dataclasses.replace(self, target=str(node))

    @property
    def successes(self) -> int:
        """The number of runs that reached the target."""
        return dict(self.outcomes).get(self.target, 0)

    @property
    def probability(self) -> float:
        """The share of successes."""
        return self.successes / self.samples

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The confidence interval of the probability of success, of at least this confidence
        (Clopper and Pearson 1934)."""
        from scipy.special import betaincinv

        n, k, half = self.samples, self.successes, 0.5 * (1.0 - confidence)
        low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, half))
        high = 1.0 if k == n else float(betaincinv(k + 1, n - k, 1.0 - half))
        return low, high

    def record(self) -> dict[str, Any]:
        """The record for a journal: plain values."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)} | {
            "spread": fields_of(self.spread),
            "outcomes": dict(self.outcomes),
            "reasons": dict(self.reasons),
        }

    @staticmethod
    def of(record: Mapping[str, Any]) -> Robustness:
        """The estimate in a record of plain values."""
        spread, outcomes = Spread(**record["spread"]), tuple(record["outcomes"].items())
        reasons = tuple(record.get("reasons", {}).items())  # journals of earlier versions have none
        return Robustness(**{**record, "spread": spread, "outcomes": outcomes, "reasons": reasons})

    def __str__(self) -> str:
        low, high = self.interval()
        others = ", ".join(f"{n} {label}" for label, n in self.outcomes if label != self.target)
        why = ", ".join(f"{n} {reason}" for reason, n in self.reasons)
        return (
            f"{self.probability:.4g} ({low:.4g} to {high:.4g} with 95 % confidence), "
            f"{self.samples} samples"
            + (f"; else {others}" if others else "")
            + (f" ({why})" if why else "")
        )

"""`Settings`: how a run is made, and checks of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from quirkpy.kernels.step.methods import Method
from quirkpy.motion.course import Keep
from quirkpy.parts.checks import optional, positive
from quirkpy.parts.part import PartError

Drift: TypeAlias = Literal["project", "baumgarte", "none"]


StiffMethod: TypeAlias = Literal["radau", "bdf", "lsoda"]


METHODS = (*get_args(Method), *get_args(StiffMethod))


EnergyControl: TypeAlias = Literal["free", "conserve"]


def pair(value: Any) -> tuple[float, float]:
    """Two positive numbers."""
    if not (isinstance(value, (tuple, list)) and len(value) == 2):
        raise TypeError(f"is {value!r}, but must be two numbers, alpha and beta [1/s]")
    return positive(value[0]), positive(value[1])


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a run is made; see `Multibody.simulate`."""

    rtol: float = 1e-8
    atol: float = 1e-10
    drift: Drift = "project"
    energy: EnergyControl = "free"
    method: Method | StiffMethod = "dop853"
    step: float | None = None
    keep: Keep | int = "all"
    max_steps: int | None = None
    gains: tuple[float, float] = (10.0, 10.0)


def check_settings(duration: Any, s: Settings) -> float:
    """The duration, when all that a run is asked for makes sense."""
    try:
        span = positive(duration)
    except (TypeError, ValueError) as error:
        raise PartError(f"simulate: duration {error}; give it in seconds.") from None
    for name, check in (
        ("rtol", positive),
        ("atol", positive),
        ("step", optional(positive)),
        ("gains", pair),
    ):
        try:
            check(getattr(s, name))
        except (TypeError, ValueError) as error:
            raise PartError(f"simulate: {name} {error}.") from None
    for name, options in (("drift", Drift), ("energy", EnergyControl), ("method", METHODS)):
        known = options if isinstance(options, tuple) else get_args(options)
        if getattr(s, name) not in known:
            words = ", ".join(map(repr, known))
            raise PartError(
                f"simulate: {name} is {getattr(s, name)!r}, but must be one of {words}."
            )
    if s.keep not in get_args(Keep) and not (
        isinstance(s.keep, int) and not isinstance(s.keep, bool) and s.keep > 0
    ):
        raise PartError(
            f"simulate: keep is {s.keep!r}, but must be 'all', 'ends' or a whole number of steps."
        )
    if s.step is not None and s.method in get_args(StiffMethod):
        raise PartError(
            f"simulate: method {s.method!r} chooses its own steps; leave step out, or use 'dop853'."
        )
    if s.max_steps is not None and not (type(s.max_steps) is int and s.max_steps > 0):
        raise PartError(
            f"simulate: max_steps is {s.max_steps!r}, but must be None or a whole number above "
            "zero."
        )
    return span

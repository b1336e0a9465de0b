"""`Settings`: the settings of a run, and their checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from quirkpy.kernels.step.methods import Method
from quirkpy.mechanics.state import State
from quirkpy.motion.course import Keep
from quirkpy.parts.checks import below, optional, positive, share, show
from quirkpy.parts.part import PartError

#: Absolute tolerances must be below this [m], [rad], [m/s] or [rad/s].
LOOSEST = 1e6
#: Largest number of steps, which would take years.
MOST_STEPS = 1e9
#: Largest share of a duration that may be lost by rounding when it is added to the initial time.
LOST = 1e-9

Drift: TypeAlias = Literal["project", "baumgarte", "none"]


StiffMethod: TypeAlias = Literal["radau", "auto"]


METHODS = (*get_args(Method), *get_args(StiffMethod))


EnergyControl: TypeAlias = Literal["free", "conserve"]


def pair(value: Any) -> tuple[float, float]:
    """Two positive numbers."""
    if not (isinstance(value, (tuple, list)) and len(value) == 2):
        raise TypeError(f"is {show(value)}, but must be two numbers, alpha and beta [1/s]")
    return positive(value[0]), positive(value[1])


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of a run; see `Multibody.simulate`."""

    rtol: float = 1e-8
    atol: float = 1e-10
    drift: Drift = "project"
    energy: EnergyControl = "free"
    method: Method | StiffMethod = "dop853"
    step: float | None = None
    keep: Keep | int = "all"
    max_steps: int | None = None
    gains: tuple[float, float] = (10.0, 10.0)


#: The check of each number of the settings, and the admissible words of the others.
NUMBERS = (
    ("rtol", share), ("atol", below(LOOSEST)), ("step", optional(positive)), ("gains", pair),
)  # fmt: skip
WORDS = (("drift", get_args(Drift)), ("energy", get_args(EnergyControl)), ("method", METHODS))
STIFF = get_args(StiffMethod)
KEPT = get_args(Keep)


def check_settings(duration: Any, s: Settings) -> float:
    """The duration, after a check of all settings of a run."""
    try:
        span = positive(duration)
    except (TypeError, ValueError) as error:
        way = ", and where it begins as state=" if isinstance(duration, State) else ""
        raise PartError(f"simulate: duration {error}; give it in seconds{way}.") from None
    _check_fields(s)
    _check_keep(s)
    if s.step is not None or s.max_steps is not None:
        _check_steps(span, s)
    return span


def _check_fields(s: Settings) -> None:
    """Refuse invalid numbers and words."""
    given = vars(s)
    for name, check in NUMBERS:
        try:
            check(given[name])
        except (TypeError, ValueError) as error:
            raise PartError(f"simulate: {name} {error}.") from None
    for name, known in WORDS:
        word = given[name]
        if not isinstance(word, str) or word not in known:
            words = ", ".join(map(repr, known))
            raise PartError(f"simulate: {name} is {show(word)}, but must be one of {words}.")


def _check_keep(s: Settings) -> None:
    """Refuse invalid choices of the rows to keep."""
    if not (s.keep in KEPT if isinstance(s.keep, str) else _counts(s.keep)):
        raise PartError(
            f"simulate: keep is {show(s.keep)}, but must be 'all', 'ends' or a whole number of "
            "steps."
        )


def _check_steps(span: float, s: Settings) -> None:
    """Refuse steps that do not fit the method or the duration [s], and invalid numbers of steps."""
    if s.step is not None and s.method in STIFF:
        raise PartError(
            f"simulate: method {s.method!r} chooses its own steps; leave step out, or use 'dop853'."
        )
    if s.max_steps is not None and not _counts(s.max_steps):
        raise PartError(
            f"simulate: max_steps is {show(s.max_steps)}, but must be None or a whole number "
            "above zero."
        )
    if s.max_steps is None and s.step is not None and span / s.step > MOST_STEPS:
        raise PartError(
            f"simulate: step is {s.step:g} s, of which {span:g} s take {span / s.step:.2g}; give a "
            "longer one, or max_steps."
        )


def check_end(begun: float, span: float) -> None:
    """Refuse an initial time [s] at which rounding is comparable to the duration [s]."""
    told = (begun + span) - begun
    if abs(told - span) > LOST * span:
        raise PartError(
            f"simulate: the run begins at t = {begun:g} s, from where {span:g} s are {told:g} s "
            "after rounding; begin nearer to zero, with state.replace(t=0.0).",
            code="rounding",
        )


def _counts(value: Any) -> bool:
    """Whether a value is a positive integer."""
    return type(value) is int and value > 0

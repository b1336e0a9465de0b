"""`Latch`: catches a coordinate of a joint at a position, and holds it."""

from __future__ import annotations

from quirkpy.parts.checks import not_negative, number, optional, positive
from quirkpy.parts.force import Element
from quirkpy.parts.forces import OnCoordinate
from quirkpy.parts.part import checked


def _sense(value: object) -> int:
    if type(value) is not int or value not in (-1, 0, 1):
        raise ValueError(
            f"is {value!r}, but must be +1 (caught as it grows), -1 (as it falls) or 0 (both ways)"
        )
    return value


class Latch(OnCoordinate):
    """Catches a coordinate of a joint: ``Latch("flat", hinge, at=0.0, sense=+1)``.

    at [rad] or [m]: where it catches; sense: +1 if the coordinate increases, -1 if it decreases, 0
    both. When the coordinate passes in that sense it is stopped in a plastic impact, whose impulse
    is in `run.impacts`, and then held in both senses, whatever the load, until a `Switch` omits the
    latch. The energy lost in the impact counts as dissipated. Before, the latch has no effect; a
    joint that begins at this position, slower than `settle` [rad/s or m/s], is held at once. It is
    active while its joint is. release [J]: the energy supplied by the spacecraft to open it while
    it holds; power [W]: the rate of that supply; None: at once."""

    at: float = checked(number, kw_only=True)
    sense: int = checked(_sense, default=0, kw_only=True)
    settle: float = checked(positive, default=1e-4, kw_only=True)
    release: float = checked(not_negative, default=0.0, kw_only=True)
    power: float | None = checked(optional(positive), default=None, kw_only=True)

    def validate(self) -> None:
        super().validate()
        self._doubt("at", self.at)

    def elements(self) -> tuple[Element, ...]:
        """A stop for each sense in which it catches."""
        name = self._coordinate().name
        return tuple(
            Element(
                "stop", joint=self.joint, coordinate=name,
                numbers=(self.at, side, 0.0, self.settle, 1.0),
            )
            for side in ((1.0, -1.0) if self.sense == 0 else (-float(self.sense),))
        )  # fmt: skip

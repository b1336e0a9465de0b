"""Beams that a drive spins up: the published peaks, what foreshortening is for, and stiff beams,
which move as rigid ones do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.parts.beam import Beam

#: Simo and Vu-Quoc (1986): a beam of 10 m to 6 rad/s within 15 s.
SIMO = {"length": 10.0, "EA": 2.8e7, "EI": 1.4e4, "mass_per_length": 1.2}
#: Kane, Ryan and Banerjee (1987): one of 8 m to 4 rad/s within 15 s.
KANE = {
    "length": 8.0, "EA": 6.895e10 * 7.2968e-5, "EI": 6.895e10 * 8.2189e-9,
    "mass_per_length": 2766.67 * 7.2968e-5,
}  # fmt: skip
SPIN_UP = 15.0


def hinged(speed: float, given: dict[str, float], **changes: Any) -> tuple[qp.Multibody, Beam]:
    """A beam on a hub that a drive turns by speed / 15 s (t^2 / 2 + (15 s / 2 pi)^2 (cos(2 pi t /
    15 s) - 1))."""
    usual: dict[str, Any] = {"damping": 0.0, "GJ": 1e4, "modes": (0, 4, 0, 0)}
    sizes = {name: value for name, value in given.items() if name != "length"}
    boom = Beam(
        "boom", start=(0.0, 0.0, 0.0), end=(given["length"], 0.0, 0.0),
        **{**usual, **sizes, **changes},
    )  # fmt: skip
    hub = qp.Body.sphere("hub", 0.5, 20.0)
    hinge = qp.Revolute("hinge", qp.GROUND, hub, at=(0, 0, 0), axis=(0, 0, 1))
    a = 2.0 * np.pi / SPIN_UP
    wave = speed / SPIN_UP / a**2
    motion = qp.Ramp(0.5 * speed / SPIN_UP) * qp.Ramp(1.0) + qp.Sine(wave, a, 0.5 * np.pi, -wave)
    root = qp.Fixed("root", hub.site("root"), boom.at(0.0))
    return qp.Multibody(hub, boom, hinge, root, qp.Prescribed("drive", hinge, motion)), boom


def peak(run: qp.Trajectory) -> tuple[float, float]:
    """Largest deflection of the tip behind the turning axes [m], and its time [s]."""
    times = np.arange(6.6, 6.95, 0.0025)
    behind = -np.array([run.at(t)["boom"].tip[1] for t in times])
    k = int(np.argmax(behind))
    curve = np.polyfit(times[k - 9 : k + 10] - times[k], behind[k - 9 : k + 10], 2)
    return float(np.polyval(curve, -curve[1] / curve[0] / 2)), float(
        times[k] - curve[1] / curve[0] / 2
    )


@pytest.mark.parametrize(
    ("given", "speed", "lag", "at"), [(SIMO, 6.0, 0.574, 6.76), (KANE, 4.0, 0.534, 6.77)]
)
def test_a_beam_spun_up_lags_as_published(
    given: dict[str, float], speed: float, lag: float, at: float
) -> None:
    """To the published digits, and ever closer to one value with more modes."""
    found = []
    for count in (2, 4, 6):
        system, _ = hinged(speed, given, modes=(0, count, 0, 0))
        found.append(peak(system.simulate(7.0, rtol=1e-7, atol=1e-10, progress=False)))
    assert found[-1] == (pytest.approx(lag, abs=6e-4), pytest.approx(at, abs=6e-3))
    best, _ = hinged(speed, given, modes=(0, 4, 0, 0), shapes="polynomials")
    exact, _ = peak(best.simulate(7.0, rtol=1e-7, atol=1e-10, progress=False))
    errors = abs(np.array([value for value, _ in found]) / exact - 1.0)
    assert errors[1] < 0.2 * errors[0]
    assert errors[2] < 0.2 * errors[1] < 5e-5


def test_without_foreshortening_a_beam_spun_up_falls_over() -> None:
    """Speed passes the first frequency at rest, 1.7 rad/s for the beam of Kane, Ryan and
    Banerjee."""
    system, boom = hinged(4.0, KANE, stiffening=False)
    assert boom.modal.frequencies[0] < 4.0
    run = system.simulate(15.0, rtol=1e-7, atol=1e-10, progress=False)
    assert abs(run["boom"].tip[:, 1]).max() > 8.0


def test_a_load_at_the_tip_pulls_on_the_beam() -> None:
    _, boom = hinged(6.0, SIMO)
    push = qp.Load("push", boom, force=(0.0, 3.0, 1.0), at=boom.end)
    system = qp.Multibody(boom, push)
    (pull,) = system.pulls()["boom"]
    assert pull.force == pytest.approx((0.0, 3.0, 1.0))
    assert pull.torque == pytest.approx((0.0, -5.0, 15.0))


def test_a_driven_beam_keeps_its_ledger() -> None:
    system, _ = hinged(6.0, SIMO, modes=(0, 3, 2, 1), damping=0.01, EI=(1.4e4, 2e4))
    run = system.simulate(3.0, rtol=1e-9, atol=1e-11, progress=False)
    balance = run.energy - run.work + run.dissipated
    assert abs(balance - balance[0]).max() < 1e-7 * run.work[-1]
    assert run.dissipated[-1] > 0.0


def turned(boom: qp.Body) -> Floats:
    """Attitude and place of a free hub with a boom, tumbling for a while."""
    hub = qp.Body.box(
        "hub", (0.4, 0.5, 0.6), 3.0, velocity=(0.0, -0.06, 0.0), angular_velocity=(0.4, 0.2, 0.3)
    )
    root = qp.Fixed("root", hub, boom, at=(0.0, 0.0, 0.0))
    system = qp.Multibody(hub, boom, root)
    final = system.simulate(2.0, rtol=1e-10, atol=1e-12, progress=False).final["hub"]
    return np.append(final.position, [final.orientation.x, final.orientation.y])


def test_a_stiff_beam_moves_as_a_rigid_body() -> None:
    """The difference falls as 1/EI, once the wobble that the start sets off is damped."""
    moving = {"velocity": (0.0, 0.24, -0.2), "angular_velocity": (0.4, 0.2, 0.3)}
    differences = []
    for stiff in (1.0, 10.0):
        boom = Beam(
            "boom", start=(0, 0, 0), end=(2, 0, 0), EA=3e6 * stiff, EI=300.0 * stiff,
            GJ=300.0 * stiff, mass_per_length=0.5, modes=4, damping=1.0, **moving,
        )  # fmt: skip
        rigid = qp.Body("boom", boom.mass, boom.inertia, position=boom.position, **moving)
        differences.append(np.linalg.norm(turned(boom) - turned(rigid)))
    assert differences[0] < 1e-2
    assert differences[1] == pytest.approx(0.1 * differences[0], rel=0.1)

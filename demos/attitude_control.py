"""A bus that floats holds its attitude with three wheels while a long arm is slewed: two sampled
controllers, ten times a second, in Python.

The bus, 200 kg, carries an arm of 4 m and 12 kg on a motor at its edge; nothing holds it but its
wheels.  A controller leads the arm along a smooth way by 135 degrees, and waits.  Without wheels
the bus turns the other way, as momentum demands.  Another controller reads the attitude of the bus,
with noise as of a star tracker and of gyroscopes, and commands the wheels: a PD, and what it knows
of the momentum that the arm is about to take.

Told: the error of pointing with wheels and without; what the wheels must give, in torque and in
momentum; what motors work.

    python demos/attitude_control.py                        the story
    python demos/attitude_control.py out/attitude.svg       and charts of what is commanded
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import quirkpy as qp

PERIOD, SECONDS = 0.1, 60.0  # [s]
BUS, ARM = 200.0, 12.0  # [kg]
SIDE, LENGTH = 1.2, 4.0  # [m]
SLEW = 135.0 * qp.deg  # [rad]
#: Standard deviations of what the tracker [rad] and the gyroscopes [rad/s] say.
TRACKER, GYROSCOPES = 1e-5, 1e-5
#: No wheel gives more than this [N m].
STRONGEST = 2.0


class Hold(qp.Controller):
    """A PD of attitude, with a torque for the arm's momentum in advance.

    stiffness [N m/rad], damping [N m s/rad]; moment: of the arm about its hinge [kg m2]; way: where
    the arm is led [rad]."""

    stiffness: float
    damping: float
    moment: float
    way: qp.Schedule

    def command(self, t: float, measured: dict[str, Any], memory: dict[str, Any]) -> dict[str, Any]:
        """What the wheels do to the bus [N m]."""
        q, omega = measured["bus.orientation"], measured["bus.angular_velocity"]
        off = 2.0 * np.sign(q.w) * np.array([q.x, q.y, q.z])
        arm = self.moment * self.way.motion(t + 0.5 * PERIOD)[2]
        return {"wheels.torque": -self.stiffness * off - self.damping * omega + (0.0, 0.0, arm)}


class Slew(qp.Controller):
    """A motor that leads the arm along its way, by a PD and by what the way demands."""

    stiffness: float
    damping: float
    moment: float
    way: qp.Schedule

    def command(self, t: float, measured: dict[str, Any], memory: dict[str, Any]) -> dict[str, Any]:
        """What the motor does to the arm [N m]."""
        angle, rate, bend = self.way.motion(t + 0.5 * PERIOD)
        off, slip = angle - measured["shoulder.angle"], rate - measured["shoulder.rate"]
        return {"motor.torque": self.stiffness * off + self.damping * slip + self.moment * bend}


bus = qp.Body.box("bus", (SIDE, SIDE, SIDE), BUS)
arm = qp.Body.rod("arm", (0.5 * SIDE, 0, 0), (0.5 * SIDE + LENGTH, 0, 0), ARM)
shoulder = qp.Revolute("shoulder", bus, arm, at=(0.5 * SIDE, 0, 0), axis=(0, 0, 1))
motor = qp.Motor("motor", shoulder)
wheels = qp.ReactionWheel("wheels", bus.site("wheels"), (0.0, 0.0, 0.0))
way = qp.Schedule((5.0, 35.0), (0.0, SLEW), "smooth")
MOMENT = ARM * LENGTH**2 / 3.0  # of the arm about the shoulder [kg m2]
slew = Slew(
    "slew", 20.0, 60.0, MOMENT, way, period=PERIOD,
    reads=["shoulder.angle", "shoulder.rate"], drives=["motor.torque"],
)  # fmt: skip
hold = Hold(
    "hold", 60.0, 150.0, MOMENT, way, period=PERIOD,
    reads=["bus.orientation", "bus.angular_velocity"], drives=["wheels.torque"],
    noise={"bus.orientation": TRACKER, "bus.angular_velocity": GYROSCOPES}, seed=1,
    limit={"wheels.torque": STRONGEST},
)  # fmt: skip
adrift = qp.Multibody(bus, arm, shoulder, motor, slew)
held = qp.Multibody(bus, arm, shoulder, motor, slew, wheels, hold)


def error_of(run: qp.Trajectory) -> np.ndarray:
    """How far the bus is turned at each row [rad]."""
    q = run["bus"].orientation
    return np.array([2.0 * np.arctan2(np.linalg.norm((p.x, p.y, p.z)), abs(p.w)) for p in q])


def stored_in(run: qp.Trajectory) -> np.ndarray:
    """The momentum of the wheels at each row, in axes of the bus [N m s]."""
    driven = run.system["wheels"]
    assert isinstance(driven, qp.ReactionWheel)
    return np.array([driven.momentum_at(t) for t in run.t])


def main(picture: str | None = None) -> dict[str, float]:
    """Tell the story; return its numbers."""
    free, run = adrift.simulate(SECONDS), held.simulate(SECONDS)
    print(f"The arm is slewed by {np.degrees(run['shoulder'].angle[-1]):.3f} degrees.")
    drift, error = error_of(free), error_of(run)
    print(f"Without wheels the bus turns by {np.degrees(drift[-1]):.3f} degrees.")
    late = run.t > SECONDS - 10.0
    print(
        f"With wheels it is off by {1e3 * error.max():.3f} mrad at most, and by "
        f"{1e6 * error[late].max():.1f} microrad in the last ten seconds."
    )
    stored, torque = stored_in(run), run["hold"].command["wheels.torque"]
    turns = qp.quat.numpy_quaternion.as_rotation_matrix(run["bus"].orientation)
    whole = run.angular_momentum + np.einsum("kij,kj->ki", turns, stored)
    print("\n               largest torque [N m]   largest momentum [N m s]")
    for name, k in (("roll", 0), ("pitch", 1), ("yaw", 2)):
        print(f"  {name:10s} {abs(torque[:, k]).max():20.4f} {abs(stored[:, k]).max():26.4f}")
    print(
        f"\nAll momenta together stay within {abs(whole).max():.1e} N m s of zero; motors and "
        f"wheels have put in {run.work.max():.3f} J at most, and {run.work[-1]:.1e} J in the end."
    )
    if picture is not None:
        run.plot("commands", "joints").save(picture)
    return {
        "slewed": float(run["shoulder"].angle[-1]),
        "adrift": float(drift[-1]),
        "error": float(error.max()),
        "late": float(error[late].max()),
        "momentum": float(abs(stored[:, 2]).max()),
        "torque": float(abs(torque[:, 2]).max()),
        "whole": float(abs(whole).max()),
        "ledger": float(np.ptp(run.energy - run.work)),
    }


if __name__ == "__main__":
    main(*sys.argv[1:2])

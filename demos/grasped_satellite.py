"""A satellite with two arms brings a spinning target to rest and draws it near: a closed chain of
five moving links, in three ways.

After D. P. Madonna (Simulation of post-grasping operations in closed-chain configuration using
Kane's method): bus 1000 kg, links of 1 m and 30 kg, target 100 kg with a radius of 1 m; it spins at
5 degrees a second with the bus, is brought to rest within 180 s, held for 60 s, drawn from 1.5 m to
0.75 m within 120 s, and held for 240 s.  Not in the paper and assumed here: two links an arm and
hinges about the bus' first axis; the bus is the cuboid that has its moments, 1 x 2.2 x 1.5 m; the
shoulders stand at the edge of its front, 0.75 m to either side; the grippers hold the target 45
degrees to either side of its nearest point; distances are between the bus and that point; spins
and distances change smoothly, in the manner of a quintic.

`prescribed`: attitude and arms follow these functions, and what motors and thrusters must do comes
with the motion.  Four motors move three freedoms, and nobody has to know.  `controlled`: the same
by wheels and motors that a sampled controller commands.  `grasped`: the target comes in by itself,
and both grippers take hold.

    python demos/grasped_satellite.py                     the story
    python demos/grasped_satellite.py out/grasped.svg     and charts of it
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np

import quirkpy as qp

SPIN = 5.0 * qp.deg  # of all at the start [rad/s]
STOPPED, HELD, NEAR, SECONDS = 180.0, 60.0, 120.0, 600.0  # durations, and all of them [s]
FAR, CLOSE = 1.5, 0.75  # distances [m]
LINK, SHOULDER, FRONT = 1.0, 0.75, 0.75  # length; shoulders beside the axis, and along it [m]
RADIUS, GRIP = 1.0, 45.0 * qp.deg  # of the target [m]; where it is held [rad]
ASIDE = RADIUS * math.sin(GRIP) - SHOULDER  # of a grip, seen from its shoulder [m]
AHEAD = RADIUS - RADIUS * math.cos(GRIP)  # and before that the distance [m]
Z = (0.0, 0.0, 1.0)


class Despin(qp.CompiledFunction):
    """The angle [rad] of a spin [rad/s] that ends smoothly within so long [s]."""

    spin: float
    duration: float

    @staticmethod
    def value(t, spin, duration):  # type: ignore[no-untyped-def]
        s = min(t / duration, 1.0)
        return spin * (min(t, duration) - duration * s**4 * (2.5 - 3.0 * s + s * s))

    @staticmethod
    def rate(t, spin, duration):  # type: ignore[no-untyped-def]
        s = min(t / duration, 1.0)
        return spin * (1.0 - s**3 * (10.0 - 15.0 * s + 6.0 * s * s))

    @staticmethod
    def acceleration(t, spin, duration):  # type: ignore[no-untyped-def]
        s = min(t / duration, 1.0)
        return -30.0 * spin * s * s * (1.0 - s) ** 2 / duration


class Fold(qp.CompiledFunction):
    """A joint's angle [rad] while an arm of two links of 1 m draws its tip from one distance ahead
    of the shoulder to another: turn times the tip's direction, and bend times the angle between it
    and each link, less what that is at the start."""

    turn: float
    bend: float
    aside: float
    far: float
    near: float
    begun: float
    duration: float

    @staticmethod
    def value(t, turn, bend, aside, far, near, begun, duration):  # type: ignore[no-untyped-def]
        s = min(max((t - begun) / duration, 0.0), 1.0)
        x = far + (near - far) * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        now = turn * math.atan2(aside, x) + bend * math.acos(0.5 * math.hypot(x, aside))
        then = turn * math.atan2(aside, far) + bend * math.acos(0.5 * math.hypot(far, aside))
        return now - then

    @staticmethod
    def rate(t, turn, bend, aside, far, near, begun, duration):  # type: ignore[no-untyped-def]
        s = min(max((t - begun) / duration, 0.0), 1.0)
        x = far + (near - far) * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        v = (near - far) * 30.0 * s * s * (1.0 - s) ** 2 / duration
        r = math.hypot(x, aside)
        return v * (-turn * aside / r**2 - bend * x / (r * math.sqrt(4.0 - r * r)))

    @staticmethod
    def acceleration(t, turn, bend, aside, far, near, begun, duration):  # type: ignore[no-untyped-def]
        s = min(max((t - begun) / duration, 0.0), 1.0)
        x = far + (near - far) * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        v = (near - far) * 30.0 * s * s * (1.0 - s) ** 2 / duration
        a = (near - far) * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / duration**2
        r = math.hypot(x, aside)
        w = math.sqrt(4.0 - r * r)
        first = -turn * aside / r**2 - bend * x / (r * w)
        second = 2.0 * turn * x * aside / r**4 - bend * (aside**2 / (r**3 * w) + x**2 / (r * w**3))
        return second * v * v + first * a


def point(x: float, y: float) -> np.ndarray:
    """A point of the plane of motion, from the centre of the bus, x towards the target (3,) [m]."""
    return np.array([x, y, 0.0])


def bodies() -> tuple[qp.Body, ...]:
    """Bus, links and target as they are at the start, all turning about the bus."""
    x = AHEAD + FAR
    reach = math.hypot(x, ASIDE)
    made = [
        qp.Body("bus", mass=1000.0, inertia=(486.67, 270.83, 590.83), angular_velocity=(0, 0, SPIN),
                shape=qp.Box((1.5, 2.2, 1.0)))
    ]  # fmt: skip
    for side, name in ((1.0, "left"), (-1.0, "right")):
        foot, tip = point(FRONT, side * SHOULDER), point(FRONT + x, side * (SHOULDER + ASIDE))
        way = math.atan2(ASIDE, x) + math.acos(0.5 * reach / LINK)
        knee = foot + LINK * point(math.cos(way), side * math.sin(way))
        for part, (one, two) in (("upper", (foot, knee)), ("fore", (knee, tip))):
            made.append(
                qp.Body.rod(f"{part} {name}", one, two, 30.0, 0.035, angular_velocity=(0, 0, SPIN),
                            velocity=SPIN * np.cross(Z, 0.5 * (one + two)))
            )  # fmt: skip
    centre = point(FRONT + FAR + RADIUS, 0.0)
    made.append(
        qp.Body.sphere("target", RADIUS, 100.0, position=centre, angular_velocity=(0, 0, SPIN),
                       velocity=SPIN * np.cross(Z, centre))
    )  # fmt: skip
    return tuple(made)


BODIES = bodies()
BUS, UPPER_LEFT, FORE_LEFT, UPPER_RIGHT, FORE_RIGHT, TARGET = BODIES


def hinges() -> tuple[qp.Revolute, ...]:
    """Shoulders, elbows and grips, left and right; zero at the start."""
    made = []
    for side, name, upper, fore in (
        (1.0, "left", UPPER_LEFT, FORE_LEFT), (-1.0, "right", UPPER_RIGHT, FORE_RIGHT),
    ):  # fmt: skip
        ends = [
            np.array(body.position) + body.matrix @ (0.5 * LINK, 0.0, 0.0) for body in (upper, fore)
        ]
        made += [
            qp.Revolute(f"shoulder {name}", BUS, upper, at=point(FRONT, side * SHOULDER), axis=Z),
            qp.Revolute(f"elbow {name}", upper, fore, at=ends[0], axis=Z),
            qp.Revolute(f"grip {name}", fore, TARGET, at=ends[1], axis=Z),
        ]
    return tuple(made)


HINGES = hinges()
MOTORS = tuple(hinge for hinge in HINGES if not hinge.name.startswith("grip"))


def way_of(hinge: qp.Revolute, begun: float = STOPPED + HELD) -> Fold:
    """How a shoulder or an elbow turns."""
    side = 1.0 if hinge.name.endswith("left") else -1.0
    turn, bend = (side, side) if hinge.name.startswith("shoulder") else (0.0, -2.0 * side)
    return Fold(turn, bend, ASIDE, AHEAD + FAR, AHEAD + CLOSE, begun, NEAR)


#: The bus may move in the plane; nothing holds it there but what prescribes its attitude.
PLANE = qp.Planar("plane", qp.GROUND, BUS, at=(0.0, 0.0, 0.0), axis=Z)
ATTITUDE = Despin(SPIN, STOPPED)


def prescribed() -> qp.Multibody:
    """Attitude and arms follow functions of time."""
    drives = [qp.Prescribed(f"{h.name} motor", h, way_of(h)) for h in MOTORS]
    attitude = qp.Prescribed("attitude", PLANE, ATTITUDE, first_coordinate="angle")
    return qp.Multibody(*BODIES, *HINGES, PLANE, attitude, *drives)


# --- by wheels and motors -------------------------------------------------------------------------
class Steer(qp.Controller):
    """A PD of the attitude and one of each motor about their ways, with what `prescribed` says that
    they must do in advance.

    stiffness [N m/rad] and damping [N m s/rad], of the attitude and of motors; begun: when the ways
    begin [s]; ahead: at a row for each second, of attitude and motors [N m]."""

    stiffness: tuple[float, float]
    damping: tuple[float, float]
    begun: float
    ahead: tuple[tuple[float, ...], ...]

    def known(self, t: float) -> list[float]:
        """What is known in advance of a time after the ways begin [s]."""
        second = min(max(int(t), 0), len(self.ahead) - 2)
        one, two, share = self.ahead[second], self.ahead[second + 1], t - second
        return [a + share * (b - a) for a, b in zip(one, two, strict=True)]

    def command(self, t: float, measured: dict[str, Any], memory: dict[str, Any]) -> dict[str, Any]:
        """What the wheels do to the bus, and the motors to their links [N m]."""
        now = t - self.begun
        known = self.known(now + 0.5 * PERIOD)
        (k, motor_k), (c, motor_c) = self.stiffness, self.damping
        q = measured["bus.orientation"]
        turned = 2.0 * math.atan2(q.z, q.w) - SPIN * self.begun
        off = math.remainder(ATTITUDE.value(now, SPIN, STOPPED) - turned, 2.0 * math.pi)
        slip = ATTITUDE.rate(now, SPIN, STOPPED) - measured["bus.angular_velocity"][2]
        out: dict[str, Any] = {"wheels.torque": (0.0, 0.0, known[0] + k * off + c * slip)}
        for hinge, ahead in zip(MOTORS, known[1:], strict=True):
            angle, rate, _ = WAYS[hinge.name].motion(now)
            off, slip = (
                angle - measured[f"{hinge.name}.angle"],
                rate - measured[f"{hinge.name}.rate"],
            )
            out[f"{hinge.name} motor.torque"] = ahead + motor_k * off + motor_c * slip
        return out


PERIOD = 0.2  # of samples [s]
WAYS = {hinge.name: way_of(hinge) for hinge in MOTORS}
WHEELS = qp.ReactionWheel("wheels", BUS.site("wheels"), (0.0, 0.0, 0.0))
ENGINES = tuple(qp.Motor(f"{hinge.name} motor", hinge) for hinge in MOTORS)


def steering(begun: float, run: qp.Trajectory) -> Steer:
    """The controller, whose ways begin at some time [s]; run: of `prescribed`."""
    names = ["attitude", *(motor.name for motor in ENGINES)]
    table = run.table([f"{name}.load" for name in names], step=1.0)
    columns = np.stack([table[f"{name}.load"][:, -1] for name in names], axis=1)
    ahead = tuple(map(tuple, columns.tolist()))
    reads = ["bus.orientation", "bus.angular_velocity"]
    reads += [f"{hinge.name}.{what}" for hinge in MOTORS for what in ("angle", "rate")]
    drives = ["wheels.torque", *(f"{motor.name}.torque" for motor in ENGINES)]
    return Steer("steer", (80.0, 4.0), (560.0, 20.0), begun, ahead, period=PERIOD, reads=reads,
                 drives=drives)  # fmt: skip


def controlled() -> qp.Multibody:
    """The same ways by wheels and motors."""
    return qp.Multibody(*BODIES, *HINGES, WHEELS, *ENGINES, steering(0.0, flown(prescribed())))


# --- the target comes in by itself ----------------------------------------------------------------
MET, INWARD, FASTER = 20.0, 0.02, 0.5 * qp.deg  # when it is met [s]; its way in [m/s]; spin [rad/s]
GRIPS = tuple(hinge for hinge in HINGES if hinge.name.startswith("grip"))
LOCKS = tuple(
    qp.Fixed(f"{hinge.name} lock", *(site.body for site in hinge.sites)) for hinge in MOTORS
)


def grasped() -> tuple[qp.Multibody, qp.Switch]:
    """A chaser that spins with its arms locked, and a target that comes in, faster by half a degree
    a second; where they meet the grippers take hold, and the controller begins."""
    chaser = BODIES[:-1]
    centre = sum(b.mass * np.array(b.position) for b in chaser) / sum(b.mass for b in chaser)
    there = centre + _turned(SPIN * MET, np.array(TARGET.position) - centre)
    velocity = SPIN * np.cross(Z, there - centre) - _turned(SPIN * MET, point(INWARD, 0.0))
    spin = SPIN + FASTER
    start: dict[str, Any] = {
        b.name: {"velocity": SPIN * np.cross(Z, np.array(b.position) - centre)} for b in chaser
    }
    start["target"] = {
        "position": there - MET * velocity, "velocity": velocity,
        "orientation": qp.rotation(Z, (SPIN - spin) * MET), "angular_velocity": (0.0, 0.0, spin),
    }  # fmt: skip
    steer = steering(MET, flown(prescribed()))
    arms = [hinge for hinge in HINGES if hinge not in GRIPS]
    system = qp.Multibody(*BODIES, *arms, *LOCKS, steer, candidates=[*GRIPS, WHEELS, *ENGINES])
    then = qp.Switch(
        MET, joints=tuple(hinge.name for hinge in HINGES),
        forces=("wheels", *(motor.name for motor in ENGINES)),
    )  # fmt: skip
    return system.at(system.initial.replace(start)), then


def _turned(angle: float, vector: np.ndarray) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1], vector[2]])


def flown(system: qp.Multibody) -> qp.Trajectory:
    """The whole mission."""
    return system.simulate(SECONDS, progress=False)


# --- told -----------------------------------------------------------------------------------------
def distance(state: qp.State) -> float:
    """From the front of the bus to the nearest point of the target [m]."""
    between = state["target"].position - state["bus"].position
    return float(np.linalg.norm(between)) - FRONT - RADIUS


def gap(run: qp.Trajectory) -> float:
    """The largest gap in a joint, at any row [m]."""
    system = run.system
    return max(float(abs(system.residual(state).position).max()) for state in run.states)


def wheels_and_all(run: qp.Trajectory) -> np.ndarray:
    """Angular momentum about the axis of spin at each row, with that of the wheels [N m s]."""
    wheels: Any = run.system["wheels"]
    stored = [wheels.momentum_at(t)[2] for t in run.t]
    return run.angular_momentum[:, 2] + np.array(stored)


def main(picture: str | None = None) -> dict[str, float]:
    """Tell the story; return its numbers."""
    began = time.perf_counter()
    led = flown(prescribed())
    took = time.perf_counter() - began
    table = led.table(["attitude.load", *(f"{motor.name}.load" for motor in ENGINES)], step=0.25)
    torques = {name: column[:, -1] for name, column in table.items() if name != "t"}
    print(f"prescribed: {len(led.t) - 1} steps in {took:.3f} s for {SECONDS:g} s")
    for name, torque in torques.items():
        print(f"  {name.removesuffix('.load'):22} at most {abs(torque).max():7.4f} N m")
    reactions = led.system.reactions(led.final)
    shared = [name for name, reaction in reactions.items() if not reaction.unique]
    print(f"  shared in more than one way: {', '.join(shared)}")
    began = time.perf_counter()
    run = flown(controlled())
    took = time.perf_counter() - began
    whole = wheels_and_all(run)
    print(f"controlled: {len(run['steer'].t)} samples in {took:.2f} s for {SECONDS:g} s")
    print(
        f"  distance {distance(run.final):.9f} m, spin {run.final['bus'].angular_velocity[2]:.1e} "
        f"rad/s, largest gap {gap(run):.0e} m, momentum kept to {np.ptp(whole):.0e} N m s"
    )
    system, then = grasped()
    caught: Any = system.simulate(SECONDS + MET, switches=[then], progress=False)
    print(f"grasped: {1e3 * caught.lost[-1]:.3f} mJ lost as both grippers take hold")
    for name in ("grip left", "grip right"):
        print(f"  {name:22} {caught.shocks[name].force:.4f} N s")
    print(f"  distance {distance(caught.final):.9f} m")
    if picture is not None:
        run.plot("commands").save(picture)
    return {
        "attitude": float(np.trapezoid(torques["attitude.load"], table["t"])),
        "led distance": distance(led.final),
        "distance": distance(run.final),
        "spin": float(abs(run.final["bus"].angular_velocity[2])),
        "gap": max(gap(led), gap(run), gap(caught.pieces[-1][1])),
        "momentum": float(np.ptp(whole)),
        "lost": float(caught.lost[-1]),
        "drawn near": distance(caught.final),
        "drift": float(abs(caught.momentum - caught.momentum[0]).max()),
    }


if __name__ == "__main__":
    main(*sys.argv[1:2])

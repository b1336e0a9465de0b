"""Laws of a coordinate against a sprung hinge, functions of time against a constant, in runs of a
chain; and what measuring along a run takes.

``python -m benchmarks laws``.  Runs take turns; times of the processor, for each evaluation.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import quirkpy as qp
from benchmarks.tables import Measured, Sheet
from benchmarks.timing import race
from demos import grasped_satellite

DURATION, LINKS = 10.0, 4  # [s]
STIFFNESS, DAMPING, PUSH = 5.0, 0.2, 0.1
SPRING = {"stiffness": STIFFNESS, "damping": DAMPING}
WINDOW = qp.Schedule((0.0, 1.0, 4.0, 5.0, 11.0), (0.0, 1.0, 0.5, 2.0, 0.0), "smooth")
#: What acts at a hinge, by its name.
Maker = Callable[[str, qp.Revolute], list[qp.Force]]


class Law(qp.CompiledJointLaw):
    """A damped spring."""

    k: float
    c: float

    @staticmethod
    def load(t, x, rate, k, c):  # type: ignore[no-untyped-def]
        return -k * x - c * rate

    @staticmethod
    def energy(x, k):  # type: ignore[no-untyped-def]
        return 0.5 * k * x * x


class Wave(qp.CompiledFunction):
    """A sine."""

    size: float

    @staticmethod
    def value(t, size):  # type: ignore[no-untyped-def]
        return size * math.sin(2.0 * t)


def sprung(name: str, hinge: qp.Revolute) -> list[qp.Force]:
    """The built-in law with which others are compared."""
    return [qp.HingeSpring(name, hinge, **SPRING)]


LAWS: dict[str, Maker] = {
    "sprung hinge": sprung,
    "compiled law": lambda name, hinge: [Law(name, hinge, k=STIFFNESS, c=DAMPING)],
    "servo": lambda name, hinge: [qp.Servo(name, hinge, target=0.0, **SPRING)],
    "servo with a limit": lambda name, hinge: [
        qp.Servo(name, hinge, target=0.0, limit=3.0, **SPRING)
    ],
    "servo along a schedule": lambda name, hinge: [
        qp.Servo(name, hinge, target=0.1 * WINDOW, **SPRING)
    ],
    "tape spring": lambda name, hinge: [
        qp.TapeSpring(name, hinge, peak=(1.0, 1.0), plateau=(0.5, 0.5), **SPRING)
    ],
    "sprung about a sine": lambda name, hinge: [
        qp.HingeSpring(name, hinge, rest_angle=qp.Sine(PUSH, 2.0), **SPRING)
    ],
}
FUNCTIONS = {
    "constant": PUSH, "sine": qp.Sine(PUSH, 2.0), "schedule": PUSH * WINDOW,
    "schedule x sine + ramp": WINDOW * qp.Sine(PUSH, 2.0) + qp.Ramp(0.01),
    "compiled function": Wave(PUSH),
}  # fmt: skip


def chain(made: Maker) -> qp.Multibody:
    """Rods that hang on one another by crossed hinges, with something at each of these."""
    rods = [qp.Body.box("base", (0.1,) * 3, 1.0, fixed=True)]
    parts: list[qp.Part] = [qp.Gravity((0.0, 0.0, -1.0))]
    for k in range(LINKS):
        rods.append(qp.Body.box(f"rod {k}", (1.0, 0.1, 0.1), 1.0, position=(0.5 + k, 0, 0)))
        axis = (0, 0, 1) if k % 2 else (0, 1, 0)
        hinge = qp.Revolute(f"hinge {k}", rods[k], rods[-1], at=(k, 0, 0), axis=axis)
        parts += [hinge, *made(f"law {k}", hinge)]
    return qp.Multibody(*rods, *parts)


def driven(torque: float | qp.TimeFunction) -> qp.Multibody:
    """The sprung chain with a motor at each hinge."""
    return chain(
        lambda name, hinge: [
            *sprung(name, hinge), qp.Motor(name.replace("law", "motor"), hinge, torque=torque)
        ]
    )  # fmt: skip


def compare(title: str, systems: dict[str, qp.Multibody]) -> tuple[Sheet, float]:
    """What an evaluation costs of each, and against the first; and the largest of these."""
    counts = {name: made.simulate(DURATION).counts.evaluations for name, made in systems.items()}
    costs = race({name: lambda made=made: made.simulate(DURATION)
                  for name, made in systems.items()})  # fmt: skip
    each = {name: 1e6 * costs[name].cpu / counts[name] for name in systems}
    first = next(iter(each.values()))
    rows = [[name, counts[name], one, one / first] for name, one in each.items()]
    heads = ["what", "evaluations", "us an evaluation", "against the first"]
    return Sheet(title, heads, rows), max(one / first for one in each.values())


def measure_all(run: qp.Trajectory, names: list[str]) -> None:
    """What names measure along a run, of which nothing is known yet."""
    again = qp.Trajectory(run.system, run.start, run.settings, run.course)
    for name in names:
        again.measure(name)


def measure_along(title: str, run: qp.Trajectory) -> tuple[Sheet, float]:
    """What loads along a run take; the most that any of it does."""
    joints = [f"{name}.load" for name in run.system.tables.joint_names]
    several = {
        "load of one joint": joints[:1],
        "loads of all joints": joints,
        "loads of all joints, energies, momenta and mass centre": [
            *joints, "kinetic", "potential", "momentum", "angular_momentum", "centre_of_mass",
        ],
    }  # fmt: skip
    works = {told: lambda names=names: measure_all(run, names) for told, names in several.items()}
    rows = [[told, 1e3 * cost.cpu] for told, cost in race(works).items()]
    sheet = Sheet(f"Measured at {len(run.t)} states of {title}", ["what", "ms"], rows)
    return sheet, max(float(cost) for _, cost in rows)


def measure(quick: bool) -> Measured:
    """Laws, functions of time, and measures."""
    made = {name: chain(make) for name, make in LAWS.items()}
    laws, dearest = compare("Laws of a coordinate", made)
    known = {name: driven(torque) for name, torque in FUNCTIONS.items()}
    functions, most = compare("Functions of time, as torques of motors", known)
    hanging = made["sprung hinge"].simulate(DURATION, step=DURATION / 600.0)
    tree, of_tree = measure_along("the sprung chain", hanging)
    told, figures = [laws, functions, tree], {"dearest law": dearest, "dearest function": most}
    figures["601 states of a chain"] = of_tree
    if not quick:
        span = grasped_satellite.SECONDS
        led = grasped_satellite.prescribed().simulate(span, step=span / 600.0)
        loop, of_loop = measure_along("a manipulator of which loops are redundant", led)
        told.append(loop)
        figures["601 states of redundant loops"] = of_loop
    return Measured(told, figures)

"""Small studies for tests; at the top of a module, so that worker processes find their classes."""

from __future__ import annotations

import itertools
import math
from typing import Any

import quirkpy as qp
from demos.cubesat_pair import a, b, pair
from quirkpy.parts.checks import instance


class Failing(qp.Force):
    """A force with an error, wherever it acts."""

    body: qp.Body = qp.checked(instance(qp.Body))

    def load(self, at: qp.MotionView) -> Any:
        raise ValueError("no force today")


class Slow(qp.Safety):
    """Allows everything, and takes its time."""

    seconds: float

    def first(self, run: qp.Trajectory) -> qp.Violation | None:
        import time

        time.sleep(self.seconds)
        return None


class Deadly(qp.Safety):
    """Kills the process that asks it, once the file is there; takes it away before, unless it is to
    go on so."""

    path: str
    ever: bool = False

    def first(self, run: qp.Trajectory) -> qp.Violation | None:
        import contextlib
        import os
        import signal

        with contextlib.suppress(FileNotFoundError):
            os.stat(self.path) if self.ever else os.unlink(self.path)
            os.kill(os.getpid(), signal.SIGKILL)
        return None


class Unless(qp.Safety):
    """Another criterion, unless it is asked about later than a time [s]."""

    other: qp.Safety = qp.checked(instance(qp.Safety))
    later: float

    def first(self, run: qp.Trajectory) -> qp.Violation | None:
        found = self.other.first(run)
        return None if found is None or found.t > self.later else found


class Ball(qp.Option):
    """The pair turns about the middle of the faces."""

    def parts(self, name: str, one: qp.Site, two: qp.Site) -> tuple[qp.Part, ...]:
        return (qp.Spherical(name, one, two),)


def changed(study: qp.Study, **fields: Any) -> qp.Study:
    """A study with other fields."""
    made = study.fields() | fields
    return qp.Study(made.pop("system"), **made)


def far_pair(*safety: qp.Safety) -> qp.Study:
    """Four nodes, thirty edges."""
    study = pair(0.2)
    return changed(study, safety=[*study.safety, *safety])


def failing_pair() -> qp.Study:
    """The pair, with a third potential that raises."""
    study = pair()
    return changed(study, potentials=study.potentials | {"bad": [Failing("bad", b)]})


def balanced() -> qp.Study:
    """B hinged to A's corner with a well straight beyond the hinge, and free both ways: which way
    it falls is chance.

    The hinge lies in the middle of the edge of a cut corner, so that neither sense is blocked.
    """
    z = (1.0 / math.sqrt(2.0), -1.0 / math.sqrt(2.0), 0.0)
    middle = (0.1, -0.1, 0.0)
    arm = qp.Body.box("arm", size=(0.1, 0.1, 0.1), mass=1.0, position=middle)
    one = qp.Sensor("hub corner", a.site("corner", at=(0.05, -0.05, 0.0), z=z, x=(0.0, 0.0, 1.0)))
    two = qp.Sensor(
        "arm corner",
        arm.site("corner", at=(-0.05, 0.05, 0.0), z=[-c for c in z], x=(0.0, 0.0, 1.0)),
    )
    return qp.Study(
        qp.Multibody(a, arm),
        sensors=[one, two],
        options={("face", "face"): [qp.Lock(), Swing()]},
        potentials={
            "none": [],
            "away": [qp.PotentialWell("well", arm, centre=(-0.1, 0.1, 0.0), stiffness=0.05)],
        },
        always=[qp.ViscousHinges(2e-4)],
    )


class Swing(qp.Option):
    """A hinge about the x axes of the sites, a quarter turn either way."""

    def parts(self, name: str, one: qp.Site, two: qp.Site) -> tuple[qp.Part, ...]:
        ends = [
            site.body.site(f"{site.name} swing", at=site.at, z=site.x, x=site.z)
            for site in (one, two)
        ]
        hinge = qp.Revolute(name, *ends)
        return hinge, qp.JointStop(f"{name} ends", hinge, lower=-0.5 * math.pi, upper=0.5 * math.pi)


def block(modules: int = 4) -> qp.Study:
    """Four cubes in a block of two by two, and more in a row beside it: left alone, pushed apart,
    or sheared."""
    side, up = 0.1, (0.0, 0.0, 1.0)
    places = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5), (1.5, 0.5)][:modules]
    cubes = [
        qp.Body.box(name, size=(side, side, side), mass=1.0, position=(side * x, side * y, 0.0))
        for name, (x, y) in zip("ABCDE", places)
    ]
    ways = {
        "east": (1.0, 0.0, 0.0),
        "north": (0.0, 1.0, 0.0),
        "west": (-1.0, 0.0, 0.0),
        "south": (0.0, -1.0, 0.0),
    }
    faces = [
        qp.Sensor(f"{cube.name} {name}", cube.site(name, at=[0.5 * side * c for c in z], z=z, x=up))
        for cube in cubes
        for name, z in ways.items()
    ]

    def springs(pairs: Any, rest: float) -> list[qp.Spring]:
        return [
            qp.Spring(f"{a.name}{b.name}", a, b, stiffness=0.02, rest_length=rest, damping=2e-3)
            for a, b in pairs
        ]

    return qp.Study(
        qp.Multibody(*cubes),
        sensors=faces,
        options={("face", "face"): [qp.Free(), qp.Lock(), qp.Hinge(edge=1), qp.Hinge(edge=2)]},
        potentials={
            "none": [],
            "apart": springs(itertools.combinations(cubes, 2), 4.0 * side),
            "shear": springs([(cubes[0], cubes[2])], 0.0)
            + springs([(cubes[1], cubes[3])], 4.0 * side),
        },
        always=[qp.ViscousHinges(2e-4)],
        safety=[qp.StayTogether(), qp.Limit("speed", 0.5)],
        same=qp.SameShape(interchangeable=[cubes]),
    )

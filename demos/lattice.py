"""Cubes on a lattice, hinged at edges: which polyominoes reach which, when one edge at a time gives
way?

Equal cubes lie in a row.  At every shape all of them are locked into two rigid clusters but for one
pair of faces, which is hinged about a vertical edge; a spring in the hinge drives it open, or
presses it shut.  It opens until faces of the two clusters meet, after a quarter or half a turn, and
lock; unless something is in the way at once (rejected: blocked), or a corner on the way (jammed).

Every cube keeps the sum of its lattice coordinates and its quarter turns, modulo 2, whatever pivots
it takes part in.  Where quarter turns can be told apart, this divides the shapes into components
that no pivot connects.

    quirkpy explore demos/lattice.py --out lattice.db

`lattice(n, choosing=())` is the study of all selections, several hinges at once included; these
reach further shapes, which hinges hold open, such as cubes that fan out about one edge."""

from __future__ import annotations

import math
from collections.abc import Sequence

import quirkpy as qp

SIDE = 0.1  # [m]
UP = (0.0, 0.0, 1.0)
QUARTER = 0.5 * math.pi
STIFFNESS = 1e-3  # of the springs that drive a hinge [N m/rad]
DAMPING = 2e-4  # of every hinge [N m s/rad]
FACES = {
    "east": (1.0, 0.0, 0.0),
    "north": (0.0, 1.0, 0.0),
    "west": (-1.0, 0.0, 0.0),
    "south": (0.0, -1.0, 0.0),
}


def cube(k: int, turns: int = 0) -> qp.Body:
    """Cube number k of a row, turned by quarters."""
    turn = qp.rotation(UP, QUARTER * turns)
    return qp.Body.box(
        f"c{k}", size=(SIDE, SIDE, SIDE), mass=1.0, position=(SIDE * k, 0.0, 0.0), orientation=turn
    )


def faces(body: qp.Body) -> list[qp.Sensor]:
    """Sensors in the middle of the four vertical faces."""
    return [
        qp.Sensor(
            f"{body.name} {name}", body.site(name, at=tuple(0.5 * SIDE * c for c in z), z=z, x=UP)
        )
        for name, z in FACES.items()
    ]


def lattice(
    n: int,
    turns: Sequence[int] = (),
    alike: int = 4,
    choosing: Sequence[qp.Choosing] = (qp.OneHinge(),),
) -> qp.Study:
    """The study of n cubes in a row; turns: quarter turns of each at the start; alike: how many
    quarter turns about the vertical give the same cube."""
    cubes = [cube(k, turn) for k, turn in enumerate(turns or n * (0,))]
    same = [qp.rotation(UP, 2.0 * math.pi * k / alike) for k in range(1, alike)]
    return qp.Study(
        qp.Multibody(*cubes),
        sensors=[sensor for body in cubes for sensor in faces(body)],
        options={("face", "face"): [qp.Free(), qp.Lock(), qp.Hinge(edge=1), qp.Hinge(edge=2)]},
        choosing=choosing,
        potentials={
            "open": [qp.SprungHinges(STIFFNESS, rest=2.0 * math.pi)],
            "shut": [qp.SprungHinges(STIFFNESS, rest=-2.0 * math.pi)],
        },
        always=[qp.ViscousHinges(DAMPING)],
        safety=[qp.StayTogether(), qp.NoCollision()],
        same=qp.SameShape(interchangeable=[cubes], symmetry=dict.fromkeys(cubes, same)),
    )


study = lattice(4)


def main() -> dict[str, float]:
    """Explore up to four cubes; return what was found."""
    told: dict[str, float] = {}
    for n in (2, 3, 4):
        graph = lattice(n).explore()
        print(f"{n} cubes: {graph}\n")
        told |= {f"nodes of {n}": len(graph.nodes), f"edges of {n}": len(graph.edges)}
        told |= {f"{kind} of {n}": count for kind, count in graph.kinds.items()}
    return told


if __name__ == "__main__":
    main()

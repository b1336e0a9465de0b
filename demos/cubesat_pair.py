"""Two CubeSats that share an edge, study IV.A of Shoer and Peck: into which shapes can they fall?

Cube A stands still at the origin; B lies against its east face.  The pair may be free, locked, or
hinged about the vertical edge between the east and the south face.  Potential wells pull the centre
of B to where it stands when it lies against the east face ("+x") or the south face ("-y") of A.

B hinged and at rest under the other well is in an unstable equilibrium: the pull goes straight
through the hinge.  One sense is blocked by the closed face, so B leaves in the other, swings half a
turn, and locks where its sensors meet those of the next face.

    quirkpy explore demos/cubesat_pair.py --out pair.db
"""

from __future__ import annotations

import math

import quirkpy as qp

SIDE = 0.1  # [m]
UP = (0.0, 0.0, 1.0)
STIFFNESS = 0.05  # of the wells [N/m]
DAMPING = 2e-4  # of every hinge [N m s/rad]

a = qp.Body.box("A", size=(SIDE, SIDE, SIDE), mass=1.0, fixed=True)
b = qp.Body.box("B", size=(SIDE, SIDE, SIDE), mass=1.0, position=(SIDE, 0.0, 0.0))


def face(
    body: qp.Body, name: str, z: tuple[float, float, float], accepts: tuple[str, ...]
) -> qp.Sensor:
    """A sensor in the middle of a vertical face; its kind says where on the body it is."""
    site = body.site(name, at=tuple(0.5 * SIDE * c for c in z), z=z, x=UP)
    kind = f"{body.name} {name}"
    return qp.Sensor(kind, site, kind=kind, accepts=accepts, reach=1e-3, alignment=1e-2)


def pair(well: float = SIDE) -> qp.Study:
    """The study, with wells at a distance from the centre of A [m]."""
    east, south = (well, 0.0, 0.0), (0.0, -well, 0.0)
    return qp.Study(
        qp.Multibody(a, b),
        sensors=[
            face(a, "east", (1.0, 0.0, 0.0), ("B west",)),
            face(a, "south", (0.0, -1.0, 0.0), ("B south",)),
            face(b, "west", (-1.0, 0.0, 0.0), ("A east",)),
            face(b, "south", (0.0, -1.0, 0.0), ("A south",)),
        ],
        options={  # the edge between the two faces of A has another number on each
            ("A east", "B west"): [qp.Free(), qp.Lock(), qp.Hinge(edge=1)],
            ("A south", "B south"): [qp.Free(), qp.Lock(), qp.Hinge(edge=2)],
        },
        potentials={
            "none": [],
            "+x": [qp.PotentialWell("well", b, centre=east, stiffness=STIFFNESS)],
            "-y": [qp.PotentialWell("well", b, centre=south, stiffness=STIFFNESS)],
        },
        always=[qp.ViscousHinges(DAMPING)],
        safety=[qp.StayTogether(), qp.Limit("speed", 0.5)],
    )


study = pair()


def main() -> dict[str, float]:
    """Explore both studies; return what was found."""
    graph = study.explore()
    print(graph.report())
    far = pair(2.0 * SIDE).explore()
    print("\nThe same with wells at 0.2 m, beyond the faces:\n")
    print(far.report())
    there, back = graph.moves()
    w, _, _, z = far.nodes["n1"].state.q[0]
    return {
        "nodes": len(graph.nodes),
        "moves": len(list(graph.moves())),
        "nodes, far wells": len(far.nodes),
        "ajar": abs(2.0 * math.atan2(z, w)),
        "duration": there.duration,
        "mirrored": back.duration,
        "given": there.switching,
        "taken": there.dissipated + there.lost,
    }


if __name__ == "__main__":
    main()

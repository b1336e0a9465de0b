"""Four modules of a planetary imaging mission, study IV.B of Shoer and Peck: which shapes can they
take?

For launch the modules stand in a block of two by two.  Every vertical face carries a sensor; a pair
of faces in range may be free, locked, or hinged about either vertical edge that both share.
Springs between all centres stand for the magnets of the modules: they pull together, push apart, or
pull along one diagonal of the block and push along the other (shear).  The modules carry their
cameras on top, so that a quarter turn leaves a module as it was.  The diagonals can be told apart
by their springs, so that only modules of the same diagonal may stand for each other.

From the block the spacecraft opens into a row, whose cameras sweep a wide strip, or puts one module
out, to exchange it; with several hinges at once it also comes to rest ajar, held by nothing but its
magnets.

    quirkpy explore demos/imaging_mission.py --workers 2 --out imaging.db
"""

from __future__ import annotations

import itertools
import math

import numpy as np

import quirkpy as qp

SIDE = 0.1  # [m]
UP = (0.0, 0.0, 1.0)
DAMPING = 2e-4  # of every hinge [N m s/rad]
STIFFNESS = 0.02  # of the springs between centres [N/m]
REACH = 4.0 * SIDE  # where springs that push have no force left: the length of the row [m]
FASTEST = 0.5  # speed of a module [m/s]
MOST = 1e5  # evaluations of a run; most take a hundredth
FACES = {
    "east": (1.0, 0.0, 0.0),
    "north": (0.0, 1.0, 0.0),
    "west": (-1.0, 0.0, 0.0),
    "south": (0.0, -1.0, 0.0),
}
PLACES = {"A": (-0.5, -0.5), "B": (0.5, -0.5), "C": (0.5, 0.5), "D": (-0.5, 0.5)}
#: Distances of the modules from each other in the shapes that serve the mission, in sides.
SHAPES = {
    "compact": (1.0, 1.0, 1.0, 1.0, math.sqrt(2.0), math.sqrt(2.0)),
    "linear": (1.0, 1.0, 1.0, 2.0, 2.0, 3.0),
    "one out": (1.0, 1.0, 1.0, math.sqrt(2.0), 2.0, math.sqrt(5.0)),
}

modules = {
    name: qp.Body.box(name, size=(SIDE, SIDE, SIDE), mass=1.0, position=(SIDE * x, SIDE * y, 0.0))
    for name, (x, y) in PLACES.items()
}


def face(body: qp.Body, name: str, z: tuple[float, float, float]) -> qp.Sensor:
    """A sensor in the middle of a vertical face."""
    site = body.site(name, at=tuple(0.5 * SIDE * c for c in z), z=z, x=UP)
    return qp.Sensor(f"{body.name} {name}", site)


def springs(pairs: list[tuple[str, str]], rest: float) -> list[qp.Spring]:
    """Springs between the centres of pairs of modules."""
    return [
        qp.Spring(one + two, modules[one], modules[two], stiffness=STIFFNESS, rest_length=rest)
        for one, two in pairs
    ]


every = list(itertools.combinations(PLACES, 2))
quarters = [qp.rotation(UP, 0.5 * math.pi * k) for k in (1, 2, 3)]
study = qp.Study(
    qp.Multibody(*modules.values()),
    sensors=[face(body, name, z) for body in modules.values() for name, z in FACES.items()],
    options={("face", "face"): [qp.Free(), qp.Lock(), qp.Hinge(edge=1), qp.Hinge(edge=2)]},
    potentials={
        "none": [],
        "together": springs(every, 0.0),
        "apart": springs(every, REACH),
        "shear": springs([("A", "C")], 0.0) + springs([("B", "D")], REACH),
    },
    always=[qp.ViscousHinges(DAMPING)],
    safety=[qp.StayTogether(), qp.NoCollision(), qp.Limit("speed", FASTEST)],
    settle=qp.SettleRule(evaluations=MOST),
    same=qp.SameShape(
        interchangeable=[["A", "C"], ["B", "D"]], symmetry=dict.fromkeys(PLACES, quarters)
    ),
)


def shape(node: qp.Node) -> str:
    """What a node is to the mission."""
    pairs = itertools.combinations(node.state.r / SIDE, 2)
    distances = sorted(float(np.linalg.norm(one - two)) for one, two in pairs)
    fits = (
        name for name, known in SHAPES.items() if np.allclose(distances, known, rtol=0.0, atol=1e-3)
    )
    return next(fits, "another")


def main(budget: int | None = 350) -> dict[str, float]:
    """Explore so many runs, shapes with few choices first; tell which shapes are reached, and at
    what cost."""
    graph = study.explore(budget=budget, towards=study.count)
    print(graph)
    shapes = {node.key: shape(node) for node in graph.nodes.values()}
    told: dict[str, float] = {"choices of the block": study.count(graph.nodes["n0"])}
    for name in (*SHAPES, "another"):
        told[name] = sum(known == name for known in shapes.values())
        print(f"{name}: {told[name]:.0f} shapes")
    for potential in study.potentials:
        told[f"switching to {potential}"] = next(
            edge.switching
            for edge in graph.edges
            if edge.source == "n0" and edge.selection.potential == potential
        )
    opened = [
        edge
        for edge in graph.moves()
        if edge.source == "n0" and edge.selection.potential == "apart"
    ]
    row = min(
        (edge for edge in opened if shapes[str(edge.target)] == "linear"),
        key=lambda edge: edge.duration,
    )
    told |= {"into a row": row.duration, "taken on the way into a row": row.dissipated + row.lost}
    print(f"\nfrom the block into a row: {row.selection}, {row.duration:.1f} s")
    ajar = next(edge.source for edge in graph.moves() if edge.target == "n0")
    print(f"ajar, and back to the block: {graph.plan('n0', ajar)}\n{graph.plan(ajar, 'n0')}")
    told["ways back"] = sum(edge.target == "n0" for edge in graph.moves())
    return told


if __name__ == "__main__":
    main()

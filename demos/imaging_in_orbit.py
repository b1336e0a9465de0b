"""The planetary imaging mission in orbit, study IV.B of Shoer and Peck in full: what gravity opens,
magnets close.

Four CubeSats of 0.1 m and 1 kg fly 500 km above the Earth.  x points up, y ahead along the track.
Module A is the bus: it flies on the reference orbit, and its wheels hold its attitude; what hangs
on it pulls with some 1e-6 N.  A camera looks out of every side face of a module, so that a quarter
turn leaves it as it was, and a coil of 0.2 A m2 lies in its top face, as magnetorquers of CubeSats
have it; that each takes 0.25 W is a guess, and so is the damping of hinges.

Sensors on all side faces; a pair in range may be free, locked, or hinged about either edge along
the orbit's normal.  One hinge moves at a time.  Three potentials:

    coast   no current: the gravity gradient alone, which draws apart what hangs above or below
            the bus.  Motions take hours, and end ajar: a module hangs from its hinge like a plumb
            line
    pull    coils of neighbours in the block against each other: what is ajar closes on the nearer
            side, in minutes
    push    all coils alike: what coasting has opened opens further

For launch the modules stand in a block.  Coasting opens it by 66 degrees, so that its cameras fan
out: the wide angle.  Pulled shut, and then pushed open by half a turn about the same edge, two
modules come to lie in a row with the others, along the track, whose cameras sweep the ground one
after the other: the raster.  Nothing holds a row level but its joints, so gravity opens it again,
for nothing: back to the wide angle.

Beside the paper: there the first two steps are passive and the way back takes the power.  Here
gravity opens, and the row along the track, from which every camera sees the ground, is the one
shape that it would not choose; so the power goes into reaching it, and the way back is free.  As
there, work of switching is a matter of microjoules, and it is holding the currents that costs;
beside that stand short spikes of power where bolts of locks and pins of hinges are driven in and
out, a joule each at 2 W, which is a guess.

    python demos/imaging_in_orbit.py                        the first shapes, and the mission
    python demos/imaging_in_orbit.py --all                  the full graph, with two workers
    python demos/imaging_in_orbit.py --all --tables         and flight tables, from every shape
    quirkpy explore demos/imaging_in_orbit.py --workers 2 --out in_orbit.db
"""

from __future__ import annotations

import itertools
import math
import sys
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

import quirkpy as qp

SIDE, MASS = 0.1, 1.0  # [m], [kg]
RATE = 1.10678e-3  # of the orbit, 500 km up [rad/s]
COIL, POWER = 0.2, 0.25  # [A m2], [W]
DAMPING = 1e-4  # of every hinge [N m s/rad]
#: What the motor of a bolt or a pin draws, in or out [J], and with which power [W].
BOLT = {"energy": 1.0, "release": 1.0, "power": 2.0}
FASTEST = 0.5  # speed of a module [m/s]
FIRST = 300  # runs that show the mission
NORMAL = (0.0, 0.0, 1.0)
FACES = {
    "up": (1.0, 0.0, 0.0),
    "ahead": (0.0, 1.0, 0.0),
    "down": (-1.0, 0.0, 0.0),
    "back": (0.0, -1.0, 0.0),
}
PLACES = {"A": (0.0, 0.0), "B": (1.0, 0.0), "C": (1.0, 1.0), "D": (0.0, 1.0)}
#: Which way round currents flow in the coils.
CURRENTS = {"pull": {"A": 1.0, "B": -1.0, "C": 1.0, "D": -1.0}, "push": dict.fromkeys(PLACES, 1.0)}


def face(body: qp.Body, name: str, z: tuple[float, float, float]) -> qp.Sensor:
    """A sensor in the middle of a side face."""
    site = body.site(name, at=tuple(0.5 * SIDE * c for c in z), z=z, x=NORMAL)
    return qp.Sensor(f"{body.name} {name}", site)


def coils(bodies: dict[str, qp.Body], currents: dict[str, float]) -> list[qp.Force]:
    """Coils in the top faces of modules, on each other."""
    made = [
        qp.Electromagnet(
            f"coil of {name}",
            body.site("top", at=(0.0, 0.0, 0.5 * SIDE), z=NORMAL),
            currents[name] * COIL,
            holding_power=POWER,
        )
        for name, body in bodies.items()
    ]
    return [qp.Dipoles(made, name="coils")]


def mission(cameras: int = 4, choosing: Sequence[qp.Choosing] = (qp.OneHinge(),)) -> qp.Study:
    """The study; cameras: how many a module has, in all side faces or in one, so that it matters
    how it is turned."""
    bodies = {
        name: qp.Body.box(
            name, (SIDE,) * 3, MASS, position=(SIDE * x, SIDE * y, 0.0), fixed=name == "A"
        )
        for name, (x, y) in PLACES.items()
    }
    quarters = [qp.rotation(NORMAL, 0.5 * math.pi * k) for k in (1, 2, 3)]
    return qp.Study(
        qp.Multibody(*bodies.values()),
        sensors=[face(body, name, z) for body in bodies.values() for name, z in FACES.items()],
        options={
            ("face", "face"): [
                qp.Free(),
                qp.Lock(**BOLT),
                qp.Hinge(edge=1, **BOLT),
                qp.Hinge(edge=2, **BOLT),
            ]
        },
        choosing=choosing,
        potentials={
            "coast": [],
            **{name: coils(bodies, currents) for name, currents in CURRENTS.items()},
        },
        always=[qp.HillFrame(RATE), qp.ViscousHinges(DAMPING)],
        safety=[qp.StayTogether(), qp.NoCollision(), qp.Limit("speed", FASTEST)],
        same=qp.SameShape(
            interchangeable=[["B", "D"]],
            symmetry=dict.fromkeys("BCD", quarters) if cameras == 4 else {},
        ),
    )


study = mission()


def places(node: qp.Node) -> NDArray[np.float64]:
    """Where the modules are, the bus first, in sides (4, 2)."""
    return np.vstack([np.zeros(2), node.state.r[:, :2] / SIDE])


def turns(node: qp.Node) -> NDArray[np.float64]:
    """How far the modules are turned about the normal, modulo quarter turns [rad] (4,)."""
    angles = 2.0 * np.arctan2(node.state.q[:, 3], node.state.q[:, 0])
    return np.array([math.remainder(angle, 0.5 * math.pi) for angle in (0.0, *angles)])


def shape(node: qp.Node) -> str:
    """What a node is to the mission."""
    r, angles = places(node), turns(node)
    span = max(float(np.linalg.norm(one - two)) for one, two in itertools.combinations(r, 2))
    fan = max(
        abs(math.remainder(one - two, 0.5 * math.pi))
        for one, two in itertools.combinations(angles, 2)
    )
    if fan > 1e-3:
        return "wide angle" if fan > math.radians(20.0) and span < 2.5 else "ajar"
    if span > 3.0 - 1e-3:
        return "raster" if np.ptp(r[:, 0]) < 1e-3 else "upright row"
    return "launch" if span < 1.5 else "one out"


def routes(graph: qp.ReconfigurationGraph, shapes: dict[str, str]) -> list[qp.Plan]:
    """From launch to the wide angle, on to the raster, and back to the same wide angle, with the
    fewest switches."""
    on: dict[str, set[str]] = {key: set() for key in graph.nodes}
    back: dict[str, set[str]] = {key: set() for key in graph.nodes}
    for edge in graph.moves():
        on[edge.source].add(str(edge.target))
        back[str(edge.target)].add(edge.source)
    out, found = steps_from("n0", on), []
    for raster in (key for key in out if shapes[key] == "raster"):
        there, home = steps_from(raster, back), steps_from(raster, on)
        wide = (key for key in out if shapes[key] == "wide angle" and key in there and key in home)
        found += [
            (out[key] + there[key] + home[key], graph.nodes[key].number, key, raster)
            for key in wide
        ]
    _, _, key, raster = min(found)
    return [
        graph.plan(*ends, cost="switches") for ends in (("n0", key), (key, raster), (raster, key))
    ]


def steps_from(start: str, ways: dict[str, set[str]]) -> dict[str, int]:
    """How many moves each shape is away."""
    found, ring = {start: 0}, [start]
    for count in itertools.count(1):
        ring = sorted({key for one in ring for key in ways[one]} - found.keys())
        if not ring:
            break
        found |= dict.fromkeys(ring, count)
    return found


def told_of(graph: qp.ReconfigurationGraph, shapes: dict[str, str]) -> dict[str, float]:
    """The statistics of a graph, in words and as numbers."""
    print(graph)
    kinds = Counter(shapes.values())
    print(", ".join(f"{count} {name}" for name, count in kinds.most_common()))
    home = next(part for part in graph.components() if "n0" in part)
    print(f"{len(home)} shapes from which the block can be reached again\n")
    return {
        "nodes": len(graph.nodes), "edges": len(graph.edges), **dict(graph.kinds), **kinds,
        "home": len(home), "coverage": graph.coverage,
    }  # fmt: skip


def flown(graph: qp.ReconfigurationGraph, steps: Sequence[qp.Edge]) -> qp.Replay:
    """The mission in one go, with its ledger of energy and power."""
    run = graph.replay(steps)
    print(
        "       from     to   potential     takes    switching  holding   bolts    dissipated and "
        "taken by joints"
    )
    for leg in run.legs:
        edge, taken = leg.edge, leg.edge.dissipated + leg.edge.lost
        held = leg.holding * edge.duration
        print(
            f"{leg.t / 3600.0:8.2f} h {edge.source:>5} {edge.target!s:>5}   "
            f"{edge.selection.potential:<8}"
            f"{edge.duration:9.0f} s {1e6 * leg.switching:9.3f} uJ {held:8.1f} J "
            f"{edge.changing:5.1f} J {1e6 * taken:10.3f} uJ"
        )
    spikes = [change for change in run.changes if change.power is not None]
    print(
        f"{len(spikes)} bolts and pins driven, each for {spikes[0].lasts:.1f} s: "
        f"{run.changed[-1]:.1f} J in all.  run.plot('power') shows the spikes."
    )
    return run


def followed(
    graph: qp.ReconfigurationGraph, goal: str, among: Collection[str] | None = None
) -> tuple[int, float]:
    """The flight table of a goal, followed from every shape of which it knows, or from those among
    some, until it is there; how many these are, and how far any step ended from where the table
    looks up the next one [m] or [rad]."""
    table, moves = (
        graph.table(goal),
        {(edge.source, edge.selection): edge for edge in graph.moves()},
    )
    starts = [start for start, _, _ in table.rows if among is None or start in among]
    missed = 0.0
    for start in starts:
        node, steps = start, list[qp.Edge]()
        while node != goal:
            steps.append(moves[node, table[node]])
            node = str(steps[-1].target)
        missed = max(missed, *(leg.missed for leg in graph.replay(steps).legs))
    return len(starts), missed


def followed_from_everywhere(graph: qp.ReconfigurationGraph, goal: str) -> tuple[int, float]:
    """A table for each set of shapes that can all be reached from each other, to its first shape or
    to the goal, followed from all others of the set; how many tables, and the largest miss."""
    parts = graph.components()
    flown = [followed(graph, goal if goal in part else part[0], part) for part in parts]
    assert sum(count for count, _ in flown) == len(graph.nodes) - len(parts)
    return len(parts), max(missed for _, missed in flown)


def main(every: bool = False, tables: bool = False) -> dict[str, float]:
    """Explore, fly the mission, and tell what it takes; tables: and follow flight tables from every
    shape."""
    graph = study.explore(workers=2) if every else study.explore(budget=FIRST)
    shapes = {key: shape(node) for key, node in graph.nodes.items()}
    told = told_of(graph, shapes)
    legs = routes(graph, shapes)
    run = flown(graph, [edge for plan in legs for edge in plan])
    ledger = run.energy + run.dissipated + run.lost - run.work - run.switched
    known, off = followed(graph, legs[1].nodes[-1]) if not every else (0, 0.0)
    print(
        f"\nThe table of {legs[1].nodes[-1]} leads there from all {known} shapes that it knows."
        if known
        else ""
    )
    if tables:
        count, off = followed_from_everywhere(graph, legs[1].nodes[-1])
        print(
            f"{count} tables, followed from all {len(graph.nodes)} shapes, have missed none by "
            f"more than {off:.1e}."
        )
    wide = turns(graph.nodes[legs[0].nodes[-1]])
    return told | {
        "fan": float(abs(wide).max()),
        "given up on the way out": math.fsum(edge.dissipated for edge in legs[0]),
        "switched for the row": run.legs[-2].switching,
        "switched for the way back": run.legs[-1].switching,
        "bolts": float(run.changed[-1]),
        "held": math.fsum(leg.holding * leg.edge.duration for leg in run.legs),
        "pulsed": legs[1].time, "ledger": float(abs(ledger - ledger[0]).max()),
        "missed": max(leg.missed for leg in run.legs), "steps": len(run.legs), "known": known,
        "off": off, "hours": float(run.t[-1]) / 3600.0,
    }  # fmt: skip


if __name__ == "__main__":
    main("--all" in sys.argv, "--tables" in sys.argv)

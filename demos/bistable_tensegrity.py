"""A bistable tensegrity module: in which shapes can its strings hold it, and how does one lead to
the other?

A mast of 1 m stands on a hinge.  A string from its tip to below the foot pulls it down on either
side; a stay on each side stops it there, where it lies in a well of energy.  Two more strings can
be wound up, one at a time: they pull it over the top, and hang slack where it comes to rest.  Which
of them is wound is a choice; shapes at rest are nodes, choices edges.

    quirkpy explore demos/bistable_tensegrity.py --out module.db
"""

from __future__ import annotations

import math

import quirkpy as qp

MAST = 1.0  # [m]
BELOW, ASIDE = -0.5, 1.2  # of the anchors [m]
PULL, STAY, WINCH = 60.0, 400.0, 300.0  # stiffness of the strings [N/m]
FOOT = 10.0  # damping of the hinge [N m s/rad]

mast = qp.Body.rod("mast", (0, 0, 0), (0, 0, MAST), 1.0)
hinge = qp.Revolute("foot", qp.GROUND, mast, at=(0, 0, 0), axis=(0, 1, 0))
TIP = (0.0, 0.0, MAST)


def string(name: str, anchor: qp.Vector, stiffness: float, rest: float) -> qp.String:
    """From an anchor in the ground to the tip of the mast."""
    return qp.String(
        name, qp.GROUND, mast, at1=anchor, at2=TIP, stiffness=stiffness, rest_length=rest
    )


LEFT, RIGHT = (-ASIDE, 0.0, 0.0), (ASIDE, 0.0, 0.0)
stays = [
    string("down", (0.0, 0.0, BELOW), PULL, 0.3),
    string("left stay", LEFT, STAY, 1.75),
    string("right stay", RIGHT, STAY, 1.75),
]
study = qp.Study(
    qp.Multibody(mast, hinge, *stays),
    sensors=[],
    options={},
    potentials={
        "none": [],
        "wind left": [string("left winch", LEFT, WINCH, 1.4)],
        "wind right": [string("right winch", RIGHT, WINCH, 1.4)],
    },
    always=[qp.ViscousHinges(FOOT)],
)


def lean(state: qp.State) -> float:
    """How far the mast leans to the right [degrees]."""
    x, _, z = state["mast"].position
    return math.degrees(math.atan2(x, z))


def main() -> dict[str, float]:
    """Explore; tell what was found, and the plan from each shape to the other."""
    graph = study.explore()
    told = {}
    for key, node in graph.nodes.items():
        told[key] = lean(node.state)
        print(f"{key}: leans {told[key]:+.4f} degrees, {node.verdict}")
    there, back = graph.plan("n0", "n1"), graph.plan("n1", "n0")
    for plan in (there, back):
        (edge,) = plan
        print(f"{edge.source} -> {edge.target}: {edge.selection.potential}, {edge.duration:.2f} s")
    flown = graph.replay([*there, *back])
    told |= {"nodes": len(graph.nodes), "kinks": len(flown.events)}
    return told | {"back": lean(flown.final)}


if __name__ == "__main__":
    main()

"""In which order do creases fold?  All deployment sequences of a map, found by the explorer.

Every crease of a map is held by a lock or free, and springs drive free ones shut or open.  Rigid
panels let creases between columns move while those between rows are flat or shut, and the other way
round; lines of creases that are let go together move together.  Each shape in which all creases are
flat or shut is a node; plans from the packed map to the flat one, by time or by energy, are its
deployment sequences.

Not all orders are safe: where of two lines that are let go together one is shut and the other flat,
the one that is to stay is pushed through its neighbour by the other's swing, and that is rejected.

    quirkpy explore demos/folding_order.py --workers 2 --out map.db
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import quirkpy as qp
from quirkpy.families.origami import Fold

SIDE, MASS = 0.5, 0.4  # of a panel [m], [kg]
STIFFNESS = 0.02  # of the springs that drive a line [N m/rad]
DAMPING = 0.6  # of a line [N m s/rad]: more than critical, so that no panel is driven into another


class PanelSpring(qp.CompiledJointLaw):
    """A spring towards a fold, 0 flat and pi shut, that knows how panels stand and not by which
    turns: an angle of pi and one of -pi are both shut.  sense: 1 where the fold is a valley, -1 a
    mountain."""

    stiffness: float
    fold: float
    sense: float

    @staticmethod
    def load(t: float, x: float, rate: float, stiffness: float, fold: float, sense: float) -> float:
        turned = sense * x + 0.5 * math.pi
        folded = turned - 2.0 * math.pi * math.floor(turned / (2.0 * math.pi)) - 0.5 * math.pi
        return -sense * stiffness * (folded - fold)

    @staticmethod
    def energy(x: float, stiffness: float, fold: float, sense: float) -> float:
        turned = sense * x + 0.5 * math.pi
        folded = turned - 2.0 * math.pi * math.floor(turned / (2.0 * math.pi)) - 0.5 * math.pi
        return 0.5 * stiffness * (folded - fold) ** 2


class NeverThrough(qp.Safety):
    """No panel turns through its neighbour: every line stays between flat and shut, to and fro as
    in an accordion."""

    allowance: float

    def first(self, run: qp.Trajectory) -> qp.Violation | None:
        for name in filter(first_of_line, run.system.selection.joint_names):
            kind, (i, j) = name[0], map(int, name[2:].split(","))
            turned = (-1.0) ** (i if kind == "x" else j) * run[name].angle + 0.5 * math.pi
            fold = turned % (2.0 * math.pi) - 0.5 * math.pi
            beyond = (fold < -self.allowance) | (fold > math.pi + self.allowance)
            if beyond.any():
                return qp.Violation("a panel in another", float(run.t[beyond][0]), (name,))
        return None


def line_of(one: str, two: str) -> tuple[str, int]:
    """The line of creases that two panels meet at: "x", between columns, or "y", and its number."""
    (i, j), (k, m) = (map(int, ("p0,0" if n == "ground" else n)[1:].split(",")) for n in (one, two))
    return ("x", min(i, k)) if j == m else ("y", min(j, m))


class ByLines(qp.Choosing):
    """All creases of a line are locked or free together; some line is free, of one family alone."""

    def allows(self, chosen: Sequence[qp.Chosen], bodies: Sequence[str]) -> bool:
        free: dict[tuple[str, int], set[bool]] = {}
        for pair in chosen:
            free.setdefault(line_of(pair.one, pair.two), set()).add(pair.freedoms > 0)
        alike = all(len(states) == 1 for states in free.values())
        return alike and len({kind for (kind, _), states in free.items() if True in states}) == 1


def sensors(fold: Fold) -> Iterator[qp.Sensor]:
    """Two for each crease, in its middle, which it keeps facing each other."""
    for hinge in fold.hinges:
        one, two = hinge.sites
        (a, b), back = (f"{hinge.name} 1", f"{hinge.name} 2"), -two.axes[:, 2]
        yield qp.Sensor(a, one, kind=a, accepts=(b,))
        turned = two.body.site(f"{hinge.name} back", at=two.at, z=back, x=two.axes[:, 0])
        yield qp.Sensor(b, turned, kind=b, accepts=(a,))


def drives(fold: Fold, share: float) -> list[qp.Force]:
    """Springs at the first crease of each line, towards flat (share 0) or shut (1), to and fro as
    in an accordion."""
    firsts = [hinge for hinge in fold.hinges if first_of_line(hinge.name)]
    return [
        PanelSpring(
            f"{hinge.name} to {share:g}", hinge, stiffness=STIFFNESS, fold=share * math.pi,
            sense=(-1.0) ** line_of(*names_of(hinge))[1],
        )
        for hinge in firsts
    ]  # fmt: skip


def names_of(hinge: qp.Revolute) -> tuple[str, str]:
    """The two panels of a crease."""
    one, two = hinge.bodies
    return one.name, two.name


def first_of_line(name: str) -> bool:
    """Whether a joint is a crease in the first row or in the first column."""
    return re.fullmatch(r"x \d+,0|y 0,\d+", name) is not None


def folding(columns: int, rows: int) -> qp.Study:
    """The study of a map whose first panel is held, flat at first."""
    fold = qp.origami.map_fold(columns, rows, side=SIDE, mass=MASS, thickness=0.002, free=False)
    dampers = [
        qp.HingeSpring(f"damper {hinge.name}", hinge, stiffness=0.0, damping=DAMPING)
        for hinge in fold.hinges
        if first_of_line(hinge.name)
    ]
    return qp.Study(
        fold.system,
        sensors=list(sensors(fold)),
        options={(f"{h.name} 1", f"{h.name} 2"): [qp.Free(), qp.Lock.here()] for h in fold.hinges},
        choosing=[ByLines()],
        potentials={"fold": drives(fold, 1.0), "open": drives(fold, 0.0)},
        always=dampers,
        safety=[NeverThrough(allowance=1e-6)],
    )


study = folding(3, 2)


def shut_lines(node: qp.Node) -> tuple[str, ...]:
    """The lines that are shut, "x0", "y0" ...: those beyond which panels lie the other way up."""
    down = {"p0,0": False}
    for name, q in zip(node.state.bodies, node.state.q, strict=True):
        down[name] = bool(q[1] ** 2 + q[2] ** 2 > 0.5)  # how the z axis points
    ends = {(0, 1): "x", (1, 0): "y"}
    out = []
    for name in down:
        i, j = map(int, name[1:].split(","))
        for (a, b), kind in ends.items():
            other = f"p{i + b},{j + a}"
            if (j if kind == "x" else i) == 0 and other in down and down[name] != down[other]:
                out.append(f"{kind}{i if kind == 'x' else j}")
    return tuple(sorted(out))


def explore(columns: int, rows: int) -> dict[str, float]:
    """Explore a map; print its best deployments, from packed to flat."""
    graph = folding(columns, rows).explore(progress=False)
    shapes = {shut_lines(node): name for name, node in graph.nodes.items()}
    packed, flat = shapes[max(shapes, key=len)], shapes[()]
    title = f"{columns} x {rows}"
    print(f"{title}: {graph}")
    told: dict[str, float] = {
        "nodes": len(shapes), "edges": len(graph.edges),
        "moved": sum(edge.kind == "moved" for edge in graph.edges),
        "rejected": sum(edge.kind == "rejected" for edge in graph.edges),
    }  # fmt: skip
    for cost in ("time", "energy", "switches"):
        plan = graph.plan(packed, flat, cost=cost)
        way = [" ".join(shut_lines(graph.nodes[name])) or "flat" for name in plan.nodes]
        print(f"  by {cost}: {' > '.join(way)}: {plan.cost:.4g}")
        told |= {f"steps by {cost}": len(plan.edges), cost: plan.cost}
    told["flown"] = graph.replay(graph.plan(packed, flat, cost="energy")).supplied
    return {f"{title} {name}": value for name, value in told.items()}


def main(large: bool = False) -> dict[str, float]:
    """Explore the map of 3 x 2 panels; large: that of 3 x 3 as well."""
    return explore(3, 2) | (explore(3, 3) if large else {})


if __name__ == "__main__":
    main(large=True)

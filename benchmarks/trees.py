"""Open trees written down once, for every program: all frames parallel to N in the pose in which
they begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

import quirkpy as qp

Vector = tuple[float, float, float]
Kind = Literal["ball", "hinge", "free"]
#: name of a method -> settings to try, and setting -> a run that ends with the watched point.
Methods = dict[str, tuple[tuple[float, ...], Callable[[float], Callable[[], np.ndarray]]]]
ROD = (1.0, 0.05, 0.05)  # [m]


class Link(NamedTuple):
    """A body of 1 kg and the joint at `at` by which it hangs on its parent (-1: the ground); rate:
    of the joint, along `axis` for a hinge [rad/s]."""

    parent: int
    kind: Kind
    at: Vector
    centre: Vector
    inertia: Vector
    rate: Vector = (0.0, 0.0, 0.0)
    axis: Vector = (0.0, 0.0, 1.0)


class Tree(NamedTuple):
    """Links, parents first; gravity [m/s2]; the point of the last link that is watched, where it
    begins."""

    name: str
    links: tuple[Link, ...]
    gravity: Vector
    tip: Vector

    @property
    def kind(self) -> Kind:
        """Of the first joint."""
        return self.links[0].kind


def box_inertia(size: Vector) -> Vector:
    """Of 1 kg."""
    x, y, z = (s * s / 12.0 for s in size)
    return y + z, x + z, x + y


def ball_chain(n: int) -> Tree:
    """Rods along +x from the origin, the chain turning rigidly with (0, 0, 1) rad/s."""
    spins = [(0.0, 0.0, 1.0)] + [(0.0, 0.0, 0.0)] * (n - 1)
    links = [_rod(k, "ball", spin, (0.0, 0.0, 1.0)) for k, spin in enumerate(spins)]
    return Tree("ball chain", tuple(links), (0.0, 0.0, -9.81), (float(n), 0.0, 0.0))


def hinge_chain(n: int) -> Tree:
    """Rods along +x from the origin; the first axis is y, the second z, and so on; the second turns
    with 1 rad/s.

    These are rods that hang along -z with axes y, x, y, x ... when all angles are zero, with the
    first at -90 degrees."""
    axes = [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    links = [
        _rod(k, "hinge", axes[1] if k == 1 else (0.0, 0.0, 0.0), axes[k % 2]) for k in range(n)
    ]
    return Tree("hinge chain", tuple(links), (0.0, 0.0, -9.81), (float(n), 0.0, 0.0))


def _rod(k: int, kind: Kind, rate: Vector, axis: Vector) -> Link:
    return Link(
        k - 1, kind, (float(k), 0.0, 0.0), (k + 0.5, 0.0, 0.0), box_inertia(ROD), rate, axis
    )


def hub(panels: int = 16) -> Tree:
    """A free cube of 1 m with panels hinged to its upright edges, all in motion."""
    links = [
        Link(-1, "free", (0.0,) * 3, (0.0,) * 3, box_inertia((1.0, 1.0, 1.0)), (0.1, 0.2, 0.3))
    ]
    size, rng = (0.4, 0.02, 0.2), np.random.default_rng(1)
    for k in range(panels):
        x, y = ((0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5), (0.5, -0.5))[k % 4]
        z = 0.25 * (k // 4) - 0.375
        centre = (x + np.sign(x) * 0.2, y, z)
        rate = (0.0, 0.0, float(rng.normal()))
        links.append(
            Link(0, "hinge", (x, y, z), tuple(map(float, centre)), box_inertia(size), rate)
        )
    return Tree("hub", tuple(links), (0.0, 0.0, 0.0), links[-1].centre)


def free_body() -> Tree:
    """A body that tumbles: its spin is near the axis of the middle moment."""
    link = Link(-1, "free", (0.0,) * 3, (0.0,) * 3, (1.0, 2.0, 3.0), (0.1, 2.0, 0.1))
    return Tree("free body", (link,), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))


# --- in quirkpy -----------------------------------------------------------------------------------
def system(tree: Tree) -> qp.Multibody:
    """The tree as a system of ours; bodies are called by their number."""
    parts: list[qp.Part] = [qp.Gravity(tree.gravity)] if any(tree.gravity) else []
    bodies: list[qp.Body] = []
    for k, link in enumerate(tree.links):
        parent = bodies[link.parent] if link.parent >= 0 else qp.GROUND
        spin = np.asarray(parent.angular_velocity) + link.rate
        arm, lever = (
            np.subtract(a, b) for a, b in ((link.at, parent.position), (link.centre, link.at))
        )
        speed = parent.velocity + np.cross(parent.angular_velocity, arm) + np.cross(spin, lever)
        body = qp.Body(
            str(k), 1.0, link.inertia, link.centre, velocity=tuple(speed),
            angular_velocity=tuple(spin), unphysical_inertia=True,
        )  # fmt: skip
        if link.kind == "ball":
            parts.append(qp.Spherical(f"joint {k}", parent, body, at=link.at))
        elif link.kind == "hinge":
            parts.append(qp.Revolute(f"joint {k}", parent, body, at=link.at, axis=link.axis))
        bodies.append(body)
    return qp.Multibody(*bodies, *parts)


def tip(tree: Tree, state: qp.State) -> np.ndarray:
    """Where the watched point is."""
    last = state[str(len(tree.links) - 1)]
    return last.position + qp.quat.matrix(last.orientation) @ np.subtract(
        tree.tip, tree.links[-1].centre
    )


def root(tree: Tree, rates: np.ndarray) -> np.ndarray:
    """Of the first body's angular acceleration (body axes) what its joint allows."""
    return (
        rates[:1, 3:6] @ np.asarray(tree.links[0].axis) if tree.kind == "hinge" else rates[0, 3:6]
    )

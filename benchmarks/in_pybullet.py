"""PyBullet: a tree as a URDF on a fixed base, moved by Bullet's one integrator, semi-implicit
Euler."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pybullet

from benchmarks.trees import Methods, Tree

#: It stands still; without an inertia Bullet would warn.
BASE = (
    '<link name="base"><inertial><mass value="0"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>'
    "</link>"
)
KINDS = {"hinge": "continuous", "ball": "spherical"}


def model(tree: Tree, step: float) -> SimpleNamespace:
    """A client with the tree in it, undamped and without motors, in the state in which the tree
    begins."""
    client = pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(*tree.gravity, physicsClientId=client)
    pybullet.setTimeStep(step, physicsClientId=client)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.urdf"
        path.write_text(
            f'<robot name="tree">{BASE}{"".join(_links(tree))}</robot>', encoding="utf-8"
        )
        flags = pybullet.URDF_USE_INERTIA_FROM_FILE
        body = pybullet.loadURDF(str(path), useFixedBase=True, flags=flags, physicsClientId=client)
    for k in range(-1, len(tree.links)):
        damping = {
            "linearDamping": 0.0,
            "angularDamping": 0.0,
            "jointDamping": 0.0,
            "maxJointVelocity": 1e6,
        }
        pybullet.changeDynamics(body, k, **damping, physicsClientId=client)
    out = SimpleNamespace(tree=tree, client=client, body=body)
    begin(out)
    return out


def begin(m: SimpleNamespace) -> None:
    for k, link in enumerate(m.tree.links):
        if link.kind == "hinge":
            rate = float(np.dot(link.rate, link.axis))
            pybullet.resetJointState(m.body, k, 0.0, rate, physicsClientId=m.client)
            pybullet.setJointMotorControl2(
                m.body, k, pybullet.VELOCITY_CONTROL, force=0.0, physicsClientId=m.client
            )
        else:
            pybullet.resetJointStateMultiDof(
                m.body, k, [0, 0, 0, 1], list(link.rate), physicsClientId=m.client
            )
            pybullet.setJointMotorControlMultiDof(
                m.body, k, pybullet.POSITION_CONTROL, targetPosition=[0, 0, 0, 1], positionGain=0,
                velocityGain=0, force=[0, 0, 0], physicsClientId=m.client,
            )  # fmt: skip


def _links(tree: Tree) -> Iterator[str]:
    for k, link in enumerate(tree.links):
        origin = tree.links[link.parent].at if link.parent >= 0 else (0.0, 0.0, 0.0)
        x, y, z = link.inertia
        yield (
            f'<link name="link{k}"><inertial><origin xyz="{_row(np.subtract(link.centre, link.at))}"/><mass value="1"/>'
            f'<inertia ixx="{x!r}" iyy="{y!r}" izz="{z!r}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="joint{k}" type="{KINDS[link.kind]}"><axis xyz="{_row(link.axis)}"/>'
            f'<parent link="{f"link{link.parent}" if link.parent >= 0 else "base"}"/><child link="link{k}"/>'
            f'<origin xyz="{_row(np.subtract(link.at, origin))}"/></joint>'
        )


def _row(numbers: object) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def runs(tree: Tree, duration: float) -> Methods:
    """name of a method -> steps to try, and step -> a run that ends with the watched point."""
    if not all(link.kind in KINDS for link in tree.links):
        return {}

    def prepare(step: float) -> Callable[[], np.ndarray]:
        m = model(tree, step)

        def run() -> np.ndarray:
            begin(m)
            for _ in range(round(duration / step)):
                pybullet.stepSimulation(physicsClientId=m.client)
            last = len(tree.links) - 1
            state = pybullet.getLinkState(
                m.body, last, computeForwardKinematics=True, physicsClientId=m.client
            )
            axes = np.reshape(pybullet.getMatrixFromQuaternion(state[5]), (3, 3))
            return np.array(state[4]) + axes @ np.subtract(tree.tip, tree.links[-1].at)

        return run

    return {"PyBullet": ((1e-2, 1e-3, 1e-4), prepare)}

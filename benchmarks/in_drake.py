"""Drake: a tree as a MultibodyPlant in continuous time, and its Runge-Kutta integrators with error
control.

Its ball joint has roll, pitch and yaw, which lock where the pitch is a right angle: such trees are
left out."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
from pydrake.math import RigidTransform
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    FixedOffsetFrame,
    RevoluteJoint,
    RotationalInertia,
    SpatialInertia,
)
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

from benchmarks.trees import Methods, Tree


def model(tree: Tree) -> SimpleNamespace:
    """Plant and simulator, in the state in which the tree begins."""
    plant = MultibodyPlant(time_step=0.0)
    plant.mutable_gravity_field().set_gravity_vector(tree.gravity)
    bodies = []
    for k, link in enumerate(tree.links):
        inertia = SpatialInertia.MakeFromCentralInertia(
            1.0, np.subtract(link.centre, link.at), RotationalInertia(*link.inertia)
        )
        bodies.append(plant.AddRigidBody(str(k), inertia))
        if link.kind == "hinge":
            parent, origin = plant.world_frame(), (0.0, 0.0, 0.0)
            if link.parent >= 0:
                parent, origin = bodies[link.parent].body_frame(), tree.links[link.parent].at
            place = RigidTransform(np.subtract(link.at, origin))
            frame = plant.AddFrame(FixedOffsetFrame(f"frame{k}", parent, place))
            plant.AddJoint(RevoluteJoint(f"joint{k}", frame, bodies[k].body_frame(), link.axis))
    plant.Finalize()
    out = SimpleNamespace(tree=tree, plant=plant, bodies=bodies, simulator=Simulator(plant))
    begin(out)
    return out


def begin(m: SimpleNamespace) -> None:
    context = m.simulator.get_mutable_context()
    m.plant.SetDefaultContext(context)
    for k, link in enumerate(m.tree.links):
        if link.kind == "hinge":
            m.plant.GetJointByName(f"joint{k}").set_angular_rate(
                context, float(np.dot(link.rate, link.axis))
            )
        else:
            m.plant.SetFreeBodySpatialVelocity(
                context, m.bodies[k], SpatialVelocity(link.rate, np.zeros(3))
            )
    context.SetTime(0.0)


def runs(tree: Tree, duration: float) -> Methods:
    """name of a method -> accuracies to try, and accuracy -> a run that ends with the watched
    point."""
    if any(link.kind == "ball" for link in tree.links):
        return {}

    def prepare(accuracy: float) -> Callable[[], np.ndarray]:
        m = model(tree)
        integrator = ResetIntegratorFromFlags(m.simulator, "runge_kutta5", 0.1)
        integrator.set_target_accuracy(accuracy)

        def run() -> np.ndarray:
            begin(m)
            m.simulator.Initialize()
            m.simulator.AdvanceTo(duration)
            pose = m.plant.EvalBodyPoseInWorld(m.simulator.get_context(), m.bodies[-1])
            return pose.multiply(np.subtract(tree.tip, tree.links[-1].at))

        return run

    return {"Drake RK5": ((1e-4, 1e-6, 1e-8, 1e-10, 1e-12), prepare)}

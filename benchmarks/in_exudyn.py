"""Exudyn: hinge chains as kinematic trees with explicit Runge-Kutta, four-bars with generalised
alpha in the plane, folded sheets with it in space, T-bars with reeving springs that hardly push.

Its kinematic trees have no ball joints and no free root, so other trees are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import exudyn
import numpy as np
from exudyn import OutputVariableType
from exudyn.itemInterface import (
    LoadMassProportional,
    MarkerBodyMass,
    MarkerBodyPosition,
    MarkerBodyRigid,
    MarkerKinematicTreeRigid,
    NodeGenericODE2,
    NodeRigidBody2D,
    ObjectConnectorReevingSystemSprings,
    ObjectGround,
    ObjectJointRevolute2D,
    ObjectKinematicTree,
    ObjectRigidBody2D,
)
from exudyn.rigidBodyUtilities import RigidBodyInertia
from scipy.spatial.transform import Rotation

import quirkpy as qp
from benchmarks.sheets import MASS, SPIN, Seen, Sheet
from benchmarks.trees import Methods, Tree

HINGES = [exudyn.JointType.RevoluteX, exudyn.JointType.RevoluteY, exudyn.JointType.RevoluteZ]
FOUR_BAR_STEPS = (1e-2, 2e-3, 1e-3)
FOUR_BARS = "Exudyn generalised alpha"


def _settings(duration: float, step: float) -> exudyn.SimulationSettings:
    out = exudyn.SimulationSettings()
    out.timeIntegration.numberOfSteps, out.timeIntegration.endTime = (
        round(duration / step),
        duration,
    )
    out.timeIntegration.verboseMode, out.solution.file.write = 0, False
    out.parallel.numberOfThreads = 1
    return out


def _coordinates(mbs: exudyn.MainSystem, node: object) -> np.ndarray:
    return np.atleast_1d(mbs.GetNodeOutput(node, exudyn.OutputVariableType.Coordinates))


def runs(tree: Tree, duration: float) -> Methods:
    """name of a method -> settings to try, and setting -> a run that ends with the watched
    point."""
    if any(link.kind != "hinge" for link in tree.links):
        return {}
    n, links = len(tree.links), tree.links
    origins = [links[link.parent].at if link.parent >= 0 else (0.0, 0.0, 0.0) for link in links]
    mbs = exudyn.SystemContainer().AddSystem()
    node = mbs.AddNode(
        NodeGenericODE2(
            referenceCoordinates=[0.0] * n,
            initialCoordinates=[0.0] * n,
            numberOfODE2Coordinates=n,
            initialCoordinates_t=[float(np.dot(link.rate, link.axis)) for link in links],
        )
    )
    tree_of_links = ObjectKinematicTree(
        nodeNumber=node,
        jointTypes=[HINGES[link.axis.index(1.0)] for link in links],
        linkParents=[link.parent for link in links],
        jointTransformations=exudyn.Matrix3DList([np.eye(3)] * n),
        jointOffsets=exudyn.Vector3DList(
            [np.subtract(link.at, o) for link, o in zip(links, origins)]
        ),
        linkInertiasCOM=exudyn.Matrix3DList([np.diag(link.inertia) for link in links]),
        linkCOMs=exudyn.Vector3DList([np.subtract(link.centre, link.at) for link in links]),
        linkMasses=[1.0] * n,
        gravity=list(tree.gravity),
    )
    mbs.AddObject(tree_of_links)
    mbs.Assemble()

    def end() -> np.ndarray:
        """Forward kinematics of the chain, from its joint angles."""
        place, turn = np.zeros(3), Rotation.identity()
        for angle, link, origin in zip(_coordinates(mbs, node), links, origins):
            place = place + turn.apply(np.subtract(link.at, origin))
            turn = turn * Rotation.from_rotvec(angle * np.asarray(link.axis))
        return place + turn.apply(np.subtract(tree.tip, links[-1].at))

    def prepare(step: float) -> Callable[[], np.ndarray]:
        settings = _settings(duration, step)

        def run() -> np.ndarray:
            mbs.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.RK67)
            return end()

        return run

    return {"Exudyn RK67": ((2.5e-2, 1e-2, 5e-3, 2.5e-3), prepare)}


def four_bars(windows: int, step: float, duration: float) -> Callable[[], float]:
    """A run that ends with the angle of the first upright."""
    mbs = exudyn.SystemContainer().AddSystem()
    ground = mbs.AddObject(ObjectGround())

    def rod(
        x: float, y: float, angle: float, speed: float, rate: float
    ) -> tuple[object, list[object]]:
        node = mbs.AddNode(
            NodeRigidBody2D(
                referenceCoordinates=[x, y, angle], initialVelocities=[speed, 0.0, rate]
            )
        )
        body = mbs.AddObject(
            ObjectRigidBody2D(nodeNumber=node, physicsMass=1.0, physicsInertia=1.0 / 12.0)
        )
        mass = mbs.AddMarker(MarkerBodyMass(bodyNumber=body))
        mbs.AddLoad(LoadMassProportional(markerNumber=mass, loadVector=[0.0, -9.81, 0.0]))
        ends = [
            mbs.AddMarker(MarkerBodyPosition(bodyNumber=body, localPosition=[s, 0.0, 0.0]))
            for s in (-0.5, 0.5)
        ]
        return node, ends

    uprights = [rod(float(k), 0.5, 0.5 * math.pi, 0.5, -1.0) for k in range(windows + 1)]
    couplers = [rod(k + 0.5, 1.0, 0.0, 1.0, 0.0) for k in range(windows)]
    for k, (_, ends) in enumerate(uprights):
        foot = mbs.AddMarker(
            MarkerBodyPosition(bodyNumber=ground, localPosition=[float(k), 0.0, 0.0])
        )
        mbs.AddObject(ObjectJointRevolute2D(markerNumbers=[foot, ends[0]]))
    for k, (_, ends) in enumerate(couplers):
        for one, two in ((uprights[k][1][1], ends[0]), (ends[1], uprights[k + 1][1][1])):
            mbs.AddObject(ObjectJointRevolute2D(markerNumbers=[one, two]))
    mbs.Assemble()
    settings = _settings(duration, step)
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.95
    settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
    if windows > 4:
        settings.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse

    def run() -> float:
        mbs.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.GeneralizedAlpha)
        return 0.5 * math.pi + float(_coordinates(mbs, uprights[0][0])[2])

    return run


def t_bar(
    made: qp.Tensegrity, rates: tuple[float, float], step: float, duration: float
) -> tuple[Callable[[], object], Callable[[], np.ndarray]]:
    """A T-bar as a tree of two hinges, with x and z of N as x and y; a run of it, and the tips at
    its end."""
    feet, tips = np.split(made.places()[:, [0, 2, 1]], 2)
    arms = tips - feet
    mbs = exudyn.SystemContainer().AddSystem()
    ground = mbs.AddObject(ObjectGround())
    node = mbs.AddNode(
        NodeGenericODE2(
            referenceCoordinates=[0.0, 0.0], initialCoordinates=[0.0, 0.0],
            initialCoordinates_t=[rates[0], -rates[1]], numberOfODE2Coordinates=2,
        )
    )  # fmt: skip
    inertias = [np.diag([body.inertia[1]] * 3) for body in made.bars]  # type: ignore[index]
    tree = mbs.AddObject(
        ObjectKinematicTree(
            nodeNumber=node, jointTypes=[exudyn.JointType.RevoluteZ] * 2, linkParents=[-1, -1],
            jointTransformations=exudyn.Matrix3DList([np.eye(3)] * 2),
            jointOffsets=exudyn.Vector3DList(list(feet)),
            linkInertiasCOM=exudyn.Matrix3DList(inertias),
            linkCOMs=exudyn.Vector3DList(list(0.5 * arms)),
            linkMasses=[body.mass for body in made.bars], gravity=[0.0, 0.0, 0.0],
        )
    )  # fmt: skip
    ends = [
        mbs.AddMarker(MarkerBodyRigid(bodyNumber=ground, localPosition=list(foot))) for foot in feet
    ] + [
        mbs.AddMarker(
            MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=k, localPosition=list(arm))
        )
        for k, arm in enumerate(arms)
    ]
    for string, way in zip(made.strings, made.ways, strict=True):
        rest, stiffness = string.value_of("rest_length"), string.value_of("stiffness")
        mbs.AddObject(
            ObjectConnectorReevingSystemSprings(
                markerNumbers=[ends[i] for i in way], hasCoordinateMarkers=False,
                stiffnessPerLength=stiffness * rest, dampingPerLength=0.0, referenceLength=rest,
                sheavesAxes=exudyn.Vector3DList([[0.0, 0.0, 1.0]] * 2), sheavesRadii=[0.0, 0.0],
                regularizationForce=1e-9,
            )
        )  # fmt: skip
    mbs.Assemble()
    settings = _settings(duration, step)

    def places() -> np.ndarray:
        turned = Rotation.from_rotvec([(0.0, 0.0, angle) for angle in _coordinates(mbs, node)])
        return np.asarray(feet + turned.apply(arms))[:, [0, 2, 1]]

    return (lambda: mbs.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.RK44)), places


# --- folded sheets --------------------------------------------------------------------------------
SHEET_STEPS = (1e-2, 4e-3, 1e-3)
SHEETS = "Exudyn generalised alpha"


def sheets(sheet: Sheet, step: float, duration: float) -> Callable[[], Seen]:
    """A run of a folded sheet: panels with Euler parameters, a hinge in every crease; of redundant
    rows the solver of the linear equations takes what has a pivot."""
    mbs = exudyn.SystemContainer().AddSystem()
    bodies = [
        mbs.CreateRigidBody(
            inertia=RigidBodyInertia(MASS, panel.inertia), referencePosition=panel.centre,
            nodeType=exudyn.NodeType.RotationEulerParameters, initialAngularVelocity=list(SPIN),
            initialVelocity=list(sheet.velocity(k)),
        )
        for k, panel in enumerate(sheet.panels)
    ]  # fmt: skip
    creases = [((p.parent, k), p.at, p.axis) for k, p in enumerate(sheet.panels) if p.parent >= 0]
    for pair, at, axis in [*creases, *sheet.cuts]:
        mbs.CreateRevoluteJoint(
            itemNumbers=[bodies[k] for k in pair], position=list(at), axis=list(axis)
        )
    for pair, at, axis in creases:
        panel = sheet.panels[pair[1]]
        mbs.CreateTorsionalSpringDamper(
            itemNumbers=[bodies[k] for k in pair], position=list(at), axis=list(axis),
            stiffness=panel.stiffness, offset=-panel.angle, unlimitedRotations=True,
        )  # fmt: skip
    mbs.Assemble()
    settings = _settings(duration, step)
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
    settings.linearSolver.solverType = exudyn.LinearSolverType.EigenDense
    settings.linearSolver.ignoreSingularJacobian = True

    def place(k: int) -> tuple[np.ndarray, np.ndarray]:
        """Where a panel is, and how it is turned."""
        local = {"localPosition": [0.0] * 3}
        at = mbs.GetObjectOutputBody(bodies[k], OutputVariableType.Position, **local)
        turn = mbs.GetObjectOutputBody(bodies[k], OutputVariableType.RotationMatrix, **local)
        return np.asarray(at), np.reshape(turn, (3, 3))

    def run() -> Seen:
        mbs.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.GeneralizedAlpha)
        places = [place(k) for k in range(len(bodies))]
        gap = 0.0
        for (one, two), at, _ in [*creases, *sheet.cuts]:
            ends = [places[k][0] + places[k][1] @ (at - sheet.panels[k].centre) for k in (one, two)]
            gap = max(gap, float(np.linalg.norm(ends[0] - ends[1])))
        panel = sheet.panels[sheet.watched]
        turn = places[panel.parent][1].T @ places[sheet.watched][1]
        turned = float(Rotation.from_matrix(turn).as_rotvec() @ panel.axis)
        return Seen(sheet.sense * (panel.angle + turned), gap)

    return run

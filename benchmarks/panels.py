"""A free hub with two panels of finite elements that bend, slewed: quirkpy beside Exudyn's reduced
floating frame, to equal errors.

Both get the same nodes, lumped masses and modes.  A panel is a mesh of bricks with eight nodes; its
root is held to the hub.  There is no damping, and no stiffening by spin, which Exudyn's bodies have
not."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import quirkpy as qp
from benchmarks.tables import Sheet
from benchmarks.timing import race

HUB = qp.Body.box("hub", (1.0, 1.0, 1.0), 50.0)
SIZE, CELLS = (2.0, 1.0, 0.05), (8, 4, 1)  # [m], along each axis
YOUNG, POISSON, DENSITY = 2e6, 0.3, 60.0  # [Pa], [1], [kg/m3]; smeared, as of a sandwich
MODES = 6
TORQUE, END = (0.5, 4.0, 1.0), 5.0  # on the hub, in N [N m], [s]
SIDES = {"left": -1.0, "right": 1.0}


class Mesh(NamedTuple):
    """nodes (k, 3) [m]; stiffness (3 k, 3 k) [N/m]; masses of the nodes (k,) [kg]; root: the nodes
    that are held, tip: one of those farthest away."""

    nodes: np.ndarray
    stiffness: np.ndarray
    masses: np.ndarray
    root: list[int]
    tip: int


CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


def brick(sides: np.ndarray) -> np.ndarray:
    """The stiffness (24, 24) of a brick with eight nodes, by Gauss's rule of two points."""
    nu, out = POISSON, np.zeros((24, 24))
    D = np.diag([1 - nu] * 3 + [0.5 - nu] * 3)
    D[:3, :3] += nu * (1.0 - np.eye(3))
    D *= YOUNG / ((1 + nu) * (1 - 2 * nu))
    for point in CORNERS / np.sqrt(3.0):
        factors = 1.0 + CORNERS * point
        others = np.stack([factors[:, [1, 2]], factors[:, [0, 2]], factors[:, [0, 1]]], 1)
        slopes = CORNERS * 0.125 * others.prod(axis=2) * (2.0 / sides)
        B = np.zeros((6, 24))
        for k, (x, y, z) in enumerate(slopes):
            B[:, 3 * k : 3 * k + 3] = [
                (x, 0, 0), (0, y, 0), (0, 0, z), (y, x, 0), (0, z, y), (z, 0, x)
            ]  # fmt: skip
        out += B.T @ D @ B * np.prod(sides) / 8.0
    return out


def mesh(side: float) -> Mesh:
    """A panel on one side of the hub, in N."""
    counts, sides = np.array(CELLS) + 1, np.array(SIZE) / CELLS
    grid = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), -1).reshape(-1, 3)
    nodes = grid * sides - (0.0, 0.5 * SIZE[1], 0.5 * SIZE[2])
    nodes[:, 0] = side * (0.5 + nodes[:, 0])
    K, masses, one = np.zeros((3 * len(nodes),) * 2), np.zeros(len(nodes)), brick(sides)
    flip = np.tile((side, 1.0, 1.0), 8)  # a brick that is mirrored
    for cell in grid[(grid < CELLS).all(axis=1)]:
        at = (cell + (CORNERS > 0)).astype(int)
        which = np.ravel_multi_index(at.T, counts)
        rows = (3 * which[:, None] + np.arange(3)).ravel()
        K[np.ix_(rows, rows)] += flip[:, None] * one * flip
        masses[which] += DENSITY * np.prod(sides) / 8.0
    root = np.flatnonzero(grid[:, 0] == 0).tolist()
    return Mesh(nodes, K, masses, root, len(nodes) - 1)


def panel(name: str) -> qp.ModalBody:
    """A panel as a body that bends, clamped at its root."""
    made = mesh(SIDES[name])
    return qp.ModalBody.from_matrices(
        name, made.nodes, made.stiffness, np.diag(np.repeat(made.masses, 3)), MODES, made.root,
        damping=0.0,
    )  # fmt: skip


def spacecraft() -> qp.Multibody:
    """The hub with both panels."""
    panels = [panel(name) for name in SIDES]
    joints = [
        qp.Fixed(f"{p.name} root", HUB.site(f"to {p.name}", at=(0.5 * s, 0, 0)),
                 p.site("root", at=np.subtract((0.5 * s, 0.0, 0.0), p.position)))
        for p, s in zip(panels, SIDES.values())
    ]  # fmt: skip
    return qp.Multibody(HUB, *panels, *joints, qp.Load("slew", HUB, torque=TORQUE))


def watched(system: qp.Multibody, state: qp.State) -> np.ndarray:
    """Where a tip of each panel is (6,) [m]."""
    bodies = [(system[name], mesh(side).tip) for name, side in SIDES.items()]
    tips = [body.site("tip", at=body.nodes[tip]) for body, tip in bodies]
    return state.instant(system.selection).at_sites(*tips).position.ravel()


# --- Exudyn ---------------------------------------------------------------------------------------
def in_exudyn() -> Callable[[float], np.ndarray]:
    """A function of the step [s] of the generalized alpha method that gives what is watched at the
    end."""
    import exudyn
    from exudyn.FEM import FEMinterface, ObjectFFRFreducedOrderInterface
    from exudyn.itemInterface import (
        LoadTorqueVector,
        MarkerBodyRigid,
        MarkerNodeRigid,
        MarkerSuperElementPosition,
        ObjectJointGeneric,
    )
    from exudyn.rigidBodyUtilities import RigidBodyInertia
    from scipy.sparse import csr_matrix

    mbs = exudyn.SystemContainer().AddSystem()
    hub = mbs.CreateRigidBody(
        inertia=RigidBodyInertia(HUB.mass, np.diag(HUB.inertia)), referencePosition=[0.0] * 3
    )
    tips = []
    for name, s in SIDES.items():
        own, made = panel(name), mesh(s)
        fem = FEMinterface()
        fem.nodes = {"Position": np.array(own.nodes)}
        fem.massMatrix = csr_matrix(np.diag(np.repeat(made.masses, 3)))
        fem.stiffnessMatrix = csr_matrix(made.stiffness)
        fem.modeBasis = {"matrix": np.array(own.shapes).reshape(MODES, -1).T, "type": "NormalModes"}
        frame = ObjectFFRFreducedOrderInterface(fem)
        body = frame.AddObjectFFRFreducedOrder(mbs, positionRef=list(own.position))
        ends = [
            mbs.AddMarker(MarkerBodyRigid(bodyNumber=hub, localPosition=list(own.position))),
            mbs.AddMarker(MarkerNodeRigid(nodeNumber=body["nRigidBody"])),
        ]
        mbs.AddObject(ObjectJointGeneric(markerNumbers=ends, constrainedAxes=[1] * 6))
        tips.append(
            mbs.AddMarker(
                MarkerSuperElementPosition(
                    bodyNumber=body["oFFRFreducedOrder"], meshNodeNumbers=[made.tip],
                    weightingFactors=[1.0],
                )
            )
        )  # fmt: skip
    centre = mbs.AddMarker(MarkerBodyRigid(bodyNumber=hub))
    mbs.AddLoad(LoadTorqueVector(markerNumber=centre, loadVector=list(TORQUE)))
    mbs.Assemble()
    begun = mbs.systemData.GetSystemState()

    def run(step: float) -> np.ndarray:
        mbs.systemData.SetSystemState(begun)
        settings = exudyn.SimulationSettings()
        settings.timeIntegration.numberOfSteps = round(END / step)
        settings.timeIntegration.endTime = END
        settings.timeIntegration.verboseMode, settings.solution.file.write = 0, False
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.timeIntegration.newton.relativeTolerance = 1e-10
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
        settings.parallel.numberOfThreads = 1
        mbs.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.GeneralizedAlpha)
        places = [mbs.GetMarkerOutput(tip, exudyn.OutputVariableType.Position) for tip in tips]
        return np.concatenate(places)

    return run


# --- side by side ---------------------------------------------------------------------------------
EQUAL = 1e-6  # error of what is watched [m]
TOLERANCES = (1e-5, 1e-6, 1e-7, 1e-8)
STEPS = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4)  # [s]
FINEST = 1e-11


def measure(quick: bool) -> tuple[Sheet, dict[str, float]]:
    """The time that each program takes for an error of a micrometre."""
    system, theirs = spacecraft(), in_exudyn()
    begun = system.initial

    def ours(rtol: float) -> np.ndarray:
        run = system.simulate(END, rtol=rtol, atol=1e-2 * rtol, keep="ends", progress=False)
        return watched(system, run.final)

    truth = ours(FINEST)
    del begun
    rows, best = [], {}
    for name, run, settings in (("quirkpy", ours, TOLERANCES), ("Exudyn", theirs, STEPS)):
        for setting in settings[:3] if quick else settings:
            cost = race({"": lambda run=run, setting=setting: run(setting)}, turns=3)[""].cpu
            off = float(abs(run(setting) - truth).max())
            rows.append([name, setting, cost, off])
            if off <= EQUAL:
                best[name] = min(best.get(name, np.inf), cost)
    sheet = Sheet(
        "Two panels that bend on a free hub, 5 s: quirkpy and Exudyn",
        ["program", "tolerance or step", "s", "error [m]"], rows,
        ["Errors are differences from a run of quirkpy to 1e-11. Exudyn: reduced floating frame, "
         "generalized alpha, spectral radius 0.9."],
    )  # fmt: skip
    figures = (
        {"panels: Exudyn / quirkpy": best["Exudyn"] / best["quirkpy"]} if len(best) == 2 else {}
    )
    return sheet, figures

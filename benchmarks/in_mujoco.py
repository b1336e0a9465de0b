"""MuJoCo: a tree as nested bodies, its forward dynamics, and its Runge-Kutta of fourth order; and
MJCF files as it reads them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np

import quirkpy as qp
from benchmarks.comparing import Sample, Unable
from benchmarks.trees import Methods, Tree

OPTION = '<option gravity="{} {} {}" integrator="{}" timestep="{!r}"><flag contact="disable" energy="{}"/></option>'


def model(tree: Tree, integrator: str = "RK4", step: float = 1e-3) -> SimpleNamespace:
    """Model and data, in the state in which the tree begins."""
    head = OPTION.format(*tree.gravity, integrator, step, "disable")
    text = f"<mujoco>{head}<worldbody>{''.join(_bodies(tree, -1))}</worldbody></mujoco>"
    made = mujoco.MjModel.from_xml_string(text)
    out = SimpleNamespace(tree=tree, model=made, data=mujoco.MjData(made))
    begin(out)
    return out


def begin(m: SimpleNamespace) -> None:
    mujoco.mj_resetData(m.model, m.data)
    for k, link in enumerate(m.tree.links):
        first = m.model.jnt_dofadr[m.model.joint(f"joint{k}").id]
        if link.kind == "hinge":
            m.data.qvel[first] = np.dot(link.rate, link.axis)
        else:
            first += 3 if link.kind == "free" else 0
            m.data.qvel[first : first + 3] = link.rate
    mujoco.mj_forward(m.model, m.data)


def _bodies(tree: Tree, parent: int) -> Iterator[str]:
    origin = tree.links[parent].at if parent >= 0 else (0.0, 0.0, 0.0)
    for k, link in enumerate(tree.links):
        if link.parent == parent:
            words = {
                "free": 'type="free"',
                "ball": 'type="ball"',
                "hinge": f'type="hinge" axis="{_row(link.axis)}"',
            }
            yield f'<body name="{k}" pos="{_row(np.subtract(link.at, origin))}"><joint name="joint{k}" '
            yield f'{words[link.kind]}/><inertial mass="1" pos="{_row(np.subtract(link.centre, link.at))}" '
            yield f'diaginertia="{_row(link.inertia)}"/>'
            yield from _bodies(tree, k)
            yield "</body>"


def _row(numbers: object) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def evaluation(tree: Tree) -> tuple[Callable[[], object], np.ndarray]:
    """One acceleration (mj_forward), and the angular acceleration of the first joint."""
    m = model(tree)
    return (lambda: mujoco.mj_forward(m.model, m.data)), _first(tree, m.data.qacc)


def _first(tree: Tree, acceleration: np.ndarray) -> np.ndarray:
    part = {"hinge": slice(0, 1), "ball": slice(0, 3), "free": slice(3, 6)}[tree.kind]
    return np.array(acceleration[part])


def runs(tree: Tree, duration: float) -> Methods:
    """name of a method -> settings to try, and setting -> a run that ends with the watched
    point."""
    steps = (
        (1e-2, 4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4)
        if duration < 50.0
        else (5e-2, 2e-2, 1e-2, 4e-3, 2e-3)
    )

    def prepare(step: float) -> Callable[[], np.ndarray]:
        m = model(tree, step=step)

        def run() -> np.ndarray:
            begin(m)
            mujoco.mj_step(m.model, m.data, round(duration / step))
            mujoco.mj_kinematics(m.model, m.data)
            last = m.data.body(str(len(tree.links) - 1))
            return last.xpos + last.xmat.reshape(3, 3) @ np.subtract(tree.tip, tree.links[-1].at)

        return run

    return {"MuJoCo RK4": (steps, prepare)}


# --- two cubes ------------------------------------------------------------------------------------
CUBES = (
    '<mujoco>{}<worldbody><site name="well" pos=".1 .1 0"/><body pos=".1 0 0"><site name="centre"/>'
    '<joint type="hinge" axis="0 0 1" pos="-.05 .05 0" damping=".02"/><inertial pos="0 0 0" mass="1" diaginertia="{}"/>'
    '</body></worldbody><tendon><spatial stiffness="10" springlength="0"><site site="well"/><site site="centre"/>'
    "</spatial></tendon></mujoco>"
)


def cubes(integrator: str, step: float, energy: str = "enable") -> SimpleNamespace:
    """The second cube on its hinge, pulled by a tendon; the model is built anew.  energy: whether
    it is computed."""
    head = OPTION.format(0, 0, 0, integrator, step, energy)
    made = mujoco.MjModel.from_xml_string(CUBES.format(head, _row([0.01 / 6.0] * 3)))
    return SimpleNamespace(model=made, data=mujoco.MjData(made))


def run_cubes(m: SimpleNamespace, threshold: float, block: int) -> float:
    """The angle where the energy falls below the threshold.

    block: steps between two looks at the energy. With one, the run ends at the first step that
    finds it low; with more, single steps follow near the end, and the angle is interpolated between
    two."""
    mujoco.mj_resetData(m.model, m.data)
    mujoco.mj_forward(m.model, m.data)
    energy, angle = m.data.energy, m.data.qpos
    if block == 1:
        while energy[0] + energy[1] > threshold:
            mujoco.mj_step(m.model, m.data)
        return float(angle[0])
    while energy[0] + energy[1] > 3.0 * threshold:
        mujoco.mj_step(m.model, m.data, block)
    before, now = (math.inf, 0.0), (energy[0] + energy[1], float(angle[0]))
    while now[0] > threshold:
        before = now
        mujoco.mj_step(m.model, m.data)
        mujoco.mj_forward(m.model, m.data)  # the energy of where the step has led
        now = energy[0] + energy[1], float(angle[0])
    x = (before[0] - threshold) / (before[0] - now[0])
    return before[1] + x * (now[1] - before[1])


def many_cubes(
    integrator: str, step: float, duration: float, runs: int, threads: int
) -> tuple[Callable[[], object], Callable[[], float]]:
    """Work that moves as many pairs of cubes by `mujoco.batch`, and the angle at which the first
    ends."""
    from mujoco.batch import Batch  # since 3.17

    made = Batch(cubes(integrator, step, "disable").model, nsim=runs, nthread=threads)
    angle = made.bind("qpos")

    def work() -> None:
        made.reset(stage=mujoco.mjtStage.mjSTAGE_NONE.value)
        made.step(nstep=round(duration / step))

    return work, lambda: float(angle[0, 0])


# --- MJCF -----------------------------------------------------------------------------------------
def sample_mjcf(path: Path, imported: Any) -> Sample:
    """Accelerations of all bodies of an MJCF at a random pose in motion, without what a solver of
    contacts adds."""
    try:
        m = mujoco.MjModel.from_xml_path(str(path))
    except Exception as error:  # what it makes of a file is its own affair
        raise Unable(f"the peer refuses it: {' '.join(str(error).split())[:80]}") from None
    acts = [one.sentence for one in imported.findings if one.code == "acts"]
    if acts:
        raise Unable(f"told: {acts[0]}")
    here = {part.name.removesuffix(" motor") for part in imported.system.parts}
    m.opt.density = m.opt.viscosity = 0.0  # told as "medium"
    m.actuator_forcelimited[:] = m.jnt_actfrclimited[:] = 0  # told as "range"
    for k in range(m.nu):
        if m.actuator(k).name not in here and m.actuator(k).name:  # told as "actuator"
            m.actuator_gainprm[k], m.actuator_biasprm[k] = 0.0, 0.0
    d, random = mujoco.MjData(m), np.random.default_rng(1)
    values, rates = {}, {}
    motions = [motion for link in imported.assembly.links for motion in link.motions]
    if len(motions) != m.njnt:
        raise Unable("joints that move nothing with mass were left out")
    for k, motion in enumerate(motions):
        values[motion.name], rates[motion.name] = place_joint(m, d, k, motion, random)
    mujoco.mj_forward(m, d)
    d.qacc[:] = d.qacc_smooth
    mujoco.mj_rnePostConstraint(m, d)
    theirs = {}
    for link in imported.assembly.links:
        number = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_BODY, link.name)
        if link.static or " under " in link.name:
            continue
        number = number if number >= 0 else int(link.name.split()[-1])
        body = imported.assembly.frames[link.name].body
        theirs[body.name] = at_centre(m, d, number, link.centre)
    return Sample(without_constraints(imported), values, rates, theirs)


def without_constraints(imported: Any) -> Any:
    """The model without what MuJoCo leaves to its solver of constraints."""
    kinds = (qp.JointStop, qp.JointFriction, qp.Rope)
    tree = imported.opened()
    hard = [part.name for part in tree.system.parts if isinstance(part, kinds)]
    return dataclasses.replace(tree, system=tree.system.without(*hard))


def place_joint(m: Any, d: Any, k: int, motion: Any, random: Any) -> tuple[Any, Any]:
    """A random pose and rate of a joint, put where the peer has them."""
    q, v = m.jnt_qposadr[k], m.jnt_dofadr[k]
    if motion.simple:
        d.qpos[q] = value = motion.start + 0.3 * random.uniform(-1.0, 1.0)
        d.qvel[v] = rate = random.uniform(-1.0, 1.0)
        return value, rate
    turn = random.normal(size=4)
    turn /= np.linalg.norm(turn)
    orientation = qp.quat.from_array(turn)
    if motion.kind == "ball":
        d.qpos[q : q + 4], d.qvel[v : v + 3] = turn, random.normal(size=3)
        return orientation, d.qvel[v : v + 3].copy()
    d.qpos[q : q + 7], d.qvel[v : v + 6] = [*random.normal(size=3), *turn], random.normal(size=6)
    return (d.qpos[q : q + 3].copy(), orientation), (
        d.qvel[v : v + 3].copy(),
        d.qvel[v + 3 : v + 6].copy(),
    )


def at_centre(m: Any, d: Any, number: int, centre: np.ndarray) -> np.ndarray:
    """Acceleration of a point of a body in N, and of its turn in axes of the body."""
    a, v = np.zeros(6), np.zeros(6)
    kind = mujoco.mjtObj.mjOBJ_XBODY
    mujoco.mj_objectAcceleration(m, d, kind, number, a, 0)
    mujoco.mj_objectVelocity(m, d, kind, number, v, 0)
    turn = d.xmat[number].reshape(3, 3)
    arm, w = turn @ centre, v[:3]
    falls = not m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    at = a[3:] + falls * m.opt.gravity + np.cross(a[:3], arm)
    return np.concatenate([at + np.cross(w, np.cross(w, arm)), turn.T @ a[:3]])

"""Pinocchio: a tree as joints, `aba`, and two integrators around it: RK4 by hand, and SciPy's
DOP853; and URDF files as it reads them."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

import quirkpy as qp
from benchmarks.comparing import Sample, Unable
from benchmarks.sheets import MASS, SPIN, Seen, Sheet
from benchmarks.trees import Methods, Tree

Right = Callable[[np.ndarray], np.ndarray]
HINGES = {
    (1.0, 0.0, 0.0): pin.JointModelRX,
    (0.0, 1.0, 0.0): pin.JointModelRY,
    (0.0, 0.0, 1.0): pin.JointModelRZ,
}


def model(tree: Tree) -> SimpleNamespace:
    """Model, data, and the configuration and velocity in which the tree begins."""
    m, numbers, speeds = pin.Model(), [], []
    for k, link in enumerate(tree.links):
        origin = tree.links[link.parent].at if link.parent >= 0 else (0.0, 0.0, 0.0)
        joint = {
            "ball": pin.JointModelSpherical,
            "free": pin.JointModelFreeFlyer,
            "hinge": HINGES.get(link.axis),
        }
        parent = numbers[link.parent] if link.parent >= 0 else 0
        number = m.addJoint(
            parent, joint[link.kind](), _shift(np.subtract(link.at, origin)), f"joint {k}"
        )
        inertia = pin.Inertia(1.0, np.subtract(link.centre, link.at), np.diag(link.inertia))
        m.appendBodyToJoint(number, inertia, pin.SE3.Identity())
        numbers.append(number)
        hinge = np.array([np.dot(link.rate, link.axis)])
        speeds.append(
            {"hinge": hinge, "ball": link.rate, "free": (0.0, 0.0, 0.0, *link.rate)}[link.kind]
        )
    m.gravity.linear = np.array(tree.gravity)
    return SimpleNamespace(
        tree=tree, model=m, data=m.createData(), q=pin.neutral(m), v=np.concatenate(speeds)
    )


def _shift(by: object) -> pin.SE3:
    return pin.SE3(np.eye(3), np.asarray(by, dtype=float))


def evaluation(tree: Tree) -> tuple[Callable[[], object], np.ndarray]:
    """One acceleration (aba), and the angular acceleration of the first joint."""
    m = model(tree)
    force = np.zeros(m.model.nv)
    part = {"hinge": slice(0, 1), "ball": slice(0, 3), "free": slice(3, 6)}[tree.kind]
    first = np.array(pin.aba(m.model, m.data, m.q, m.v, force)[part])
    return (lambda: pin.aba(m.model, m.data, m.q, m.v, force)), first


# --- motion ---------------------------------------------------------------------------------------
def right_side(m: SimpleNamespace) -> Right:
    """y = (q, v) -> its derivative, quaternions as four numbers, so that methods keep their
    order."""
    nq, force, aba = m.model.nq, np.zeros(m.model.nv), pin.aba
    kind = m.tree.kind

    def right(y: np.ndarray) -> np.ndarray:
        v, out = y[nq:], np.empty(len(y))
        out[nq:] = aba(
            m.model, m.data, y[:nq] if kind == "hinge" else _unit(y[:nq], kind), v, force
        )
        if kind == "hinge":
            out[:nq] = v
        elif kind == "ball":
            _turn(y[:nq].reshape(-1, 4), v.reshape(-1, 3), out[:nq].reshape(-1, 4))
        else:
            out[:3] = pin.Quaternion(y[3:7] / np.linalg.norm(y[3:7])).matrix() @ v[:3]
            _turn(y[None, 3:7], v[None, 3:], out[None, 3:7])
        return out

    return right


def _unit(q: np.ndarray, kind: str) -> np.ndarray:
    """The configuration with quaternions of length one."""
    out = q.copy()
    turns = out.reshape(-1, 4) if kind == "ball" else out[None, 3:7]
    turns /= np.sqrt((turns * turns).sum(axis=1))[:, None]
    return out


def _turn(q: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
    """Rates of quaternions x y z w from angular velocities in body axes."""
    x, y, z, s = q.T
    a, b, c = 0.5 * w.T
    out[:, 0], out[:, 1], out[:, 2] = (
        s * a + y * c - z * b,
        s * b + z * a - x * c,
        s * c + x * b - y * a,
    )
    out[:, 3] = -x * a - y * b - z * c


def rk4(right: Right, y: np.ndarray, step: float, steps: int) -> np.ndarray:
    for _ in range(steps):
        a = right(y)
        b = right(y + 0.5 * step * a)
        c = right(y + 0.5 * step * b)
        y = y + (step / 6.0) * (a + 2.0 * (b + c) + right(y + step * c))
    return y


def runs(tree: Tree, duration: float) -> Methods:
    """name of a method -> settings to try, and setting -> a run that ends with the watched
    point."""
    m = model(tree)
    right, start = right_side(m), np.concatenate([m.q, m.v])

    def end(y: np.ndarray) -> np.ndarray:
        q = y[: m.model.nq]
        pin.forwardKinematics(m.model, m.data, q if tree.kind == "hinge" else _unit(q, tree.kind))
        return m.data.oMi[m.model.njoints - 1].act(np.subtract(tree.tip, tree.links[-1].at))

    def by_hand(step: float) -> Callable[[], np.ndarray]:
        return lambda: end(rk4(right, start, step, round(duration / step)))

    def by_scipy(rtol: float) -> Callable[[], np.ndarray]:
        def run() -> np.ndarray:
            done = solve_ivp(
                lambda t, y: right(y),
                (0.0, duration),
                start,
                method="DOP853",
                rtol=rtol,
                atol=rtol,
                t_eval=(duration,),
            )
            return end(done.y[:, -1])

        return run

    steps = (1e-2, 4e-3, 2e-3, 1e-3, 5e-4) if duration < 50.0 else (5e-2, 2e-2, 1e-2)
    tolerances = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
    return {"Pinocchio RK4": (steps, by_hand), "Pinocchio + SciPy DOP853": (tolerances, by_scipy)}


# --- four-bars ------------------------------------------------------------------------------------
#: Proximal iterations that keep redundant and flat loops exact, and a Baumgarte gain [1/s]: tried
#: out for accuracy.
MU, ITERATIONS, GAIN = 1e-10, 20, 20.0
#: The same for folded sheets, with more redundant rows.
SHEET_MU = 1e-6
FOUR_BAR_STEPS = (5e-3, 4e-3, 2e-3, 1e-3)
FOUR_BARS = "Pinocchio RK4"


def four_bars(windows: int, step: float, duration: float) -> Callable[[], float]:
    """A run that ends with the angle of the first upright."""
    m, z = pin.Model(), pin.JointModelRZ
    inertia = pin.Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.diag([1e-3, 1.0 / 12.0, 1.0 / 12.0]))
    end = _shift((1.0, 0.0, 0.0))
    uprights, couplers = [], []
    for k in range(windows + 1):
        uprights.append(m.addJoint(0, z(), _shift((k, 0.0, 0.0)), f"upright {k}"))
        if k < windows:
            couplers.append(m.addJoint(uprights[k], z(), end, f"coupler {k}"))
    for joint in uprights + couplers:
        m.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    m.gravity.linear = np.array([0.0, -9.81, 0.0])
    data, closures, records = (
        m.createData(),
        pin.StdVec_RigidConstraintModel(),
        pin.StdVec_RigidConstraintData(),
    )
    for k, coupler in enumerate(couplers):
        closure = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D,
            m,
            coupler,
            end,
            uprights[k + 1],
            end,
            pin.ReferenceFrame.LOCAL,
        )
        closure.setBaumgarteCorrectorParameters(
            pin.BaumgarteCorrectorParameters(GAIN**2, 2.0 * GAIN)
        )
        closures.append(closure)
        records.append(closure.createData())
    pin.initConstraintDynamics(m, data, closures, records)
    proximal, n, force = pin.ProximalSettings(1e-14, MU, ITERATIONS), m.nq, np.zeros(m.nv)
    upright = np.isin(np.arange(n), [m.joints[j].idx_q for j in uprights])
    start = np.concatenate(
        [np.where(upright, 0.5 * math.pi, -0.5 * math.pi), np.where(upright, -1.0, 1.0)]
    )

    def right(y: np.ndarray) -> np.ndarray:
        return np.concatenate(
            [
                y[n:],
                pin.constraintDynamics(m, data, y[:n], y[n:], force, closures, records, proximal),
            ]
        )

    return lambda: float(rk4(right, start, step, round(duration / step))[0])


# --- folded sheets --------------------------------------------------------------------------------
SHEET_STEPS = (4e-2, 2e-2, 1e-2)
SHEETS = "Pinocchio RK4"


def sheets(sheet: Sheet, step: float, duration: float) -> Callable[[], Seen]:
    """A run of a folded sheet: two points of every crease that is cut stay together."""
    m = pin.Model()
    for k, panel in enumerate(sheet.panels):
        root = panel.parent < 0
        joint = pin.JointModelFreeFlyer() if root else pin.JointModelRevoluteUnaligned(panel.axis)
        origin = panel.centre if root else panel.at
        before = sheet.panels[panel.parent].at if panel.parent > 0 else sheet.panels[0].centre
        shift = _shift(np.zeros(3) if root else origin - before)
        m.addJoint(0 if root else 1 + panel.parent, joint, shift, f"panel {k}")
        inertia = pin.Inertia(MASS, panel.centre - origin, panel.inertia)
        m.appendBodyToJoint(1 + k, inertia, pin.SE3.Identity())
    m.gravity.linear = np.zeros(3)
    data = m.createData()
    closures, records = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    origins = [panel.at if k else panel.centre for k, panel in enumerate(sheet.panels)]
    for cut in sheet.cuts:
        one, two = cut.panels
        for along in (-0.5, 0.5):
            at = cut.at + along * cut.axis
            closure = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, m, 1 + one, _shift(at - origins[one]), 1 + two,
                _shift(at - origins[two]), pin.ReferenceFrame.LOCAL,
            )  # fmt: skip
            closure.setBaumgarteCorrectorParameters(
                pin.BaumgarteCorrectorParameters(GAIN**2, 2.0 * GAIN)
            )
            closures.append(closure)
            records.append(closure.createData())
    pin.initConstraintDynamics(m, data, closures, records)
    proximal = pin.ProximalSettings(1e-14, SHEET_MU, ITERATIONS)
    bent = np.array([panel.angle for panel in sheet.panels[1:]])
    stiff = np.array([panel.stiffness for panel in sheet.panels[1:]])
    nq, force = m.nq, np.zeros(m.nv)

    def right(y: np.ndarray) -> np.ndarray:
        q, v, out = y[:nq].copy(), y[nq:], np.empty(len(y))
        q[3:7] /= np.linalg.norm(q[3:7])
        force[6:] = -stiff * (bent + q[7:])
        out[nq:] = pin.constraintDynamics(m, data, q, v, force, closures, records, proximal)
        out[:3] = pin.Quaternion(q[3:7]).matrix() @ v[:3]
        _turn(y[None, 3:7], v[None, 3:6], out[None, 3:7])
        out[7:nq] = v[6:]
        return out

    start = np.concatenate([pin.neutral(m), np.zeros(m.nv)])
    start[:3], start[nq : nq + 6] = sheet.panels[0].centre, (*sheet.velocity(0), *SPIN)

    def run() -> Seen:
        y = rk4(right, start, step, round(duration / step))
        q = _unit(y[:nq], "free")
        pin.forwardKinematics(m, data, q)
        gap = max(
            float(np.linalg.norm(np.subtract(
                *(data.oMi[1 + b].act(cut.at - origins[b]) for b in cut.panels)
            )))
            for cut in sheet.cuts
        )  # fmt: skip
        angle = sheet.panels[sheet.watched].angle + q[6 + sheet.watched]
        return Seen(float(sheet.sense * angle), gap)

    return run


# --- URDF -----------------------------------------------------------------------------------------
def sample_urdf(path: Path, imported: Any) -> Sample:
    """Accelerations of all bodies of a URDF at a random pose in motion."""
    names = {motion.name: motion for link in imported.assembly.links for motion in link.motions}
    free = [name for name, motion in names.items() if motion.kind == "free"]
    try:
        root = pin.JointModelFreeFlyer() if free else None
        m = pin.buildModelFromUrdf(str(path), *(() if root is None else (root,)))
    except Exception as error:  # what it makes of a file is its own affair
        raise Unable(f"the peer refuses it: {' '.join(str(error).split())[:80]}") from None
    if any(motion.kind in ("planar", "ball") for motion in names.values()) or len(free) > 1:
        raise Unable("a joint of several freedoms")
    random = np.random.default_rng(1)
    mimics = imported_mimics(imported)
    values, rates = {}, {}
    for name, motion in names.items():
        if motion.simple:
            values[name] = motion.start + 0.3 * random.uniform(-1.0, 1.0)
            rates[name] = random.uniform(-1.0, 1.0)
    for later, (first, ratio, offset) in mimics.items():
        values[later], rates[later] = ratio * values[first] + offset, ratio * rates[first]
    q, v = pin.neutral(m), np.zeros(m.nv)
    for name in values:
        place_joint(m, name, values[name], rates[name], q, v)
    for name in free:
        turn = random.normal(size=4)
        q[:7] = [*random.normal(size=3), *(turn / np.linalg.norm(turn))]
        v[:6] = random.normal(size=6)
        w = qp.quat.from_array(q[[6, 3, 4, 5]])
        values[name] = (q[:3], w)
        rates[name] = (qp.quat.matrix(w) @ v[:3], v[3:6])
    data = m.createData()
    a = constrained(m, data, q, v, imported, mimics)
    pin.forwardKinematics(m, data, q, v, a)
    pin.updateFramePlacements(m, data)
    theirs = {}
    for link in imported.assembly.links:
        frame = m.getFrameId(link.name, pin.FrameType.BODY)
        if link.static or link.feather or frame >= m.nframes:
            continue
        theirs[imported.assembly.frames[link.name].body.name] = at_centre(m, data, frame, link)
    return Sample(imported, values, rates, theirs)


def imported_mimics(imported: Any) -> dict[str, tuple[str, float, float]]:
    """later joint -> the one that it goes with, ratio and offset."""
    named = {joint.name: name for name, joint in imported.assembly.motions.items()}
    gears = [part for part in imported.system.parts if isinstance(part, qp.Gear)]
    return {
        named[g.second.name]: (named[g.first.name], g.ratio, g.offset)
        for g in gears
        if g.second.name in named
    }


def place_joint(m: Any, name: str, value: float, rate: float, q: Any, v: Any) -> None:
    """Write a coordinate and its rate where the peer has them."""
    number = m.getJointId(name)
    if number >= m.njoints:
        raise Unable(f"the peer does not know joint {name!r}")
    joint = m.joints[number]
    if joint.nq == 2:
        q[joint.idx_q : joint.idx_q + 2] = math.cos(value), math.sin(value)
    else:
        q[joint.idx_q] = value
    v[joint.idx_v] = rate


def constrained(m: Any, data: Any, q: Any, v: Any, imported: Any, mimics: Any) -> np.ndarray:
    """Accelerations of the coordinates under gravity, damping, friction and mimics."""
    force = np.zeros(m.nv)
    named = {joint.name: name for name, joint in imported.assembly.motions.items()}
    for part in imported.system.parts:
        if isinstance(part, (qp.JointDamper, qp.JointFriction)):
            k = m.joints[m.getJointId(named[part.joint.name])].idx_v
            force[k] -= (
                part.damping * v[k]
                if isinstance(part, qp.JointDamper)
                else part.preload * math.tanh(v[k] / part.slip)
            )
    if not mimics:
        return np.array(pin.aba(m, data, q, v, force))
    rows = np.zeros((len(mimics), m.nv))
    for row, (later, (first, ratio, _)) in zip(rows, mimics.items(), strict=True):
        row[m.joints[m.getJointId(later)].idx_v] = 1.0
        row[m.joints[m.getJointId(first)].idx_v] -= ratio
    mass = pin.crba(m, data, q)
    mass = np.triu(mass) + np.triu(mass, 1).T
    right = force - pin.nonLinearEffects(m, data, q, v)
    free, couple = np.linalg.solve(mass, right), np.linalg.solve(mass, rows.T)
    return np.asarray(free - couple @ np.linalg.solve(rows @ couple, rows @ free))


def at_centre(m: Any, data: Any, frame: int, link: Any) -> np.ndarray:
    """Acceleration of a mass centre in N, and of the turn in axes of the link."""
    local = pin.ReferenceFrame.LOCAL
    a, v = (
        pin.getFrameAcceleration(m, data, frame, local),
        pin.getFrameVelocity(m, data, frame, local),
    )
    c, w = link.centre, v.angular
    at = a.linear + np.cross(w, v.linear) + np.cross(a.angular, c) + np.cross(w, np.cross(w, c))
    return np.concatenate([data.oMf[frame].rotation @ at, a.angular])

"""The method of J. Fulton and H. Schaub (Acta Astronautica, 2021) as printed: a tree of panels by
the articulated body algorithm, creases that are cut as constraints of velocities with Baumgarte's
feedback, and Runge-Kutta steps of constant length.

Three things differ from the paper.  Vectors are those of N about its origin, and the attitude of
the first panel is a quaternion, where the paper has body axes and Rodrigues parameters; neither
changes what is computed.  And the matrix of the multipliers is inverted in the sense of least
squares: in sheets of several loops it is singular, and the printed inverse is none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.sheets import MASS, SPIN, Seen, Sheet

#: Feedback of the velocities of constraints [1/s], and the step [s], of the paper's section 4.2.
GAIN, STEP = 100.0, 1e-3
#: Singular values of the multipliers' matrix below this share of the largest count as zero [1].
RANK = 1e-9


class Bodies(NamedTuple):
    """All panels at one instant, in N about its origin: rotations since the start, displacements,
    axes of the tree's creases as motions, velocities, inertias."""

    turns: list[np.ndarray]
    shifts: list[np.ndarray]
    axes: list[np.ndarray]
    velocities: list[np.ndarray]
    inertias: list[np.ndarray]


def skew(v: np.ndarray) -> np.ndarray:
    """The matrix of the cross product v x."""
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def crossed(v: np.ndarray) -> np.ndarray:
    """The matrix of the cross product of a spatial velocity with motions."""
    w = skew(v[:3])
    return np.block([[w, np.zeros((3, 3))], [skew(v[3:]), w]])


def rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rodrigues' formula."""
    k = skew(axis)
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k)


def matrix_of(q: np.ndarray) -> np.ndarray:
    """The rotation of a quaternion w x y z of any length."""
    w, v = q[0], q[1:]
    k = skew(v)
    return np.eye(3) + 2.0 / (q @ q) * (w * k + k @ k)


def spatial_inertia(centre: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Of a panel about the origin of N (6, 6)."""
    c = MASS * skew(centre)
    return np.block([[inertia - c @ skew(centre), c], [-c, MASS * np.eye(3)]])


# --- the tree -------------------------------------------------------------------------------------
def outwards(sheet: Sheet, q: np.ndarray, u: np.ndarray) -> Bodies:
    """From the first panel to the tips: poses and velocities.  q: quaternion, displacement of the
    first panel's centre, angles; u: angular velocity, velocity of that centre, rates."""
    out = Bodies([], [], [], [], [])
    for k, panel in enumerate(sheet.panels):
        if panel.parent < 0:
            turn, axis = matrix_of(q[:4]), np.zeros(6)
            shift = panel.centre + q[4:7] - turn @ panel.centre
            now = panel.centre + q[4:7]
            velocity = np.concatenate([u[:3], u[3:6] - np.cross(u[:3], now)])
        else:
            before, moved = out.turns[panel.parent], out.shifts[panel.parent]
            at, way = before @ panel.at + moved, before @ panel.axis
            turn = rotation(way, q[6 + k]) @ before
            shift = at - turn @ panel.at
            axis = np.concatenate([way, np.cross(at, way)])
            velocity = out.velocities[panel.parent] + axis * u[5 + k]
        out.turns.append(turn)
        out.shifts.append(shift)
        out.axes.append(axis)
        out.velocities.append(velocity)
        inertia = spatial_inertia(turn @ panel.centre + shift, turn @ panel.inertia @ turn.T)
        out.inertias.append(inertia)
    return out


def accelerations(
    sheet: Sheet, now: Bodies, q: np.ndarray, u: np.ndarray, forces: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The articulated body algorithm for many loads at once: spatial accelerations of the panels
    (n, 6, k) and those of the coordinates (5 + n, k).  forces (n, 6, k): on the panels; the motion
    and the springs act in the first column alone."""
    n, columns = len(sheet.panels), forces.shape[2]
    whole, bias = [inertia.copy() for inertia in now.inertias], -forces
    drag, along = np.zeros((n, 6, columns)), np.zeros((n, columns))
    for k in range(n):
        v = now.velocities[k]
        bias[k, :, 0] -= crossed(v).T @ (now.inertias[k] @ v)
        drag[k, :, 0] = crossed(v) @ now.axes[k] * (u[5 + k] if k else 0.0)
    leant: list[tuple[np.ndarray, float]] = [(np.zeros(6), 1.0)] * n
    for k in range(n - 1, 0, -1):  # from the tips to the first panel
        panel = sheet.panels[k]
        pushed = whole[k] @ now.axes[k]
        stiff = float(now.axes[k] @ pushed)
        along[k] = -now.axes[k] @ bias[k]
        along[k, 0] -= panel.stiffness * (panel.angle + q[6 + k])
        rest = whole[k] - np.outer(pushed, pushed) / stiff
        whole[panel.parent] += rest
        bias[panel.parent] += bias[k] + rest @ drag[k] + np.outer(pushed, along[k]) / stiff
        leant[k] = pushed, stiff
    spatial, out = np.zeros((n, 6, columns)), np.zeros((5 + n, columns))
    spatial[0] = -np.linalg.solve(whole[0], bias[0])
    for k in range(1, n):  # and back
        pushed, stiff = leant[k]
        carried = spatial[sheet.panels[k].parent] + drag[k]
        out[5 + k] = (along[k] - pushed @ carried) / stiff
        spatial[k] = carried + np.outer(now.axes[k], out[5 + k])
    w, v = now.velocities[0][:3], now.velocities[0][3:]
    centre = now.turns[0] @ sheet.panels[0].centre + now.shifts[0]
    out[:3] = spatial[0, :3]
    out[3:6] = spatial[0, 3:] - skew(centre) @ spatial[0, :3]
    out[3:6, 0] += np.cross(w, v + np.cross(w, centre))
    return spatial, out


# --- the cuts -------------------------------------------------------------------------------------
def cut_rows(sheet: Sheet, now: Bodies) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each cut's five rows on its two panels (cuts, 2, 5, 6); their rates (cuts, 5); what of their
    derivative comes from the motion (cuts, 5)."""
    count = len(sheet.cuts)
    rows, rate, bias = np.zeros((count, 2, 5, 6)), np.zeros((count, 5)), np.zeros((count, 5))
    for k, cut in enumerate(sheet.cuts):
        one = cut.panels[0]
        across = np.linalg.svd(cut.axis[None, :])[2][1:] @ now.turns[one].T
        slip = now.velocities[one][:3] - now.velocities[cut.panels[1]][:3]
        for side, (number, sign) in enumerate(zip(cut.panels, (1.0, -1.0), strict=True)):
            at, v = now.turns[number] @ cut.at + now.shifts[number], now.velocities[number]
            rows[k, side, :2, :3] = sign * across
            rows[k, side, 2:, :3], rows[k, side, 2:, 3:] = -sign * skew(at), sign * np.eye(3)
            rate[k] += rows[k, side] @ v
            bias[k, 2:] += sign * np.cross(v[:3], v[3:] + np.cross(v[:3], at))
        bias[k, :2] = [np.cross(now.velocities[one][:3], e) @ slip for e in across]
    return rows, rate, bias


def right_side(sheet: Sheet, y: np.ndarray) -> np.ndarray:
    """The rates of (q, u): free motion, multipliers, and both together."""
    n, m = len(sheet.panels), 5 * len(sheet.cuts)
    q, u = y[: 6 + n], y[6 + n :]
    now = outwards(sheet, q, u)
    rows, rate, bias = cut_rows(sheet, now)
    forces = np.zeros((n, 6, 1 + m))
    for k, cut in enumerate(sheet.cuts):
        for side, number in enumerate(cut.panels):
            forces[number, :, 1 + 5 * k : 6 + 5 * k] += rows[k, side].T
    spatial, speeds = accelerations(sheet, now, q, u, forces)
    felt = np.concatenate(
        [sum(rows[k, s] @ spatial[b] for s, b in enumerate(cut.panels))
         for k, cut in enumerate(sheet.cuts)]
    )  # fmt: skip
    wanted = -(felt[:, 0] + bias.ravel() + 2.0 * GAIN * rate.ravel())
    multipliers = np.linalg.lstsq(felt[:, 1:], wanted, rcond=RANK)[0]
    w, a = u[:3], 0.5 * q[:4]
    turning = np.concatenate([[-w @ a[1:]], a[0] * w + np.cross(w, a[1:])])
    return np.concatenate([turning, u[3:], speeds[:, 0] + speeds[:, 1:] @ multipliers])


def run(sheet: Sheet, duration: float, step: float = STEP) -> Seen:
    """Runge-Kutta steps of constant length."""
    n = len(sheet.panels)
    y = np.zeros(11 + 2 * n)
    y[0] = 1.0
    y[6 + n : 12 + n] = *SPIN, *sheet.velocity(0)
    for _ in range(round(duration / step)):
        a = right_side(sheet, y)
        b = right_side(sheet, y + 0.5 * step * a)
        c = right_side(sheet, y + 0.5 * step * b)
        y = y + (step / 6.0) * (a + 2.0 * (b + c) + right_side(sheet, y + step * c))
    now = outwards(sheet, y[: 6 + n], y[6 + n :])
    gap = max(
        np.linalg.norm(np.subtract(*(now.turns[k] @ cut.at + now.shifts[k] for k in cut.panels)))
        for cut in sheet.cuts
    )
    turned = sheet.panels[sheet.watched].angle + y[6 + sheet.watched]
    return Seen(float(sheet.sense * turned), float(gap))

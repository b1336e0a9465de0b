"""Chains of bodies that bend, as A. K. Banerjee and M. Lemak compare methods: Kane's equations with
a dense mass matrix, and the recursion with efficient speeds.

Body by body from a free root; body k hangs with its start, where its modes stand still, on the end
of body k - 1.  A state: place of the root, a quaternion (w x y z) for each body, amounts of all
modes; then the speeds: velocity of the root in N, its spin, rates about the axes of the hinges,
speeds of the modes.

`kane` has the model of the package: speeds of modes are the rates of their amounts, foreshortening
is a part of the displacement. `efficient` has that of the paper: the velocity of a particle is v +
omega x p + sum phi_i u_i with p undeformed, eq. (1), so that the mass matrix of a body is constant,
and amounts follow from q' = u - omega_a G_a q, eq. (2).  That is right to first order in bending
only, and knows stiffening by spin only as far as modes of stretching bring it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.integrate import DOP853

from quirkpy.mechanics.bending import second_moments, tilts
from quirkpy.parts.body import Body
from quirkpy.parts.modal import PointModes

Floats = np.ndarray


class Chain(NamedTuple):
    """Arrays of B bodies with n modes each.

    mass (B,); inertia (B, 3, 3); linear, angular (B, n, 3); change (B, n, 3, 3): of the moments of
    inertia with the modes; second (B, 3, 3, n, n): the same to second order; gyroscopic, short,
    tilt (B, 3, n, n); first (B, n, 3, 3); stiff, damped (B, n); of the end of each, where the next
    one hangs: out (B, 3), phi, psi (B, 3, n), eta (B, 3, n, n); of its start: into (B, 3); turned
    (B, 3, 3): axes of each in those of the one before, undeformed and unhinged. axes (B, 3, 3): of
    hinges, in rows, in body axes; count (B,): how many; inside (B, 3): which of them are fixed in
    the body, not in the section before. drive (4,): body, start and end [s], and angle [rad] of a
    hinge with one axis that is turned smoothly, body -1 for none; torque (3,): on the root, in N [N
    m]."""

    mass: Floats
    inertia: Floats
    linear: Floats
    angular: Floats
    change: Floats
    second: Floats
    gyroscopic: Floats
    short: Floats
    tilt: Floats
    first: Floats
    stiff: Floats
    damped: Floats
    out: Floats
    phi: Floats
    psi: Floats
    eta: Floats
    into: Floats
    turned: Floats
    axes: Floats
    count: Floats
    inside: Floats
    drive: Floats
    torque: Floats


def chain_of(
    bodies: Sequence[Body], ends: Sequence[PointModes], starts: Sequence[Floats],
    hinges: Sequence[Sequence[tuple[Sequence[float], bool]]],
    drive: Sequence[float] = (-1, 0, 0, 0), torque: Sequence[float] = (0, 0, 0),
) -> Chain:  # fmt: skip
    """Bodies with their ends and starts in body axes, and the hinges of each but the first: axes in
    its body axes, and whether they are fixed in the body."""
    models, matrices = [body.modal for body in bodies], [body.matrix for body in bodies]
    axes, inside = np.zeros((len(bodies), 3, 3)), np.zeros((len(bodies), 3))
    for b, mine in enumerate(hinges, 1):
        for k, (axis, own) in enumerate(mine):
            axes[b, k], inside[b, k] = axis, own
    before = [np.eye(3), *matrices[:-1]]
    arrays = (
        [body.mass for body in bodies], [body.inertia_matrix for body in bodies],
        [m.linear for m in models], [m.angular for m in models],
        [m.inertia_change for m in models], [second_moments(m) for m in models],
        [m.gyroscopic for m in models], [m.shortening for m in models],
        [tilts(m) for m in models], [m.first for m in models],
        [np.diag(m.stiffness) for m in models], [np.diag(m.damping) for m in models],
        [e.position for e in ends], [e.displacement.T for e in ends],
        [e.rotation.T for e in ends], [e.shortening for e in ends], starts,
        [one.T @ two for one, two in zip(before, matrices)], axes,
        [0, *(len(mine) for mine in hinges)], inside, drive, torque,
    )  # fmt: skip
    return Chain(*(np.ascontiguousarray(a, dtype=float) for a in arrays))


def start_of(chain: Chain, place: Floats, quaternions: Floats) -> Floats:
    """A state at rest, undeformed."""
    bodies, n = chain.stiff.shape
    still = np.zeros(bodies * n + speeds_of(chain))
    return np.concatenate([place, np.ravel(quaternions), still])


def speeds_of(chain: Chain) -> int:
    """How many speeds are free."""
    return int(6 + chain.count.sum() - (chain.drive[0] >= 0.0) + chain.stiff.size)


# --- small pieces ---------------------------------------------------------------------------------
@njit(cache=True)
def skew(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


@njit(cache=True)
def matrix_of(q):
    w, x, y, z = q / np.sqrt(np.sum(q * q))
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


@njit(cache=True)
def put_rate(q, w, out):
    """The rate of a quaternion by a spin in body axes."""
    out[0] = -0.5 * (q[1] * w[0] + q[2] * w[1] + q[3] * w[2])
    out[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1])
    out[2] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2])
    out[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0])


@njit(cache=True)
def turned_by(theta):
    """exp(theta), D(theta) and its series terms for small angles."""
    x, one = np.sum(theta * theta), np.eye(3)
    s = skew(theta)
    square = s @ s
    f0 = 1 - x / 6 * (1 - x / 20 * (1 - x / 42 * (1 - x / 72)))
    f1 = 0.5 - x / 24 * (1 - x / 30 * (1 - x / 56 * (1 - x / 90)))
    f2 = 1 / 6 - x / 120 * (1 - x / 42 * (1 - x / 72 * (1 - x / 110)))
    return one + f0 * s + f1 * square, one + f1 * s + f2 * square


@njit(cache=True)
def turning_bias(theta, rate):
    """How D(theta) rate changes while the rate stays, by differences of D."""
    h = 1e-6
    return (turned_by(theta + h * rate)[1] - turned_by(theta - h * rate)[1]) @ rate / (2.0 * h)


@njit(cache=True)
def driven(t, drive):
    """Rate and acceleration of the hinge that is turned."""
    span = drive[2] - drive[1]
    s = min(max((t - drive[1]) / span, 0.0), 1.0)
    rate = drive[3] * 30.0 * s * s * (1.0 - s) ** 2 / span
    return rate, drive[3] * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / span**2


# --- Kane's equations with a dense mass matrix ----------------------------------------------------
@njit(cache=True)
def kane(t, y, c, out, load):
    """Rates of a state, from the dense mass matrix; load[0]: the torque about the driven hinge."""
    B, n = c.stiff.shape
    amounts = 3 + 4 * B
    speeds = amounts + B * n
    N = y.size - speeds
    modes = N - B * n
    wide = N + 1  # the last column: what is prescribed
    M, F = np.zeros((wide, wide)), np.zeros(wide)
    P, bias = np.zeros((B, 6, wide)), np.zeros((B, 6))
    V = np.zeros(wide)
    V[:N] = y[speeds:]
    rate, bend = 0.0, 0.0
    if c.drive[0] >= 0.0:
        rate, bend = driven(t, c.drive)
        V[N] = rate
    spins, turns = np.zeros((B, 3)), np.zeros((B, 3, 3))
    out[:3] = V[:3]
    column = 6
    for b in range(B):
        at = 3 + 4 * b
        R = matrix_of(y[at : at + 4])
        turns[b] = R
        if b == 0:
            P[0, :3, :3], P[0, 3:, 3:6] = R.T, np.eye(3)
        else:
            p = b - 1
            q, u = y[amounts + n * p : amounts + n * b], V[modes + n * p : modes + n * b]
            mine = slice(modes + n * p, modes + n * b)
            near = np.zeros((3, n))
            drawn = np.zeros(3)
            for k in range(3):
                near[k] = c.eta[p, k] @ q
                drawn[k] = u @ (c.eta[p, k] @ u)
            arm = c.out[p] + c.phi[p] @ q - 0.5 * near @ q
            sliding = c.phi[p] - near
            theta = c.psi[p] @ q
            E, D = turned_by(theta)
            w = spins[p]
            slip, more = sliding @ u, D @ (c.psi[p] @ u)
            S, s = np.zeros((6, wide)), np.zeros(6)
            S[:3] = P[p, :3] - skew(arm) @ P[p, 3:]
            S[3:] = P[p, 3:]
            S[:3, mine] += sliding
            S[3:, mine] += D @ c.psi[p]
            s[:3] = bias[p, :3] + np.cross(bias[p, 3:], arm) + np.cross(w, np.cross(w, arm))
            s[:3] += 2.0 * np.cross(w, slip) - drawn
            s[3:] = bias[p, 3:] + np.cross(w, more) + turning_bias(theta, c.psi[p] @ u)
            Rr = R.T @ turns[p]
            P[b, 3:] = Rr @ S[3:]
            bias[b, 3:] = Rr @ s[3:]
            ws = Rr @ (w + more)
            wb = ws.copy()
            H = np.zeros((3, 3))
            ks = np.zeros(3, np.int64)
            for k in range(int(c.count[b])):
                H[k] = c.axes[b, k] if c.inside[b, k] else Rr @ (E @ (c.turned[b] @ c.axes[b, k]))
                if c.drive[0] == b:
                    ks[k] = N
                else:
                    ks[k] = column
                    column += 1
                P[b, 3:, ks[k]] += H[k]
                wb += H[k] * V[ks[k]]
            for k in range(int(c.count[b])):
                about = wb if c.inside[b, k] else ws
                bias[b, 3:] += np.cross(about, H[k]) * V[ks[k]]
            P[b, :3] = Rr @ S[:3] + skew(c.into[b]) @ P[b, 3:]
            bias[b, :3] = Rr @ s[:3] - np.cross(bias[b, 3:], c.into[b])
            bias[b, :3] -= np.cross(wb, np.cross(wb, c.into[b]))
        w = P[b, 3:] @ V
        spins[b] = w
        put_rate(y[at : at + 4], w, out[at : at + 4])
        # mass matrix and bias of the body
        mine = slice(modes + n * b, modes + n * (b + 1))
        q, u = y[amounts + n * b : amounts + n * (b + 1)], V[mine]
        out[amounts + n * b : amounts + n * (b + 1)] = u
        Sq, Su, Gq, Aq = np.zeros((3, n)), np.zeros((3, n)), np.zeros((3, n)), np.zeros((3, n))
        turning = np.zeros(n)
        h_rate = np.zeros(3)
        for k in range(3):
            Sq[k], Su[k] = c.short[b, k] @ q, c.short[b, k] @ u
            Gq[k], Aq[k] = c.gyroscopic[b, k] @ q, c.tilt[b, k] @ q
            turning += w[k] * (c.gyroscopic[b, k] @ u)
            h_rate[k] = -(u @ (c.tilt[b, k] @ u))
        J, Jr, spun = c.inertia[b].copy(), np.zeros((3, 3)), np.zeros(n)
        for i in range(3):
            for j in range(3):
                Bq = c.second[b, i, j] @ q
                dJ = np.ascontiguousarray(c.change[b, :, i, j])
                J[i, j] += q @ dJ + q @ Bq
                Jr[i, j] = u @ dJ + 2.0 * (u @ Bq)
                spun += w[i] * w[j] * (0.5 * dJ + Bq)
        moment = c.linear[b].T @ q - 0.5 * Sq @ q
        Mr = np.zeros((6, 6))
        Mr[:3, :3] = c.mass[b] * np.eye(3)
        Mr[:3, 3:] = -skew(moment)
        Mr[3:, :3], Mr[3:, 3:] = skew(moment), J
        Mq = np.zeros((6, n))
        Mq[:3], Mq[3:] = c.linear[b].T - Sq, c.angular[b].T + Gq - Aq
        h = np.zeros(6)
        h[:3] = np.cross(w, np.cross(w, moment)) + 2.0 * np.cross(w, Mq[:3] @ u) - Su @ u
        h[3:] = Jr @ w + h_rate + np.cross(w, J @ w + Mq[3:] @ u)
        hq = 2.0 * turning - spun + c.stiff[b] * q + c.damped[b] * u
        if b == 0:
            h[3:] -= R.T @ c.torque
        carried = Mr @ P[b]
        carried[:, mine] += Mq
        M += P[b].T @ carried
        M[mine] += Mq.T @ P[b]
        for k in range(n):
            M[modes + n * b + k, modes + n * b + k] += 1.0
        F -= P[b].T @ (Mr @ bias[b] + h)
        F[mine] -= hq + Mq.T @ bias[b]
    F -= M[:, N] * bend
    L = np.linalg.cholesky(M[:N, :N])
    rates = np.linalg.solve(L.T, np.linalg.solve(L, F[:N]))
    out[speeds:] = rates
    load[0] = M[N, :N] @ rates - F[N]


# --- the recursion with efficient speeds ----------------------------------------------------------
@njit(cache=True)
def efficient(t, y, c, out, load):
    """Rates of a state, with constant mass matrices; load[0]: the torque about the driven hinge."""
    B, n = c.stiff.shape
    amounts = 3 + 4 * B
    speeds = amounts + B * n
    N = y.size - speeds
    modes = speeds + N - B * n
    rate, bend = 0.0, 0.0
    if c.drive[0] >= 0.0:
        rate, bend = driven(t, c.drive)
    out[:3] = y[speeds : speeds + 3]
    turns, w = np.zeros((B, 3, 3)), np.zeros((B, 3))
    IB, p = np.zeros((B, 6, 6)), np.zeros((B, 6))
    X, g, Phi = np.zeros((B, 6, 6)), np.zeros((B, 6)), np.zeros((B, 6, n))
    mu, push, spinning = np.zeros((B, 6, n)), np.zeros((B, n)), np.zeros((B, 3, n))
    T, bias, H = np.zeros((B, 6, 6)), np.zeros((B, 6)), np.zeros((B, 3, 6))
    column = speeds + 6
    columns = np.full((B, 3), -1)
    # outwards: what moves, body by body
    for b in range(B):
        at = 3 + 4 * b
        R = matrix_of(y[at : at + 4])
        turns[b] = R
        q, u = y[amounts + n * b : amounts + n * (b + 1)], y[modes + n * b : modes + n * (b + 1)]
        if b == 0:
            w[0] = y[speeds + 3 : speeds + 6]
        else:
            Rr, before = R.T @ turns[b - 1], w[b - 1]
            qp = y[amounts + n * (b - 1) : amounts + n * b]
            E, _ = turned_by(c.psi[b - 1] @ qp)
            ws = Rr @ (before + c.psi[b - 1] @ out[amounts + n * (b - 1) : amounts + n * b])
            w[b] = ws
            for k in range(int(c.count[b])):
                own = c.inside[b, k] == 1.0
                axis = c.axes[b, k] if own else Rr @ (E @ (c.turned[b] @ c.axes[b, k]))
                H[b, k, 3:] = axis
                x = rate
                if c.drive[0] != b:
                    columns[b, k], x = column, y[column]
                    column += 1
                w[b] += axis * x
            for k in range(int(c.count[b])):
                x = rate if columns[b, k] < 0 else y[columns[b, k]]
                about = w[b] if c.inside[b, k] == 1.0 else ws
                bias[b, 3:] += np.cross(about, H[b, k, 3:]) * x
                if columns[b, k] < 0:
                    bias[b, 3:] += H[b, k, 3:] * bend
            # from the section before, in its axes, to the start of this body, in its own
            T[b, :3, :3], T[b, 3:, 3:] = Rr, Rr
        wb = w[b]
        put_rate(y[at : at + 4], wb, out[at : at + 4])
        turning = np.zeros(n)
        for k in range(3):
            spinning[b, k] = c.gyroscopic[b, k] @ q
            turning += wb[k] * (c.gyroscopic[b, k] @ u)
        rates = u - wb @ spinning[b]
        out[amounts + n * b : amounts + n * (b + 1)] = rates
        pull = c.stiff[b] * q + c.damped[b] * rates
        # loads less bias
        mu[b, :3], mu[b, 3:] = c.linear[b].T, c.angular[b].T
        moving = c.linear[b].T @ u
        first = np.zeros((3, 3))
        for i in range(n):
            first += u[i] * c.first[b, i]
        p[b, :3] = np.cross(wb, moving)
        p[b, 3:] = np.cross(wb, c.inertia[b] @ wb) + np.trace(first) * wb - first @ wb
        p[b, 3:] -= spinning[b] @ pull
        if b == 0:
            p[b, 3:] -= R.T @ c.torque
        square = np.sum(wb * wb)
        for j in range(n):
            E1 = c.first[b, j]
            push[b, j] = wb @ (E1 @ wb) - square * (E1[0, 0] + E1[1, 1] + E1[2, 2])
        push[b] += turning + pull
        IB[b, :3, :3], IB[b, 3:, 3:] = c.mass[b] * np.eye(3), c.inertia[b]
        IB[b] -= mu[b] @ mu[b].T
        p[b] -= mu[b] @ push[b]
        # its end
        arm = c.out[b]
        Phi[b, :3], Phi[b, 3:] = c.phi[b], c.psi[b]
        X[b, :3, :3], X[b, 3:, 3:] = np.eye(3), np.eye(3) - c.psi[b] @ spinning[b].T
        X[b, :3, 3:] = -skew(arm)
        slip, more = c.phi[b] @ u, c.psi[b] @ rates
        g[b, :3] = np.cross(wb, np.cross(wb, arm)) + np.cross(wb, slip)
        changing = np.zeros(n)
        for k in range(3):
            changing += wb[k] * (c.gyroscopic[b, k] @ rates)
        g[b, 3:] = np.cross(wb, more) - c.psi[b] @ changing
    # inwards: inertia that each body has with all that hangs on it
    K, held, solved = np.zeros((B, 6, 6)), np.zeros((B, 6)), np.zeros((B, 6, 6))
    hinge, shift = np.zeros((B, 3, 6)), np.eye(6)
    for b in range(B - 1, -1, -1):
        if b + 1 < B:  # K, held: of the next body, at the end of this one
            Xs = X[b] - Phi[b] @ mu[b].T
            gs = g[b] - Phi[b] @ push[b]
            both = np.linalg.inv(np.eye(6) + K[b] @ (Phi[b] @ Phi[b].T))
            solved[b] = both
            yields = both @ K[b]
            IB[b] += Xs.T @ (yields @ Xs)
            p[b] += Xs.T @ (yields @ gs + both @ held[b])
        if b == 0:
            break
        # to its start: acceleration of the mass centre = shift @ that of the start
        shift[:3, 3:] = skew(c.into[b])
        Is, ps = shift.T @ (IB[b] @ shift), shift.T @ p[b]
        drawn = -np.cross(w[b], np.cross(w[b], c.into[b]))
        ps += shift.T @ (np.ascontiguousarray(IB[b, :, :3]) @ drawn)
        ps += Is @ bias[b]
        IB[b], p[b] = Is, ps
        d = int(c.count[b])
        if columns[b, 0] >= 0:
            h = np.ascontiguousarray(H[b, :d])
            Ih = Is @ h.T
            hinge[b, :d] = np.linalg.solve(h @ Ih, Ih.T)
            ps = ps - hinge[b, :d].T @ (h @ ps)
            Is = Is - Ih @ hinge[b, :d]
        K[b - 1], held[b - 1] = T[b].T @ (Is @ T[b]), T[b].T @ ps
    # outwards again: accelerations
    a = np.linalg.solve(IB[0], -p[0])
    out[speeds : speeds + 3] = turns[0] @ a[:3]
    # velocity of the root is kept in N, where its rate has no further term
    out[speeds + 3 : speeds + 6] = a[3:]
    for b in range(B):
        mine = slice(modes + n * b, modes + n * (b + 1))
        change = -(mu[b].T @ a) - push[b]
        if b + 1 < B:
            Xs = X[b] - Phi[b] @ mu[b].T
            gs = g[b] - Phi[b] @ push[b]
            f = solved[b] @ (K[b] @ (Xs @ a + gs) + held[b])
            change -= Phi[b].T @ f
        out[mine] = change
        if b + 1 < B:
            section = X[b] @ a + Phi[b] @ change + g[b]
            k = b + 1
            start, d = T[k] @ section, int(c.count[k])
            force = IB[k] @ start + p[k]
            if columns[k, 0] >= 0:
                turn = np.linalg.solve(
                    np.ascontiguousarray(H[k, :d]) @ (IB[k] @ np.ascontiguousarray(H[k, :d]).T),
                    -(np.ascontiguousarray(H[k, :d]) @ force),
                )
                for i in range(d):
                    out[columns[k, i]] = turn[i]
                    start += H[k, i] * turn[i]
            else:
                load[0] = H[k, 0] @ force
            start += bias[k]
            a = start.copy()
            a[:3] += np.cross(c.into[k], start[3:]) - np.cross(w[k], np.cross(w[k], c.into[k]))


# --- steps ----------------------------------------------------------------------------------------
A_8, B_8, C_8 = DOP853.A[:12, :12].copy(), DOP853.B.copy(), DOP853.C[:12].copy()
E_3, E_5 = DOP853.E3.copy(), DOP853.E5.copy()


@njit
def fly(method, y, chain, end, rtol, atol, first, kept):
    """Step from 0 to `end` by DOP853, as SciPy does; kept (k, 1 + n + 1): times [s] in its first
    column, at which steps end, and states and the load that are filled in; returns the number of
    evaluations."""
    n, h, t, count = y.size, first, 0.0, 0
    slopes, load, y = np.zeros((13, n)), np.zeros(1), y.copy()
    row = 0
    method(t, y, chain, slopes[0], load)
    while True:
        while row < kept.shape[0] and t >= kept[row, 0] - 1e-12:
            kept[row, 1 : 1 + n], kept[row, 1 + n] = y, load[0]
            row += 1
        if t >= end - 1e-12:
            return count
        limit = kept[row, 0] if row < kept.shape[0] else end
        step = min(h, limit - t)
        for s in range(1, 12):
            dy = A_8[s, :s] @ slopes[:s]
            method(t + C_8[s] * step, y + step * dy, chain, slopes[s], load)
        new = y + step * (B_8 @ slopes[:12])
        method(t + step, new, chain, slopes[12], load)
        count += 12
        scale = atol + rtol * np.maximum(np.abs(y), np.abs(new))
        five, three = E_5 @ slopes / scale, E_3 @ slopes / scale
        one, two = np.sum(five * five), np.sum(three * three)
        error = 0.0
        if one > 0.0 or two > 0.0:
            error = abs(step) * one / np.sqrt((one + 0.01 * two) * n)
        if error < 1.0:
            t = limit if limit - t <= step * (1.0 + 1e-12) else t + step
            y[:], slopes[0] = new, slopes[12]
            factor = 10.0 if error == 0.0 else min(10.0, 0.9 * error**-0.125)
            h = max(h, step * factor) if step < h else step * factor
        else:
            h = step * max(0.2, 0.9 * error**-0.125)

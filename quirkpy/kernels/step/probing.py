"""Probes of a state: neighbours displaced along each of its coordinates, what they feel, and
differences of that."""

from __future__ import annotations

import math

from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.kernels.base.conditions import Conditions
from quirkpy.kernels.base.vectors import dot, get3, scale
from quirkpy.kernels.place.carried import displace_body, feel
from quirkpy.kernels.step.responses import respond
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.maths.types import Floats

#: Lines of differences: derivatives, those of lower order, the noise in them, and the jumps, those
#: of lower order.
FIRST, LOWER, NOISE, JUMPS, COARSER_JUMPS, ORDERS = 0, 1, 2, 3, 4, 5


@inner
def times_block(block: Floats, i: int, along: Floats, k: int) -> float:
    """Row i of a block (6, 6) times row k of some vectors (n, 6)."""
    total = 0.0
    for j in range(6):
        total += block[i, j] * along[k, j]
    return total


@kernel
def measure_coordinates(
    free: Floats, roots: Floats, back: Floats, length: float, angle: float, basis: Floats,
    covectors: Floats, reach: Floats,
) -> None:  # fmt: skip
    """Of orthonormal directions M^(1/2) Z (f, n, 6) with the blocks of M^(1/2) and M^(-1/2) (n, 6,
    6): the displacements Z (f, n, 6), Z' M (f, n, 6), and the step of each coordinate that moves no
    body by more than a length [m], or an angle [rad] (f,)."""
    for f in range(free.shape[0]):
        most = 0.0
        for k in range(free.shape[1]):
            for i in range(6):
                basis[f, k, i] = times_block(back[k], i, free[f], k)
                covectors[f, k, i] = times_block(roots[k], i, free[f], k)
            goes, turns = get3(basis[f], k, 0), get3(basis[f], k, 3)
            most = max(most, max(dot(goes, goes) / length**2, dot(turns, turns) / angle**2))
        reach[f] = 1.0 / math.sqrt(most)


@kernel
def probe(
    t: float, rows: Floats, basis: Floats, reach: Floats, places: Floats, centre: Floats,
    velocity: Floats, acceleration: Floats, turning: Floats, model: Model, conditions: Conditions,
    scratch: Scratch, moved: Floats, states: Floats, felt: Floats, energies: Floats,
) -> None:  # fmt: skip
    """A state (n, STATE_WIDTH), and its neighbours at some places along each coordinate (p,), in
    units of its reach (f,), all projected onto the joints and moving as the whole carries them
    (1 + p f, n + 1, STATE_WIDTH); their accelerations beside the whole (1 + p f, n, 6) and
    potential energies (1 + p f,). moved: room for the result of projection (2,)."""
    many = places.shape[0]
    for i in range(states.shape[0]):
        f, step = max(0, i - 1) // many, 0.0
        if i > 0:
            step = places[(i - 1) % many] * reach[f]
        for k in range(rows.shape[0]):
            shift, turned = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            if i > 0:
                shift = scale(step, get3(basis[f], k, 0))
                turned = scale(step, get3(basis[f], k, 3))
            displace_body(rows, k, shift, turned, centre, velocity, turning, states[i])
    respond(t, states, model, conditions, scratch, moved, felt, energies)
    feel(states, centre, velocity, acceleration, turning, felt)


@inner
def weigh(weights: Floats, line: int, values: Floats, m: int, middle: float) -> float:
    """A weighted sum of values at all places (p, m) less that in the middle."""
    total = 0.0
    for p in range(values.shape[0]):
        total += weights[line, p] * (values[p, m] - middle)
    return total


@kernel
def differentiate(
    values: Floats, middle: Floats, reach: Floats, weights: Floats, out: Floats
) -> None:
    """Weighted differences of values at the places along each coordinate (f, p, m) from those in
    the middle (m,), over the reach of each (f,): for each line of weights (k, p) one of (k, m,
    f)."""
    for line in range(weights.shape[0]):
        for f in range(values.shape[0]):
            for m in range(values.shape[2]):
                out[line, m, f] = weigh(weights, line, values[f], m, middle[m]) / reach[f]

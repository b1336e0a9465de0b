"""Derivatives by finite differences, each with its error: central and one-sided ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quirkpy.maths.types import Floats

#: Central differences of eighth order: nodes, and weights for the first derivative; those of sixth
#: order for comparison.
PLACES = np.array([-4.0, -3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0])
EIGHTH = np.array([3.0, -32.0, 168.0, -672.0, 672.0, -168.0, 32.0, -3.0]) / 840.0
SIXTH = np.array([0.0, -1.0, 9.0, -45.0, 45.0, -9.0, 1.0, 0.0]) / 60.0
#: Eighth differences, in which truncation is negligible; the amplification of rounding in them, and
#: in a first derivative times the step.
LAST, IN_LAST, IN_FIRST = np.array([1.0, -8.0, 28.0, -56.0, -56.0, 28.0, -8.0, 1.0]), 113.4, 1.17
#: The even part of a function of a displacement, as |s|, s^2, s^4 and s^6: the weights of |s|, and
#: those without the last power. It is a jump above this share of comparable stiffnesses. The
#: distance of one-sided probes, as a share of a probe.
UNEVEN = np.linalg.inv(np.array([[s, s**2, s**4, s**6] for s in (1.0, 2.0, 3.0, 4.0)]))[0]
COARSER = np.append(np.linalg.inv(np.array([[s, s**2, s**4] for s in (1.0, 2.0, 3.0)]))[0], 0.0)
#: Differences of all orders at the nodes: derivatives, those of lower order, the rounding in them,
#: jumps, and those without the last power.
EVERY_ORDER = np.stack(
    [
        EIGHTH,
        SIXTH,
        LAST * (IN_FIRST / IN_LAST),
        *(0.5 * np.append(even[::-1], even) for even in (UNEVEN, COARSER)),
    ]
)
JUMP, SIDE_OFFSET = 1e-6, 1e-4
#: The factor by which probes are shortened, and the share by which a true jump may change then.
PROBE_SHRINK, JUMP_CHANGE = 0.1, 0.2
#: Safety factor of error estimates from differences.
DOUBTS = 10.0
#: The asymmetry of K, as a share of comparable stiffnesses, above which forces have no potential.
ASYMMETRY = 1e-6


class Slopes(NamedTuple):
    """Derivatives along coordinates, a column for each, their differences from those of lower
    order, and the rounding that appears in differences which no smooth function changes (f, f)."""

    values: Floats
    doubt: Floats
    noise: Floats


def one_sided_derivatives(
    changed: Floats, reach: Floats, rounding: Floats
) -> tuple[Floats, Floats, Floats]:
    """One-sided derivatives on the side to which each step leads, those on the other side, and the
    error of both (m, f): by differences of fourth order, compared with those of third. rounding:
    that of each number (m,)."""
    ways = changed[:, 4:], -changed[:, 3::-1]
    orders = [
        np.append(np.linalg.inv(PLACES[4 : 4 + n, None] ** np.arange(1, n + 1))[0], [0.0] * (4 - n))
        for n in (4, 3)
    ]
    fourth, third = ([np.einsum("p,fpm->mf", w, way) / reach for way in ways] for w in orders)
    doubt = abs(np.array(fourth) - third).max(axis=0)
    return (
        fourth[0],
        fourth[1],
        np.asarray(DOUBTS * (doubt + abs(orders[0]).sum() * rounding[:, None] / reach)),
    )


def unsure(error: Floats, along: Floats) -> Floats:
    """Error bounds of a' S a for directions a of length one (f, k) and derivatives S whose entries
    have an error (f, f); k numbers."""
    sizes = abs(along)
    return np.asarray(np.einsum("fk,fg,gk->k", sizes, error, sizes))


def is_symmetric_within(K: Floats, error: Floats) -> bool:
    """Whether a matrix (f, f) is symmetric to within the errors of its entries and a small share of
    comparable ones."""
    sizes = np.sqrt(np.maximum(abs(K), abs(K.T)).max(axis=1, initial=0.0))
    return bool((abs(K - K.T) <= ASYMMETRY * np.outer(sizes, sizes) + error + error.T).all())

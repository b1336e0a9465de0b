"""Derivatives by differences, each with its error: central ones, and those of one side alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quirkpy.maths.types import Floats

#: Central differences of eighth order: places, and weights for the first derivative; those of sixth
#: order beside them.
PLACES = np.array([-4.0, -3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0])
EIGHTH = np.array([3.0, -32.0, 168.0, -672.0, 672.0, -168.0, 32.0, -3.0]) / 840.0
SIXTH = np.array([0.0, -1.0, 9.0, -45.0, 45.0, -9.0, 1.0, 0.0]) / 60.0
#: Differences of eighth order, which truncation hardly reaches; how much larger rounding is in them
#: than in a number, and how much larger in a derivative, times the step.
LAST, IN_LAST, IN_FIRST = np.array([1.0, -8.0, 28.0, -56.0, -56.0, 28.0, -8.0, 1.0]), 113.4, 1.17
#: The even part of a displacement, as |s|, s^2, s^4 and s^6: the weights of |s|, and those without
#: the last.  It is a jump above this share of what is as stiff.  How near to a state its own side
#: is looked at, as a share of a probe.
UNEVEN = np.linalg.inv(np.array([[s, s**2, s**4, s**6] for s in (1.0, 2.0, 3.0, 4.0)]))[0]
COARSER = np.append(np.linalg.inv(np.array([[s, s**2, s**4] for s in (1.0, 2.0, 3.0)]))[0], 0.0)
JUMP, SIDE_OFFSET = 1e-6, 1e-4
#: A jump is seen alike, but for this share of it, with probes so much shorter.
PROBE_SHRINK, JUMP_CHANGE = 0.1, 0.2
#: A derivative is known where it is so many times what its differences leave in doubt.
DOUBTS = 10.0
#: The asymmetry of K, as a share of what is as stiff, above which forces have no potential.
ASYMMETRY = 1e-6


class Slopes(NamedTuple):
    """Derivatives along coordinates, a column for each, what a lower order makes different in them,
    and the rounding that shows in differences which no smooth function changes (f, f)."""

    values: Floats
    doubt: Floats
    noise: Floats


def central(numbers: Floats, middle: Floats, reach: Floats) -> Slopes:
    """Derivatives of numbers at all places (f, 8, m), at steps of reach (f,); middle: those at none
    (m,)."""
    eighth, sixth = (np.einsum("p,fpm->mf", w, numbers) / reach for w in (EIGHTH, SIXTH))
    rounding = abs(np.einsum("p,fpm->mf", LAST, numbers - middle))
    return Slopes(eighth, eighth - sixth, rounding * (IN_FIRST / IN_LAST) / reach)


def one_sided_derivatives(
    changed: Floats, reach: Floats, rounding: Floats
) -> tuple[Floats, Floats, Floats]:
    """Derivatives on the side to which each step leads, those on the other, and the error of both
    (m, f): by differences of fourth order on one side, beside those of third.  rounding: that of
    each number (m,)."""
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
    """How far a' S a may be from the true one for directions a of length one (f, k) and derivatives
    S whose entries have an error (f, f); k numbers."""
    sizes = abs(along)
    return np.asarray(np.einsum("fk,fg,gk->k", sizes, error, sizes))


def is_symmetric_within(K: Floats, error: Floats) -> bool:
    """Whether a matrix (f, f) is symmetric but for errors of its numbers and a small share of what
    is alike large."""
    sizes = np.sqrt(np.maximum(abs(K), abs(K.T)).max(axis=1, initial=0.0))
    return bool((abs(K - K.T) <= ASYMMETRY * np.outer(sizes, sizes) + error + error.T).all())

"""Finite element models reduced to a few shapes: normal modes, and the method of Craig and
Bampton.

Displacements at a node are three, or three and as many small rotations; vectors of all of them go
node by node.  Matrices are dense."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from quirkpy.maths.types import Floats, Ints
from quirkpy.parts.checks import real, show
from quirkpy.parts.modal import CROSS
from quirkpy.parts.part import PartError

#: Relative rounding of symmetric matrices [1].
MODEL_ROUNDING = 1e-8
#: A model is free to move as a whole where its six lowest squared frequencies are below this share
#: of the seventh [1].
RIGID_SHARE = 1e-6


class ReducedModel(NamedTuple):
    """A model in a few generalised coordinates: stiffness and mass matrices (r, r), and the
    displacements of all nodes with each coordinate (r, N)."""

    stiffness: Floats
    mass: Floats
    shapes: Floats


class NormalModes(NamedTuple):
    """Squared frequencies (n,) [rad2/s2] in increasing order, and mass-normalised shapes (n, N)."""

    squares: Floats
    shapes: Floats


def normal_modes(model: ReducedModel, count: int | None = None) -> NormalModes:
    """The lowest modes of a model; count: how many, default all."""
    last = len(model.mass) if count is None else min(count, len(model.mass))
    squares, vectors = eigh(model.stiffness, model.mass, subset_by_index=(0, last - 1))
    return NormalModes(squares, np.asarray(vectors.T @ model.shapes))


def craig_bampton(stiffness: Floats, mass: Floats, boundary: Ints, count: int) -> ReducedModel:
    """Reduce matrices (N, N) to all displacements of a boundary and some modes.

    boundary: the numbers of its displacements; they come first among the coordinates, and each
    bends the rest statically.  count: of the lowest modes of the rest while the boundary is held,
    which follow, mass-normalised."""
    inner = np.delete(np.arange(len(mass)), boundary)
    basis = np.zeros((len(boundary) + min(count, len(inner)), len(mass)))
    basis[np.arange(len(boundary)), boundary] = 1.0
    K = stiffness[np.ix_(inner, inner)]
    basis[: len(boundary), inner] = -cho_solve(cho_factor(K), stiffness[np.ix_(inner, boundary)]).T
    held = ReducedModel(K, mass[np.ix_(inner, inner)], np.eye(len(inner)))
    if len(basis) > len(boundary):
        basis[len(boundary) :, inner] = normal_modes(held, len(basis) - len(boundary)).shapes
    return ReducedModel(basis @ stiffness @ basis.T, basis @ mass @ basis.T, basis)


def free_modes(model: ReducedModel, count: int | None = None) -> NormalModes:
    """The lowest modes of a model that nothing holds, without its six motions as a whole."""
    found = normal_modes(model, None if count is None else count + 6)
    if len(found.squares) < 7 or abs(found.squares[:6]).max() > RIGID_SHARE * found.squares[6]:
        raise PartError(
            "ModalBody: the six lowest squared frequencies of the free model are "
            f"{found.squares[:6].tolist()}, and not all far below the next; give the matrices of a "
            "body that nothing holds and that has no mechanisms, or say where it is clamped."
        )
    return NormalModes(found.squares[6:], found.shapes[6:])


# --- whole models ---------------------------------------------------------------------------------
class FiniteElements(NamedTuple):
    """A model of linear elasticity.  name: of the body, for errors; nodes (k, 3) [m]; stiffness
    and mass (N, N): over the displacements of all nodes, N = 3 k, or 6 k with rotations."""

    name: str
    nodes: Floats
    stiffness: Floats
    mass: Floats

    @classmethod
    def of(cls, name: str, nodes: Any, stiffness: Any, mass: Any) -> Self:
        """A model of what a user gives, or an error that says what does not fit."""
        try:
            made = cls(name, real(nodes), real(stiffness), real(mass))
        except TypeError as error:
            raise PartError(f"ModalBody {name!r}: a matrix or nodes {error}.") from None
        k = len(made.nodes) if made.nodes.ndim == 2 and made.nodes.shape[1:] == (3,) else 0
        if made.mass.shape not in ((3 * k, 3 * k), (6 * k, 6 * k)) or k == 0:
            raise PartError(
                f"ModalBody {name!r}: nodes have shape {made.nodes.shape} and mass_matrix has "
                f"{made.mass.shape}; they must be (k, 3), and (3 k, 3 k) or (6 k, 6 k)."
            )
        for word, matrix in (("stiffness", made.stiffness), ("mass_matrix", made.mass)):
            made._check_matrix(word, matrix)
        return made

    def _check_matrix(self, word: str, matrix: Floats) -> None:
        if matrix.shape != self.mass.shape or not np.isfinite(matrix).all():
            raise PartError(
                f"ModalBody {self.name!r}: {word} has shape {matrix.shape} or a number that is not "
                f"finite; it must have shape {self.mass.shape} like the other matrix."
            )
        if abs(matrix - matrix.T).max() > MODEL_ROUNDING * abs(matrix).max():
            raise PartError(
                f"ModalBody {self.name!r}: {word} is not symmetric; give a symmetric matrix."
            )

    @property
    def width(self) -> int:
        """Displacements at each node: three, or six with rotations."""
        return len(self.mass) // len(self.nodes)

    def numbers_of(self, word: str, nodes: Sequence[int]) -> Ints:
        """The numbers of all displacements of some nodes."""
        k = len(self.nodes)
        if not all(isinstance(node, int | np.integer) and 0 <= node < k for node in nodes):
            raise PartError(
                f"ModalBody {self.name!r}: {word} is {show(nodes)}, but must be numbers of nodes "
                f"from 0 to {k - 1}."
            )
        first = self.width * np.array(sorted(set(nodes)), dtype=np.int64)
        return np.asarray((first[:, None] + np.arange(self.width)).ravel())

    def modes(self, count: int, clamped: Sequence[int], boundary: Sequence[int]) -> NormalModes:
        """The lowest modes with shapes (n, k, width): of the model, clamped or free, or of its
        reduction to the boundary and `count` modes."""
        least = 0 if len(boundary) else 1
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < least:
            raise PartError(
                f"ModalBody {self.name!r}: modes is {show(count)}, but must be a whole number from "
                f"{least} up."
            )
        held = self.numbers_of("clamped", clamped)
        kept = np.setdiff1d(self.numbers_of("boundary", boundary), held)
        loose = np.delete(np.arange(len(self.mass)), held)
        model = ReducedModel(
            self.stiffness[np.ix_(loose, loose)], self.mass[np.ix_(loose, loose)],
            np.eye(len(self.mass))[loose],
        )  # fmt: skip
        if len(kept):
            part = craig_bampton(model.stiffness, model.mass, np.searchsorted(loose, kept), count)
            model = ReducedModel(part.stiffness, part.mass, part.shapes @ model.shapes)
        wanted = None if len(kept) else count
        found = normal_modes(model, wanted) if len(held) else free_modes(model, wanted)
        return found._replace(shapes=found.shapes.reshape(-1, len(self.nodes), self.width))

    def node_masses(self) -> Floats:
        """Masses (k,) of the nodes [kg] with the mass of the model: sums over rows of its matrix,
        or, where these are not all positive, shares of its diagonal."""
        k, w = len(self.nodes), self.width
        blocks = self.mass.reshape(k, w, k, w)[:, :3, :, :3]
        rows = np.einsum("iaja->i", blocks) / 3.0
        if rows.min() >= 0.0:
            return np.asarray(rows)
        diagonal = np.einsum("iaia->i", blocks)
        return np.asarray(diagonal * rows.sum() / diagonal.sum())

    def node_moments(self) -> Floats:
        """Moments of inertia (k, 3, 3) of what turns with each node [kg m2]: sums over rows of the
        mass matrix of rotations, without what would be negative."""
        k = len(self.nodes)
        turning = self.mass.reshape(k, 6, k, 6)[:, 3:, :, 3:].sum(axis=2)
        values, axes = np.linalg.eigh(0.5 * (turning + turning.swapaxes(1, 2)))
        return np.asarray((axes * np.maximum(values, 0.0)[:, None]) @ axes.swapaxes(1, 2))

    def rigid_shapes(self, centre: Floats) -> Floats:
        """Displacements of all nodes (6, k, width) when the model moves along the axes, and when it
        turns about them through a point."""
        out = np.zeros((6, len(self.nodes), self.width))
        out[:3, :, :3] = np.eye(3)[:, None]
        out[3:, :, :3] = np.einsum("aij,kj->aki", CROSS, self.nodes - centre)
        if self.width == 6:
            out[3:, :, 3:] = np.eye(3)[:, None]
        return out

    def products(self, one: Floats, two: Floats) -> Floats:
        """Products (m, n) of shapes (m, k, width) and (n, k, width) over the mass."""
        size = len(self.mass)
        return np.asarray(one.reshape(-1, size) @ self.mass @ two.reshape(-1, size).T)

    def inertia_about(self, centre: Floats) -> Floats:
        """Moments of inertia (3, 3) of the undeformed model about a point [kg m2]."""
        turns = self.rigid_shapes(centre)[3:]
        inertia = self.products(turns, turns)
        return np.asarray(0.5 * (inertia + inertia.T))

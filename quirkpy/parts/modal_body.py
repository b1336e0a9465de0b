"""Bodies that bend as a finite element model says: nodes, and shapes in which they move."""

from __future__ import annotations

import dataclasses
import math
import zipfile
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import nnls

from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Floats, Ints, Vector, read_only
from quirkpy.parts.body import Body
from quirkpy.parts.checks import not_negative, numbers, optional, positive, real
from quirkpy.parts.files import FilePath, readable
from quirkpy.parts.modal import (
    CROSS,
    MassPoints,
    ModalModel,
    PointModes,
    check_ratios,
    damping_matrix,
    damping_ratios,
)
from quirkpy.parts.part import PartError, checked, sentence_of
from quirkpy.parts.reduction import FiniteElements

#: How many nodes next to a point tell how axes there turn.
PATCH = 8
#: Relative size of a patch of nodes across a line or a plane, below which it is one [1].
PATCH_IN_LINE = 1e-6
#: A node that all shapes move by less than this share of the most stands still [1].
HELD_STILL = 1e-12
#: Relative rounding of a symmetric stiffness matrix [1].
SYMMETRIC = 1e-9
#: Most of their motion that two shapes may have in common if their frequencies are to be kept [1].
COMMON = 0.1
#: Relative error of mass, moments and centre given beside masses at nodes [1].
SAME_MASS = 1e-6
#: Weight of mass, centre and moments against equal masses, where masses at nodes are sought [1].
MASS_WEIGHT = 1e4
#: How much the moments of such masses may differ from those of the body: thick bodies with nodes in
#: a plane have other ones [1].
THICKNESS = 0.05
#: Least share of a shape's motion that is not that of other shapes [1].
OWN = 1e-9


def _array(*axes: str) -> Any:
    """A check of an array of numbers with so many axes, stored as tuples."""

    def check(value: Any) -> Any:
        given = real(value)
        if given.ndim != len(axes) or 0 in given.shape:
            raise ValueError(f"has shape {given.shape}, but must be ({', '.join(axes)})")
        return numbers(given, given.shape)

    return check


def _frequencies(value: Any) -> Any:
    return tuple(positive(one) for one in _array("modes")(value))


def _masses(value: Any) -> Any:
    return tuple(not_negative(one) for one in _array("nodes")(value))


class ModalBody(Body):
    """A body that bends by shapes given at nodes, as modal results of a finite element model are.

    nodes (k, 3): in body axes, from the mass centre of the undeformed body [m]; shapes (n, k, 3):
    their displacements with each mode; rotations (n, k, 3): their small rotations, by default those
    of the nodes around.  frequencies (n,) [rad/s] of shapes that are modes, of any scale; or
    stiffness (n, n) and mass_matrix (n, n), in the units of the shapes, of any shapes: their modes
    are then found here; without mass_matrix, the nodes' masses make it.  damping: share of critical
    damping, for all modes or for each.

    masses (k,): of the nodes [kg], and moments (k, 3, 3): of small solids at them [kg m2], which
    need rotations; mass and inertia follow from them.  participation (n, 6): factors of the shapes
    in displacements along the axes and in turns about them through the mass centre, in the units of
    the shapes, where a model knows them better than masses at nodes do. Without masses, mass and
    inertia are shared among the nodes as evenly as they can be.  shortenings (k, 3, n, n): how much
    nodes draw near along each body axis, -q' eta q / 2, in the units of the shapes; without them
    the body does not stiffen when it spins.  The modes may leave any part of the body still, or
    only its mass centre and mean axes: its pose and motion are those of the frame that they refer
    to.  Shapes are then made mass-normalised for the masses at the nodes; two that have more than a
    tenth in common are refused."""

    nodes: Any = checked(_array("nodes", "3"), kw_only=True)
    shapes: Any = checked(_array("modes", "nodes", "3"), kw_only=True)
    frequencies: Any = checked(optional(_frequencies), default=None, kw_only=True)
    stiffness: Any = checked(optional(_array("modes", "modes")), default=None, kw_only=True)
    participation: Any = checked(optional(_array("modes", "6")), default=None, kw_only=True)
    mass_matrix: Any = checked(optional(_array("modes", "modes")), default=None, kw_only=True)
    damping: Any = checked(damping_ratios, default=0.005, kw_only=True)
    masses: Any = checked(optional(_masses), default=None, kw_only=True)
    rotations: Any = checked(optional(_array("modes", "nodes", "3")), default=None, kw_only=True)
    moments: Any = checked(optional(_array("nodes", "3", "3")), default=None, kw_only=True)
    shortenings: Any = checked(
        optional(_array("nodes", "3", "modes", "modes")), default=None, kw_only=True
    )

    def validate(self) -> None:
        n, k = len(self.shapes), len(self.nodes)
        for name, shape in (
            ("nodes", (k, 3)), ("shapes", (n, k, 3)), ("rotations", (n, k, 3)), ("masses", (k,)),
            ("frequencies", (n,)), ("stiffness", (n, n)), ("shortenings", (k, 3, n, n)),
            ("moments", (k, 3, 3)), ("mass_matrix", (n, n)),
            ("participation", (n, 6)),
        ):  # fmt: skip
            value = getattr(self, name)
            if value is not None and np.shape(value) != shape:
                raise self.refuse(
                    f"{name} has shape {np.shape(value)}, but must have shape {shape} for {n} "
                    f"shapes of {k} nodes."
                )
        if self.fixed:
            raise self.refuse("a fixed body does not bend; hold this one to the ground by a joint.")
        if (self.frequencies is None) == (self.stiffness is None):
            raise self.refuse("give frequencies of modes, or a stiffness matrix of shapes.")
        if self.moments is not None and (self.rotations is None or self.masses is None):
            raise self.refuse("moments of its nodes need masses and rotations of them; give both.")
        check_ratios(self, self.damping, n)
        if self.masses is not None:
            self._weigh()
        super().validate()
        self._check_points()
        self._check_modes()

    @classmethod
    def from_matrices(
        cls, name: str, nodes: Any, stiffness: Any, mass_matrix: Any, modes: int,
        clamped: Sequence[int] = (), boundary: Sequence[int] = (), **rest: Any,
    ) -> Self:  # fmt: skip
        """A body from the matrices of a finite element model, for its lowest modes.

        nodes (k, 3): in any axes and from any origin [m]; the mass centre becomes the origin of the
        body, and its position if none is given.  stiffness and mass_matrix (3 k, 3 k) or (6 k,
        6 k): over displacements of the nodes [m], in turn, each with or without small rotations
        after them.  clamped: numbers of nodes that the modes leave still, and to which the frame of
        the body belongs; none: modes of the free body, which move neither its mass centre nor its
        mean axes.  boundary: numbers of nodes at which others will hold it; `modes` fixed-boundary
        modes and all displacements of these nodes then make its shapes, by the method of Craig and
        Bampton.  rest: damping, color and so on.

        Frequencies, static bending and participation are those of the model; what else couples
        bending to the motion of the whole is that of masses lumped at the nodes."""
        model = FiniteElements.of(name, nodes, stiffness, mass_matrix)
        squares, shapes = model.modes(modes, clamped, boundary)
        masses = model.node_masses()
        centre = masses @ model.nodes / masses.sum()
        if model.width == 6:
            rest = {"rotations": shapes[:, :, 3:], "moments": model.node_moments(), **rest}
        rigid = model.rigid_shapes(centre)
        return cls(
            name, nodes=model.nodes - centre, shapes=shapes[:, :, :3], masses=masses,
            inertia=model.inertia_about(centre), stiffness=np.diag(squares),
            mass_matrix=np.eye(len(squares)), participation=model.products(shapes, rigid),
            **{"position": centre, **rest},
        )  # fmt: skip

    @classmethod
    def load(cls, name: str, path: FilePath, **rest: Any) -> Self:
        """The body whose arrays an NPZ file holds under the names of its fields; rest: fields that
        it does not hold."""
        place = readable(path, "ModalBody.load")
        known = {field.name for field in dataclasses.fields(cls) if field.init}
        try:
            with np.load(place, allow_pickle=False) as file:
                found = {key: file[key] for key in file.files}
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise PartError(
                f"ModalBody.load: {str(place)!r} cannot be read as NPZ: {sentence_of(error)}.",
                code="content",
            ) from error
        if strange := sorted(found.keys() - known):
            raise PartError(
                f"ModalBody.load: {str(place)!r} holds {strange[0]!r}, which is no field of a "
                f"ModalBody; leave it out, or call it otherwise.",
                code="content",
            )
        return cls(name, **{**found, **rest})

    # --- masses -----------------------------------------------------------------------------------
    def _weigh(self) -> None:
        """Mass and moments of the nodes, where none are given."""
        points = self._points(np.zeros((0, len(self.nodes), 3)))
        if self.mass is None:
            vars(self)["mass"] = points.mass
        if self.inertia is None:
            vars(self)["inertia"] = numbers(points.inertia, (3, 3))
        if abs(float(self.mass or 0.0) - points.mass) > SAME_MASS * points.mass:
            raise self.refuse(
                f"mass is {self.mass:g}, but masses of its nodes make it {points.mass:.9g}; leave "
                "one of them out."
            )

    def _points(self, shapes: Floats, rotations: Floats | None = None) -> MassPoints:
        """The nodes with their masses, moved by some shapes."""
        moments = None if self.moments is None else np.array(self.moments)
        turned = rotations if rotations is not None else np.zeros_like(shapes)
        return MassPoints(
            self._node_masses, np.array(self.nodes), shapes, None, moments,
            None if moments is None else turned,
        )  # fmt: skip

    @cached_property
    def _node_masses(self) -> Floats:
        given = self.masses
        return read_only(self._shared_masses() if given is None else np.array(given))

    def _shared_masses(self) -> Floats:
        """Masses of the nodes that have the mass, the mass centre and the moments of the body, as
        equal as they can be."""
        p, k = np.array(self.nodes), len(self.nodes)
        turned = np.einsum("aij,kj->kai", CROSS, p)
        moments = np.einsum("kai,kbi->abk", turned, turned)[np.triu_indices(3)]
        size = np.linalg.norm(p, axis=1).max() or 1.0
        asked = np.concatenate([np.ones((1, k)), p.T / size, moments / size**2])
        inertia = self.inertia_matrix[np.triu_indices(3)] / size**2
        wanted = np.concatenate([[self.mass], np.zeros(3), inertia]) / self.mass
        rows = np.concatenate([MASS_WEIGHT * asked, np.eye(k)])
        return (
            float(self.mass or 0.0)
            * nnls(rows, np.append(MASS_WEIGHT * wanted, np.full(k, 1 / k)))[0]
        )

    def _check_points(self) -> None:
        points, J = self._points(np.zeros((0, len(self.nodes), 3))), self.inertia_matrix
        if abs(points.inertia - J).max() > THICKNESS * abs(J).max():
            raise self.refuse(
                f"the masses of its nodes do not have the moments of inertia {J.tolist()}, the "
                f"nearest {np.round(points.inertia, 9).tolist()}; give nodes that span the body, "
                "or other masses."
            )
        size = np.linalg.norm(points.points, axis=1).max()
        if (far := math.hypot(*points.centre)) > SAME_MASS * size:
            raise self.refuse(
                f"the mass centre of its nodes lies {far:.3g} m from the origin, at "
                f"{np.round(points.centre, 9).tolist()}; subtract it from the nodes."
            )

    # --- how it bends -----------------------------------------------------------------------------
    @cached_property
    def _basis(self) -> tuple[Floats, Floats]:
        """Squared frequencies (n,), and the factors (n, n) that make mass-normalised modes of the
        shapes."""
        mass = self._points(np.array(self.shapes), self._given_rotations()).mass_matrix
        if self.stiffness is not None:
            mass = mass if self.mass_matrix is None else np.array(self.mass_matrix)
            self._check_independent(mass)
            squares, factors = eigh(np.array(self.stiffness), mass)
            return squares, factors.T
        common, scale = self._check_independent(mass)
        shared = abs(common - np.eye(len(scale))).max()
        if shared > COMMON:
            raise self.refuse(
                f"two of its shapes have {shared:.3g} of their motion in common, so that they are "
                "no modes for the masses of its nodes; give masses, or stiffness in place of "
                "frequencies."
            )
        values, vectors = np.linalg.eigh(common)
        return np.array(self.frequencies) ** 2, vectors / np.sqrt(values) @ vectors.T * scale

    def _check_independent(self, mass: Floats) -> tuple[Floats, Floats]:
        """What shapes, scaled to modal mass 1, have in common (n, n), and those scales (n,)."""
        scale = 1.0 / np.sqrt(np.maximum(np.diag(mass), np.finfo(float).tiny))
        common = scale[:, None] * mass * scale
        if np.linalg.eigvalsh(common)[0] < OWN:
            raise self.refuse("one of its shapes is a sum of others, or nought; leave it out.")
        return common, scale

    def _check_modes(self) -> None:
        for name in ("stiffness", "mass_matrix"):
            matrix = np.array(getattr(self, name) or np.eye(1))
            if abs(matrix - matrix.T).max() > SYMMETRIC * abs(matrix).max():
                raise self.refuse(f"{name} is not symmetric; give a symmetric matrix.")
        if (lowest := self._basis[0][0]) <= 0.0:
            raise self.refuse(
                f"stiffness has no hold on some shape: its squared frequency is {lowest:.3g}; "
                "leave out motions of the body as a whole."
            )
        self._check_energy()

    def _check_energy(self) -> None:
        """Refuse shapes that move more mass along with the body than it has."""
        model, n = self.modal, len(self.shapes)
        mass = np.eye(6 + n)
        mass[:3, :3], mass[3:6, 3:6] = float(self.mass or 0.0) * np.eye(3), self.inertia_matrix
        mass[6:, :3], mass[6:, 3:6] = model.linear, model.angular
        if np.linalg.eigvalsh(mass)[0] <= 0.0:
            raise self.refuse(
                "its shapes carry more mass than it has, so that some motion had negative energy; "
                "give finer nodes, fewer shapes, or masses that fit them."
            )

    @cached_property
    def mass_points(self) -> MassPoints:
        """The nodes with their masses and mass-normalised modes."""
        factors, eta, turned = self._basis[1], None, self._given_rotations()
        if self.shortenings is not None:
            eta = np.einsum("ij,kcjl,ml->kcim", factors, np.array(self.shortenings), factors)
        shapes = np.tensordot(factors, np.array(self.shapes), 1)
        points = self._points(shapes, None if turned is None else np.tensordot(factors, turned, 1))
        return dataclasses.replace(points, shortenings=eta)

    def _given_rotations(self) -> Floats | None:
        return None if self.rotations is None else np.array(self.rotations)

    @cached_property
    def modal(self) -> ModalModel:
        """Modes and their integrals over the mass."""
        omega = np.sqrt(self._basis[0])
        damping = damping_matrix(self.damping, omega)
        model = self.mass_points.modal_model(np.diag(omega**2), damping, within=math.inf)
        if self.participation is None:
            return model
        factors = self._basis[1] @ np.array(self.participation)
        return dataclasses.replace(model, linear=factors[:, :3], angular=factors[:, 3:])

    def modes_at(self, point: Vector) -> PointModes:
        """How a point and axes there follow the modes: with the nearest node; point: in body axes
        [m], from the mass centre."""
        place = np.asarray(point, dtype=float)
        away = np.linalg.norm(np.array(self.nodes) - place, axis=1)
        node = int(np.argmin(away))
        points = self.mass_points
        rotation = self._rotation(node, np.argsort(away, kind="stable")[:PATCH])
        arm = place - points.points[node]
        displacement = points.displacements[:, node] + np.cross(rotation, arm)
        n = len(rotation)
        eta = np.zeros((3, n, n)) if points.shortenings is None else points.shortenings[node]
        return PointModes(place, displacement, rotation, eta)

    def _rotation(self, node: int, patch: Ints) -> Floats:
        """Small rotations of a node with each mode (n, 3): as given; none, where it is held with
        others of a patch that span a plane; else those of a rigid body that the nodes of the patch
        follow as well as they can."""
        if self.rotations is not None:
            return np.asarray(self._basis[1] @ np.array(self.rotations)[:, node])
        points = self.mass_points
        moves = abs(points.displacements).max(axis=(0, 2))
        held = patch[moves[patch] <= HELD_STILL * moves.max()]
        around = points.points[held] - points.points[node]
        if node in held and np.linalg.matrix_rank(around, PATCH_IN_LINE * abs(around).max()) > 1:
            return np.zeros((len(points.displacements), 3))
        arms = points.points[patch] - points.points[node]
        moved = points.displacements[:, patch] - points.displacements[:, [node]]
        lever = np.einsum("aij,kj->kia", CROSS, arms).reshape(-1, 3)
        return np.asarray(
            np.linalg.lstsq(lever, moved.reshape(len(moved), -1).T, rcond=PATCH_IN_LINE)[0].T
        )

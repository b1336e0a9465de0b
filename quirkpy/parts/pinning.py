"""Superconductors that pin the flux of magnets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from quirkpy.maths import quat
from quirkpy.maths.constants import MU0_4PI
from quirkpy.maths.types import Floats
from quirkpy.maths.warnings import warn
from quirkpy.parts.body import Body, Site
from quirkpy.parts.bushing import Bushing, mobility, modal_damping
from quirkpy.parts.checks import instance, numbers, optional, steady, text
from quirkpy.parts.fields import each
from quirkpy.parts.force import Element, Force
from quirkpy.parts.magnets import Magnet
from quirkpy.parts.part import Part, checked

#: Imaginary step of derivatives [m], [rad]; its square is negligible beside one.
COMPLEX_STEP = 1e-30
#: Least distance of a magnet from the face, in radii, at which the images of a point dipole are
#: valid.
NEAREST = 1.5
#: Access to the pose of a body in a state: ``state[body].position``, ``.orientation``.
Poses: TypeAlias = Any


class Superconductor(Part):
    """A flat superconductor: its face goes through the site, with the outward normal z.  For
    `FluxPinning`."""

    name: str = checked(text)
    site: Site = checked(instance(Site))


class Frozen(NamedTuple):
    """The pose of a magnet relative to a face, in its axes: point (3,) [m] and direction (3,)."""

    point: Floats
    direction: Floats


class FluxPinning(Force):
    """Cold superconductors pin the flux of magnets on other bodies: the advanced frozen image of
    Kordyuk (1998).

    Behind its face each superconductor has two images of each magnet: a mobile one, the mirror
    image with mirrored moment, and a frozen one, minus the mirror image of the magnet at the time
    of cooling. U = sum over magnets i, j of U(m_i, mobile_j)/2 + U(m_i, frozen_j), U as in
    `Dipoles`; the superconductor's body gets the reaction. In the cooling pose force and torque
    vanish. A magnet is free to rotate about its axis. The face is treated as an infinite plane, and
    the model is valid from about 1.5 magnet radii on (below, it warns).

    frozen: for each superconductor and each magnet six numbers in the axes of the face, point [m]
    and direction of the moment at cooling (default: the initial poses). warm: names of
    superconductors without images. Both are data of a selection:
    ``tables.select(parameters={pinning.name: pinning.freezing(state)})``, or `warming`. Faces of
    other orientations need a FluxPinning of their own: a magnet behind a cold face is refused."""

    superconductors: Sequence[Superconductor] = checked(each(Superconductor))
    magnets: Sequence[Magnet] = checked(each(Magnet))
    frozen: Any = checked(optional(steady), default=None, kw_only=True)
    warm: Sequence[str] = checked(steady, default=(), kw_only=True)
    name: str = checked(text, default="flux pinning", kw_only=True)

    def validate(self) -> None:
        self._check_names("warm", self.warm)
        self._check_frozen()
        for cold, magnet, at in self._pairs():
            height = float(at.point[2])
            if height <= 0.0:
                raise self.refuse(
                    f"magnet {magnet.name!r} stands {-height:g} m behind the face of "
                    f"{cold.name!r}; list that "
                    "superconductor under warm=, or in another FluxPinning.",
                    code="pose",
                )
            if height < NEAREST * magnet.size:
                warn(
                    f"{self._title()}: magnet {magnet.name!r} (radius {magnet.size:.3g} m) was "
                    f"frozen {height:.3g} m "
                    f"above {cold.name!r}; images of points hold from {NEAREST:g} radii on."
                )

    def _check_frozen(self) -> None:
        """Refuse frozen images that are not six numbers for each superconductor and magnet."""
        if self.frozen is not None:
            try:
                numbers(self.frozen, (len(self.superconductors), len(self.magnets), 6))
            except (TypeError, ValueError) as error:
                raise self.refuse(
                    f"frozen {error}; give six numbers for each superconductor and magnet."
                ) from None

    def _check_names(self, word: str, names: Any) -> None:
        known = [cold.name for cold in self.superconductors]
        wrong = (
            [name for name in names if name not in known] if isinstance(names, tuple) else [names]
        )
        if wrong:
            raise self.refuse(
                f"{word} names {wrong[0]!r}, but the superconductors are a tuple of: "
                f"{', '.join(known)}."
            )

    # --- images -----------------------------------------------------------------------------------
    def _cold(self) -> Iterator[tuple[int, Superconductor]]:
        return ((c, one) for c, one in enumerate(self.superconductors) if one.name not in self.warm)

    def _images(self) -> list[list[Frozen]]:
        """For each superconductor and magnet the pose at cooling."""
        rows = self._magnet_positions(None) if self.frozen is None else self.frozen
        return [[Frozen(np.array(one[:3]), np.array(one[3:])) for one in row] for row in rows]

    def _pairs(self) -> Iterator[tuple[Superconductor, Magnet, Frozen]]:
        """Every cold superconductor with every magnet on another body; for one on its own body the
        two images cancel."""
        images = self._images()
        for (c, cold), (k, magnet) in product(self._cold(), enumerate(self.magnets)):
            if magnet.site.body != cold.site.body:
                yield cold, magnet, images[c][k]

    def _magnet_positions(self, state: Poses | None) -> tuple[tuple[tuple[float, ...], ...], ...]:
        """Point and direction of each magnet in the axes of each face, at a state (None: the
        initial one)."""
        out = []
        for cold in self.superconductors:
            p, axes = _pose(cold.site, state)
            row = []
            for magnet in self.magnets:
                x, turned = _pose(magnet.site, state)
                row.append((*(axes.T @ (x - p)).tolist(), *(axes.T @ turned[:, 2]).tolist()))
            out.append(tuple(row))
        return tuple(out)

    def elements(self) -> tuple[Element, ...]:
        images, out = self._images(), []
        for c, face in enumerate(self.superconductors):
            seen = [
                k for k, magnet in enumerate(self.magnets) if magnet.site.body != face.site.body
            ]
            acts = float(face.name not in self.warm)
            for i, j in product(seen, seen):
                one, two, (point, direction) = self.magnets[i], self.magnets[j], images[c][j]
                mirror = np.array([1.0, 1.0, -1.0])
                image = (*(mirror * point).tolist(), *(-two.moment * mirror * direction).tolist())
                values = (acts, one.moment, two.moment, *image)
                out.append(Element("image", face.site, one.site, numbers=values, site3=two.site))
        return tuple(out)

    # --- cooling and warming ----------------------------------------------------------------------
    def freezing(self, state: Poses, *names: str) -> dict[str, Any]:
        """The parameters for cooling the named superconductors (none named: all) at a state of the
        system."""
        chosen = names or tuple(cold.name for cold in self.superconductors)
        self._check_names("freezing", chosen)
        now, before = self._magnet_positions(state), self.frozen or self._magnet_positions(None)
        rows = zip(self.superconductors, now, before, strict=True)
        frozen = tuple(here if cold.name in chosen else there for cold, here, there in rows)
        return {"frozen": frozen, "warm": tuple(name for name in self.warm if name not in chosen)}

    def warming(self, *names: str) -> dict[str, Any]:
        """The parameters for warming the named superconductors (none named: all)."""
        chosen = names or tuple(cold.name for cold in self.superconductors)
        self._check_names("warming", chosen)
        return {
            "warm": tuple(
                cold.name for cold in self.superconductors if cold.name in {*self.warm, *chosen}
            )
        }

    # --- small motions ----------------------------------------------------------------------------
    def linearized(self, name: str, damping: float = 0.05, state: Poses | None = None) -> Bushing:
        """The 6x6 spring for small motions about cooling at a state (None: the initial one), with
        modal damping.

        For superconductors on one body and magnets on another. damping: of each mode of the two
        free bodies, as a share of critical; no measurement for small spacecraft is public, and 0.02
        to 0.1 are usual estimates."""
        one, two = self._two_bodies()
        point = _pose(self.magnets[0].site, state)[0]
        ends = tuple(_site_at(name, body, point, state) for body in (one, two))
        stiffness = self._stiffness(point, state)
        weights: Floats = np.zeros((6, 6))
        for body in (one, two):
            weights += mobility(body, *body_pose(body, state), point)
        if not weights.any():
            raise self.refuse("both its bodies are fixed; a linear spring needs one that moves.")
        return Bushing(
            name,
            *ends,
            stiffness=stiffness,
            damping=modal_damping(stiffness, np.asarray(np.linalg.inv(weights)), damping),
        )

    def _two_bodies(self) -> tuple[Body, Body]:
        """The body of all superconductors and that of all magnets; an error where there are
        more."""
        bodies = [
            list(dict.fromkeys(part.site.body.name for part in some))
            for some in (self._faces(), self.magnets)
        ]
        if len(bodies[0]) != 1 or len(bodies[1]) != 1 or bodies[0] == bodies[1]:
            raise self.refuse(
                f"it acts between {', '.join(bodies[0])} and {', '.join(bodies[1])}; a linear "
                "spring needs all "
                "superconductors on one body and all magnets on another."
            )
        return self._faces()[0].site.body, self.magnets[0].site.body

    def damper(
        self, name: str, damping: float, spin: float = 0.0, state: Poses | None = None
    ) -> Bushing:
        """The damping of `linearized` without its spring, plus damping of rotation about the normal
        of the face [N m s/rad], on which pinning has no effect."""
        spring = self.linearized(name, damping, state)
        normal = _pose(self._faces()[0].site, state)[1][:, 2]
        more = np.zeros((6, 6))
        more[3:, 3:] = spin * np.outer(normal, normal)
        return replace(spring, stiffness=(0.0,) * 6, damping=np.asarray(spring.damping) + more)

    def _faces(self) -> list[Superconductor]:
        """The cold superconductors; all of them if none is cold."""
        return [cold for _, cold in self._cold()] or list(self.superconductors)

    def _stiffness(self, point: Floats, state: Poses | None) -> Floats:
        """Minus the derivative of force and torque about a point with respect to small motions of
        the magnets, in N (6, 6).

        The complex step has no cancellation (Squire and Trapp 1998).
        """
        out, step = np.zeros((6, 6)), COMPLEX_STEP
        for k in range(6):
            motion = np.zeros(6, dtype=complex)
            motion[k] = 1j * step
            out[:, k] = -self._wrench(motion, point, state).imag / step
        return 0.5 * (out + out.T)

    def _wrench(self, motion: Any, point: Floats, state: Poses | None) -> Any:
        """Force and torque about the moved point on the magnets, after a small motion (6,) from the
        cooling pose."""
        shift, turn = motion[:3], motion[3:]
        placed = [_pose(magnet.site, state) for magnet in self.magnets]
        points = [x for x, _ in placed]
        moments = [m.moment * axes[:, 2] for m, (_, axes) in zip(self.magnets, placed, strict=True)]
        there = [x + shift + np.cross(turn, x - point) for x in points]
        turned = [m + np.cross(turn, m) for m in moments]
        total = np.zeros(6, dtype=complex)
        for face in self._faces():
            p, axes = _pose(face.site, state)
            mirror = np.eye(3) - 2.0 * np.outer(axes[:, 2], axes[:, 2])
            for i, j in product(range(len(points)), repeat=2):
                for place, image in (
                    (p + mirror @ (there[j] - p), mirror @ turned[j]),
                    (p + mirror @ (points[j] - p), -(mirror @ moments[j])),
                ):
                    force, torque = _on_dipole(image, turned[i], there[i] - place)
                    arm = there[i] - point - shift
                    total += np.concatenate([force, torque + np.cross(arm, force)])
        return total


def _on_dipole(m1: Any, m2: Any, d: Any) -> tuple[Any, Any]:
    """Force and torque on dipole 2, at position d relative to dipole 1; complex numbers are
    allowed."""
    r = np.sqrt(d @ d)
    u = d / r
    force = (
        3.0
        * MU0_4PI
        / r**4
        * ((m1 @ u) * m2 + (m2 @ u) * m1 + (m1 @ m2) * u - 5.0 * (m1 @ u) * (m2 @ u) * u)
    )
    return force, np.cross(m2, MU0_4PI / r**3 * (3.0 * (m1 @ u) * u - m1))


def body_pose(body: Body, state: Poses | None) -> tuple[Floats, Floats]:
    """Mass centre [m] and axes in N, at a state (None: the initial one)."""
    if state is None or body.fixed:
        return np.asarray(body.position), body.matrix
    here = state[body.name]
    return np.asarray(here.position), quat.matrix(here.orientation)


def _pose(site: Site, state: Poses | None) -> tuple[Floats, Floats]:
    """Origin [m] and axes in N of a site."""
    r, axes = body_pose(site.body, state)
    return r + axes @ np.asarray(site.at), axes @ site.axes


def _site_at(name: str, body: Body, point: Floats, state: Poses | None) -> Site:
    """The site with the axes of N at a point, at a state."""
    r, axes = body_pose(body, state)
    return body.site(name, axes.T @ (point - r), z=axes[2], x=axes[0])

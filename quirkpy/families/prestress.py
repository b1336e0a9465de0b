"""Prestress: tensions of strings that hold a system in equilibrium, and form finding."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from quirkpy.families.tensegrity import check_list, check_member, check_node, check_points
from quirkpy.maths.types import Floats
from quirkpy.mechanics.equation import applied_forces, decompose, mass_roots
from quirkpy.mechanics.instant import Instant
from quirkpy.parts.body import Site
from quirkpy.parts.checks import instance, not_negative, number, show
from quirkpy.parts.force import Force
from quirkpy.parts.forces import Spring
from quirkpy.parts.part import PartError, check_argument
from quirkpy.parts.strings import String
from quirkpy.system.multibody import Multibody

#: Singular values below this share of the largest count as zero [1].
NULL_SHARE = 1e-9
#: Loads that strings cannot balance are significant above this share of all loads [1].
UNBALANCED = 1e-7
#: Weight of the balance relative to least tensions, where both are sought at once.
WEIGHT = 1e5


class Prestress(NamedTuple):
    """The prestress of a system. tension [N], rest_length [m] and density [N/m], tension over
    length, of each string by name; states: all independent states of self-stress, tensions by
    string, of length one; mechanisms: independent motions of nodes by name [1] that change no
    string's length to first order and are not rigid motions of the whole; system: the given one,
    with these rest lengths."""

    tension: dict[str, float]
    rest_length: dict[str, float]
    density: dict[str, float]
    states: tuple[dict[str, float], ...]
    mechanisms: tuple[dict[str, Floats], ...]
    system: Multibody


def prestress(
    system: Multibody, minimum: float = 1.0, under: Force | Sequence[Force] = (),
    bars: Sequence[str] = (),
) -> Prestress:  # fmt: skip
    """The least tensions of the strings of a system, none below a minimum [N], that with all other
    forces hold it in equilibrium in its initial pose; and the corresponding rest lengths.

    under: further forces, such as a `Gravity`; bars: names of springs that may also push, such as
    "b1 elasticity" of a compressible bar, whose rest lengths are found with those of the strings.
    The least tensions are those with the smallest sum of squares. Where none exist, the error names
    the node that would move."""
    check_argument("prestress", "system", system, instance(Multibody))
    least = check_argument("prestress", "minimum", minimum, not_negative)
    stiff = [spring_of(system, name) for name in check_list("prestress", "bars", bars)]
    strings: list[String | Spring] = [*strings_of(system), *stiff]
    loaded = system.without(*(string.name for string in strings))
    extra = [under] if isinstance(under, Force) else check_list("prestress", "under", under)
    for force in extra:
        check_argument("prestress", "under", force, instance(Force))
    at = (loaded.with_(*extra) if extra else loaded).instant()
    net = Net.of(at, strings)
    tension = net.tensions(least, len(stiff))
    lengths = net.lengths.tolist()
    made = [rest_for(*row) for row in zip(strings, tension.tolist(), lengths, strict=True)]
    names = [string.name for string in strings]
    states, mechanisms = net.states()
    return Prestress(
        dict(zip(names, tension.tolist(), strict=True)),
        dict(zip(names, made, strict=True)),
        dict(zip(names, (tension / net.lengths).tolist(), strict=True)),
        states, mechanisms, resting(system, strings, made),
    )  # fmt: skip


def strings_of(system: Multibody) -> list[String]:
    """The active strings, in their order."""
    names, chosen = system.selection.tables.force_names, system.selection.forces
    found = [part for f in chosen if isinstance(part := system[names[f]], String)]
    if not found:
        raise PartError("prestress: no String acts in this system.", code="answer")
    return found


def spring_of(system: Multibody, name: Any) -> Spring:
    """A spring of the system by its name."""
    part = system[name] if isinstance(name, str) else None
    if not isinstance(part, Spring):
        raise PartError(
            f"prestress: bars names {show(name)}, which is no Spring of this system.", code="name"
        )
    return part


def rest_for(string: String | Spring, tension: float, length: float) -> float:
    """The rest length at which a string has a given tension at a given length [m]."""
    if isinstance(string, String) and string.EA is not None:
        return string.EA * length / (string.EA + tension)
    if not isinstance(string.stiffness, float) or string.stiffness == 0.0:
        raise string.refuse("prestress needs a stiffness that is a number above 0.")
    rest = length - tension / string.stiffness
    if rest < 0.0:
        raise string.refuse(
            f"{tension:.6g} N at a length of {length:.6g} m ask for a rest length of {rest:.6g} m; "
            "give a larger stiffness, or a smaller minimum."
        )
    return rest


def resting(
    system: Multibody, strings: Sequence[String | Spring], rests: Sequence[float]
) -> Multibody:
    """The system with other rest lengths."""
    new = {
        string.name: dataclasses.replace(string, rest_length=rest)
        for string, rest in zip(strings, rests, strict=True)
    }
    parts = [new.get(str(getattr(part, "name", "")), part) for part in system.parts]
    return Multibody(*parts, candidates=system.candidates, start=system.start)


class Net(NamedTuple):
    """Strings and the motions that joints allow. ways: the sites of each; lengths [m] (k,); pulls:
    the rate at which each one shortens in each motion (m, k), so that pulls @ tensions is the
    generalized force; loads: generalized forces of all other loads (m,); ends: the sites of all,
    and their velocities (m, e, 3)."""

    names: tuple[str, ...]
    lengths: Floats
    pulls: Floats
    loads: Floats
    ends: tuple[Site, ...]
    moves: Floats

    @classmethod
    def of(cls, at: Instant, strings: Sequence[String | Spring]) -> Net:
        """The net at one state."""
        motions = motions_at(at)
        sites = tuple(
            {
                (site.body.name, site.name, *site.at): site
                for string in strings
                for site in string.way()
            }.values()
        )
        moves = np.array([moves_of(site, at, motions) for site in sites])  # (e, m, 3)
        places = at.at_sites(*sites).position
        number = {(site.body.name, site.name, *site.at): k for k, site in enumerate(sites)}
        lengths, pulls = np.zeros(len(strings)), np.zeros((len(motions), len(strings)))
        for k, string in enumerate(strings):
            way = [number[site.body.name, site.name, *site.at] for site in string.way()]
            for i, j in pairwise(way):
                d = places[j] - places[i]
                lengths[k] += np.linalg.norm(d)
                pulls[:, k] -= (moves[j] - moves[i]) @ (d / np.linalg.norm(d))
        loads = motions.reshape(len(motions), -1) @ applied_forces(at).ravel()
        names = tuple(string.name for string in strings)
        return cls(names, lengths, pulls, loads, sites, np.moveaxis(moves, 0, 1))

    def tensions(self, least: float, free: int = 0) -> Floats:
        """The least tensions that balance the loads, none below a minimum but those of the last
        ones, which are free to push; an error where there are none."""
        n = len(self.names) - free
        floor = np.concatenate([np.full(n, least), np.zeros(free)])
        columns = np.concatenate([self.pulls, -self.pulls[:, n:]], axis=1)
        wanted, most = -self.loads - self.pulls @ floor, 100 * len(self.names)
        size = float(np.linalg.norm(self.loads) + least * np.linalg.norm(self.pulls[:, :n]))
        above, left = nnls(columns, wanted, maxiter=most)
        if left > UNBALANCED * size:
            raise PartError(self.why_not(least, wanted - columns @ above), code="answer")
        small = np.diag(np.concatenate([np.ones(n), np.zeros(2 * free)]))
        both = np.concatenate([WEIGHT * columns, small])
        above, _ = nnls(both, np.concatenate([WEIGHT * wanted, np.zeros(len(small))]), maxiter=most)
        more = above > NULL_SHARE * max(float(above.max(initial=0.0)), least)
        sharp = np.zeros_like(above)
        sharp[more] = np.linalg.lstsq(columns[:, more], wanted, rcond=NULL_SHARE)[0]
        better = np.linalg.norm(columns @ sharp - wanted) <= UNBALANCED * size
        found = sharp if better and sharp.min(initial=0.0) >= 0.0 else above
        floor += found[: n + free]
        floor[n:] -= found[n + free :]
        return floor

    def why_not(self, least: float, left: Floats) -> str:
        """A sentence that names the node that moves most in the motion that no tensions can
        balance."""
        moves = np.linalg.norm(np.tensordot(left, self.moves, 1), axis=1)
        site = self.ends[int(np.argmax(moves))]
        return (
            f"prestress: no tensions of {least:g} N or more hold the system where it was written; "
            f"what is left moves node {site.name!r} of {site.body.name!r} most: give another "
            "shape, more strings, or a smaller minimum."
        )

    def states(self) -> tuple[tuple[dict[str, float], ...], tuple[dict[str, Floats], ...]]:
        """Independent states of self-stress, and mechanisms."""
        U, sigma, Vt = np.linalg.svd(self.pulls)
        rank = int((sigma > NULL_SHARE * sigma.max(initial=0.0)).sum())
        stress = tuple(dict(zip(self.names, row.tolist(), strict=True)) for row in Vt[rank:])
        slack = np.tensordot(U[:, rank:].T, self.moves, 1)
        loose = own_motions(slack.reshape(len(slack), 3 * len(self.ends)), self.rigid())
        moving = [not site.body.fixed for site in self.ends]
        names = [site.name for site in self.ends if not site.body.fixed]
        return stress, tuple(
            dict(zip(names, row.reshape(-1, 3)[moving], strict=True)) for row in loose
        )

    def rigid(self) -> Floats:
        """The rigid motions of the whole that joints allow, as motions of the sites."""
        all_moves = self.moves.reshape(len(self.moves), -1)
        rows = rigid_moves(np.array([site.placed()[0] for site in self.ends]))
        U, sigma, Vt = np.linalg.svd(all_moves, full_matrices=False)
        allowed = Vt[sigma > NULL_SHARE * sigma.max(initial=0.0)]
        U, cosines, _ = np.linalg.svd(rows @ allowed.T, full_matrices=False)
        return np.asarray(U[:, cosines > 1.0 - UNBALANCED].T @ rows)


def motions_at(at: Instant) -> Floats:
    """A basis of the motions that joints allow: v in N, omega in body axes (m, nb, 6)."""
    _, back = mass_roots(at)
    size = 6 * len(at.r)
    free = np.eye(size)
    if len(at.rows.phi):
        found = decompose(at)
        free = found.Vt[found.rank :]
    return np.einsum("nij,mnj->mni", back, free.reshape(-1, len(at.r), 6))


def moves_of(site: Site, at: Instant, motions: Floats) -> Floats:
    """The velocity of a site in each motion, in N (m, 3)."""
    if site.body.fixed:
        return np.zeros((len(motions), 3))
    k = at.selection.tables.body_index[site.body.name]
    turns, arm = at.frames.axes[k], np.asarray(site.at, dtype=float)
    return np.asarray(motions[:, k, :3] + np.cross(motions[:, k, 3:], arm) @ turns.T)


def rigid_moves(places: Floats) -> Floats:
    """Orthonormal rigid motions of points (6 or less, 3 n)."""
    arms = places - places.mean(axis=0)
    rows = [np.tile(axis, (len(arms), 1)) for axis in np.eye(3)]
    rows += [np.cross(axis, arms) for axis in np.eye(3)]
    _, sigma, Vt = np.linalg.svd(np.reshape(rows, (6, -1)), full_matrices=False)
    return np.asarray(Vt[sigma > NULL_SHARE * sigma[0]])


def own_motions(moves: Floats, rigid: Floats) -> Floats:
    """A basis of these motions, orthogonal to rigid ones (k, n)."""
    left = moves - moves @ rigid.T @ rigid
    _, sigma, Vt = np.linalg.svd(left, full_matrices=False)
    return np.asarray(Vt[: len(sigma)][sigma > UNBALANCED * max(1.0, sigma.max(initial=0.0))])


# --- form finding ---------------------------------------------------------------------------------
def form_find(
    nodes: Any, members: Sequence[Sequence[int]], densities: Any, fixed: Sequence[int] = ()
) -> Floats:
    """Positions of nodes in equilibrium under given force densities (Schek's method) [m] (n, 3).

    nodes (n, 3) [m]: their present positions; members: pairs of them; densities [N/m]: force over
    length of each, negative in bars; fixed: nodes that are fixed. Where none is fixed, the shape
    nearest to the given one: the force density matrix must then have a null space of dimension
    four, as for a tensegrity."""
    who = "form_find"
    points = check_points(who, nodes)
    given = check_list(who, "members", members)
    pairs = [check_member(who, f"member {k}", m, points, 2) for k, m in enumerate(given)]
    each = check_list(who, "densities", densities)
    forces = np.array([check_argument(who, "densities", q, number) for q in each])
    if len(forces) != len(pairs):
        raise PartError(f"{who}: {len(forces)} densities are given for {len(pairs)} members.")
    stay = check_list(who, "fixed", fixed)
    held = sorted({check_node(who, "fixed", i, len(points)) for i in stay})
    C = np.zeros((len(pairs), len(points)))
    for k, (i, j) in enumerate(pairs):
        C[k, i], C[k, j] = -1.0, 1.0
    D = C.T @ (forces[:, None] * C)
    return free_shape(D, points) if not held else held_shape(D, points, held)


def free_shape(D: Floats, points: Floats) -> Floats:
    """The nearest shape in equilibrium under a force density matrix, with all nodes free."""
    values, vectors = np.linalg.eigh(D)
    null = vectors[:, abs(values) <= UNBALANCED * abs(values).max(initial=0.0)]
    if null.shape[1] < 4:
        raise PartError(
            f"form_find: these densities hold no shape in space, but one of {null.shape[1] - 1} "
            "dimensions: change them, or fix nodes.",
            code="answer",
        )
    return np.asarray(null @ (null.T @ points))


def held_shape(D: Floats, points: Floats, held: Sequence[int]) -> Floats:
    """The shape in equilibrium under a force density matrix, with some nodes fixed."""
    free = [i for i in range(len(points)) if i not in held]
    inner = D[np.ix_(free, free)]
    sigma = np.linalg.svd(inner, compute_uv=False)
    if free and sigma[-1] <= NULL_SHARE * sigma[0]:
        loose = np.linalg.svd(inner)[2][-1]
        raise PartError(
            f"form_find: these densities leave node {free[int(np.argmax(abs(loose)))]} where it "
            "likes; change them, or fix more nodes.",
            code="answer",
        )
    out = points.copy()
    out[free] = np.linalg.solve(inner, -D[np.ix_(free, list(held))] @ points[list(held)])
    return out

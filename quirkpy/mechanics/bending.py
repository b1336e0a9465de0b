"""The equation of motion of bodies that bend, written out: mass matrix, forces, and how the sites
on them move, over velocities of mass centres in N, angular velocities in body axes, and rates of
modes.

It is the reference for the recursion (kernels/tree/members.py).  T = V'M(q)V / 2 with

    M_vv = m        M_vw = -c x      M_ww = J(q)         c = m_i q_i - b_k q'S_k q / 2
    M_vq = dc/dq    M_wq = d + (G_a q - A_a q)'          J = J0 + J1_i q_i + q'B q
    M_qq = 1

where m_i, d_i, G, S, J1, B and A are those of `ModalModel`.  An acceleration of the origin of the
body's axes, taken in N, stands for its velocity's rate, so that v does not appear."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from quirkpy.kernels.act.orbit import MU
from quirkpy.kernels.base.arrays import BENT, STATION_MODES, STATION_NUMBERS, STATION_SHORTENING
from quirkpy.kernels.base.states import (
    NO_TAIL,
    angular_of,
    linear_of,
    speeds_count,
    vectors_from,
    zero_vectors,
)
from quirkpy.kernels.users.modal import modal_models, second_moments, states_of, tilts
from quirkpy.kernels.users.packing import pack
from quirkpy.maths.types import Floats, Ints
from quirkpy.mechanics.instant import Instant
from quirkpy.parts.beam import Beam
from quirkpy.parts.checks import numbers
from quirkpy.parts.fields import GravityGradient
from quirkpy.parts.modal import CROSS, ModalModel
from quirkpy.parts.part import PartError
from quirkpy.tables.tables import PLANET, UNIFORM, Selection, Tables

#: Keys of `State.replace` for modes, and where their numbers begin in tails.
MODE_FIELDS = {"modes": "coordinates", "mode_rates": "speeds"}
#: Terms of the series of a rotation.
TERMS = 24
#: A body is bent too far where a motion of it has less than this share of its mass left [1].
LITTLE_MASS = 0.1


class Bent(NamedTuple):
    """A body that bends at one instant, or at many: its row and its columns among the further
    speeds, its model, amounts and rates of its modes (..., n), axes (..., 3, 3) and angular
    velocity in them (..., 3)."""

    row: int
    columns: slice
    model: ModalModel
    q: Floats
    u: Floats
    axes: Floats
    omega: Floats


class Station(NamedTuple):
    """How a station moves: row of its body; its point there, undeformed (3,); its velocity and spin
    in N with those of the body (6, 6), and with the modes (6, n); and its acceleration while all
    speeds stay (6,)."""

    body: int
    point: Floats
    with_body: Floats
    columns: slice
    with_modes: Floats
    bias: Floats


def bends(at: Instant) -> bool:
    """Whether any body does."""
    return at.selection.tables.bends


def bent_bodies(at: Instant) -> Iterator[Bent]:
    """All bodies that bend."""
    layout = states_of(at.selection.tables)
    q, u = layout.coordinates_in(at.further), layout.speeds_in(at.further)
    for b, model in enumerate(modal_models(at.selection.tables)):
        if model is not None:
            first = int(layout.coordinates[b])
            mine = slice(first, first + model.count)
            yield Bent(b, mine, model, q[mine], u[mine], at.frames.axes[b], at.omega[b])


def skew(a: Floats) -> Floats:
    """The matrix of a x."""
    return np.asarray(np.einsum("...a,aij->...ij", a, CROSS))


# --- one body: mass matrix and bias ---------------------------------------------------------------
def first_moment(x: Bent) -> Floats:
    """c (3,)."""
    drawn = np.einsum("...i,kij,...j->...k", x.q, x.model.shortening, x.q)
    return np.asarray(x.q @ x.model.linear - 0.5 * drawn)


def momentum_of_modes(x: Bent) -> Floats:
    """M_vq (3, n)."""
    drawn = np.einsum("kij,...j->...ki", x.model.shortening, x.q)
    return np.asarray(x.model.linear.T - drawn)


def spin_of_modes(x: Bent) -> Floats:
    """M_wq (3, n)."""
    turned = x.model.gyroscopic - tilts(x.model)
    return np.asarray(x.model.angular.T + np.einsum("cij,...j->...ci", turned, x.q))


def moments(x: Bent, inertia: Floats) -> Floats:
    """J (3, 3)."""
    square = np.einsum("...i,abij,...j->...ab", x.q, second_moments(x.model), x.q)
    change = np.einsum("...i,iab->...ab", x.q, x.model.inertia_change)
    return np.asarray(inertia + change + square)


def mass_matrix(at: Instant) -> Floats:
    """M of all bodies, over v in N, omega in body axes, body by body, and then all rates of modes
    (n, n)."""
    tables, layout = at.selection.tables, states_of(at.selection.tables)
    out, first = np.eye(layout.velocity_length), speeds_count(layout.bodies)
    for b in range(layout.bodies):
        i = 6 * b
        out[i : i + 3, i : i + 3] = tables.body_mass[b] * np.eye(3)
        out[i + 3 : i + 6, i + 3 : i + 6] = tables.body_inertia[b]
    for x in bent_bodies(at):
        v, w = slice(6 * x.row, 6 * x.row + 3), slice(6 * x.row + 3, 6 * x.row + 6)
        q = slice(first + x.columns.start, first + x.columns.stop)
        out[w, w] = moments(x, tables.body_inertia[x.row])
        out[v, w] = -x.axes @ skew(first_moment(x))
        out[v, q], out[w, q] = x.axes @ momentum_of_modes(x), spin_of_modes(x)
        out[w, v], out[q, v], out[q, w] = out[v, w].T, out[v, q].T, out[w, q].T
    return out


class BentTooFar(PartError):
    """A body is bent farther than its model reaches; a class of its own, so that searches may turn
    back there."""


def mass_factor(at: Instant, more: Floats | float = 0.0) -> Floats:
    """L with M + more = L L'."""
    try:
        return np.asarray(np.linalg.cholesky(mass_matrix(at) + more))
    except np.linalg.LinAlgError:
        names = ", ".join(repr(at.selection.tables.bodies[x.row].name) for x in bent_bodies(at))
        raise BentTooFar(
            f"the mass matrix of {names} is not positive at t = {at.t:g} s, for bending is taken "
            "to second order: bend less, take fewer modes, or modes that move where joints let "
            "the body turn.",
            code="rounding",
        ) from None


def overbent(at: Instant) -> tuple[str, ...]:
    """The bodies that are bent so far that some motion of theirs has lost most of its mass, which
    the model knows to second order alone."""
    bent = mass_matrix(at)
    plain = mass_matrix(dataclasses.replace(at, further=np.zeros_like(at.further)))
    first, out = speeds_count(len(at.r)), list[str]()
    for x in bent_bodies(at):
        mine = np.r_[6 * x.row : 6 * x.row + 6, first + x.columns.start : first + x.columns.stop]
        back = np.linalg.inv(np.linalg.cholesky(plain[np.ix_(mine, mine)]))
        left = np.linalg.eigvalsh(back @ bent[np.ix_(mine, mine)] @ back.T)[0]
        if left < LITTLE_MASS:
            out.append(at.selection.tables.bodies[x.row].name)
    return tuple(out)


def bias_of(x: Bent, inertia: Floats) -> tuple[Floats, Floats, Floats]:
    """What stands beside M times the accelerations: force in N, torque in body axes, and on
    modes."""
    m, w, u = x.model, x.omega, x.u
    c_rate, h = momentum_of_modes(x) @ u, spin_of_modes(x) @ u
    square = second_moments(m)
    j_rate = np.einsum("i,iab->ab", u, m.inertia_change)
    j_rate = j_rate + 2.0 * np.einsum("i,abij,j->ab", u, square, x.q)
    force = np.cross(w, np.cross(w, first_moment(x))) + 2.0 * np.cross(w, c_rate)
    force = force - np.einsum("i,kij,j->k", u, m.shortening, u)
    torque = j_rate @ w - np.einsum("i,cij,j->c", u, tilts(m), u)
    torque = torque + np.cross(w, moments(x, inertia) @ w + h)
    spun = 0.5 * np.einsum("a,iab,b->i", w, m.inertia_change, w)
    spun = spun + np.einsum("a,b,abij,j->i", w, w, square, x.q)
    on_modes = 2.0 * np.einsum("a,aij,j->i", w, m.gyroscopic, u) - spun
    return x.axes @ force, torque, on_modes


# --- stations -------------------------------------------------------------------------------------
def turning(theta: Floats) -> Floats:
    """D(theta) (3, 3): rates of theta to the angular velocity of axes turned by exp(theta)."""
    out, term = np.eye(3), np.eye(3)
    for k in range(1, TERMS):
        term = term @ skew(theta) / (k + 1)
        out = out + term
    return out


def turning_rate(theta: Floats, rate: Floats) -> Floats:
    """The rate of D(theta) (3, 3)."""
    power, slope, out = np.eye(3), np.zeros((3, 3)), np.zeros((3, 3))
    for k in range(1, TERMS):
        slope = (slope @ skew(theta) + power @ skew(rate)) / (k + 1)
        power = power @ skew(theta) / (k + 1)
        out = out + slope
    return out


def stations(at: Instant) -> Iterator[tuple[int, Station]]:
    """All stations of the tables, with their rows among the bodies."""
    modes = pack(at.selection.tables).modes
    known = {x.row: x for x in bent_bodies(at)}
    for s, line in enumerate(modes.stations):
        x = known[int(modes.what[line[STATION_MODES], BENT])]
        yield len(at.r) + s, _station(x, line, modes.numbers)


def loads_on_bodies(at: Instant, wrenches: Floats) -> Floats:
    """Forces and couples about mass centres in N (nb, 6), those at stations carried to the bodies
    that they are on."""
    out = wrenches[: len(at.r)].copy()
    for row, station in stations(at):
        out[station.body] += station.with_body.T @ wrenches[row]
    return np.asarray(out)


def owners(at: Instant) -> Ints:
    """The body of each row of bodies, stations and the ground (nb + ns + 1,); nb: the ground."""
    n, modes = len(at.r), pack(at.selection.tables).modes
    mine = modes.what[modes.stations[:, STATION_MODES], BENT]
    return np.concatenate([np.arange(n), mine, [n]])


def tipping(at: Instant) -> Floats:
    """What uniform accelerations and planets do to bodies as they are bent, beside what they do to
    them as they were: forces and couples in N (nb, 6)."""
    out, g = zero_vectors(len(at.r)), gravity(at)
    for x in bent_bodies(at):
        angular_of(out)[x.row] = np.cross(x.axes @ first_moment(x), g)
    for x, pull in attractions(at):
        out[x.row] += vectors_from(pull.force, x.axes @ pull.torque)
    return out


def _station(x: Bent, line: Floats, numbers: Floats) -> Station:
    n, first = len(x.q), line[STATION_NUMBERS]
    point, phi, psi = np.split(numbers[first : first + 3 + 6 * n], [3, 3 + 3 * n])
    phi, psi = phi.reshape(n, 3).T, psi.reshape(n, 3).T
    eta = np.zeros((3, n, n))
    for k, begin in enumerate(line[STATION_SHORTENING : STATION_SHORTENING + 3]):
        if begin >= 0:
            eta[k] = numbers[begin : begin + n * n].reshape(n, n)
    theta, rate, w = psi @ x.q, psi @ x.u, x.omega
    arm = point + phi @ x.q - 0.5 * np.einsum("i,kij,j->k", x.q, eta, x.q)
    sliding, D = phi - eta @ x.q, turning(theta)
    slip, spin = sliding @ x.u, D @ rate
    with_body = np.block([[np.eye(3), -skew(x.axes @ arm)], [np.zeros((3, 3)), np.eye(3)]])
    bias = np.cross(w, np.cross(w, arm)) + 2.0 * np.cross(w, slip)
    bias = bias - np.einsum("i,kij,j->k", x.u, eta, x.u)
    alpha = turning_rate(theta, rate) @ rate + np.cross(w, spin)
    with_modes = np.vstack([x.axes @ sliding, x.axes @ D @ psi])
    turned = np.concatenate([x.axes @ bias, x.axes @ alpha])
    return Station(x.row, point, with_body, x.columns, with_modes, turned)


# --- all bodies -----------------------------------------------------------------------------------
def on_bodies(at: Instant, wide: Floats) -> Floats:
    """Rows over (v, w) in N of all bodies and stations (m, nb + ns + 1, 6), as rows over the
    velocities of bodies, omega in body axes, and the rates of modes (m, n)."""
    layout = states_of(at.selection.tables)
    nb = layout.bodies
    mine, further = wide[:, :nb].copy(), np.zeros((len(wide), int(layout.coordinates[-1])))
    for row, s in stations(at):
        mine[:, s.body] += wide[:, row] @ s.with_body
        further[:, s.columns] += wide[:, row] @ s.with_modes
    angular_of(mine)[:] = np.einsum("mni,nij->mnj", angular_of(mine), at.frames.axes[:nb])
    return layout.vector(mine, further)


def station_biases(at: Instant) -> Floats:
    """Acceleration of each row while all speeds stay, beyond that of a rigid body (nb + ns + 1,
    6)."""
    out = zero_vectors(len(at.frames.rows))
    for row, s in stations(at):
        out[row] = s.bias
    return out


def forces(at: Instant) -> Floats:
    """Right-hand side without joints: loads, less what velocities do, over velocities of bodies and
    rates of modes (n,)."""
    tables, layout = at.selection.tables, states_of(at.selection.tables)
    first = speeds_count(layout.bodies)
    wrench = np.concatenate([at.loads.wrench, zero_vectors(1)])
    out = on_bodies(at, wrench[None])[0]
    spin = np.einsum("nij,nj->ni", tables.body_inertia, at.omega)
    angular_of(layout.by_body(out))[:] -= np.cross(at.omega, spin)
    g = gravity(at)
    for x in bent_bodies(at):
        inertia, i = tables.body_inertia[x.row], 6 * x.row
        force, torque, on_modes = bias_of(x, inertia)
        rigid = np.cross(x.omega, inertia @ x.omega)
        here, q = x.axes.T @ g, slice(first + x.columns.start, first + x.columns.stop)
        out[i : i + 3] -= force
        out[i + 3 : i + 6] += np.cross(first_moment(x), here) + rigid - torque
        out[q] += momentum_of_modes(x).T @ here - on_modes
        out[q] -= x.model.stiffness @ x.q + x.model.damping @ x.u
    for x, pull in attractions(at):
        i, q = 6 * x.row, slice(first + x.columns.start, first + x.columns.stop)
        out[i : i + 3] += pull.force
        out[i + 3 : i + 6] += pull.torque
        out[q] += pull.on_modes
    return out


class Planet(NamedTuple):
    """A planet that acts: its centre's place relative to N's origin, reversed (3,) [m]; mu [m3/s2];
    whether N's origin falls in its field."""

    centre: Floats
    mu: float
    falls: bool

    def falls_at(self, r: Floats) -> Floats:
        """The acceleration at a place in N, beside that of N's origin where this falls (3,)."""
        place = self.centre + r
        g = -self.mu * place / np.linalg.norm(place) ** 3
        far = np.linalg.norm(self.centre) ** 3
        return np.asarray(g + self.mu * self.centre / far if self.falls else g)

    def pull(self, r: Floats, first: Floats, J: Floats) -> tuple[Floats, Floats]:
        """Force and moment about a place r in N (3,) on masses around it, beside what the uniform
        acceleration `falls_at(r)` does; by their first moment (3,) and their moments of inertia
        (3, 3) about r, in N."""
        place = self.centre + r
        R = float(np.linalg.norm(place))
        c, steep = place / R, self.mu / R**3
        G, trace, out = steep * (3.0 * np.outer(c, c) - np.eye(3)), np.trace(J), c @ J @ c
        force = -1.5 * steep / R * (2.0 * J @ c + (trace - 5.0 * out) * c) + G @ first
        return np.asarray(force), np.asarray(3.0 * steep * np.cross(c, J @ c))


class Attraction(NamedTuple):
    """What a planet does to a body beside what it does to it as it was: its row; force in N, torque
    in body axes, loads on modes; potential energy [J]."""

    row: int
    force: Floats
    torque: Floats
    on_modes: Floats
    energy: float


def planets(at: Instant) -> Iterator[Planet]:
    """All planets that act."""
    tables = at.selection.tables
    kinds = tables.element_kind[at.selection.elements]
    for e in at.selection.elements[kinds == PLANET].tolist():
        force = tables.forces[tables.element_force[e]]
        falls = isinstance(force, GravityGradient)
        centre = force.orbit.at(at.t)[0] if falls else -np.asarray(force.centre)
        yield Planet(np.asarray(centre), float(tables.element_numbers[e, MU]), falls)


def attractions(at: Instant) -> Iterator[tuple[Bent, Attraction]]:
    """Of all planets that act, on all bodies that bend, as kernels/tree/attraction.py has it; the
    energy is zero where N's origin falls."""
    for planet in planets(at):
        for x in bent_bodies(at):
            yield x, _attraction(x, at.r[x.row], planet)


def _attraction(x: Bent, r: Floats, planet: Planet) -> Attraction:
    place, g = planet.centre + r, planet.falls_at(r)
    R = float(np.linalg.norm(place))
    own, steep = x.axes.T @ (place / R), planet.mu / R**3
    first, J = first_moment(x), moments(x, np.zeros((3, 3)))
    force, moment = planet.pull(r, x.axes @ first, x.axes @ J @ x.axes.T)
    moment = moment + np.cross(x.axes @ first, g)
    here = steep * (3.0 * np.outer(own, own) - np.eye(3))
    slopes = x.model.inertia_change + 2.0 * np.einsum("abij,j->iab", second_moments(x.model), x.q)
    on_modes = momentum_of_modes(x).T @ (x.axes.T @ g)
    on_modes = on_modes - 0.5 * np.einsum("ab,iab->i", here, slopes)
    energy = -first @ (x.axes.T @ g) - 0.5 * steep * (np.trace(J) - 3.0 * own @ J @ own)
    return Attraction(
        x.row, force, x.axes.T @ moment, on_modes, 0.0 if planet.falls else float(energy)
    )


def gravity(at: Instant) -> Floats:
    """The sum of all uniform accelerations that act, in N [m/s2] (3,)."""
    tables = at.selection.tables
    kinds = tables.element_kind[at.selection.elements]
    numbers = tables.element_numbers[at.selection.elements[kinds == UNIFORM]]
    return np.asarray(numbers.sum(axis=0)[list(range(len("xyz")))])


def strain_energy(at: Instant) -> float:
    """Potential energy of all bent bodies beside that of forces on them as they were: of strain,
    in uniform accelerations and beside planets [J]."""
    g, out = gravity(at), sum(pull.energy for _, pull in attractions(at))
    for x in bent_bodies(at):
        out += 0.5 * float(x.q @ x.model.stiffness @ x.q) - float(g @ x.axes @ first_moment(x))
    return out


def speeds(at: Instant) -> Floats:
    """v in N and omega in body axes of each body, then all rates of modes (n,)."""
    layout = states_of(at.selection.tables)
    return layout.vector(vectors_from(at.v, at.omega), layout.speeds_in(at.further))


def kinetic_energy(at: Instant) -> float:
    """Kinetic energy of all bodies [J]."""
    v = speeds(at)
    return 0.5 * float(v @ mass_matrix(at) @ v)


# --- momenta --------------------------------------------------------------------------------------
def momenta(at: Instant) -> tuple[Floats, Floats]:
    """Momentum of each body, and its angular momentum about the origin of N, in N (nb, 3)."""
    layout = states_of(at.selection.tables)
    both = layout.by_body(mass_matrix(at) @ speeds(at))
    turned = np.einsum("nij,nj->ni", at.frames.axes[: layout.bodies], angular_of(both))
    return linear_of(both), np.cross(at.r, linear_of(both)) + turned


def mass_moments(at: Instant) -> Floats:
    """Mass times the place of the mass centre of each body, in N [kg m] (nb, 3)."""
    out = at.selection.tables.body_mass[:, None] * at.r
    for x in bent_bodies(at):
        out[x.row] += x.axes @ first_moment(x)
    return out


def inertias_about(at: Instant, centre: Floats) -> Floats:
    """Moments of inertia of each body about a point of N [m], in N [kg m2] (nb, 3, 3)."""
    tables, n = at.selection.tables, len(at.r)
    axes, d = at.frames.axes[:n], at.r - centre
    own = tables.body_inertia.copy()
    for x in bent_bodies(at):
        own[x.row] = moments(x, own[x.row])
    out = axes @ own @ axes.swapaxes(1, 2)
    first = mass_moments(at) - tables.body_mass[:, None] * at.r
    for k, m in enumerate(tables.body_mass.tolist()):
        both = np.outer(m * d[k] + first[k], d[k]) + np.outer(d[k], first[k])
        out[k] += np.trace(both) * np.eye(3) - both
    return np.asarray(out)


# --- tails ----------------------------------------------------------------------------------------
def refuse_bending(t: Tables, who: str) -> None:
    """An error where any body bends, for what takes none that does."""
    for body in t.bodies:
        if body.modal is not None and body.modal.count:
            raise PartError(
                f"{who}: body {body.name!r} bends, and only rigid bodies are taken here; replace "
                "it by a rigid Body, or simulate the motion.",
                code="together",
            )


def unbent(t: Tables) -> Floats:
    """The tail of a state in which no body is bent, and none vibrates."""
    return np.zeros(states_of(t).tail) if t.bends else NO_TAIL


def tail_for(t: Tables, bodies: tuple[str, ...], further: Floats, old: Selection | None) -> Floats:
    """A tail of these bodies of other tables, for all bodies of these: zeros for new ones."""
    if bodies == t.body_names:
        return further
    if old is None or not unbent(t).size:
        return unbent(t)
    mine, wanted = states_of(old.tables), states_of(t)
    out = unbent(t).copy()
    for b, name in enumerate(t.body_names):
        if name in bodies:
            k = bodies.index(name)
            for here, there in zip(mine[2:4], wanted[2:4], strict=True):
                out[there[b] : there[b + 1]] = further[here[k] : here[k + 1]]
    return out


def with_modes(t: Tables, b: int, tail: Floats, key: str, value: Any) -> Floats:
    """A tail with other amounts (modes) or rates (mode_rates) of the modes of body b."""
    first, out = getattr(states_of(t), MODE_FIELDS[key]), np.array(tail)
    try:
        out[first[b] : first[b + 1]] = numbers(value, (int(first[b + 1] - first[b]),))
    except (TypeError, ValueError) as error:
        raise PartError(f"replace: {key} of body {t.bodies[b].name!r} {error}.") from None
    return out


def modes_of(t: Tables, b: int, tails: Floats) -> tuple[Any, ...]:
    """Amounts and rates of the modes of body b (..., n), from tails (..., tail), the deflection of
    the tip of a beam (..., 3) [m], and the beam; empty where it does not bend."""
    body = t.bodies[b]
    if body.modal is None:
        return ()
    layout = states_of(t)
    q, u = layout.coordinates, layout.speeds
    amounts = tails[..., q[b] : q[b + 1]]
    beam = body if isinstance(body, Beam) else None
    tip = None if beam is None else beam.deflection(amounts)
    return amounts, tails[..., u[b] : u[b + 1]], tip, beam

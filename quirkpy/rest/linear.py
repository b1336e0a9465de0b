"""`Linear`: a system linearised at a state of rest, x' = A x + B u, y = C x + D u, in minimal
coordinates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from quirkpy.kernels.base.states import NO_TAIL, angular_of, linear_of
from quirkpy.maths.rotations import product, rotate
from quirkpy.maths.types import Floats
from quirkpy.maths.warnings import warn
from quirkpy.mechanics.equation import generalised_forces
from quirkpy.mechanics.measures import measure_of, value_at
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.capture import hold_at_latches
from quirkpy.parts.body import Site
from quirkpy.parts.checks import show
from quirkpy.parts.force import Force
from quirkpy.parts.part import PartError, fields_of
from quirkpy.rest.gains import Realisation
from quirkpy.rest.kinks import jumping_forces
from quirkpy.rest.sides import phases_of, stretches
from quirkpy.rest.verdicts import Around, motions
from quirkpy.rest.vicinity import Vicinity

#: An output given by users: a number, or several, as a function of a state; or a site, whose
#: position it is.
Measure: TypeAlias = Callable[[State], Any] | Site

AXES = "xyz"
#: A state is at rest if no velocity relative to the rigid motion of the whole exceeds this [m/s or
#: rad/s].
REST_SPEED = 1e-6
#: Step of a field of a force for finite differences, as a share of its value, or of one [1]; where
#: the change deviates from linearity by more than the second share, the response depends on the
#: sense [1].
FIELD_STEP, ONE_SIDED = 1e-6, 1e-3
#: Stiffnesses below this share of the largest are rounding, and so are motions along them below
#: this share of what inputs push and outputs show [1].
UNRESISTED, UNSHOWN = 1e-13, 1e-9


@dataclass(frozen=True, eq=False)
class Linear:
    """x = (xi, xi'): A (2f, 2f), B (2f, m), C (p, 2f), D (p, m);
    ``scipy.signal.StateSpace(*linear)``.

    xi [m kg^1/2] are the coordinates of a displacement of all bodies, `basis` (f, n, 6): of mass
    centres in N, and rotation vectors in body axes; xi'' = -stiffness xi - damping xi' + ..., so
    the mass matrix is the identity. inputs, outputs: a name for each column of B and each row of C.
    drift: xi'' at zero displacement, which is zero at an equilibrium (f,). rigid: whether
    translations and rotations of a floating system are among the coordinates; then f is the number
    of freedoms, and motions on which no external force depends have poles at zero. bending: amounts
    of all modes of bodies that bend along each coordinate (f, m)."""

    A: Floats
    B: Floats
    C: Floats
    D: Floats
    state: State
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    stiffness: Floats
    damping: Floats
    basis: Floats
    drift: Floats
    rigid: bool
    _around: Vicinity = field(repr=False)
    bending: Floats = field(default_factory=lambda: NO_TAIL)

    def __repr__(self) -> str:
        whole = "with" if self.rigid else "without"
        return (
            f"Linear({len(self.A)} states, {whole} the motion of what floats as a whole; inputs "
            f"{self.inputs}, "
            f"outputs {self.outputs})"
        )

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.A, self.B, self.C, self.D))

    @property
    def poles(self) -> Floats:
        """Eigenvalues of A [1/s], slowest first."""
        return np.array(sorted(np.linalg.eigvals(self.A), key=lambda s: (abs(s), s.imag)))

    def displaced(self, xi: Sequence[float], rates: Sequence[float] | None = None) -> State:
        """The state at given coordinates, on the joints, with given rates."""
        a, f = self._around, len(self.drift)
        wanted = [
            np.asarray(array, dtype=float).reshape(1, f)
            for array in (xi, rates if rates is not None else [0] * f)
        ]
        return a.state_of(a.answers(a.states_at(*wanted)).rows[0])

    # --- norms ------------------------------------------------------------------------------------
    @property
    def realisation(self) -> Realisation:
        """The matrices alone."""
        return Realisation(self.A, self.B, self.C, self.D)

    def minimal(self) -> Realisation:
        """A system with the same transfer function and the fewest states: without motions that no
        input moves, and those that no output shows."""
        return self.realisation.minimal()

    def h2(self) -> float:
        """The H2 norm: the size of the outputs under white noise of unit intensity; an error unless
        all motions die out."""
        return self._decaying("H2").h2()

    def hinf(self) -> float:
        """The H-infinity norm, which the 2-norms of inputs and outputs induce: the largest gain at
        any frequency; an error unless all motions die out."""
        return self._decaying("H-infinity").hinf()

    def energy_to_peak(self) -> float:
        """The norm that is induced by inputs in the 2-norm and outputs in the infinity norm: the
        largest length of the outputs at any time after inputs u with integral u'u dt = 1; an error
        unless all motions die out."""
        return self._decaying("energy-to-peak").energy_to_peak()

    def peak_to_peak(self) -> float:
        """The norm that is induced by inputs and outputs in the infinity norm: the largest output
        at any time after inputs of which none ever exceeds one, to a relative accuracy of 1e-6; an
        error unless all motions die out."""
        return self._decaying("peak-to-peak").peak_to_peak()

    def at_rest(self) -> Floats:
        """What constant inputs change in the outputs once all motion has died out (p, m). Of sites
        as inputs and outputs it is the matrix of compliance there [m/N]; an error where inputs
        move outputs without end."""
        self._check_held()
        return self.realisation.at_rest()

    def _check_held(self) -> None:
        """Outputs seen grow as t^2 along motions of no stiffness that inputs push."""
        f = len(self.drift)
        U, sigma, Vt = np.linalg.svd(self.stiffness)
        unknown = np.linalg.norm(self._around.stiffness_error, 2) if f else 0.0
        loose = sigma <= max(float(unknown), UNRESISTED * sigma.max(initial=0.0))
        left, right = U[:, loose], Vt[loose].T
        pushed, shown = self.B[f:], self.C[:, :f]
        grown = shown @ right @ np.linalg.pinv(left.T @ right) @ left.T @ pushed
        least = UNSHOWN * np.linalg.norm(shown, axis=1)[:, None] * np.linalg.norm(pushed, axis=0)
        if (abs(grown) > least).any():
            row, column = np.argwhere(abs(grown) > least)[0]
            raise PartError(
                f"at_rest: nothing resists the motion in which input {self.inputs[column]!r} moves "
                f"output {self.outputs[row]!r}, so it never comes to rest; hold what drifts by a "
                "joint, or leave the motion of the whole out with linearize(..., rigid=False).",
                code="answer",
            )

    def _decaying(self, which: str) -> Realisation:
        self._check_decay(which)
        return self.realisation

    def _check_decay(self, which: str) -> None:
        a, f = self._around, len(self.drift)
        found = motions(
            Around(self.stiffness, self.damping, a.stiffness_error, a.damping_error), np.eye(f)
        )
        if found.dying.all():
            return
        worst = int(np.argmax(np.where(found.dying, -np.inf, found.values.real)))
        raise PartError(
            f"the {which} norm needs motions that all die out, but one has the rate "
            f"{found.values[worst].real:.3g} 1/s, known to {found.errors[worst]:.2g}; add damping, "
            "hold what drifts by "
            "a joint, or leave the motion of the whole out with linearize(..., rigid=False).",
            code="answer",
        )


def linearize(
    system: System,
    state: State,
    inputs: Sequence[str | Site],
    outputs: Sequence[str | Measure] | None,
    rigid: bool = True,
) -> Linear:
    """The linear model of a system at rest, as `Multibody.linearize` says."""
    if not isinstance(rigid, bool):
        raise PartError(f"linearize: rigid is {show(rigid)}, but must be True or False.")
    state = hold_at_latches(system.clusters, state)
    phases = phases_of(system.selection, stretches(system.selection, state))
    around = Vicinity(system.clusters, state, phases=phases)
    if rigid and (around.whole.drifts.any() or around.whole.turns.any()):
        around = Vicinity(system.clusters, state, around.whole.with_drifts(), phases)
    fastest = float(abs(around.whole.relative_velocities(around.rows)).max(initial=0.0))
    if fastest > REST_SPEED:
        raise PartError(
            f"linearize: this state moves (up to {fastest:.3g} m/s or rad/s beside its whole); "
            "give a state at rest, "
            "such as system.settle().state.",
            code="pose",
        )
    _warn_of_jumps(around)
    f, K, D = around.freedoms, around.stiffness.values, around.damping.values
    A = np.block([[np.zeros((f, f)), np.eye(f)], [-K, -D]])
    shapes, points = around.shapes(np.eye(f)), around.points
    basis = shapes[:, : len(around.state.bodies)]
    columns, named = _inputs(system, around, shapes, inputs)
    B = np.concatenate([np.zeros_like(columns), columns])
    C, seen = _outputs(system, around, outputs)
    return Linear(
        A, B, C, np.zeros((len(C), B.shape[1])), around.state_of(around.here.rows[0]), named, seen,
        K, D, basis, around.pull, rigid, around, points.modes_in(shapes) * points.roots,
    )  # fmt: skip


def _warn_of_jumps(around: Vicinity) -> None:
    """No matrix holds on both sides of a state at which stiffness jumps."""
    names = jumping_forces(around)
    if names:
        warn(
            f"linearize: stiffness jumps at this state, where {', '.join(names)} is just between "
            "two laws, such as taut and slack; A lies between those of either side."
        )


# --- inputs ---------------------------------------------------------------------------------------
def _inputs(
    system: System, around: Vicinity, shapes: Floats, names: Sequence[str | Site]
) -> tuple[Floats, tuple[str, ...]]:
    """The generalized force of each input (f, m), and their names; shapes: of all bodies along
    each coordinate (f, n, 6)."""
    if isinstance(names, str):
        raise PartError(
            f"linearize: inputs is {names!r}, but must be a list of names, such as [{names!r}]."
        )
    columns: list[Floats] = []
    labels: list[str] = []
    in_n = shapes[:, : len(around.state.bodies)].copy()
    for k, direction in enumerate(in_n.copy()):
        angular_of(in_n)[k] = rotate(around.state.q, angular_of(direction))

    def push(load: Floats) -> Floats:
        if around.flexible:
            return np.asarray(around.points.flat(shapes, -1) @ load)
        return np.einsum("fni,ni->f", in_n, load)

    for name in names:
        if isinstance(name, Site):
            if name.body.fixed:
                raise PartError(
                    f"linearize: inputs has the site {name.name!r} of {name.body.name!r}, which is "
                    "fixed, so no force moves it; leave it out."
                )
            columns += list(_slopes(around, _position_of(system, "inputs", name)))
            labels += [f"{label_of(name)}.{axis}" for axis in AXES]
            continue
        body, _, what = str(name).partition(".")
        if name in system.tables.force_index:
            columns.append(push(_load(system, around.state, name)))
            labels.append(name)
        elif body in system.tables.force_index and what in fields_of(system[body]):
            change = _change(system, around.state, body, what)
            columns.append(push(change))
            labels.append(name)
        elif body in system.tables.force_index and what in ("tension", "density"):
            columns.append(_pull(system, around, body, what))
            labels.append(name)
        elif body in system.bodies and what in ("force", "torque"):
            columns += _on_body(system, around, in_n, body, what)
            labels += [f"{name}.{axis}" for axis in AXES]
        elif name in around.state.joints:
            columns.append(_rates(around, name))
            labels.append(name)
        else:
            raise PartError(
                _unknown(
                    system, "inputs", name, 'a force, "force.field", "body.force", "body.torque"'
                ),
                code="name",
            )
    return np.array(columns).reshape(len(columns), around.freedoms).T, tuple(labels)


def _on_body(system: System, around: Vicinity, in_n: Floats, body: str, what: str) -> list[Floats]:
    """The generalized force (f,) of a unit force at the mass centre of a body, or of a unit torque
    on it there, along each axis of N; where it bends, at what lies there in it undeformed."""
    k, half = system.bodies.index(body), linear_of if what == "force" else angular_of
    part = system.tables.bodies[k]
    if part.modal is None or not part.modal.count:
        return list(half(in_n[:, k]).T)
    centre = part.site("mass centre", at=(0.0, 0.0, 0.0))
    moving = map(around.instant_of, around.with_speeds(around.basis))
    sites = [at.at_sites(centre) for at in moving]
    rates = [site.velocity[0] if what == "force" else site.spin[0] for site in sites]
    return list(np.array(rates).reshape(-1, 3).T)


def _load(system: System, state: State, force: str, **fields: float) -> Floats:
    """The loads of a force on all bodies, optionally with other values of some of its fields (n,
    6); where bodies bend, on all speeds in one line."""
    chosen = {force: fields} if fields else {}
    selection = system.tables.select(_joints(system), [force], parameters=chosen)
    at = state.instant(selection)
    if system.tables.bends:
        none = state.instant(system.tables.select(_joints(system), []))
        return generalised_forces(at) - generalised_forces(none)
    return at.loads.wrench


def _change(system: System, state: State, force: str, field: str) -> Floats:
    """The derivative of the loads with respect to a field of the force (n, 6); warns where it is
    zero, and raises an error where it depends on the sense."""
    part = system[force]
    value = part.value_of(field) if isinstance(part, Force) else getattr(part, field)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise PartError(
            f"linearize: inputs has {force + '.' + field!r}, but that is {show(value)}, and must "
            "be a number."
        )
    step = FIELD_STEP * max(1.0, abs(value))
    if field == "rest_length" and force in (found := stretches(system.selection, state)):
        step = min(step, 0.5 * abs(found[force]) or step)  # on one side of the kink
    less, here, more = (
        _load(system, state, force, **{field: value + way * step}) for way in (-1.0, 0.0, 1.0)
    )
    size = float(abs(more - less).max(initial=0.0))
    if abs(more + less - 2.0 * here).max(initial=0.0) > ONE_SIDED * size:
        raise PartError(
            f"linearize: inputs has {force + '.' + field!r}, but {force!r} is just between taut "
            "and slack, and answers otherwise to more than to less: give it some tension, or none."
        )
    if size == 0.0:
        warn(
            f"linearize: {force + '.' + field!r} changes nothing here, for {force!r} does nothing; "
            "its column of B is zero."
        )
    return (more - less) / (2.0 * step)


def _pull(system: System, around: Vicinity, force: str, what: str) -> Floats:
    """The generalized force of a unit of tension of a string, slack or taut, or of tension over
    length (f,)."""
    found = measure_of("linearize: inputs", system.tables, f"{force}.length")
    length = value_at(found, around.state.instant(system.selection)).item()
    (slope,) = _slopes(around, lambda s: value_at(found, s.instant(system.selection)).reshape(-1))
    return -slope * (length if what == "density" else 1.0)


def _slopes(around: Vicinity, measure: Callable[[State], Floats]) -> Floats:
    """Derivatives of some numbers along each coordinate of the vicinity (m, f)."""
    values = np.array([measure(around.state_of(rows)) for rows in around.probes.rows])
    if not len(values):
        return np.zeros((len(measure(around.state)), 0))
    return around.slopes_of(values)


def _position_of(system: System, which: str, site: Site) -> Callable[[State], Floats]:
    """The function that gives the position of a site in N [m] (3,)."""
    if not site.body.fixed and site.body.name not in system.bodies:
        raise PartError(
            f"linearize: {which} has the site {site.name!r} of {site.body.name!r}, which is no "
            f"body of this system; there are {', '.join(system.bodies)}.",
            code="name",
        )
    return lambda s: np.asarray(s.instant().at_sites(site).position[0])


def label_of(site: Site) -> str:
    """The name of a site in the labels of inputs and outputs."""
    return f"{site.body.name} {site.name}"


def _joints(system: System) -> list[str]:
    return [system.tables.joint_names[j] for j in system.selection.joints]


def _rates(around: Vicinity, coordinate: str) -> Floats:
    """Derivatives of a joint coordinate along each coordinate of the vicinity (f,); also the
    generalized force of a unit load on it."""
    k = np.array([around.state.joints.index(coordinate)])
    return np.asarray(_slopes(around, lambda s: s.instant().coordinates(k)[:, 0])[0])


# --- outputs --------------------------------------------------------------------------------------
def _outputs(
    system: System, around: Vicinity, wanted: Sequence[str | Measure] | None
) -> tuple[Floats, tuple[str, ...]]:
    """The matrix C (p, 2 f) and the names of its rows; the whole state where no outputs are
    given."""
    f = around.freedoms
    if wanted is None:
        return np.eye(2 * f), tuple(f"{x}{k}" for x in ("xi", "rate") for k in range(f))
    if isinstance(wanted, str):
        raise PartError(
            f"linearize: outputs is {wanted!r}, but must be a list, such as [{wanted!r}]."
        )
    measures = [_measure(system, around, output) for output in wanted]
    labels = [label for names, _ in measures for label in names]
    halves = []
    for rows, unit in ((around.probes.rows, 1.0), (around.moving.rows, around.pace)):
        states = [around.state_of(row) for row in rows]
        values = [
            np.concatenate([np.zeros(0), *(measure(s) for _, measure in measures)]) for s in states
        ]
        table = np.array(values).reshape(len(states), len(labels))
        halves.append(around.slopes_of(table) / unit)
    return np.concatenate(halves, axis=1), tuple(labels)


def _measure(
    system: System, around: Vicinity, output: str | Measure
) -> tuple[list[str], Callable[[State], Floats]]:
    """The names of what an output measures, and a function that gives the numbers."""
    if isinstance(output, Site):
        labels, place = (
            [f"{label_of(output)}.{axis}" for axis in AXES],
            _position_of(system, "outputs", output),
        )
        return labels, lambda s: place(s) - place(around.state)
    if not isinstance(output, str):
        if not callable(output):
            raise PartError(
                f"linearize: outputs has {show(output)}, which is neither a name nor a function "
                "of a state."
            )
        size = np.atleast_1d(np.asarray(output(around.state), dtype=float)).size
        name = getattr(output, "__name__", "output")
        return [name] if size == 1 else [
            f"{name}.{k}" for k in range(size)
        ], lambda s: np.atleast_1d(np.asarray(output(s), dtype=float)).reshape(-1)
    plain, _, what = output.partition(".")
    coordinate, column = (output[: -len(".rate")], 1) if output.endswith(".rate") else (output, 0)
    if coordinate in around.state.joints:
        which = np.array([around.state.joints.index(coordinate)])
        return [output], lambda s: s.instant().coordinates(which)[:, column]
    if plain in system.bodies and what in BODY_OUTPUTS:
        k = system.bodies.index(plain)
        return [f"{output}.{axis}" for axis in AXES], lambda s: BODY_OUTPUTS[what](
            s, around.state, k
        )
    if what == "rotation":
        words = ", ".join(f'"body.{word}"' for word in BODY_OUTPUTS)
        raise PartError(_unknown(system, "outputs", output, words), code="name")
    return _named_measure(system, output)


def _named_measure(system: System, name: str) -> tuple[list[str], Callable[[State], Floats]]:
    """Any other measurable quantity by name, except those that depend on inputs directly."""
    found = measure_of("linearize: outputs", system.tables, name)
    if found.at_once:
        raise PartError(
            f"linearize: outputs has {name!r}, which answers to loads at once and so is no "
            "function of displacements and rates; leave it out."
        )
    labels = [f"{name}.{part}" for part in found.parts] or [name]
    return labels, lambda s: value_at(found, s.instant(system.selection)).reshape(-1)


def _rotation(s: State, base: State, k: int) -> Floats:
    """The rotation from the base state, as a rotation vector in body axes."""
    turn = product((base.q[k] * (1.0, -1.0, -1.0, -1.0))[None], s.q[k][None])[0]
    return np.asarray(2.0 * turn[1:] * np.sign(turn[0] or 1.0))


#: Measurable quantities of a body: three numbers, from a state, the base state and the body's row.
BODY_OUTPUTS: dict[str, Callable[[State, State, int], Floats]] = {
    "position": lambda s, base, k: s.r[k] - base.r[k],
    "rotation": _rotation,
    "velocity": lambda s, base, k: s.v[k],
    "angular_velocity": lambda s, base, k: s.omega[k],
}


def _unknown(system: System, which: str, name: object, words: str) -> str:
    known = [*system.initial.joints, *(system.tables.force_names if which == "inputs" else ())]
    return (
        f"linearize: {which} has {name!r}, which is none of: {words}; coordinates and forces here "
        "are: "
        f"{', '.join(known) or 'none'}; bodies: {', '.join(system.bodies)}."
    )

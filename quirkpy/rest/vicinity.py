"""`Vicinity`: the states around a given one, in local coordinates, and derivatives of forces.

A state near x is given by a displacement along the constraints, Z xi, projected onto the joints;
its velocity is Z eta. The columns of Z are orthonormal in the metric of kinetic energy, so that xi
and eta have the units m kg^(1/2) and m/s kg^(1/2), for translations and rotations alike, and

    xi'' = g - K xi - D xi',    g = Z' M a,  K = -Z' M da/dxi,  D = -Z' M da/deta

where a are the accelerations of the constrained system relative to the rigid motion of the whole,
in axes that move with it. The constraint forces turn with xi, so K is the second variation of
energy on the constraints, Z' (Hess U - sum lambda_i Hess phi_i) Z for rows with J' lambda as their
force: it contains the curvature of the constraints, whether rows are redundant or not."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from quirkpy.kernels.base.eigen import eigen
from quirkpy.kernels.base.states import (
    angular_of,
    bodies_of,
    by_body,
    halves_of,
    linear_of,
    positions_of,
    quantities_of,
    speeds_of,
    state_rows,
    with_ledger,
    zero_rows,
    zero_vectors,
)
from quirkpy.kernels.place.carried import displace_bodies
from quirkpy.kernels.step.probing import (
    NOISE,
    ORDERS,
    differentiate,
    probe,
)
from quirkpy.kernels.users.modal import points_of
from quirkpy.maths.cached import cached_property
from quirkpy.maths.constants import EPS, TINY
from quirkpy.maths.differences import (
    DOUBTS,
    EIGHTH,
    EVERY_ORDER,
    PLACES,
    Slopes,
    is_symmetric_within,
    unsure,
)
from quirkpy.maths.types import Floats
from quirkpy.mechanics import equation
from quirkpy.mechanics.clusters import Clusters, Entry
from quirkpy.mechanics.engine import Engine
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.invariance import whole_motion
from quirkpy.mechanics.rigid_motion import (
    Whole,
    displacement_between,
    on_screws,
)
from quirkpy.mechanics.scales import metre, per_second
from quirkpy.mechanics.state import State, angles_of
from quirkpy.motion.snapshot import state_at
from quirkpy.rest.coordinates import (
    Answers,
    LocalCoordinates,
    accelerations_of_free,
    forces_as_felt,
    measure,
    span_of,
    units_of,
)
from quirkpy.rest.jumps import Jumps
from quirkpy.rest.sides import shorten_steps

#: The largest displacement of a body by a probe [m], [rad]. Truncation of eighth order and rounding
#: both stay near 1e-11 of a stiffness that changes over a centimetre or more (docs/numerics.md).
PROBE_LENGTH, TURNED = 1e-4, 2e-3
#: A pose is near a singular one where the smallest non-zero singular value is below this; then
#: probes are shorter, down to this share, below which rounding increases faster than truncation
#: decreases.
NEAR_SINGULAR, SHORTEST_PROBE = 0.1, 0.05
#: Ratio of stiffnesses below which the basis is aligned with them; number of rounds.
WIDE, GOES = 1e-8, 3


class Vicinity:
    """The neighbourhood of one state of a selection. whole: the rigid motion of the whole system,
    where it is known already; phases: the laws of strings to which all states keep, taut or slack,
    where these do not follow from their lengths (ne,)."""

    def __init__(
        self, clusters: Clusters, state: State, whole: Whole | None = None, phases: Any = None
    ) -> None:
        self.clusters, self.state, self.phases = clusters, state, phases
        #: Neutral and other directions, once they are known.
        self.parts: tuple[Floats, Floats] | None = None
        self.entry: Entry = clusters.enter(state, projecting=True)
        self.layout = self.entry.layout
        self.points = points_of(self.layout.selection.tables)
        self.rows = self.points.rows(self.entry.rows, state.further)
        # Rows give an angle near half a turn either sign, and it would jump as the state moves
        self.near = angles_of(state.instant())
        self.near = self._angles
        self.whole = self._whole() if whole is None else whole

    def _prepare(self, engine: Engine) -> None:
        """Give an engine the angles and the active stops of the state."""
        engine.turn_to(self.near)
        engine.hold(self.state.held)
        if self.phases is not None:
            engine.hold_phases(self.phases)
        if engine.states.tail:
            engine.stand_at(self.state.further)

    def _whole(self) -> Whole:
        with self.layout.lend() as engine:
            self._prepare(engine)
            return whole_motion(engine, self.at, self.rows)

    @property
    def flexible(self) -> bool:
        """Whether any of the bodies bends."""
        return len(self.points.owners) > 0

    @cached_property
    def at(self) -> Instant:
        """The state as an argument of the kernels of rows and loads."""
        return self.instant_of(self.rows)

    def instant_of(self, rows: Floats) -> Instant:
        """A neighbour by rows (n, STATE_WIDTH) as an argument of the kernels."""
        s, tail = self.state, self.tail_of(rows)
        r, q, v, omega = (some.copy() for some in quantities_of(self.points.bodies(rows)))
        return Instant(self.layout.selection, s.t, r, q, v, omega, self.near, s.held, tail)

    def tail_of(self, rows: Floats) -> Floats:
        """The tail of a neighbour by rows (n, STATE_WIDTH)."""
        return self.points.tails(rows) if self.flexible else self.state.further

    def with_speeds(self, speeds: Floats) -> Floats:
        """The rows of this state with other velocities of bodies and points (..., n, 6)."""
        out = np.empty((*speeds.shape[:-1], self.rows.shape[-1]))
        out[:] = self.rows
        speeds_of(out)[:] = speeds
        return out

    @cached_property
    def decomposition(self) -> equation.Decomposition:
        """The singular value decomposition of the rows of the joints at this state."""
        return equation.decompose(self.at)

    @cached_property
    def coordinates_here(self) -> LocalCoordinates:
        """What the coordinates are: displacements, covectors, and the steps of differences."""
        near = min(1.0, max(SHORTEST_PROBE, self.decomposition.smallest / NEAR_SINGULAR))
        longest = near * PROBE_LENGTH * self.size, near * TURNED
        made = measure(self.at, self._free, longest)
        reach = shorten_steps(self.at, self.phases, made.basis, made.reach)
        return made._replace(reach=reach)

    @property
    def basis(self) -> Floats:
        """Z: displacements that the joints allow, without those rigid motions of the whole that
        change nothing (f, nb, 6)."""
        return self.coordinates_here.basis

    @property
    def covectors(self) -> Floats:
        """Z' M (f, 6 nb)."""
        return self.coordinates_here.covectors

    @cached_property
    def carried(self) -> Floats:
        """Rigid motions of the whole that change nothing (k, nb, 6)."""
        return self.whole.directions(self.rows)

    @cached_property
    def _free(self) -> Floats:
        """M^(1/2) Z, with orthonormal rows (f, nb, 6)."""
        return self._align_basis(self._span)

    @cached_property
    def _span(self) -> Floats:
        """An orthonormal basis of that span, before alignment (f, nb, 6)."""
        return span_of(self.at, self.decomposition, self.carried)

    def _align_basis(self, free: Floats) -> Floats:
        """Free directions (f, nb, 6); where rounding in stiff ones hides soft ones, a basis aligned
        with both, in which a stiff direction has little effect on a soft one."""
        level = math.inf
        for _ in range(GOES if len(free) else 0):
            around = self._copy()
            around.__dict__["_free"] = free
            K = 0.5 * (around.stiffness.values + around.stiffness.values.T)
            sizes = abs(np.linalg.eigvalsh(K)) if math.isinf(level) else np.zeros(1)
            told = sizes.min() > WIDE * sizes.max()
            if not told:
                values, axes = eigen(K)
                known = (abs(values) <= WIDE * level) & (
                    abs(values) > unsure(around.stiffness_error, axes)
                )
                level = float(abs(values[known]).max(initial=0.0))
                told = level == 0.0 or abs(values).min() > WIDE * level
            if told:
                self.__dict__.update(
                    {
                        name: around.__dict__[name]
                        for name in ("coordinates_here", "asked", "differences", "stiffness")
                    }
                )
                break
            free = np.einsum("fk,fni->kni", axes, free)
        return free

    @cached_property
    def lengths(self) -> Floats:
        """The largest change of each coordinate if all bodies move by a metre or a radian [m
        kg^1/2] (f,)."""
        return np.asarray(np.linalg.norm(self.covectors, axis=1))

    @property
    def freedoms(self) -> int:
        """The number of coordinates."""
        return len(self._span)

    # --- states around ----------------------------------------------------------------------------
    def states_at(self, xi: Floats, eta: Floats | None = None) -> Floats:
        """States (k, nb, STATE_WIDTH) near the joints at coordinates xi (k, f), with velocities eta
        relative to the rigid motion of the whole."""
        return self.displace_bodies(np.einsum("kf,fni->kni", xi, self.basis), eta)

    @cached_property
    def carried_state(self) -> Floats:
        """The state with the velocities of the rigid motion of the whole alone (n, STATE_WIDTH)."""
        out = self.rows.copy()
        speeds_of(out)[:] = self.whole.field(out)
        return out

    def displace_bodies(self, displacement: Floats, eta: Floats | None = None) -> Floats:
        """States (k, nb, STATE_WIDTH) displaced by (k, nb, 6), in N and by rotation vectors in body
        axes, with velocities eta relative to the rigid motion of the whole."""
        out, whole = np.empty((len(displacement), *self.rows.shape)), self.whole
        moved = np.ascontiguousarray(displacement)
        displace_bodies(self.rows, moved, whole.centre, whole.velocity, whole.turning, out)
        if eta is not None:
            speeds_of(out)[:] += np.einsum("kf,fni->kni", eta, self.basis)
        return out

    def states_on_screw(self, xi: Floats, lengths: Floats) -> Floats:
        """States (k, nb, STATE_WIDTH) with every body displaced along the screw of its velocity
        under a displacement xi: lengths of the path (k,), in units of xi."""
        out = on_screws(self.rows, np.einsum("f,fni->ni", xi, self.basis), lengths)
        speeds_of(out)[:] = self.whole.field(out)
        return out

    def answers(self, rows: Floats) -> Answers:
        """Project states (k, nb, STATE_WIDTH) onto the joints; give accelerations and energies."""
        with self.layout.lend() as e:
            self._prepare(e)
            states, accelerations, energies = e.respond(self.state.t, rows)
        felt = self.whole.relative_accelerations(states, accelerations)
        return Answers(states, forces_as_felt(self.at, states, felt), energies)

    def reduce(self, felt: Floats) -> Floats:
        """Accelerations of bodies a (k, n, 6) in coordinates: Z' M a (k, f)."""
        return np.asarray(felt.reshape(len(felt), self.covectors.shape[1]) @ self.covectors.T)

    def coordinates(self, states: Floats) -> Floats:
        """Coordinates xi (k, f) of states near by (k, nb, STATE_WIDTH), to first order."""
        return self.reduce(displacement_between(np.broadcast_to(self.rows, states.shape), states))

    def coordinates_of(self, other: Vicinity, xi: Floats) -> Floats:
        """The direction in these coordinates that is nearest to a given one in those of a
        neighbour, with the same length."""
        moved = np.einsum("f,fni->ni", xi, other.basis)
        mine = self.covectors @ moved.reshape(-1)
        return np.asarray(mine * (np.linalg.norm(xi) / max(float(np.linalg.norm(mine)), TINY)))

    # --- forces and their slopes ------------------------------------------------------------------
    @cached_property
    def asked(self) -> Answers:
        """Answers of the state, with the velocity of the rigid motion of the whole alone, followed
        by those of `probes` (1 + 8 f, ...)."""
        whole, many = self.whole, 1 + len(PLACES) * self.freedoms
        if self.flexible:
            around = self.displace_bodies(self._steps)
            return self.answers(np.concatenate([self.carried_state[None], around]))
        n = len(self.rows)
        states, felt, energies = zero_rows(many, n + 1), zero_vectors(many, n), np.empty(many)
        moves = whole.centre, whole.velocity, whole.acceleration, whole.turning
        with self.layout.lend() as e:
            self._prepare(e)
            probe(
                self.state.t, self.rows, self.basis, self.reach, PLACES, *moves, e.model,
                e.conditions, e.scratch, np.zeros(2), states, felt, energies,
            )  # fmt: skip
            e.python.raise_pending()
        return Answers(bodies_of(states), felt, energies)

    @cached_property
    def here(self) -> Answers:
        """Answers of the state itself (1, ...), without computing the probes."""
        if "asked" in self.__dict__:
            return Answers(*[array[:1] for array in self.asked])
        return self.answers(self.carried_state[None].copy())

    @cached_property
    def probes(self) -> Answers:
        """Answers at the nodes of the differences along every coordinate, one coordinate after the
        other (8 f, ...)."""
        return Answers(*[array[1:] for array in self.asked])

    @cached_property
    def pulled(self) -> Floats:
        """The generalized force along each coordinate at all probes (8 f, f)."""
        return self.reduce(self.probes.felt)

    @cached_property
    def pull(self) -> Floats:
        """g: the generalized force along each coordinate (f,)."""
        return self.reduce(self.here.felt)[0]

    @property
    def energy(self) -> float:
        """Potential energy here [J]."""
        return float(self.here.energies[0])

    @cached_property
    def loading(self) -> float:
        """The largest acceleration that the loads would give a body without joints, and that the
        rotation of the whole gives one that moves with it [m/s2], [rad/s2]; bodies that are locked
        together count one by one, since loads that cancel within a cluster leave rounding."""
        at = self.at if self.entry.merger is None else self.state.instant(self.clusters.selection)
        free = accelerations_of_free(at, equation.generalised_forces(at))
        return float(
            abs(free).max(initial=0.0) + abs(self.whole.centripetal(self.rows)).max(initial=0.0)
        )

    @cached_property
    def reach(self) -> Floats:
        """The step of each coordinate that moves no body by more than the length of a probe (f,);
        less near a singular pose, where the radius of curvature of the constraints is comparable to
        their smallest singular value."""
        return self.coordinates_here.reach

    @cached_property
    def size(self) -> float:
        """The unit of length for bodies of this size [m]."""
        return metre(self.layout.selection, self.points.bodies(self.rows))

    @cached_property
    def units(self) -> Floats:
        """What the two halves of displacements are measured in, as `units_of` has it."""
        return units_of(self.layout.selection, self.size)

    @cached_property
    def pace(self) -> float:
        """The unit of rates for these motions [1/s]."""
        return per_second(self.stiffness.values)

    @cached_property
    def stiffness(self) -> Slopes:
        """The stiffness K [1/s2] (f, f), with the error of its entries."""
        first, lower, noise = self.differences[: NOISE + 1]
        return Slopes(first, first - lower, abs(noise))

    @cached_property
    def differences(self) -> Floats:
        """All differences of minus the generalized force at the probes (ORDERS, f, f)."""
        return self._differences(self.pulled, self.reach)

    @cached_property
    def stiffness_error(self) -> Floats:
        """Error bounds of K at the equilibrium nearest to this state [1/s2] (f, f): the remaining
        forces would turn with the bodies."""
        moved = self.basis.reshape(self.freedoms, 2 * len(self.rows), 3)
        swept = np.sqrt((moved**2).sum(axis=2).max(axis=1, initial=0.0))
        bent = DOUBTS * np.linalg.norm(self.pull) * swept
        return self.stiffness_error_here + bent

    @cached_property
    def stiffness_error_here(self) -> Floats:
        """Error bounds of K at this very state [1/s2] (f, f)."""
        return self._error(self.stiffness, -self.pulled)

    @cached_property
    def damping_error(self) -> Floats:
        """Error bounds of D [1/s] (f, f)."""
        return self._error(self.damping, -self.reduce(self.moving.felt), self.pace * self.reach)

    def _error(self, slopes: Slopes, values: Floats, reach: Floats | None = None) -> Floats:
        """Error bounds from the truncation of the differences and the rounding of their values."""
        sizes = EPS * np.linalg.norm(self.by_place(values), axis=2).max(axis=1)
        shown = abs(slopes.doubt) + slopes.noise
        step = self.reach if reach is None else reach
        return np.asarray(DOUBTS * (shown + (sizes + self.rounding[:, None]) / step))

    @cached_property
    def jumps(self) -> Jumps:
        """The discontinuities of the stiffness around the state."""
        return Jumps(self)

    @cached_property
    def rounding(self) -> Floats:
        """The generalized forces that rounding of poses, and of loads that cancel, can produce
        along each coordinate (f,)."""
        weights = halves_of(by_body(self.covectors))
        places = (positions_of(self.rows) ** 2).sum(axis=1)
        shaken = np.sqrt(
            (weights[:, :, 0] ** 2).sum(axis=2) @ places + (weights[:, :, 1] ** 2).sum(axis=(1, 2))
        )
        loading = self.loading + float((self.whole.turning**2).sum(axis=1).max(initial=0.0))
        return np.asarray(EPS * (abs(self.stiffness.values) @ shaken + loading * self.lengths))

    @cached_property
    def symmetric(self) -> bool:
        """Whether K is symmetric to within its error and a share of comparable stiffnesses: forces
        have a potential."""
        return is_symmetric_within(self.stiffness.values, self.stiffness_error)

    @cached_property
    def principal(self) -> tuple[Floats, Floats, Floats]:
        """U, sigma and V' of the stiffness."""
        if not self.wide or not self.symmetric:
            return self._singular
        values, axes = self.bends
        return axes * np.where(values < 0.0, -1.0, 1.0), abs(values), axes.T

    @cached_property
    def _singular(self) -> tuple[Floats, Floats, Floats]:
        """The singular value decomposition of the stiffness."""
        U, sigma, Vt = np.linalg.svd(self.stiffness.values)
        return U, sigma, Vt

    @cached_property
    def wide(self) -> bool:
        """Whether some directions are so much softer than others that their stiffnesses must be
        determined one by one."""
        sigma = self._singular[1]
        return bool(len(sigma)) and bool(sigma[-1] <= WIDE * sigma[0])

    @cached_property
    def bends(self) -> tuple[Floats, Floats]:
        """Eigenvalues of the symmetric half of K, lowest first (f,), and directions as columns (f,
        f)."""
        K = 0.5 * (self.stiffness.values + self.stiffness.values.T)
        values, axes = eigen(K) if self.wide else np.linalg.eigh(K)
        order = np.argsort(values, kind="stable")
        return values[order], axes[:, order]

    @cached_property
    def moving(self) -> Answers:
        """Answers of the state with velocities at all nodes of the differences (8 f, ...)."""
        states = np.repeat(self.carried_state[None], len(self._steps), axis=0)
        speeds_of(states)[:] += self.pace * self._steps
        return self.answers(states)

    @cached_property
    def damping(self) -> Slopes:
        """D [1/s]; its skew half, the gyroscopic terms, does no work."""
        pulled = self.reduce(self.moving.felt)
        first, lower, noise = self._differences(pulled, self.pace * self.reach)[: NOISE + 1]
        return Slopes(first, first - lower, abs(noise))

    def slopes_of(self, values: Floats) -> Floats:
        """Derivatives of values (8 f, m) that were computed at the nodes of `probes` (m, f)."""
        return np.asarray(np.einsum("p,fpm->mf", EIGHTH, self.by_place(values)) / self.reach)

    @cached_property
    def _steps(self) -> Floats:
        """The displacements, or velocities, at all nodes of the differences (8 f, n, 6)."""
        unit = self.reach[:, None, None] * self.basis
        each = np.asarray(PLACES[:, None, None] * unit[:, None])
        return each.reshape(len(PLACES) * len(unit), *unit.shape[1:])

    def _copy(self) -> Vicinity:
        """A copy of this vicinity, to be changed."""
        return copy.copy(self)

    def nearer(self, share: float) -> Vicinity:
        """This state in unchanged coordinates, with probes shortened by a factor."""
        other = self._copy()
        for name in ("asked", "probes", "pulled", "differences", "stiffness", "jumps", "_steps"):
            other.__dict__.pop(name, None)
        other.__dict__["reach"] = share * self.reach
        return other

    def by_place(self, values: Floats) -> Floats:
        """Values at the nodes of differences (8 f, m), by coordinate (f, 8, m)."""
        return values.reshape(self.freedoms, len(PLACES), values.shape[-1])

    def _differences(self, pulled: Floats, reach: Floats) -> Floats:
        """Differences of minus the generalized force at all nodes (8 f, f), with steps of reach
        (f,): (ORDERS, f, f)."""
        out = np.empty((ORDERS, self.freedoms, self.freedoms))
        differentiate(self.by_place(pulled), self.pull, reach, EVERY_ORDER, out)
        return -out

    # --- back to states ---------------------------------------------------------------------------
    def state_of(self, rows: Floats, t: float | None = None) -> State:
        """A state of the system from rows (nb, STATE_WIDTH); angles are chosen within half a turn
        of those of this state."""
        s, every = self.state, self.entry.expand(with_ledger(self.points.bodies(rows)))
        made = state_at(s, s.t if t is None else t, every, self.near, s.held)
        made = made.changed(further=self.tail_of(rows), controls=s.controls)
        return made.next_to(self._angles)

    @cached_property
    def _angles(self) -> Floats:
        """Joint coordinates here, the reference for angles of neighbouring states."""
        return np.asarray(self.at.coordinates(np.arange(len(self.state.joints)))[:, 0])

    def shapes(self, directions: Floats) -> Floats:
        """Velocities of bodies and points for unit rates along coordinates (k, f) (k, n, 6)."""
        return self.shapes_of(np.einsum("kf,fni->kni", directions, self.basis))

    def shapes_of(self, rates: Floats) -> Floats:
        """Velocities of all bodies, and of points, for those of the simulated ones (k, n, 6)."""
        if self.flexible:
            return rates
        moving = self.entry.expand(with_ledger(self.with_speeds(rates)))
        return np.asarray(speeds_of(bodies_of(moving)))

    def along(self, shape: Floats, bending: Floats) -> Floats:
        """Coordinates (f,) of the motion with given velocities of bodies (n, 6), in N and body
        axes, and rates of modes (m,), since coordinates refer to one particular basis."""
        if self.flexible:
            rates = self.points.with_modes(shape, bending / self.points.roots)
            return np.asarray(self.covectors @ rates.reshape(-1))
        moving = state_rows(self.state.r, self.state.q, linear_of(shape), angular_of(shape))
        return np.asarray(self.covectors @ speeds_of(self.entry.contract(moving)).reshape(-1))

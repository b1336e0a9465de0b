"""`Multibody`: an immutable set of parts, and methods for its mechanics. No arithmetic of its
own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from quirkpy import doors
from quirkpy.kernels.step.methods import Method
from quirkpy.kernels.users.users import has_unchecked
from quirkpy.mechanics.meeting import check_meeting
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.capture import Catch, catch
from quirkpy.motion.cases import Cases, Chosen
from quirkpy.motion.controllers import freeze_commands
from quirkpy.motion.course import Keep
from quirkpy.motion.move import Progress, move
from quirkpy.motion.runs import Runs, fly_many
from quirkpy.motion.settings import Drift, EnergyControl, Settings, StiffMethod
from quirkpy.motion.switching import simulate_switching
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.body import GROUND, Body, Site
from quirkpy.parts.checks import show
from quirkpy.parts.event import Event
from quirkpy.parts.part import Part, PartError
from quirkpy.parts.switch import Switch
from quirkpy.rest import search
from quirkpy.rest.branches import AllowedMotion, branches
from quirkpy.rest.equilibrium import Equilibrium
from quirkpy.rest.lasting import RESTS
from quirkpy.rest.leaving import Given, leave
from quirkpy.rest.linear import Linear, Measure, linearize
from quirkpy.rest.posing import pose_of
from quirkpy.rest.search import Equilibria, Saddle
from quirkpy.rest.settle import Rule, check_rule, settle
from quirkpy.system.checks import check_controllers, check_parts
from quirkpy.system.findings import Finding
from quirkpy.system.judgement import judge

if TYPE_CHECKING:
    from quirkpy.doors import Drawing, Live


class Multibody(System):
    """Bodies, the joints and forces that act on them, sensors and controllers:
    ``Multibody(hub, arm, hinge, gravity)``.

    candidates: joints and forces that may become active later; they are compiled, but their ends
    need not coincide now. start: the initial state (default: the poses in the definitions of the
    bodies). The ground belongs to every system."""

    def __init__(
        self, *parts: Part, candidates: Iterable[Part] = (), start: State | None = None
    ) -> None:
        if isinstance(candidates, (Part, str)):
            raise PartError(
                f"Multibody: candidates is {show(candidates)}, but must be a list of joints and "
                "forces."
            )
        if not (start is None or isinstance(start, State)):
            raise PartError(f"Multibody: start is {show(start)}, but must be a State.")
        listed = tuple(p for p in parts if not (isinstance(p, Body) and p == GROUND))
        later = tuple(candidates)
        check_parts(listed, later)
        if start is not None:
            start.check_turns()
        super().__init__(listed, later, start)
        check_controllers(self.tables)
        held = self.holding_here()
        vars(self).update(vars(held))
        at = self.instant()
        check_meeting(at)
        if has_unchecked(self.selection):
            at.users.check_potentials()

    # --- variants ---------------------------------------------------------------------------------
    def with_(self, *parts: Part) -> Multibody:
        """This system and state with additional parts; a candidate becomes active."""
        later = tuple(p for p in self.candidates if p not in parts)
        return Multibody(*self.parts, *parts, candidates=later, start=self.start)

    def without(self, *names: str) -> Multibody:
        """This system and state without some parts."""
        gone = {id(self[name]) for name in names}
        keep, later = (
            [p for p in some if id(p) not in gone] for some in (self.parts, self.candidates)
        )
        return Multibody(*keep, candidates=later, start=self.start)

    def pose(self, coordinates: Mapping[str, Any], state: State | None = None) -> State:
        """The state at rest in which coordinates of joints have given values [rad], [m], whole
        turns included: ``system.pose({"hinge": 0.5, "arm.travel": 0.1})``.

        Bodies move along the joints, so loops stay closed; other coordinates change only as far as
        they must. A joint of several coordinates is named with one of them. state: where the way
        begins, by default the initial state. An error where other joints do not allow it."""
        at = self.initial if state is None else state
        self.check_state("pose", at)
        return pose_of(self.clusters.rigid("pose"), at, coordinates)

    # --- motion -----------------------------------------------------------------------------------
    def simulate(
        self, duration: float, *, state: State | None = None, switches: Sequence[Switch] = (),
        rtol: float = 1e-8, atol: float = 1e-10,
        stop: Sequence[Event] = (), drift: Drift = "project", energy: EnergyControl = "free",
        method: Method | StiffMethod = "dop853", step: float | None = None,
        keep: Keep | int = "all", max_steps: int | None = None, progress: Progress = None,
        gains: tuple[float, float] = (10.0, 10.0), branch: int | AllowedMotion | None = None,
    ) -> Trajectory:  # fmt: skip
        """Simulate for `duration` [s] from a state, by default the initial one.

        switches: changes of the active parts at some time or event of the run, one after the other
        (`Switch`); the run then has `pieces`, each under its own joints and forces. rtol, atol:
        relative and absolute tolerance of a step; the error at the end is larger, in long or
        unstable motion by a factor of a thousand: choose them accordingly. stop: events; terminal
        ones end the run. drift: "project" projects poses and velocities onto the joints after each
        step; "baumgarte" adds -2 alpha rate - beta^2 gap to the acceleration equations of the
        joints, gains = (alpha, beta) [1/s]; "none" does nothing. energy: "conserve" scales the
        motion within each island after each step so that energy + dissipated - work is constant, or
        moves poses where too little moves; momenta are unchanged. method: "dop853", or "rk45" for
        loose tolerances; "radau", implicit, for stiff systems; "auto": "dop853", until steps are
        limited by stability, then "radau" as long as that takes less effort (events record the
        changes). step: a fixed step [s] instead
        of error control, for the first two. keep: "all" steps, every k-th, or "ends". max_steps
        limits the effort. progress: called with the time reached, now and then; None: on a
        terminal, a run of more than two seconds shows its progress; False: no output. branch: the
        motion with which a start at rest begins where several are possible, as `branches` gives it,
        or its number; by default the one along which loads pull most, and an event names all."""
        settings = Settings(
            rtol=rtol, atol=atol, drift=drift, energy=energy, method=method, step=step, keep=keep,
            max_steps=max_steps, gains=gains,
        )  # fmt: skip
        begun = self if state is None else self.at(state)
        leaves = leave if branch is None else Given(begun, branch)
        if isinstance(switches, (list, tuple)) and not switches:
            return move(begun, duration, settings, stop, progress, leave=leaves)
        rests = RESTS._replace(leave=leaves)
        return simulate_switching(begun, duration, settings, stop, switches, progress, rests)

    def simulate_many(
        self, states: Sequence[State] | None = None, parameters: Mapping[str, Any] | None = None,
        selections: Sequence[Chosen] | None = None, *, duration: float, threads: int = 1,
        samples: Sequence[float] | None = None, chunk: int = 10_000, rtol: float = 1e-8,
        atol: float = 1e-10, stop: Sequence[Event] = (), drift: Drift = "project",
        energy: EnergyControl = "free", method: Method | StiffMethod = "dop853",
        step: float | None = None, max_steps: int | None = None, progress: Progress = None,
        gains: tuple[float, float] = (10.0, 10.0),
    ) -> Runs:  # fmt: skip
        """Many runs at once, each equal bit by bit to a single `simulate`: see `Runs`.

        states: the initial states. parameters: a value for each run, ``{"spring.stiffness":
        values}``, of any parameter of a selection. selections: for each run the names of active
        joints and of active forces, as for `choosing`. None: the values of this system for all.
        threads: the number of threads, which does not affect results. samples: times after the
        start [s] at which states are stored. chunk: the number of runs prepared and computed at
        once; the memory for this does not grow with the total number. All else as in `simulate`;
        progress is called with the number of runs done. Parts with Python functions that are called
        in every step are refused: users' forces, joints and events, except for compiled laws."""
        settings = Settings(
            rtol=rtol, atol=atol, drift=drift, energy=energy, method=method, step=step,
            keep="ends", max_steps=max_steps, gains=gains,
        )  # fmt: skip
        cases = Cases(self, states, parameters, selections)
        return fly_many(cases, duration, settings, stop, samples, threads, chunk, progress, leave)

    def settle(
        self, state: State | None = None, *, nudge: float = 1e-6, seed: int = 0, rest: float = 1e-3,
        duration: float = 1e9, evaluations: int = 4_000_000, stop: Sequence[Event] = (),
        rtol: float = 1e-8, atol: float = 1e-10, method: Method | StiffMethod = "auto",
        keep: Keep | int = "all", progress: Progress = None,
    ) -> Equilibrium:  # fmt: skip
        """Simulate until the system is at rest, compute that state to rounding, and certify its
        stability (see `Equilibrium`).

        A start in an unstable equilibrium is displaced along its most unstable mode by `nudge` [m
        or rad] of the body that moves most, in a sense determined by `seed` (a negative nudge takes
        the other); 0: it stays. rest: the run is over when the remaining motion is this share of
        the fastest so far, and can no longer leave the well of a stable, damped equilibrium; the
        state is that equilibrium. duration [s], evaluations: limits of the effort; rejected steps
        are counted in addition to the second. stop: events that end the motion earlier. method: as
        in `simulate`. Rest is relative to the translation or rotation of the whole system, where no
        external load opposes it."""
        begun = self if state is None else self.at(state)
        most = max(1, evaluations // 12) if isinstance(evaluations, int) else None
        rule = Rule(
            nudge=nudge, seed=seed, rest=rest, duration=duration, stop=stop, progress=progress,
            settings=Settings(rtol=rtol, atol=atol, method=method, keep=keep, max_steps=most),
        )  # fmt: skip
        check_rule(rule, evaluations)
        return settle(freeze_commands(begun, "settle"), rule)

    def equilibria(
        self, state: State | None = None, *, seeds: int = 30, seed: int = 0, spread: float = 3.0
    ) -> Equilibria:
        """Equilibria found by searches from many places, each with its certificate.

        For every seed the state is displaced along the joints in random directions, by up to
        `spread` [m] or [rad] of the body that moves most, and towards a corner of the ranges of all
        joint coordinates; from there a search leads downhill to a minimum, and by Newton's method
        to an equilibrium of any kind. With each seed some equilibria found before are left along
        their modes, in both senses, and by half a turn of a hinge; and each corner, edge and plane
        of the ranges between stops is searched with these stops active. The search may miss some:
        `unseen` of the result is an upper estimate of their share, valid in nine of ten
        searches."""
        return search.equilibria(
            freeze_commands(self, "equilibria"),
            self.initial if state is None else state,
            seeds,
            seed,
            spread,
        )

    def saddle(self, equilibrium: Equilibrium, *, directions: int = 3) -> Saddle | None:
        """The lowest pass found out of the well of a stable equilibrium: an upper bound of its
        barrier.

        directions: the number of its softest modes that are followed uphill, in both senses; four
        times as many places around are searched for passes from which a path leads down to the
        minimum (see `equilibria`)."""
        return search.saddle(freeze_commands(self, "saddle"), equilibrium, directions)

    def branches(self, state: State | None = None) -> tuple[AllowedMotion, ...]:
        """The motions that a pose allows: at a regular pose that of all its freedoms, at a singular
        one the branches that meet there, such as the parallelogram and the crossed form of a flat
        four-bar. Velocities and stops are disregarded. The order depends on the pose, the joints
        and the forces there."""
        at = self.initial if state is None else state
        self.check_state("branches", at)
        return branches(freeze_commands(self, "branches").clusters, at)

    def linearize(
        self,
        state: State | Equilibrium | None = None,
        inputs: Sequence[str | Site] = (),
        outputs: Sequence[str | Measure] | None = None,
        *,
        rigid: bool = True,
    ) -> Linear:
        """The linearised motion near a state of rest, in minimal coordinates: A, B, C, D for
        scipy.signal or python-control.

        state: at rest, or an `Equilibrium`; by default the initial one.  inputs: names of forces
        (the input is a relative change of that force: 1 doubles it), of their numbers
        ("string.rest_length": the input is added to it), "string.tension" [N] and "string.density"
        [N/m], its tension over its length, of strings that may be slack, "body.force" [N] and
        "body.torque" [N m] in N (three each), sites (a force there in N, three), coordinates of
        joints (a load along them); outputs: coordinates, "coordinate.rate", "body.position" and
        ".velocity" in N, ".rotation" and ".angular_velocity" in body axes (three each), other names
        of `measures` (not reactions, which depend on inputs directly), sites (their displacement in
        N, three), or functions of a state; None: all of x. There are two
        states for each freedom; rigid=False omits translations and rotations of a floating system
        as a whole that does not rotate yet."""
        given = state.state if isinstance(state, Equilibrium) else state
        at = self.initial if given is None else given
        self.check_state("linearize", at)
        return linearize(freeze_commands(self, "linearize"), at, inputs, outputs, rigid)

    def caught(self, state: State | None = None) -> Catch:
        """The state just after the active joints have acted on a state that moves against them, and
        the energy lost."""
        at = self.initial if state is None else state
        self.check_state("caught", at)
        return catch(self.clusters, at)

    def explain(self, state: State | None = None) -> str:
        """The system in words: bodies, joints, freedoms, forces, redundant constraints."""
        return doors.explain.text(self, state)

    def check(self) -> tuple[Finding, ...]:
        """Probable mistakes: degrees for radians, masses wrong by a factor of a thousand, joints
        far from their bodies, sensors that can never meet, forces without effect, redundant rows.
        Each `Finding` has a code, a sentence and the name of the part."""
        return judge(self)

    # --- pictures ---------------------------------------------------------------------------------
    def picture(
        self, path: str | os.PathLike[str] | None = None, state: State | None = None, *,
        eye: Sequence[float] = (0.45, -0.75, 0.8), forces: bool = True,
    ) -> Drawing:  # fmt: skip
        """A picture of the system: bodies, axes of joints, sensors, springs and forces;
        ``system.picture("x.png")``.

        path: where it is saved as .png, .svg or .pdf, if anywhere. eye: the direction of view, with
        parallel rays. Arrows of forces have proportional lengths; a scale for the longest is shown
        below."""
        return doors.stills.picture(self, state, eye, forces).save_to(path)

    def show(
        self, state: State | None = None, *, browser: bool = True, port: int | None = None,
        patience: float = 60.0, wait: bool | None = None,
    ) -> Live:  # fmt: skip
        """Open a page in the browser that asks this process: a slider for each coordinate of a
        joint, the motion from there, and where it comes to rest.

        Only programs on this machine reach it. browser: False prints the address. port: None takes
        a free one. patience [s]: how long a browser is waited for. wait: until the page is closed;
        by default a script waits, while a prompt and a notebook, where the page stands below its
        cell, go on; `close` of the result ends it."""
        at = self.initial if state is None else state
        self.check_state("show", at)
        return doors.server.show(
            lambda: doors.live.SystemPage(self, at), browser, port, patience, wait
        )

    def animate(
        self, state: State | None = None, *, forces: bool = True, browser: bool = True,
        port: int | None = None, patience: float = 60.0, keep_open: bool = True,
    ) -> None:  # fmt: skip
        """Show the system in a window of VPython that can be turned; see `Trajectory.animate`."""
        at = self.initial if state is None else state
        doors.window.show(
            lambda: doors.film.still_of(self, at, forces), browser, port, patience, keep_open
        )

    def _repr_html_(self) -> str:
        return doors.notebook.of_system(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.parts, self.candidates, self.start)

    def __repr__(self) -> str:
        chosen = self.selection
        return (
            f"Multibody(moving bodies: {len(self.bodies)}, joints: {len(chosen.joints)}, forces: "
            f"{len(chosen.forces)})"
        )


def _restored(
    parts: tuple[Part, ...], candidates: tuple[Part, ...], start: State | None
) -> Multibody:
    return Multibody(*parts, candidates=candidates, start=start)

"""Compilation of all kernels in advance, by `quirkpy warm`, for images, clusters and wheels.

Kernels are compiled at the first call, for the types of their arguments; so small systems are
simulated, settled and explored here until every kernel that Python calls has been called. Several
processes do so at once, each in a different order; if several need one kernel, one compiles it, and
the others wait and load it (`quirkpy.kernels.base.machine_code`).

For the file of one study, or of one system, only the kernels that it needs are compiled: the first
process begins with the integrator's kernel, the longest by far, and another with long ones that it
calls."""

from __future__ import annotations

import importlib
import json
import math
import os
import pkgutil
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import numba
from numba.core import event
from numba.extending import is_jitted

import quirkpy as qp
from quirkpy import kernels
from quirkpy.clearance.clearances import clearances, least_among
from quirkpy.commands.definitions import load_definition
from quirkpy.kernels.base.compiled import NOTICE, listen
from quirkpy.kernels.base.machine_code import (
    FOR_LEVEL,
    MADE_WITH,
    PACKAGE,
    KernelCache,
    host_has_level,
    made_with,
)
from quirkpy.kernels.step import events, impacts, integrator, pressing
from quirkpy.motion.driver import Driver
from quirkpy.motion.settings import Settings
from quirkpy.parts.part import PartError
from quirkpy.views.progress import Bar

SIDE = 0.1  # [m]
#: Reach of the sensors [m]; a damper of all hinges [N m s]; an energy below any that occurs [J].
REACH, DAMPING, UNMET = 1e-3, 2e-4, 1e-12
#: Number of runs of a study that show which kernels it needs; duration for a system [s].
FEW_RUNS, WHILE = 12, 1.0
#: The format of the progress line.
WORDS = "kernel {t:.0f} of {end:.0f}"


# --- what is exercised ----------------------------------------------------------------------------
class PullToOrigin(qp.CompiledForce):
    """A spring to the origin, as a user may write it; U = k r^2 / 2."""

    site: qp.Site
    stiffness: float

    @staticmethod
    def law(site: Any, stiffness: float) -> qp.Wrench:
        """The force on the site."""
        return qp.Wrench(qp.triples.scale(-stiffness, site.position))


class PushAlong(qp.Force):
    """A constant force along x, in Python."""

    site: qp.Site
    size: float

    def load(self, at: qp.MotionView) -> dict[qp.Body, qp.Wrench]:
        """The force, at the site."""
        return {self.site.body: qp.Wrench((self.size, 0.0, 0.0), point=at[self.site].position)}


def cubes() -> tuple[qp.Body, qp.Body, qp.Revolute]:
    """A fixed cube, and one that is hinged to an edge of it."""
    a = qp.Body.box("A", (SIDE,) * 3, 1.0, fixed=True)
    b = qp.Body.box("B", (SIDE,) * 3, 1.0, position=(SIDE, 0.0, 0.0))
    return a, b, qp.Revolute("hinge", a, b, at=(SIDE / 2, SIDE / 2, 0.0), axis=(0.0, 0.0, 1.0))


def hang_cube() -> qp.Multibody:
    """Two cubes, attracted by a well, damped, with a stop."""
    a, b, hinge = cubes()
    return qp.Multibody(
        a, b, hinge,
        qp.HingeSpring("damper", hinge, stiffness=0.0, damping=2e-2),
        qp.JointStop("stop", hinge, lower=-0.2, upper=2.0),
        qp.PotentialWell("well", b, centre=(SIDE, SIDE, 0.0), stiffness=10.0),
    )  # fmt: skip


def face(body: qp.Body, name: str, at: tuple[float, float, float], other: str) -> qp.Sensor:
    """A sensor in the middle of a face, which accepts one kind."""
    site, kind = body.site(name, at=at, z=at, x=(0.0, 0.0, 1.0)), f"{body.name} {name}"
    return qp.Sensor(kind, site, kind=kind, accepts=(other,), reach=REACH, alignment=1e-2)


def pair() -> qp.Study:
    """Two cubes that may be free, locked or hinged, with all criteria."""
    a, b, _ = cubes()
    faces = [
        face(a, "east", (SIDE / 2, 0.0, 0.0), "B west"),
        face(a, "south", (0.0, -SIDE / 2, 0.0), "B south"),
        face(b, "west", (-SIDE / 2, 0.0, 0.0), "A east"),
        face(b, "south", (0.0, -SIDE / 2, 0.0), "A south"),
    ]
    well = qp.PotentialWell("well", b, centre=(0.0, -2 * SIDE, 0.0), stiffness=0.05)
    return qp.Study(
        qp.Multibody(a, b),
        sensors=faces,
        options={
            ("A east", "B west"): [qp.Free(), qp.Lock(), qp.Hinge(edge=1)],
            ("A south", "B south"): [qp.Free(), qp.Lock(), qp.Hinge(edge=2)],
        },
        potentials={"none": [], "-y": [well]},
        always=[qp.ViscousHinges(DAMPING)],
        safety=[qp.StayTogether(), qp.NoCollision(), qp.Limit("speed", 0.5)],
    )


def look() -> None:
    """Evaluate a system at one instant."""
    system = hang_cube()
    system.acceleration()
    system.acceleration(evaluator="literal")
    system.reactions()
    system.mobility()
    system.energy(system.initial)
    assert math.isfinite(system.initial["hinge"].angle)


def move() -> None:
    """Simulate a run, and evaluate its quantities."""
    run = hang_cube().simulate(1.0, stop=[qp.EnergyBelow(UNMET)])
    assert math.isfinite(run.energy[-1])
    assert math.isfinite(run["hinge"].angle[-1])


def stiffly() -> None:
    """Simulate a run by a method for stiff systems."""
    hang_cube().simulate(0.1, method="radau")


def rest() -> None:
    """Settle a system, and analyse its equilibrium."""
    system = hang_cube()
    system.settle()
    system.linearize()
    system.caught()


def explore() -> None:
    """Explore a study completely."""
    pair().explore(progress=False)


def collide() -> None:
    """Two locked cubes and a third, which passes them, and then hits them."""
    a = qp.Body.box("A", (SIDE,) * 3, 1.0)
    b = qp.Body.box("B", (SIDE,) * 3, 1.0, position=(SIDE, 0.0, 0.0))
    for aside in (1.2 * SIDE, 0.1 * SIDE):
        c = qp.Body.box(
            "C", (SIDE,) * 3, 1.0, position=(4 * SIDE, aside, 0.0), velocity=(-1.0, 0.0, 0.0)
        )
        run = qp.Multibody(a, b, c, qp.Fixed("lock", a, b)).simulate(1.0)
        found = clearances(run)
        assert (found.first is None) == (aside > SIDE)
        least_among(run, found.pairs)


def against_a_stop() -> None:
    """A system at rest on a stop by which alone it is held; and one that touches a stop at its
    highest energy."""
    a, b, hinge = cubes()
    stop = qp.JointStop("stop", hinge, lower=-0.1, upper=0.1)
    damper = qp.HingeSpring("damper", hinge, stiffness=0.0, damping=0.1)
    push = qp.Load("push", b, force=(0.0, 0.1, 0.0))
    system = qp.Multibody(a, b, hinge, stop, damper, push)
    system.at(system.settle().state).reactions()
    face = qp.JointStop("face", hinge, lower=0.0)
    far = qp.PotentialWell("well", b, centre=(-SIDE / 2, 1.5 * SIDE, 0.0), stiffness=10.0)
    qp.Multibody(a, b, hinge, face, far).settle(nudge=0.0)


def own_parts() -> None:
    """A user's force, in Python and compiled."""
    ball = qp.Body.sphere("ball", 0.1, 1.0, position=(1.0, 0.0, 0.0))
    site = ball.site("eye")
    for kind in (PullToOrigin, PushAlong):
        qp.Multibody(ball, kind("own", site, 1.0)).acceleration()


def measure() -> None:
    """Measure quantities along a run, in which a push ends."""
    push = qp.Schedule((0.0, 0.05), [(0.0, 0.01, 0.0), (0.0, 0.0, 0.0)])
    a, b, hinge = cubes()
    run = qp.Multibody(a, b, hinge, qp.Load("push", b, force=push)).simulate(0.1)
    assert all(len(values) == len(run.t) for values in (run["push"].load, run["hinge"].load))
    assert len(run.table(["hinge.angle", "B.position"])["t"]) == len(run.t)


def fly_many() -> None:
    """Simulate two runs in one call."""
    system = hang_cube()
    system.simulate_many([system.initial, system.initial], duration=0.1)


class Damp(qp.Controller):
    """A controller of a wheel that damps rotation."""

    @staticmethod
    def command(t: Any, measured: Any, memory: Any) -> Any:
        """The torque of the wheel, three numbers."""
        return -measured[0], 0.0, 0.0


def command() -> None:
    """A wheel under a sampled controller, by explicit and by implicit steps."""
    body = qp.Body.sphere("body", 0.1, 1.0, angular_velocity=(0.1, 0.0, 0.0))
    wheel = qp.ReactionWheel("wheel", body.site("wheel"), (0.0, 0.0, 0.0))
    damp = Damp("damp", period=0.05, reads=["body.angular_velocity"], drives=["wheel.torque"],
                compiled=True)  # fmt: skip
    system = qp.Multibody(body, wheel, damp)
    for method in ("dop853", "radau"):
        system.simulate(0.1, method=method)


def float_away() -> None:
    """Two bodies on a damped spring, which drift at relative rest; and one on a slack rope."""
    drift = (0.0, 0.0, 0.1)
    near = qp.Body.sphere("near", 0.1, 1.0, velocity=drift)
    far = qp.Body.sphere("far", 0.1, 1.0, position=(1.0, 0.0, 0.0), velocity=drift)
    spring = qp.Spring("spring", near, far, stiffness=1.0, rest_length=1.0, damping=1.0)
    system = qp.Multibody(near, far, spring)
    system.settle(evaluations=10_000)
    run = system.simulate(0.1)
    assert len(run["spring"].length) == len(run.t)
    rope = qp.Spring("rope", qp.GROUND, near, rest_length=1.0, stiffness=1.0, tension_only=True)
    qp.Multibody(near, rope).linearize()


def bend() -> None:
    """A beam at rest under its weight."""
    boom = qp.Beam("boom", start=(0.0, 0.0, 0.0), end=(1.0, 0.0, 0.0), EA=1e5, EI=1.0, GJ=1.0,
                   mass_per_length=1.0, modes=1)  # fmt: skip
    root = qp.Fixed("root", qp.GROUND.site("root"), boom.at(0.0))
    qp.Multibody(boom, root, qp.Gravity((0.0, 0.0, -0.1))).linearize()


# --- what one file calls --------------------------------------------------------------------------
#: The long kernels with which the first process begins for a file, and any other process.
FIRST: tuple[Any, ...] = (integrator.advance,)
BESIDE: tuple[Any, ...] = (
    impacts.settle_end, events.value_within, integrator.accept, pressing.hold_what_presses,
)  # fmt: skip


kind_of: Any = numba.typeof


def compile_for_runs(chosen: Sequence[Any]) -> None:
    """Compile kernels with arguments that are numbers and the arrays of a run, without calling
    them."""
    system = hang_cube()
    driver = Driver(system.clusters, system.initial, WHILE, [], Settings())
    kinds = {float: numba.float64, int: numba.int64, bool: numba.boolean}
    with driver.layout.lend() as engine:
        given = (
            driver.run_arrays, driver.table, driver.watch, driver.empty_rows(1), engine.model,
            engine.conditions, engine.scratch,
        )  # fmt: skip
        kinds |= {type(one): kind_of(one) for one in given}
    for made in chosen:
        hints = get_type_hints(made.py_func)
        made.compile(tuple(kinds[hints[name]] for name in hints if name != "return"))


def use(file: Path) -> None:
    """Compute some runs of the study in a file, or simulate its system."""
    made = load_definition(file)
    if isinstance(made, qp.Study):
        made.explore(budget=FEW_RUNS, progress=False)
    else:
        made.simulate(WHILE, progress=False)


# --- all kernels ----------------------------------------------------------------------------------
#: The order of exercises in the first process; others begin elsewhere.
EXERCISES: tuple[Callable[[], None], ...] = (
    move, explore, rest, look, collide, against_a_stop, stiffly, own_parts, measure, fly_many,
    command, float_away, bend,
)  # fmt: skip
OTHERS: tuple[Callable[[], None], ...] = (
    look, stiffly, own_parts, collide, against_a_stop, fly_many, command, measure, float_away,
    explore, rest, move, bend,
)  # fmt: skip


# --- kernels --------------------------------------------------------------------------------------
def all_kernels() -> Iterator[Any]:
    """Every kernel, each once."""
    for found in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
        module = importlib.import_module(found.name)
        yield from (
            made
            for made in vars(module).values()
            if is_jitted(made) and made.__module__ == found.name
        )


def name_of(kernel: Any) -> str:
    """The name of a kernel, preceded by that of its module within the kernels."""
    return f"{kernel.__module__.removeprefix(f'{kernels.__name__}.')}.{kernel.__name__}"


def called_from_python() -> set[str]:
    """The names of kernels with a wrapper for calls from Python."""
    return {
        name_of(made) for made in all_kernels() if not made.targetoptions.get("no_cpython_wrapper")
    }


# --- one process ----------------------------------------------------------------------------------
class CompilationNotes(event.Listener):
    """Prints the names of kernels on standard output as they are compiled."""

    def on_start(self, compilation: Any) -> None:
        """Nothing at the start of a compilation."""

    def on_end(self, compilation: Any) -> None:
        """Print the name of the kernel that numba has compiled."""
        kernel = compilation.data["dispatcher"]
        if isinstance(kernel._cache, KernelCache):
            tell("made", [name_of(kernel)])


def tell(what: str, names: Sequence[str]) -> None:
    """Print a line for the parent process."""
    print(json.dumps({what: list(names)}), flush=True)


def work(which: int, file: str = "") -> None:
    """The work of one of several processes: all exercises, the first in another order than the
    rest; or the kernels of a file."""
    NOTICE.given = True
    listen("numba:compile", CompilationNotes())
    warnings.simplefilter("ignore")
    exercises = OTHERS if which else EXERCISES
    if file:
        begin = partial(compile_for_runs, BESIDE if which else FIRST)
        exercises = (begin, partial(use, Path(file)))
    for exercise in exercises:
        exercise()
        tell("ready", [name_of(made) for made in all_kernels() if made.overloads])


#: The program of each process, with its number and the file as arguments.
WORK = "import sys; from quirkpy.warm import work; work(int(sys.argv[1]), *sys.argv[2:])"


# --- all of them ----------------------------------------------------------------------------------
class Warmed(NamedTuple):
    """The result: how many kernels were compiled, which of those that Python calls are present and
    which are not, the time [s], and the folder."""

    compiled: int
    ready: list[str]
    missing: list[str]
    seconds: float
    folder: str

    def __str__(self) -> str:
        return (
            f"{len(self.ready)} kernels are ready, in {self.folder}; {self.compiled} functions "
            f"were compiled for them, in {self.seconds:.1f} s."
        )


class Hands:
    """The processes at work, and their messages so far."""

    def __init__(self, workers: int, file: Path | None = None) -> None:
        self.made: list[str] = []
        self.ready: set[str] = set()
        self.file, rest = file, [] if file is None else [str(file)]
        environment = {**os.environ, **(FOR_LEVEL if host_has_level() else {})}
        self.processes = [
            subprocess.Popen(
                [sys.executable, "-c", WORK, str(k), *rest],
                env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
            for k in range(workers)
        ]  # fmt: skip
        self.errors = [""] * workers
        self.threads = [
            threading.Thread(target=listen, args=(k,), daemon=True)
            for listen in (self._listen, self._listen_to_errors)
            for k in range(workers)
        ]
        for thread in self.threads:
            thread.start()

    def _listen(self, k: int) -> None:
        for line in self.processes[k].stdout or ():
            told = json.loads(line)
            self.made += told.get("made", [])
            self.ready.update(told.get("ready", []), told.get("made", []))

    def _listen_to_errors(self, k: int) -> None:
        self.errors[k] = "".join(self.processes[k].stderr or ())

    def wait(self, tell: Callable[[], None]) -> None:
        """Wait until all processes are done, or the first of those for a file; `tell` is called now
        and then."""
        try:
            while self.are_at_work():
                time.sleep(0.1)
                tell()
            codes = [process.poll() for process in self.processes]
        finally:
            for process in self.processes:
                process.kill()
                process.wait()
        for thread in self.threads:
            thread.join()
        for stream in (s for p in self.processes for s in (p.stdout, p.stderr) if s is not None):
            stream.close()
        for code, said in zip(codes, self.errors, strict=True):
            if code:
                last = said.strip().rpartition("\n")[2] or f"exit code {code}"
                raise PartError(
                    f"warm: a process that compiles has failed: {last}.", code="machine"
                )

    def are_at_work(self) -> bool:
        """Whether any process is still running."""
        busy = [process.poll() is None for process in self.processes]
        return any(busy) if self.file is None else all(busy)


def warm(workers: int = 2, into: Path | None = None, file: Path | None = None) -> Warmed:
    """Compile all kernels that are not yet compiled, or those that a file's study or system needs,
    in several processes; optionally copy them to a folder for a wheel."""
    folder = folder_of_code()
    if file is not None:
        load_definition(file)
    if into is not None and not host_has_level():
        raise PartError(
            f"warm: what is put into {str(into)!r} is for x86-64-v3, which this processor is not; "
            "leave out --into, or go where there is one.",
            code="machine",
        )
    begun, hands, asked = time.monotonic(), Hands(workers, file), called_from_python()
    bar = Bar(0.0, float(len(asked)), sys.stderr) if sys.stderr and sys.stderr.isatty() else None

    def tell() -> None:
        if bar is not None:
            bar.words = WORDS
            bar(float(len(asked & hands.ready)))

    try:
        hands.wait(tell)
    finally:
        if bar is not None:
            bar.clear()
    if into is not None:
        put_into(into)
    ready = asked & hands.ready
    seconds = time.monotonic() - begun
    missing = sorted(asked - ready) if file is None else []
    return Warmed(len(hands.made), sorted(ready), missing, seconds, folder)


def folder_of_code() -> str:
    """The folder of machine code on this system."""
    kernel = next(all_kernels(), None)
    if kernel is None:
        raise PartError(
            "warm: compilation is switched off; unset NUMBA_DISABLE_JIT.", code="machine"
        )
    if not kernel._cache.kept:
        raise PartError(
            "warm: no folder can be written to in which machine code would be kept; "
            "NUMBA_CACHE_DIR names one.",
            code="machine",
        )
    path = Path(kernel._cache.cache_path)
    return str(PACKAGE if path.is_relative_to(PACKAGE) else path.parent)


def put_into(folder: Path) -> None:
    """Copy the machine code of all kernels to a folder, for a wheel."""
    folder.mkdir(parents=True, exist_ok=True)
    for kernel in all_kernels():
        kernel._cache.ship(folder)
    (folder / MADE_WITH).write_text(f"{made_with()}\n", encoding="utf-8")

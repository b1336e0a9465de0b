"""What the runs of an exploration cost by hand: the same systems, settled one by one; nothing is
judged or kept."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest import mock

import quirkpy as qp
from quirkpy.explore.model.graph import Node
from quirkpy.explore.run import runner, workers
from quirkpy.parts.joint import BaseJoint


class Motion(NamedTuple):
    """A stretch of a run: the node among whose candidates it was chosen, if it was; what acts;
    where it begins; and, if joints have taken hold there, the state before."""

    node: Node | None
    parts: tuple[qp.Part, ...]
    start: qp.State
    before: qp.State | None


class ByHand:
    """Notes the motions of an exploration, and settles them again as a user would: what may act at
    a node is compiled once, and each choice is selected from it; where sensors have met, the new
    system is made, and its joints take hold.  What cannot move at all is settled too."""

    def __init__(self, study: qp.Study) -> None:
        self.study, self.noted = study, list[Motion]()
        self.node: Node | None = None
        self.before: qp.State | None = None
        self.universe: tuple[Node, qp.Multibody] | None = None
        self.seconds, self.motions = 0.0, 0

    # --- what an exploration does -----------------------------------------------------------------
    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note the motions of all runs of this process."""
        run, rigid, lock = workers.run_choice, runner.rigid, runner.lock_in_range

        def at_node(study: qp.Study, node: Node, *rest: Any) -> Any:
            self.node = node
            return run(study, node, *rest)

        def taking_hold(study: qp.Study, state: qp.State, *rest: Any) -> Any:
            found = lock(study, state, *rest)
            self.before = state if found[0] else None
            return found

        def still(system: qp.Multibody) -> Any:
            found = rigid(system)
            if found is not None:
                self.note(system)
            return found

        def moving(function: Any) -> Any:
            return lambda system, *rest: self.note(system) or function(system, *rest)

        new = {
            "rigid": still, "lock_in_range": taking_hold,
            "settle": moving(runner.settle), "run_to_rest": moving(runner.run_to_rest),
        }  # fmt: skip
        with mock.patch.object(workers, "run_choice", at_node), mock.patch.multiple(runner, **new):
            yield

    def note(self, system: qp.Multibody) -> None:
        """That a system moves from its start."""
        node = self.node if system.candidates else None
        self.noted.append(Motion(node, system.parts, system.initial, None if node else self.before))
        self.before = None

    # --- the same by hand -------------------------------------------------------------------------
    def settle(self) -> None:
        """Settle what was noted since the last time; the processor time of that is added up [s]."""
        noted, self.noted = self.noted, []
        begun = time.process_time()
        for motion in noted:
            self.settled(motion)
        self.seconds, self.motions = (
            self.seconds + time.process_time() - begun,
            self.motions + len(noted),
        )

    def settled(self, motion: Motion) -> qp.Equilibrium:
        """One of them."""
        rule = self.study.settle
        return self.system_of(motion).settle(
            nudge=0.0, rest=rule.rest, duration=rule.duration, evaluations=int(rule.evaluations),
            rtol=rule.rtol, atol=rule.atol, stop=[qp.SensorsMeet()], progress=False,
        )  # fmt: skip

    def system_of(self, motion: Motion) -> qp.Multibody:
        """What moves, at its start."""
        acting = [part for part in motion.parts if isinstance(part, BaseJoint | qp.Force)]
        joints = [part.name for part in acting if isinstance(part, BaseJoint)]
        forces = [part.name for part in acting if isinstance(part, qp.Force)]
        if motion.node is None and motion.before is None:
            return qp.Multibody(*motion.parts, start=motion.start)
        if motion.node is None:
            others = [part for part in motion.parts if not isinstance(part, BaseJoint | qp.Force)]
            system = qp.Multibody(*others, candidates=acting, start=motion.before).choosing(
                joints, forces
            )
            return system.at(system.caught().state)
        if self.universe is None or self.universe[0] is not motion.node:
            self.universe = motion.node, self.study.universe(motion.node)
        return self.universe[1].choosing(joints, forces).at(motion.start)

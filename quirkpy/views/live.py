"""Pages that ask: a system with sliders of its coordinates, a run, and a study whose choices are
picked and watched.

What a page asks for is answered by methods of the system and of the study; nothing is computed
here."""

from __future__ import annotations

from typing import Any

import numpy as np

from quirkpy.explore.answers.motions import frames_of_edges
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.scope.scope import Scope
from quirkpy.explore.trying import PickedChoices
from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.motion.frames import frames_of
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.checks import number, positive
from quirkpy.parts.part import PartError
from quirkpy.rest.equilibrium import Equilibrium
from quirkpy.rest.posing import names_of, seek
from quirkpy.rest.starts import limits_of
from quirkpy.system.multibody import Multibody
from quirkpy.tables.tables import ANGLE
from quirkpy.views import graphs
from quirkpy.views.emblems import emblems_of_run
from quirkpy.views.report import (
    MOST,
    bodies_of,
    join_names,
    motion_of,
    page,
    round_numbers,
    run_page,
    switching_of,
    tolerances_of,
)
from quirkpy.views.report_graph import MOST as MOST_OF_EDGE
from quirkpy.views.report_graph import graph_page, rest_of
from quirkpy.views.stage import Stage

#: Limits of a motion that a page asks for: steps, and simulated time [s].
STEPS, LONGEST = 100_000, 1e6
#: A slider of a travel reaches so many sizes of a body to either side; one of an angle half a turn.
SLIDER_REACH = 3.0


class RunPage:
    """The page of a run, which asks nothing."""

    def __init__(self, run: Trajectory) -> None:
        self.run = run

    def page(self) -> str:
        """The page as text."""
        run = self.run
        frames = frames_of(run.pieces, *tolerances_of(run.system.parts))
        return page(run_page(run, frames) | {"live": True}, repr(run))

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Nothing is asked."""
        raise PartError("show: this page has no questions.", code="name")


class SystemPage:
    """A system: its pose by sliders, let go, or settled from there."""

    def __init__(self, system: Multibody, state: State) -> None:
        self.system, self.state, self.begun = system, state, state
        self.bends = any(body.modal is not None for body in system.tables.bodies)
        self.names = {} if self.bends else names_of(system.selection)

    def page(self) -> str:
        """The page as text."""
        system = self.system
        data = bodies_of(system, emblems_of_run(system)) | {
            "kind": "system", "title": join_names(system.parts), "words": repr(system),
            "sliders": [self._slider(name, c) for name, c in self.names.items()],
            "pose": self._pose(), "live": True, "bends": self.bends,
        }  # fmt: skip
        return page(data, system.explain(self.state))

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Move a coordinate, let go, settle, or begin anew."""
        what = asked["do"]
        if what == "move":
            c = np.array([self.names[asked["name"]]])
            wanted = np.array([number(asked["value"])])
            self.state = seek(self.system.clusters, self.state, c, wanted)[0]
        elif what == "begin anew":
            self.state = self.begun
        elif what == "settle":
            return self._settle()
        elif what == "let go":
            return self._let_go(min(positive(asked["seconds"]), LONGEST))
        return {"pose": self._pose()}

    def _slider(self, name: str, c: int) -> dict[str, Any]:
        """A coordinate with the range of its slider, between its stops where it has some."""
        t, here = self.system.tables, self._values()[c]
        turns = bool(t.coordinate_kind[c] == ANGLE)
        wide = np.pi if turns else SLIDER_REACH * Stage(self.system).size
        lows, highs, _ = limits_of(self.system.clusters.layout)
        low, high = max(here - wide, lows[c]), min(here + wide, highs[c])
        return {"name": name, "unit": "rad" if turns else "m", "low": low, "high": high}

    def _values(self) -> Floats:
        every = np.arange(len(self.state.joints))
        return np.asarray(self.state.instant().coordinates(every)[:, 0])

    def _pose(self) -> dict[str, Any]:
        """Where everything is now."""
        values, state = self._values(), self.state
        return {
            "r": round_numbers(state.r, 8), "q": round_numbers(state.q, 8),
            "values": [float(values[c]) for c in self.names.values()],
            "energy": float(self.system.energy(state).potential),
        }  # fmt: skip

    def _let_go(self, seconds: float) -> dict[str, Any]:
        """The motion from here."""
        run = self.system.simulate(seconds, state=self.state, max_steps=STEPS, progress=False)
        self.state = run.final
        return self._moved(run) | {"words": f"{run!r}", "pose": self._pose()}

    def _settle(self) -> dict[str, Any]:
        """The motion to where it rests, and what is known of that."""
        found: Equilibrium = self.system.settle(self.state, progress=False)
        moved = {} if found.run is None else self._moved(found.run)
        self.state = found.state
        told = {"words": f"{found.verdict}: {found.reason}.", "pose": self._pose()}
        return moved | told | {"rest": rest_of(found)}

    def _moved(self, run: Trajectory) -> dict[str, Any]:
        tolerances = tolerances_of(self.system.parts)
        frames = frames_of(run.pieces, *tolerances)
        return {"motion": motion_of(frames, tolerances, MOST, switching_of(run, frames))}


class StudyPage:
    """A study: any choice at any shape that is known, flown and watched."""

    def __init__(self, study: Scope, begun: ReconfigurationGraph | None) -> None:
        self.trial = PickedChoices(study, begun)
        self.rests: dict[str, Equilibrium] = {}

    def page(self) -> str:
        """The page as text."""
        graph = self.trial.graph
        return page(self._data(graph), graphs.text(graph))

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The options at a shape, the motion of a choice, or a choice flown."""
        graph = self.trial.graph
        if asked["do"] == "offer":
            node = graph[asked["node"]]
            return {"pairs": self.trial.offers(node), "potentials": list(graph.study.potentials)}
        if asked["do"] == "fly":
            edge = self.trial.fly(asked["node"], asked["options"], asked["potential"])
            graph = self.trial.graph
            motion = self._motion(graph, edge)
            return {"edge": edge, "motion": motion, "data": self._data(graph)}
        return {"motion": self._motion(graph, int(asked["edge"]))}

    def _data(self, graph: ReconfigurationGraph) -> dict[str, Any]:
        for key, node in graph.nodes.items():
            if key not in self.rests:
                self.rests[key] = node.rest
        return graph_page(graph, self.rests, ())[0] | {"live": True}

    def _motion(self, graph: ReconfigurationGraph, edge: int) -> list[Any]:
        """The motions of the outcomes of an edge, as pages have them."""
        tolerances = tolerances_of(graph.study.system.parts)
        ((_, found),) = frames_of_edges(graph, [edge], *tolerances)
        return [None if one is None else motion_of(one, tolerances, MOST_OF_EDGE) for one in found]

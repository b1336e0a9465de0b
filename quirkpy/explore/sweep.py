"""`sweep`: a study explored for several values of its parameters, and what that changes."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from quirkpy import doors
from quirkpy.explore.answers.plan import Plan
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.model.graph import Node
from quirkpy.explore.study import Study
from quirkpy.parts.checks import show
from quirkpy.parts.files import check_writable
from quirkpy.parts.part import PartError, sentence_of

if TYPE_CHECKING:
    from quirkpy.doors import Drawing

#: Characters of a file name that stand for themselves; others become an underscore.
PLAIN = re.compile(r"[^\w.=+-]+")
#: What a sweep lists beside the parameters, and the charts that it has of it.
FIGURES = ("shapes", "moves", "reached", "energy", "time", "switches", "probability")
CHARTED = {
    "reached": "shapes reached", "energy": "cheapest plan [J]", "time": "its time [s]",
    "probability": "surest plan",
}  # fmt: skip
#: Options of `Study.explore` that a sweep passes on.
OPTIONS = ("budget", "towards", "progress", "reductions")

Goal = str | Callable[[Node], bool] | None


class Explored(NamedTuple):
    """A study at one point of a sweep: its parameters, its graph, the cheapest plan from the start
    to the goal, and the surest one; None where there is no way, or where no probability is
    known."""

    parameters: dict[str, Any]
    graph: ReconfigurationGraph
    cheapest: Plan | None
    surest: Plan | None

    @property
    def figures(self) -> dict[str, Any]:
        """Parameters and figures: shapes and moves of the graph, shapes that can be reached from
        the start; energy [J], time [s] and switches of the cheapest plan, probability of the
        surest one."""
        way, graph = self.cheapest, self.graph
        counts = (len(graph.nodes), graph.kinds.get("moved", 0), len(graph.reachable("n0")))
        costs = (None, None, None) if way is None else (way.energy, way.time, way.switches)
        sure = None if self.surest is None else self.surest.probability
        return self.parameters | dict(zip(FIGURES, (*counts, *costs, sure), strict=True))


@dataclass(frozen=True, eq=False)
class Sweep(Sequence[Explored]):
    """What became of a study at each point of a sweep, in the order of the parameters."""

    points: tuple[Explored, ...]

    def __getitem__(self, k: Any) -> Any:
        return self.points[k]

    def __len__(self) -> int:
        return len(self.points)

    def table(self, frame: bool = False) -> Any:
        """A column for each parameter and each figure of `Explored.figures`; with frame as a
        DataFrame of pandas."""
        rows = [point.figures for point in self.points]
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        return doors.csv.data_frame(columns) if frame else columns

    def plot(self, over: str | None = None) -> Drawing:
        """Charts of what changes with a parameter: shapes reached, the cheapest plan, its time, and
        the probability of the surest one; a curve for each choice of the other parameters. over:
        its name, by default that of the first one."""
        return doors.charts.draw(doors.sweeps.sheet_of(self, over, CHARTED))

    def __str__(self) -> str:
        return doors.sweeps.listing_of(self).text()

    def _repr_html_(self) -> str:
        return doors.sweeps.listing_of(self).html()

    def __repr__(self) -> str:
        return f"Sweep({len(self)} studies over {', '.join(self.points[0].parameters)})"


def sweep(
    study_of: Callable[..., Study], parameters: Mapping[str, Sequence[Any]],
    folder: str | Path | None = None, *, goal: Goal = None, samples: int = 0,
    workers: int | Executor = 1, **options: Any,
) -> Sweep:  # fmt: skip
    """Explore ``study_of(stiffness=0.05, mass=1.0)`` for all combinations of the values of
    ``parameters={"stiffness": [...], "mass": [...]}``, and compare the graphs.

    folder: for a journal of each study, "stiffness=0.05,mass=1.0.db", from which the same call goes
    on; None: nothing is kept. goal: a condition of a node, or the name of one; None: the node that
    costs most to reach. samples: so often each move is flown to learn how sure it is (see
    `robustness`); 0: the surest plan is that among moves of which the journal knows it. workers,
    options (budget, towards, progress, reductions): as for `Study.explore`."""
    check_asked(study_of, goal, options)
    places = journals(parameters, folder)
    check_parameters(study_of, parameters)
    points = []
    for values, place in places:
        study = study_of(**values)
        if not isinstance(study, Study):
            raise PartError(
                f"sweep: study_of gave {show(study)}, but must give a Study.", code="yours"
            )
        graph = study.explore(place, workers=workers, **options)
        if samples:
            sample(graph, samples, workers)
        cheapest = way_to(graph, goal, "energy")
        known = any(edge.robustness for edge in graph.moves())
        surest = way_to(graph, goal, "risk") if known else None
        points.append(Explored(values, graph, cheapest, surest))
    return Sweep(tuple(points))


def journals(
    parameters: Mapping[str, Sequence[Any]], folder: str | Path | None
) -> list[tuple[dict[str, Any], Path | None]]:
    """All combinations of values, each with the path of its journal; refuses what names none, or
    two of one name."""
    found = [(values, path_for(values, folder)) for values in combinations(parameters)]
    if folder is not None:
        make_folder(folder)
        names = [check_writable(path, "sweep") for _, path in found]
        twice = {path.name for path in names if names.count(path) > 1}
        if twice:
            raise PartError(
                f"sweep: several points would have the journal {min(twice)!r}; give values that "
                "are written differently, each once.",
                code="file",
            )
    return found


def check_asked(study_of: Any, goal: Any, options: Mapping[str, Any]) -> None:
    """A function that gives studies, a goal, and options of `Study.explore`; before anything is
    explored."""
    if not callable(study_of):
        raise PartError(
            f"sweep: study_of is {show(study_of)}, but must be a function that gives a Study."
        )
    if goal is not None and not isinstance(goal, str) and not callable(goal):
        raise PartError(
            f"sweep: goal is {show(goal)}, but must be a condition of a node, or the name of one."
        )
    unknown = [name for name in options if name not in OPTIONS]
    if unknown:
        raise PartError(
            f"sweep: there is no option {unknown[0]!r}; there are {', '.join(OPTIONS)}.",
            code="name",
        )


def check_parameters(study_of: Callable[..., Any], names: Iterable[str]) -> None:
    """Refuse parameters that a function does not take, or too few for it."""
    try:
        inspect.signature(study_of).bind(**dict.fromkeys(names))
    except TypeError as error:
        raise PartError(
            f"sweep: study_of and parameters= do not fit: {error}; give it those parameters.",
            code="name",
        ) from None
    except ValueError:  # compiled, so that its parameters are not known
        return


def make_folder(folder: str | Path) -> None:
    """A folder for journals, where there is none."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PartError(
            f"sweep: folder {str(folder)!r} cannot be made: {sentence_of(error)}.", code="file"
        ) from None


def combinations(parameters: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """All combinations of the values of parameters, the last varying first."""
    if not isinstance(parameters, Mapping) or not parameters:
        raise PartError(
            f"sweep: parameters is {show(parameters)}, but must be a dict of lists, such as "
            "{'stiffness': [0.02, 0.05]}."
        )
    for name, values in parameters.items():
        if isinstance(values, str) or not hasattr(values, "__len__") or not len(values):
            raise PartError(f"sweep: {name} is {show(values)}, but must be a list of values.")
    for values in itertools.product(*(map(plain, values) for values in parameters.values())):
        yield dict(zip(parameters, values, strict=True))


def plain(value: Any) -> Any:
    """A number of NumPy as one of Python."""
    return value.item() if hasattr(value, "item") else value


def path_for(values: Mapping[str, Any], folder: str | Path | None) -> Path | None:
    """The path of the journal of one point."""
    words = ",".join(f"{name}={PLAIN.sub('_', str(value))}" for name, value in values.items())
    return None if folder is None else Path(folder) / f"{words}.db"


def sample(graph: ReconfigurationGraph, samples: int, workers: int | Executor) -> None:
    """Fly each move often enough to learn how sure it is."""
    for edge in list(graph.moves()):
        if edge.robustness is None or edge.robustness.samples < samples:
            graph.robustness(edge, samples, workers=workers)


def way_to(graph: ReconfigurationGraph, goal: Goal, cost: Any) -> Plan | None:
    """The best plan from the start to a goal; None where there is none."""
    try:
        if goal is None:
            return graph.plan("n0", graph.furthest("n0").nodes[-1], cost)
        if callable(goal):
            return graph.plan("n0", where=goal, cost=cost)
        return graph.plan("n0", goal, cost)
    except (PartError, KeyError):
        return None

"""Output below the cell of a notebook: pictures embedded in the page, and escaped text."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable

from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.model.graph import Node
from quirkpy.explore.scope.scope import Scope
from quirkpy.mechanics.system import System
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.part import PartError
from quirkpy.rest.equilibrium import Equilibrium
from quirkpy.views import charts, curves, explain, graph_picture, graphs, listings, poses, stills
from quirkpy.views.drawing import Drawing
from quirkpy.views.solids import EYE


def of_system(system: System) -> str:
    """A picture, and the system in words."""
    return page(repr(system), explain.text(system), ("the system", lambda: stills.picture(system)))


def of_run(run: Trajectory) -> str:
    """HTML of a run: its motion, joints and energy, and why it ended."""
    words = listings.of_run(run).text()
    return page(
        repr(run), words, ("the way of the bodies", lambda: poses.of_run(run, EYE, 4)),
        ("joints and energy", lambda: charts.draw(curves.sheet_of(run))),
    )  # fmt: skip


def of_rest(e: Equilibrium) -> str:
    """The motions around an equilibrium, and the reason of its stability."""
    return page(
        f"{e.verdict}: {e.reason}",
        explain.rest(e),
        ("the motions around it", lambda: poses.of_rest(e, EYE)),
    )


def of_graph(graph: ReconfigurationGraph) -> str:
    """Shapes and motions between them, and a description in words."""
    return page(repr(graph), graphs.text(graph), ("the graph", lambda: graph_picture.draw(graph)))


def of_node(node: Node) -> str:
    """A shape, and what is known of it."""
    words = listings.of_node(node).text()
    if node.study is None:
        return page(repr(node), words)
    system = node.study.system
    return page(repr(node), words, ("the shape", lambda: stills.picture(system, node.state)))


def of_study(study: Scope) -> str:
    """The system of a study as written, and all that the study assumes."""
    words = listings.of_study(study).text()
    return page(repr(study), words, ("the system", lambda: stills.picture(study.system)))


def page(head: str, words: str, *pictures: tuple[str, Callable[[], Drawing]]) -> str:
    """Pictures side by side, and a text to be opened below; if a picture fails, the reason."""
    shown = "".join(picture(alt, draw) for alt, draw in pictures)
    return (
        f'<div><div style="display:flex;flex-wrap:wrap;align-items:flex-start">{shown}</div>'
        f"<details><summary>{html.escape(head)}</summary>"
        f'<pre style="white-space:pre;overflow-x:auto">{html.escape(words)}</pre></details></div>'
    )


def picture(alt: str, draw: Callable[[], Drawing]) -> str:
    """A picture as HTML, part of the page."""
    try:
        data = base64.b64encode(draw().png(dpi=90)).decode()
    except PartError as refusal:
        return f"<p>{html.escape(str(refusal))}</p>"
    return (
        f'<img alt="{html.escape(alt)}" style="max-width:100%" src="data:image/png;base64,{data}">'
    )

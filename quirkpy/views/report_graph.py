"""The data of the page of a study: its graph, the shapes, the motions between them, and the reasons
of their stability."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from quirkpy.explore.answers.routes import steps
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.model.costs import COST_WORDS, price_of, supply_in_motion
from quirkpy.explore.model.graph import Edge, Node, Outcome
from quirkpy.maths.types import Floats
from quirkpy.motion.frames import Frames
from quirkpy.parts.files import write_text
from quirkpy.rest.equilibrium import Equilibrium, Mode
from quirkpy.rest.wording import different
from quirkpy.views import listings
from quirkpy.views.curves import SHOWN_ROUNDING
from quirkpy.views.emblems import emblems_of_study
from quirkpy.views.explain import force_lines
from quirkpy.views.graph_picture import patches_of
from quirkpy.views.graph_places import CLOSE, FEW, ON_A_CIRCLE, places_of, spread_out
from quirkpy.views.report import (
    as_script,
    bodies_of,
    join_names,
    motion_of,
    page,
    round_numbers,
    tolerances_of,
)

#: Frames of edges by number, one of each outcome.
Motions: TypeAlias = Iterable[tuple[int, Sequence[Frames | None]]]
#: Repeated strings with their numbers, by kind.
Words: TypeAlias = dict[str, dict[str, int]]
#: Largest size of a page [bytes]; motions that do not fit go into the side file.
WHOLE = 7_900_000
#: Largest number of keyframes of the motion of an edge.
MOST = 250
#: Largest number of motions around a shape that are shown, the slowest first.
MODES = 12
#: Kinds of outcomes whose motion is stored in the page itself.
SHOWN = ("moved", "ambiguous")


def graph_page(
    graph: ReconfigurationGraph, rests: Mapping[str, Equilibrium], motions: Motions,
    words: str = "", side: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
    """All data of the page of a study, and of its side file; rests: of nodes, by key; motions: of
    edges, by their number, one for each outcome; words: a text version for readers without scripts;
    side: the name of the file beside the page, if there is to be one."""
    study = graph.study
    tables: Words = {"pairs": {}, "options": {}, "reasons": {}, "potentials": {}}
    for potential in study.potentials:
        _number(tables["potentials"], potential)
    keys = {key: k for k, key in enumerate(graph.nodes)}
    whole = bodies_of(study.system, emblems_of_study(study)) | {
        "kind": "study", "title": f"A study of {join_names(study.system.parts)}",
        "words": repr(graph),
        "coverage": graph.coverage, "nodes": nodes_of(graph, rests),
        "edges": [edge_of(edge, keys, tables) for edge in graph.edges],
        "tables": {kind: list(words) for kind, words in tables.items()}, "costs": costs_of(graph),
        "energies": energies_of(graph),
        "near": [list(miss) for miss in graph.near_misses],
        "assumed": listings.assumptions_of(study),
    }  # fmt: skip
    room = WHOLE - len(page(whole, words).encode())
    inside, beside = share_out(graph, motions, side is not None, room)
    return whole | {"motions": inside, "beside": sorted(map(int, beside)), "side": side}, beside


def nodes_of(graph: ReconfigurationGraph, rests: Mapping[str, Equilibrium]) -> list[dict[str, Any]]:
    """Every shape: its position in the picture, its drawing, and the reason of its stability."""
    views = {key: patches_of(graph, node) for key, node in graph.nodes.items()}
    every = [np.concatenate([patch.corners for patch in patches]) for patches in views.values()]
    metre = 2.0 / max(float(np.ptp(corners, axis=0).max()) for corners in every)
    out = []
    for (key, node), corners, place in zip(
        graph.nodes.items(), every, place_shapes(graph), strict=True
    ):
        middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
        patches = [
            [
                patch.number,
                round(patch.light, 2),
                np.round((patch.corners - middle) * metre, 3).ravel().tolist(),
                [int(edge) for edge in patch.edges],
            ]
            for patch in views[key]
        ]
        out.append(node_of(graph, node) | {"place": np.round(place, 3).tolist(), "patches": patches}
                   | (rest_of(rests[key]) if key in rests else {}))  # fmt: skip
    return out


def place_shapes(graph: ReconfigurationGraph) -> Floats:
    """Centres of shapes (n, 2): as in the picture, but closer together, as a page has less space
    for labels."""
    places = places_of(graph, list(graph.nodes))
    return spread_out(places, CLOSE) if ON_A_CIRCLE < len(places) <= FEW else places


def node_of(graph: ReconfigurationGraph, node: Node) -> dict[str, Any]:
    """A node in a page, with its data in the graph."""
    pairs = graph.study.pairs
    return {
        "key": node.key,
        "name": node.name,
        "id": node.id,
        "verdict": node.verdict,
        "reason": node.reason,
        "energy": node.energy,
        "potential": node.potential,
        "frequencies": list(node.frequencies),
        "links": [[pairs[link.pair].name, link.option] for link in node.links],
        "r": round_numbers(node.state.r, 8),
        "q": round_numbers(node.state.q, 8),
    }


def rest_of(found: Equilibrium) -> dict[str, Any]:
    """The reason why a shape is at rest: motions around it, those that grow first, and the forces
    on each body."""
    rows, growing = force_lines(found), {id(mode) for mode in found.unstable}
    told = different([mode.words for mode in (*found.modes, *found.neutral)])
    modes = sorted(zip(found.modes, told, strict=False), key=lambda one: id(one[0]) not in growing)
    nothing = SHOWN_ROUNDING * max((abs(x) for row in rows for x in row.load), default=0.0)
    return {
        "modes": [mode_of(mode, words) for mode, words in modes[:MODES]],
        "free": len(found.neutral),
        "forces": [
            [
                row.body,
                row.source,
                [float(f"{x:.4g}") if abs(x) > nothing else 0.0 for x in row.load],
                row.note.strip(),
            ]
            for row in rows
        ],
    }


def mode_of(mode: Mode, words: str) -> dict[str, Any]:
    """A motion around a shape in words, with the real part of its velocities."""
    shape = round_numbers(np.real(mode.shape), 4)
    return {
        "frequency": mode.frequency, "damping": mode.damping, "period": mode.period,
        "grows": mode.eigenvalue.real > 0.0, "moving": words, "shape": shape,
    }  # fmt: skip


def edge_of(edge: Edge, keys: Mapping[str, int], tables: Words) -> dict[str, Any]:
    """A choice and its outcomes, with numbers for repeated strings."""
    pairs, options = tables["pairs"], tables["options"]
    joints = [
        number
        for pair, label in edge.selection.joints
        for number in (_number(pairs, pair), _number(options, label))
    ]
    known = {} if edge.robustness is None else {"robust": str(edge.robustness)}
    return known | {
        "s": keys[edge.source],
        "j": joints,
        "u": _number(tables["potentials"], edge.selection.potential),
        "k": edge.kind,
        "o": [outcome_of(outcome, edge.kind, keys, tables) for outcome in edge.outcomes],
    }


def outcome_of(
    outcome: Outcome, kind: str, keys: Mapping[str, int], tables: Words
) -> dict[str, Any]:
    """The result of one run, with six digits; defaults are omitted: the kind of the edge, no
    target, default values."""
    usual = Outcome._field_defaults | {"kind": kind, "target": None}
    said = {
        name: brief(value)
        for name, value in outcome._asdict().items()
        if value != usual.get(name, usual)
    }
    if outcome.target is not None:
        said["target"] = keys[outcome.target]
    return said | {"reason": _number(tables["reasons"], outcome.reason)}


def brief(value: Any) -> Any:
    """A value with floats rounded to six digits."""
    if isinstance(value, (list, tuple)):
        return [brief(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _number(words: dict[str, int], word: str) -> int:
    return words.setdefault(word, len(words))


def costs_of(graph: ReconfigurationGraph) -> dict[str, list[Any]]:
    """The numbers of the edges that may be steps of a plan, "of", and the costs of each after the
    first arrival at its source, by word; None: not known."""
    mine = usable(graph)
    prices = {
        word: [float(price_of(graph.study, word, edge, edge.outcomes[0])) for _, edge in mine]
        for word in COST_WORDS
    }
    known = {
        word: [cost if cost < math.inf else None for cost in costs]
        for word, costs in prices.items()
    }
    return {"of": [number for number, _ in mine], **known}


def energies_of(graph: ReconfigurationGraph) -> list[list[float | None]]:
    """For the same edges: the energy supplied during the motion, and the potential energy stored
    once the selection is made and at the end [J]."""
    outcomes = (edge.outcomes[0] for _, edge in usable(graph))
    return [[supply_in_motion(o), o.start_energy, o.end_energy] for o in outcomes]


def usable(graph: ReconfigurationGraph) -> list[tuple[int, Edge]]:
    """The edges that may be steps of a plan, with their numbers."""
    found = {id(edge) for _, _, edge, _ in steps(graph, False)}
    return [(number, edge) for number, edge in enumerate(graph.edges) if id(edge) in found]


def share_out(
    graph: ReconfigurationGraph, motions: Motions, both: bool, room: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Motions stored in the page, within its remaining space [bytes], and those in the side file:
    without a target, or too many; both: whether there is a side file."""
    tolerances = tolerances_of(graph.study.system.parts)
    inside: dict[str, Any] = {}
    beside: dict[str, Any] = {}
    taken = 0
    for number, found in motions:
        made = [None if frames is None else motion_of(frames, tolerances, MOST) for frames in found]
        size = len(json.dumps({number: made, "beside": number}))
        if graph.edges[number].kind in SHOWN and taken + size <= room:
            inside[str(number)] = made
            taken += size
        elif both:
            beside[str(number)] = made
        elif taken + size > room:
            break
    return inside, beside


def save_side_file(path: Any, beside: Mapping[str, Any]) -> None:
    """Write the side file: a script, since a page opened from a disk may read nothing else."""
    write_text(path, f"quirkpyBeside({as_script(dict(beside))});\n", "report")

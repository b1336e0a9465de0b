"""Strings with mass: chains of point masses between pieces of string."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from quirkpy.parts.checks import show
from quirkpy.parts.part import PartError

#: The default number of point masses along a string.
BEADS = 3


class Chains(NamedTuple):
    """Nodes with those of beads behind the given ones, strings as pieces between them, their names
    and options, and the masses of nodes."""

    nodes: list[Any]
    strings: list[Any]
    names: list[str]
    options: dict[str, Any]
    masses: dict[int, float]


def chains_of(
    points: Any, ways: Sequence[Sequence[int]], get: Callable[..., Any], options: Mapping[str, Any],
    masses: Mapping[int, float],
) -> Chains:  # fmt: skip
    """Strings with a mass as chains: n beads, n + 1 pieces with the stiffness of the whole, and the
    mass in equal shares at the beads, of which both ends have a half.

    get: the number of an option for a string."""
    made = Chains(list(points), [], [], {}, dict(masses))
    columns: dict[str, list[Any]] = {name: [] for name in options if name not in ("mass", "beads")}
    for k, way in enumerate(ways):
        mass, pieces = get("mass", k), int(get("beads", k, BEADS)) + 1
        pieces = pieces if mass else 1
        scales = {"stiffness": pieces, "damping": pieces, "rest_length": 1.0 / pieces}
        for name, column in columns.items():
            value = get(name, k)
            column += [value if value is None else value * scales.get(name, 1.0)] * pieces
        made.names.extend(f"s{k + 1} {n + 1}" if mass else f"s{k + 1}" for n in range(pieces))
        made.strings.extend(string_beads(made, k, way, mass, pieces) if mass else [way])
    made.options.update(columns)
    return made


def string_beads(
    made: Chains, k: int, way: Sequence[int], mass: float, pieces: int
) -> list[tuple[int, int]]:
    """Add the nodes and masses of one string; return its pieces."""
    if len(way) != 2:
        raise PartError(
            f"tensegrity: s{k + 1} runs over {show(tuple(way))} and has a mass, but only a string "
            "between two nodes may have one."
        )
    first, last = np.asarray(made.nodes[way[0]]), np.asarray(made.nodes[way[1]])
    inner = list(range(len(made.nodes), len(made.nodes) + pieces - 1))
    made.nodes.extend(first + n / pieces * (last - first) for n in range(1, pieces))
    made.masses.update(dict.fromkeys(inner, mass / pieces))
    for i in way:
        made.masses[i] = made.masses.get(i, 0.0) + 0.5 * mass / pieces
    nodes = [way[0], *inner, way[1]]
    return list(pairwise(nodes))

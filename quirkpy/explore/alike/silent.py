"""Rules, options and forces without declared traits, which exclude sharing of runs."""

from __future__ import annotations

from quirkpy.explore.scope.scope import Scope
from quirkpy.parts.force import KINDS, Force
from quirkpy.parts.part import Part


def silent(study: Scope) -> tuple[str, ...]:
    """Names of the users' own rule and option classes that declare no traits, and of forces that
    are written in Python, as a report lists them."""
    options = [option for chosen in study.options.values() for option in chosen]
    classes = [type(part).__name__ for part in (*study.safety, *options) if _says_nothing(part)]
    chosen = [force for forces in study.potentials.values() for force in forces]
    acting = [part for part in study.system.parts if isinstance(part, Force)]
    forces = [force for force in (*acting, *study.always, *chosen) if _is_a_law(force)]
    told = []
    if classes:
        told.append(f"{', '.join(dict.fromkeys(classes))} without traits (docs/extending.md)")
    if forces:
        titles = (f"{type(force).__name__} {force.name!r}" for force in forces)
        told.append(f"{', '.join(dict.fromkeys(titles))} with a law of its own")
    return tuple(told)


def _says_nothing(part: Part) -> bool:
    ours = type(part).__module__.startswith("quirkpy.")
    return not ours and vars(type(part))["traits"] is part.unknown_traits


def _is_a_law(force: Force) -> bool:
    return any(KINDS[element.kind].felt == "unknown" for element in force.elements())

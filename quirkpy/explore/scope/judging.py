"""Probable mistakes in a valid study."""

from __future__ import annotations

import itertools

from quirkpy.explore.scope.scope import Scope
from quirkpy.system.findings import Finding, Findings
from quirkpy.system.judgement import judge, judge_forces, judge_sensors


def judge_scope(scope: Scope) -> tuple[Finding, ...]:
    """Findings of its system, of its sensors, of its options and of its forces."""
    found = Findings()
    if not scope.sensors and len(scope.potentials) < 2:
        found.tell(
            "sensors",
            "Study: it has no sensors, so nothing can meet, and no two potentials to choose from; "
            "give sensors=[...] or potentials={...}.",
        )
    judge_sensors(scope.sensors, found)
    kinds = {frozenset((scope.sensors[p.one].kind, scope.sensors[p.two].kind)) for p in scope.pairs}
    for pair in scope.options:
        if frozenset(pair) not in kinds:
            found.tell(
                "options",
                f"Study: options of {pair!r} are used by no pair of sensors; see kind and accepts.",
                " | ".join(pair),
            )
    judge_forces([*itertools.chain(*scope.potentials.values()), *scope.always], found)
    return (*judge(scope.system), *found.all())

"""Probable mistakes in a valid study."""

from __future__ import annotations

from quirkpy.explore.scope.scope import Scope
from quirkpy.system.findings import Finding, Findings
from quirkpy.system.judgement import judge, judge_sensors


def judge_scope(scope: Scope) -> tuple[Finding, ...]:
    """Findings of its system, of its sensors and of its options."""
    found = Findings()
    if not scope.sensors:
        found.tell("sensors", "Study: it has no sensors, so nothing can meet and nothing be chosen "
                   "but potentials; give sensors=[...].")  # fmt: skip
    judge_sensors(scope.sensors, found)
    kinds = {frozenset((scope.sensors[p.one].kind, scope.sensors[p.two].kind)) for p in scope.pairs}
    for pair in scope.options:
        if frozenset(pair) not in kinds:
            found.tell(
                "options",
                f"Study: options of {pair!r} are used by no pair of sensors; see kind and accepts.",
                " | ".join(pair),
            )
    return (*judge(scope.system), *found.all())

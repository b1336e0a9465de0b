"""Unread contents of a file, reported so that nothing is ignored silently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from quirkpy.formats.models.xml import XmlElement
from quirkpy.system.findings import Findings


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def tell_unread(
    top: XmlElement, kinds: Mapping[str, tuple[str, frozenset[str]]], findings: Findings
) -> None:
    """Report each kind of element and of attribute that was never read, and how often.

    kinds: code -> a statement about some tags and attributes, combined in one sentence."""
    counts: dict[tuple[str, str, str], int] = {}
    for one in _unread(top):
        counts[one] = counts.get(one, 0) + 1
    together: dict[str, list[str]] = {}
    for (name, tag, found), count in counts.items():
        code = _code_of(name, tag, kinds)
        if code is None:
            findings.tell("not read", f"{found} is not read ({_times(count)}).", "")
        else:
            together.setdefault(code, []).append(found)
    for code, these in together.items():
        findings.tell(code, f"{kinds[code][0]}: {', '.join(sorted(these))}.", "")


def _code_of(name: str, tag: str, kinds: Mapping[str, tuple[str, frozenset[str]]]) -> str | None:
    """The kind to which an attribute belongs, or else its element."""
    for word in (name, tag):
        for code, (_, known) in kinds.items():
            if word in known:
                return code
    return None


def _unread(element: XmlElement) -> Iterator[tuple[str, str, str]]:
    """Name, tag and a description of everything that was not read."""
    for name in element.attributes:
        if name not in element.asked and not name.startswith("xmlns"):
            yield name, element.tag, f"{name} of <{element.tag}>"
    for child in element.children:
        if child.known:
            yield from _unread(child)
        else:
            yield child.tag, child.tag, f"<{child.tag}> in <{element.tag}>"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"

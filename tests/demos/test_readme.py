"""The Python on the pages runs, and prints what its comments say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: A comment says what its line prints: print(...)  # -> text
PROMISE = re.compile(r"^print\(.*\)  +# -> (.*)$", re.MULTILINE)


NAMES = (
    "driving", "equilibria", "exploring", "extending", "importing", "mechanisms", "notation",
    "origami", "parts", "seeing", "switching", "tensegrity",
)  # fmt: skip
PAGES = ["README.md", *(f"docs/{name}.md" for name in NAMES)]


@pytest.mark.parametrize("page", PAGES)
def test_python_on_page(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The blocks of a page are one program, from top to bottom."""
    code = "\n".join(BLOCK.findall((ROOT / page).read_text(encoding="utf-8")))
    assert code
    exec(compile(code, page, "exec", dont_inherit=True), {"__name__": "page"})
    assert capsys.readouterr().out.splitlines() == PROMISE.findall(code)


# --- links ----------------------------------------------------------------------------------------
#: A link to a page of ours, perhaps to a heading in it.
LINK = re.compile(r"\]\(((?:docs/)?[\w/]+\.md)?(?:#([\w-]+))?\)")


def slug(heading: str) -> str:
    """The anchor of a heading: small letters, digits and hyphens."""
    plain = re.sub(r"[^\w\- ]", "", heading.lower())
    return plain.replace(" ", "-")


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/{p.name}" for p in sorted((ROOT / "docs").glob("*.md")))]
)
def test_links_lead_somewhere(page: str) -> None:
    """Every link to a page, and to a heading in it, is met; the task index has many."""
    path = ROOT / page
    found = [link for link in LINK.findall(path.read_text(encoding="utf-8")) if any(link)]
    assert page != "docs/tasks.md" or len(found) >= 25
    for name, anchor in found:
        target = path.parent / name if name else path
        assert target.is_file(), name
        headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
        assert not anchor or anchor in {slug(heading) for heading in headings}, (name, anchor)

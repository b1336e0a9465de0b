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

"""Flight tables whose names are hostile to C or to a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest

import quirkpy as qp
from quirkpy.explore.answers.plan import FlightTable
from quirkpy.explore.scope.choices import Choice

NAMES = (
    "plain", "caf\u00e9", "\U0001f680 up", "a\U00010348b", "quote \" and \\ slash",
    "tab\tand \x07 bell", "\x7f", "what??/ is ??= that", "\u00e90", "\x01" + "7", "=1+1", "+cmd",
    "-2", "@sum", "a,b", "line\rback", "%s %n", "*/ int x; /*", "\u2028",
)  # fmt: skip


def table() -> FlightTable:
    """One row for each name."""
    rows = [
        (f"n{k + 1}", Choice(((f"{name} | x", "lock"),), name), "n0")
        for k, name in enumerate(NAMES)
    ]
    return FlightTable("n0", tuple(rows))


@pytest.mark.parametrize("standard", ["c99", "c11", "gnu17"])
def test_the_header_is_c(standard: str, tmp_path: Path) -> None:
    """It compiles without a warning, and a program finds the same names in it, byte for byte."""
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("no gcc here")
    flights = table()
    flights.save(tmp_path / "table.h")
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include <string.h>\n#include "table.h"\n'
        "int main(void) {\n    for (int k = 0; k < QUIRKPY_ROWS; ++k) {\n"
        "        const char *s = quirkpy_selections[quirkpy_table[k].selection];\n"
        "        fwrite(s, 1, strlen(s), stdout);\n        putchar(0);\n    }\n    return "
        "QUIRKPY_GOAL;\n}\n"
    )
    words = [
        gcc,
        f"-std={standard}",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pedantic",
        "main.c",
        "-o",
        "main",
    ]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = subprocess.run([tmp_path / "main"], capture_output=True).stdout
    assert said.split(b"\0")[:-1] == [choice.key.encode() for _, choice, _ in flights.rows]


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    flights = table()
    flights.save(tmp_path / "table.csv")
    text = (tmp_path / "table.csv").read_bytes().decode()
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert len(rows) == 1 + len(NAMES)
    for row, name in zip(rows[1:], NAMES, strict=True):
        assert len(row) == 4
        assert all(cell[:1] not in ("=", "+", "-", "@", "\t", "\r") for cell in row)
        assert row[2] in (name, "'" + name)
        assert row[3].endswith(f"{name} | x: lock")


def test_no_column_of_a_run_is_headed_by_a_formula(tmp_path: Path) -> None:
    names = [name for name in NAMES if name.isprintable() and "." not in name]
    balls = [qp.Body.sphere(name, 0.1, 1.0, position=(k, 0.0, 0.0)) for k, name in enumerate(names)]
    run = qp.Multibody(*balls).simulate(0.1)
    run.save(tmp_path / "run.csv", [f"{name}.position.x" for name in names])
    with (tmp_path / "run.csv").open(newline="", encoding="utf-8") as file:
        head, first, *_ = csv.reader(file)
    assert [column.removeprefix("'") for column in head[1:]] == [
        f"{name}.position.x" for name in names
    ]
    assert not any(column.startswith(("=", "+", "-", "@")) for column in head)
    assert [float(cell) for cell in first[1:]] == list(range(len(names)))


def test_json_keeps_them(tmp_path: Path) -> None:
    flights = table()
    flights.save(tmp_path / "table.json")
    rows = json.loads((tmp_path / "table.json").read_text(encoding="utf-8"))["rows"]
    assert [row["potential"] for row in rows.values()] == list(NAMES)

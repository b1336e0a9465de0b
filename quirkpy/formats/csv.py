"""Runs as text tables: a line for each stored time, a column for each number."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from quirkpy.maths.types import Floats
from quirkpy.parts.files import FilePath, plain_cell, replacing
from quirkpy.parts.part import PartError


def save_columns(path: FilePath, columns: Mapping[str, Floats]) -> None:
    """Write columns of equal length with their names; reading restores every number exactly."""
    lines = zip(*(column.tolist() for column in columns.values()), strict=True)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(plain_cell, columns))
    writer.writerows(lines)
    with replacing(path, "save") as file:
        file.write(text.getvalue().encode())


def data_frame(columns: Mapping[str, Any]) -> Any:
    """Columns as a DataFrame of pandas."""
    try:
        import pandas
    except ImportError as error:
        raise PartError(
            "DataFrames need pandas; install it with: pip install 'quirkpy[tables]'.",
            code="install",
        ) from error
    return pandas.DataFrame(dict(columns))

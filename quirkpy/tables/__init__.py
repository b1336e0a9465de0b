"""Parts compiled to frozen arrays; a selection is a slice of them."""

from quirkpy.tables.compile import compile
from quirkpy.tables.tables import Parameters, Selection, Tables

__all__ = ["Parameters", "Selection", "Tables", "compile"]

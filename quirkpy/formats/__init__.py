"""In and out."""

from quirkpy.formats.json import from_json, to_json

__all__ = ["from_json", "to_json"]

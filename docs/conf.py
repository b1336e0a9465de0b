"""Sphinx settings: Markdown pages, the furo theme, the public names from their docstrings."""

from quirkpy import __version__

project = "quirkpy"
author = "the quirkpy developers"
copyright = "2026, the quirkpy developers"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3
nitpicky = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
default_role = "literal"

html_theme = "furo"
html_title = f"quirkpy {release}"


def _bars_are_norms(app, what, name, obj, options, lines):
    """In docstrings |d| is the length of d, not a substitution."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


def setup(app):
    app.connect("autodoc-process-docstring", _bars_are_norms)

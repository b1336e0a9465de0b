"""The access of lower packages to views and formats: ``doors.stills.picture(system)``.

Views and formats are the highest layers, yet ``system.picture()`` and ``run.save()`` use them. Such
methods are thin and go through this module: it imports one of their modules when its name is first
used, and no other module below them may import one."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quirkpy.formats import csv as csv
    from quirkpy.formats import hdf5 as hdf5
    from quirkpy.formats import json as json
    from quirkpy.formats import npz as npz
    from quirkpy.views import charts as charts
    from quirkpy.views import curves as curves
    from quirkpy.views import explain as explain
    from quirkpy.views import film as film
    from quirkpy.views import graph_picture as graph_picture
    from quirkpy.views import graphs as graphs
    from quirkpy.views import landscape as landscape
    from quirkpy.views import listings as listings
    from quirkpy.views import live as live
    from quirkpy.views import movie as movie
    from quirkpy.views import notebook as notebook
    from quirkpy.views import poses as poses
    from quirkpy.views import progress as progress
    from quirkpy.views import report as report
    from quirkpy.views import report_graph as report_graph
    from quirkpy.views import server as server
    from quirkpy.views import stills as stills
    from quirkpy.views import sweeps as sweeps
    from quirkpy.views import window as window
    from quirkpy.views.curves import Chart as Chart
    from quirkpy.views.drawing import Drawing as Drawing
    from quirkpy.views.graph_picture import Colouring as Colouring
    from quirkpy.views.server import Live as Live

#: The package of each accessible module.
ROOMS = {
    **dict.fromkeys(("csv", "hdf5", "json", "npz"), "quirkpy.formats"),
    **dict.fromkeys(
        (
            "charts",
            "curves",
            "explain",
            "film",
            "graph_picture",
            "graphs",
            "landscape",
            "listings",
            "live",
            "movie",
            "notebook",
            "poses",
            "progress",
            "report",
            "report_graph",
            "server",
            "stills",
            "sweeps",
            "window",
        ),
        "quirkpy.views",
    ),
}


def __getattr__(name: str) -> Any:
    if name not in ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{ROOMS[name]}.{name}")
    globals()[name] = module  # found without this function next time
    return module

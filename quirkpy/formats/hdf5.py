"""Runs as HDF5 files, for other programs: a dataset for each quantity, with its unit."""

from __future__ import annotations

import io
from collections.abc import Mapping

from quirkpy.maths.types import Floats
from quirkpy.mechanics.measures import measures_in
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.files import FilePath, check_writable, replacing
from quirkpy.parts.part import PartError

#: Characters of names that are no part of the name of a dataset, where a slash opens a group.
ESCAPES = str.maketrans({"%": "%25", "/": "%2F"})


def save_table(run: Trajectory, path: FilePath, table: Mapping[str, Floats]) -> None:
    """Write arrays by name, each as a dataset with the attributes name, unit (none of what a
    controller measured or commanded) and, if it has components, parts. Of the file:
    stop, why the run ended."""
    place = check_writable(path, "save")
    try:
        import h5py
    except ImportError as error:
        raise PartError(
            f"save: {str(place)!r} needs h5py; pip install 'quirkpy[hdf5]' brings it, or name a "
            ".csv.",
            code="install",
        ) from error
    known = measures_in(run.system.tables)
    content = io.BytesIO()  # whole, before the disk is asked for room
    with h5py.File(content, "w") as file:
        file.attrs["stop"] = str(run.stop)
        for name, values in table.items():
            dataset = file.create_dataset(name.translate(ESCAPES), data=values)
            dataset.attrs["name"] = name
            if name in known:
                dataset.attrs["unit"] = known[name].unit
                if known[name].parts:
                    dataset.attrs["parts"] = known[name].parts
        file["t"].attrs["unit"] = "s"
    with replacing(place, "save") as whole:
        whole.write(content.getbuffer())

"""Files named by users: paths checked before any work is done, and files that are written
completely or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, TypeAlias

from quirkpy.parts.checks import show
from quirkpy.parts.part import PartError

#: The replacement of a dot in the name of a module.
DOT = "\u00b7"
#: Reasons for which some paths are impossible, by error numbers of the system.
IMPOSSIBLE = {
    errno.ELOOP: "is a link that leads back to itself; give another path",
    errno.ENAMETOOLONG: "is too long a name: it cannot be written, nor read; give a shorter one",
}
FilePath: TypeAlias = str | os.PathLike[str]
#: Characters with which a spreadsheet begins a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def path_of(path: Any, who: str) -> Path:
    """A path given by a user; an error where it is impossible."""
    try:
        name = os.fspath(path)
    except TypeError:
        name = None
    if not isinstance(name, str) or not name:
        raise PartError(f"{who}: {show(path)} is no path; give the name of a file.", code="file")
    if "\0" in name:
        raise PartError(
            f"{who}: {show(name)} holds a zero character, which no path may; leave it out.",
            code="file",
        )
    try:
        os.fsencode(name)
    except UnicodeEncodeError as error:
        raise PartError(
            f"{who}: {show(name)} holds {name[error.start]!r}, which no path may; leave it out.",
            code="file",
        ) from None
    try:
        os.stat(name)
    except OSError as error:
        if error.errno in IMPOSSIBLE:
            raise PartError(
                f"{who}: {show(name)} {IMPOSSIBLE[error.errno]}.", code="file"
            ) from None
    return Path(name)


def endless(place: Path) -> bool:
    """Whether a path is that of a device, a pipe or a socket: reading one may never end."""
    try:
        mode = os.stat(place).st_mode
    except OSError:  # the error is raised when it is opened
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def readable(path: Any, who: str) -> Path:
    """A path to be read; an error where the contents may be endless."""
    place = path_of(path, who)
    if endless(place):
        raise PartError(
            f"{who}: {str(place)!r} is a device, a pipe or a socket, which may have no end; give "
            "a file.",
            code="file",
        )
    return place


def ending_of(path: Any, who: str, endings: Sequence[str]) -> Path:
    """A path whose ending determines the format to write."""
    place = path_of(path, who)
    if place.suffix not in endings:
        raise PartError(
            f"{who}: {place.name!r} ends in none of {', '.join(endings)}, which say what to write.",
            code="file",
        )
    return place


def check_writable(path: Any, who: str) -> Path:
    """Refuse, before any work is done, a file that cannot be written in the end: no folder, no
    permission, or a folder in which no file can be made."""
    place = path_of(path, who)
    try:
        target = _target(place)
        folder = os.path.dirname(target)
        os.stat(os.path.join(folder, ""))  # raises if it is not a folder
        mode = None
        with contextlib.suppress(FileNotFoundError):
            mode = os.stat(target).st_mode
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "Is a directory")
        if not os.access(folder if mode is None else target, os.W_OK):
            raise PermissionError(errno.EACCES, "Permission denied")
        if mode is None or stat.S_ISREG(mode):
            _try_folder(target)
    except OSError as error:
        raise _unwritable(place, who, error.strerror or str(error)) from error
    return place


def _try_folder(target: str) -> None:
    """Create and remove a file beside another: permissions alone do not tell whether that is
    possible."""
    own = _name_beside(target)
    try:
        os.close(os.open(own, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(own)


@contextlib.contextmanager
def replacing(path: Any, who: str) -> Iterator[BinaryIO]:
    """A new file beside `path`, which is renamed to `path` when it is completely on the disk. If
    writing ends early, the file at `path` stays unchanged and the new one is removed. A device or a
    pipe is written to directly."""
    place = check_writable(path, who)
    try:
        target = _target(place)
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as file:
                yield file
        else:
            with _replace_when_whole(target) as file:
                yield file
    except OSError as error:
        raise _unwritable(place, who, error.strerror or str(error)) from error


@contextlib.contextmanager
def _replace_when_whole(target: str) -> Iterator[BinaryIO]:
    """A new file in the folder of another, with the same ending and permissions, which replaces
    it."""
    own = _name_beside(target)
    try:
        with open(own, "x+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(own, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(own, target)
    finally:
        with contextlib.suppress(OSError):  # it was renamed, or never existed
            os.unlink(own)


def _name_beside(target: str) -> str:
    """A new name in the folder of a file, with the same ending."""
    folder, name = os.path.split(target)
    return os.path.join(folder, f".quirkpy-{secrets.token_hex(6)}{os.path.splitext(name)[1][:20]}")


def write_text(path: Any, text: str, who: str) -> None:
    """Write a text in UTF-8, completely or not at all."""
    with replacing(path, who) as file:
        file.write(text.encode("utf-8", "surrogatepass"))


def _target(place: Path) -> str:
    """The file that is written to: links are followed, so that they remain."""
    return os.path.realpath(place)


def _unwritable(place: Path, who: str, why: str) -> PartError:
    return PartError(
        f"{who}: {str(place)!r} cannot be written: {why}; nothing was changed.", code="file"
    )


# --- modules of users -----------------------------------------------------------------------------
def module_from(path: FilePath, name: str) -> ModuleType:
    """The module made from a Python file, under a unique name, wherever the file lies."""
    spec = spec_from_file_location(name, os.fspath(path))
    if spec is None or spec.loader is None:
        raise PartError(
            f"{os.fspath(path)!r} is no Python file; its name must end in .py.", code="file"
        )
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def name_of_file(path: FilePath) -> str:
    """A unique name for the module made from a file: that of the file, with DOT for dots, which
    would make packages of it."""
    return os.path.basename(path).replace(".", DOT)


def modules_by_path() -> dict[str, str]:
    """The modules with names from `name_of_file`, and their files: another process could not import
    them by name."""
    found = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
    return {name: path for name, path in found.items() if path and name_of_file(path) == name}


def plain_cell(text: str) -> str:
    """A text as a cell of a table; one that a spreadsheet would interpret as a formula is preceded
    by an apostrophe."""
    return "'" + text if text.startswith(FORMULA) else text

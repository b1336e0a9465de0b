"""Files that users name: paths checked before any work is done, and files written whole or not at
all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from quirkpy.parts.checks import show
from quirkpy.parts.part import PartError

FilePath: TypeAlias = str | os.PathLike[str]


def path_of(path: Any, who: str) -> Path:
    """A path as users give it; refused where it can be none."""
    try:
        name = os.fspath(path)
    except TypeError:
        name = None
    if not isinstance(name, str) or not name:
        raise PartError(f"{who}: {show(path)} is no path; give the name of a file.")
    if "\0" in name:
        raise PartError(
            f"{who}: {show(name)} holds a zero character, which no path may; leave it out."
        )
    try:
        os.fsencode(name)
    except UnicodeEncodeError as error:
        raise PartError(
            f"{who}: {show(name)} holds {name[error.start]!r}, which no path may; leave it out."
        ) from None
    try:
        os.stat(name)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise PartError(
                f"{who}: {show(name)} is a link that leads back to itself; give another path."
            ) from None
    return Path(name)


def ending_of(path: Any, who: str, endings: Sequence[str]) -> Path:
    """A path whose end says what to write."""
    place = path_of(path, who)
    if place.suffix not in endings:
        raise PartError(
            f"{who}: {place.name!r} ends in none of {', '.join(endings)}, which say what to write."
        )
    return place


def check_writable(path: Any, who: str) -> Path:
    """Refuse, before any work is done, a file that cannot be written in the end: no folder, no
    permission."""
    place = path_of(path, who)
    try:
        target = _target(place)
        folder = os.path.dirname(target)
        os.stat(os.path.join(folder, ""))  # where it is no folder, that is said
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISDIR(os.stat(target).st_mode):
                raise IsADirectoryError(errno.EISDIR, "Is a directory")
            folder = target
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, "Permission denied")
    except OSError as error:
        raise _unwritable(place, who, error.strerror or str(error)) from error
    return place


@contextlib.contextmanager
def replacing(path: Any, who: str) -> Iterator[BinaryIO]:
    """A file beside `path` to write to, which becomes `path` when all of it is on the disk.

    Whatever ends the writing before leaves what was there as it was, and nothing beside it.  A
    device or a pipe is written to directly."""
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
    """A new file in the folder of another, with the same ending and permissions, which takes its
    place."""
    folder, name = os.path.split(target)
    own = os.path.join(folder, f".quirkpy-{secrets.token_hex(6)}{os.path.splitext(name)[1][:20]}")
    try:
        with open(own, "x+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(own, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(own, target)
    finally:
        with contextlib.suppress(OSError):  # it has its new name, or was never there
            os.unlink(own)


def write_text(path: Any, text: str, who: str) -> None:
    """Write a text in UTF-8, whole or not at all."""
    with replacing(path, who) as file:
        file.write(text.encode("utf-8", "surrogatepass"))


def _target(place: Path) -> str:
    """What is written to: behind links, so that these stay."""
    return os.path.realpath(place)


def _unwritable(place: Path, who: str, why: str) -> PartError:
    return PartError(f"{who}: {str(place)!r} cannot be written: {why}; nothing was changed.")

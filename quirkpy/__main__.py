"""The command `quirkpy`, also as `python -m quirkpy`: Ctrl-C ends it with one line at most, also
while it starts."""

import os
import signal
import sys
from importlib import import_module

#: Equal to that of `quirkpy.cli`, which is imported only after Ctrl-C is handled.
INTERRUPTED = 130
#: The highest number of a standard stream.
HIGHEST_STREAM = 2
#: Room for addresses [bytes] that loading NumPy, SciPy and numba and compiling a kernel take; with
#: less, OpenBLAS asks again for ever, and LLVM ends the process.
LEAST_MEMORY = 1_200_000_000


def main() -> int:
    """Execute the command line; returns its exit code."""
    heard = (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )  # may differ in the background of a script
    if heard:
        signal.signal(signal.SIGINT, leave)
    fill_standard_streams()
    try:
        check_memory()
        from quirkpy import cli

        import_module("quirkpy.names")  # imports everything that takes time
    except (ImportError, MemoryError, OSError) as error:
        if "--debug" in sys.argv:
            raise
        return say_why(error)
    try:
        if heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = cli.main()
        if code == INTERRUPTED:
            sys.unraisablehook = say_nothing
        return code
    except KeyboardInterrupt:
        if "--debug" in sys.argv:
            raise
        return INTERRUPTED
    finally:
        if heard:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def say_nothing(lost: object) -> None:
    """Suppress messages about objects that an interruption has left unfinished."""


def check_memory() -> None:
    """Raise an error where a process may not have the memory that it needs to start."""
    try:
        import resource
    except ImportError:  # for instance on Windows, which has no such limit
        return
    room, _ = resource.getrlimit(resource.RLIMIT_AS)
    if room != resource.RLIM_INFINITY and room < LEAST_MEMORY:
        raise MemoryError(
            f"this process may use {room / 1e9:.3g} GB of memory (ulimit -v), and loading and "
            f"compiling take {LEAST_MEMORY / 1e9:.3g} GB; allow more"
        )


def say_why(error: Exception) -> int:
    """Print in one line why the start failed; returns the exit code."""
    line = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    if sys.stderr:
        print(f"quirkpy: it cannot begin: {line}.", file=sys.stderr)
    return 1


def leave(number: int, frame: object) -> None:
    """End at once, while there is nothing to clean up yet."""
    if sys.__stderr__:
        os.write(sys.__stderr__.fileno(), b"quirkpy: interrupted before it had begun.\n")
    os._exit(INTERRUPTED)


def fill_standard_streams() -> None:
    """Open closed standard streams, so that no file opened later gets their numbers: output of
    libraries would be written into it."""
    while True:
        number = os.open(os.devnull, os.O_RDWR)
        if number > HIGHEST_STREAM:
            os.close(number)
            return


if __name__ == "__main__":
    sys.exit(main())

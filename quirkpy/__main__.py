"""The command `quirkpy`, also as `python -m quirkpy`: Ctrl-C ends it with one line at most, also
while it begins."""

import os
import signal
import sys
from importlib import import_module

#: The same as in `quirkpy.cli`, which is not imported before Ctrl-C is heard.
INTERRUPTED = 130
#: The numbers of standard streams go up to this one.
HIGHEST_STREAM = 2
#: Room for addresses [bytes] that loading NumPy, SciPy and numba and compiling a kernel take; with
#: less, OpenBLAS asks again for ever, and LLVM ends the process.
LEAST_MEMORY = 1_200_000_000


def main() -> int:
    """Do what the command line says; its exit code."""
    heard = (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )  # not so in the background of a script
    if heard:
        signal.signal(signal.SIGINT, leave)
    fill_standard_streams()
    try:
        check_memory()
        from quirkpy import cli

        import_module("quirkpy.names")  # all that takes its time to load
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
    """Of what an interruption has left half done, and what fails as it goes."""


def check_memory() -> None:
    """Refuse to begin where a process may not have as much memory as it takes to begin."""
    try:
        import resource
    except ImportError:  # as on Windows, which knows no such limit
        return
    room, _ = resource.getrlimit(resource.RLIMIT_AS)
    if room != resource.RLIM_INFINITY and room < LEAST_MEMORY:
        raise MemoryError(
            f"this process may use {room / 1e9:.3g} GB of memory (ulimit -v), and loading and "
            f"compiling take {LEAST_MEMORY / 1e9:.3g} GB; allow more"
        )


def say_why(error: Exception) -> int:
    """Say in one line why nothing could begin; the exit code."""
    line = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    if sys.stderr:
        print(f"quirkpy: it cannot begin: {line}.", file=sys.stderr)
    return 1


def leave(number: int, frame: object) -> None:
    """End at once, while there is nothing yet to be put in order."""
    if sys.__stderr__:
        os.write(sys.__stderr__.fileno(), b"quirkpy: interrupted before it had begun.\n")
    os._exit(INTERRUPTED)


def fill_standard_streams() -> None:
    """Let no file that is opened later have the number of a stream that is closed: what a library
    prints would be written into it."""
    while True:
        number = os.open(os.devnull, os.O_RDWR)
        if number > HIGHEST_STREAM:
            os.close(number)
            return


if __name__ == "__main__":
    sys.exit(main())

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


def main() -> int:
    """Do what the command line says; its exit code."""
    heard = (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )  # not so in the background of a script
    if heard:
        signal.signal(signal.SIGINT, leave)
    fill_standard_streams()
    from quirkpy import cli

    import_module("quirkpy.names")  # all that takes its time to load

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

"""`python -m quirkpy` is the command `quirkpy`."""

import sys

from quirkpy.cli import main

if __name__ == "__main__":
    sys.exit(main())

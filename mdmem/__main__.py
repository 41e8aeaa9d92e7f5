"""Runs the command line."""

from __future__ import annotations

import gc
import sys
from typing import NoReturn

from mdmem.cli.main import run


def main() -> NoReturn:
    """Run mdmem with the arguments of the process and exit with its code."""
    # Everything that a command loads lives until it ends, so collecting garbage only costs time.
    gc.disable()
    code = run(sys.argv[1:])
    # Python collects once more at its end, unless everything is frozen.
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()

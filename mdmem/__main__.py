"""Runs the command line."""

from __future__ import annotations

import gc
import sys
from typing import NoReturn

from mdmem.cli.main import run


def main() -> NoReturn:
    """Run mdmem with the arguments of the process and exit with its code."""
    # What a command loads lives until it ends: to look for garbage in it took a third of loading 10,000 entries.
    gc.disable()
    code = run(sys.argv[1:])
    # Python looks once more where it ends, unless all is taken for what lives on.
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()

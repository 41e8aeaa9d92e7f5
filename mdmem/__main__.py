"""Runs the command line."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run mdmem with the arguments of the process and exit with its code."""
    from mdmem.cli.main import run

    # What is loaded lives until the process ends; looking for garbage in it took a third of loading 10,000 entries.
    gc.disable()
    code = run(sys.argv[1:])
    # Python looks for it once more where it ends, unless it takes all for what lives on.
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()

"""Runs the command line."""

from __future__ import annotations

import sys


def main() -> None:
    """Run mdmem with the arguments of the process and exit with its code."""
    from mdmem.cli.main import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()

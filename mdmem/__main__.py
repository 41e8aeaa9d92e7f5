"""Runs the command line."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from typing import NoReturn

from mdmem.late import Late, late, own_process

# What click, `dataclasses`, `subprocess`, `urllib` and msgspec import at once and use late: a tenth of what a search
# takes.
_LATE = (
    *map(
        Late,
        ("inspect", "ipaddress", "locale", "signal", "textwrap", "msgspec.inspect", "msgspec.toml", "msgspec.yaml"),
    ),
    Late("msgspec._json_schema", "schema", "schema_components"),
)
# And what is so for click and `pathlib` alone.
_LATE_AT_START = (
    Late("gettext", "gettext", "ngettext"),
    Late("urllib.parse", "quote_from_bytes"),
    Late("uuid", "UUID"),
)


def main() -> NoReturn:
    """Run mdmem with the arguments of the process and exit with its code."""
    # What is loaded lives until the process ends; looking for garbage in it took a third of loading 10,000 entries.
    gc.disable()
    own_process.set()
    for module in _LATE:
        module.stand_in()
    with late(*_LATE_AT_START):
        from mdmem.cli.main import run

    code = run(sys.argv[1:])
    # Python looks for it once more where it ends, unless it takes all for what lives on.
    gc.freeze()
    _end(code)


def _end(code: int) -> NoReturn:
    """End the process as Python does, but for taking apart all that it holds: the system does that at once."""
    if threading.active_count() == 1:
        atexit._run_exitfuncs()  # what was left to be cleared away, as temporary folders
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):
            # Python tells of it as it ends.
            sys.exit(code)
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()

"""Runs the command line."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

# What click, `dataclasses`, `subprocess`, `urllib` and msgspec import at once and use late: a tenth of what a search
# takes.
_LATE = ("inspect", "ipaddress", "locale", "signal", "textwrap", "msgspec.inspect")
_turn = threading.Lock()


def main() -> NoReturn:
    """Run mdmem with the arguments of the process and exit with its code."""
    # What is loaded lives until the process ends; looking for garbage in it took a third of loading 10,000 entries.
    gc.disable()
    for name in _LATE:
        sys.modules.setdefault(name, _Late(name))
    from mdmem.cli.main import run

    code = run(sys.argv[1:])
    # Python looks for it once more where it ends, unless it takes all for what lives on.
    gc.freeze()
    _end(code)


class _Late(ModuleType):
    """Stands in the place of a module until something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        with _turn:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
        # Whatever is set here is found without coming here again.
        found = vars(self)[name] = getattr(import_module(self.__name__), name)
        return found


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

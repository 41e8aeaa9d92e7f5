"""How far the checks have come, on a terminal."""

from __future__ import annotations

import sys

import click


class CheckProgress:
    """Shows on a terminal how far the checks of a large memory have come, and takes that away; elsewhere nothing."""

    _WORTH_SAYING = 500

    def __init__(self) -> None:
        """Start with nothing shown."""
        self._width = 0
        self._said = -1

    def __call__(self, done: int, total: int) -> None:
        """Show how many of the files are checked."""
        percent = done * 100 // max(1, total)
        if total < self._WORTH_SAYING or percent == self._said or not sys.stderr.isatty():
            return
        self._said = percent
        said = f"checking {total} files: {percent} %"
        self._width = max(self._width, len(said))
        click.echo(f"\r{said}", err=True, nl=False)

    def clear(self) -> None:
        """Take away what was shown."""
        if self._width:
            click.echo(f"\r{' ' * self._width}\r", err=True, nl=False)

"""Options as click has them, made without what click imports to tidy their sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

Decorated = Callable[..., Any]


class Option(click.Option):
    """An option whose sentence stands as it is: to take the indentation out of one, click loads `inspect`."""

    def __init__(self, *declared: Any, help: str | None = None, **stated: Any) -> None:  # noqa: A002  # as click calls it
        """Take what click's own takes."""
        super().__init__(*declared, **stated)
        self.help = help or self.help


def option(*names: str, **stated: Any) -> Callable[[Decorated], Decorated]:
    """Add an option to a command."""
    return click.option(*names, cls=Option, **stated)

"""A help that fits a glance: what is used every day with its sentence, the rest by name."""

from __future__ import annotations

from typing import Any

import click


class ShortHelp(click.Command):
    """A command whose help explains the options of every day alone; agents read it before anything else."""

    def __init__(self, *arguments: Any, everyday: tuple[str, ...] = (), page: str = "asking", **options: Any) -> None:
        """Take the names of the parameters that are explained, in the order wanted, and the page on the others."""
        super().__init__(*arguments, **options)
        self._everyday, self._page = everyday, page

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the everyday options with their sentences, and the others as one paragraph of names."""
        by_name = {one.name: one for one in self.get_params(ctx) if isinstance(one, click.Option)}
        told = [record for name in self._everyday if (record := by_name[name].get_help_record(ctx)) is not None]
        with formatter.section("Options"):
            formatter.write_dl(told)
        rest = [one for name, one in by_name.items() if name not in self._everyday]
        with formatter.section(f"Besides (`mdmem guide {self._page}`)"):
            formatter.write_text(" ".join(map(named, rest)))


def named(option: click.Option) -> str:
    """Return an option as it is typed, with what it takes."""
    longest = max((*option.opts, *option.secondary_opts), key=len)
    choices = "|".join(option.type.choices) if isinstance(option.type, click.Choice) else option.metavar
    return longest if option.is_flag or not choices else f"{longest} {choices}"

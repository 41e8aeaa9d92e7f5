"""A help that fits a glance: what is used every day with its sentence, the rest by name."""

from __future__ import annotations

from typing import Any

import click

from mdmem.cli.common import print_and_end


class WithHelp(click.Command):
    """A command whose option for help is made without a search for translations, of which there are none."""

    _stated_help: click.Option | None = None

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option that shows the help, the same one each time."""
        names = self.get_help_option_names(ctx)
        if self._stated_help is None and names:
            stated: dict[str, Any] = {"is_flag": True, "expose_value": False, "is_eager": True, "callback": _show_help}
            self._stated_help = click.Option([*names, "_stated_help"], help="Show this message and exit.", **stated)
        return self._stated_help


def _show_help(context: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001  # as click calls it
    if value and not context.resilient_parsing:
        print_and_end(context, context.get_help())


class ShortHelp(WithHelp):
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

"""`mdmem guide`: the pages that tell how each job is done."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from mdmem.cli.common import Globals, global_options, print_text
from mdmem.guide import page, summary, topics


def _complete_topic(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    return [CompletionItem(topic, help=summary(topic)) for topic in topics() if topic.startswith(typed)]


@click.command("guide")
@click.argument("topic", required=False, shell_complete=_complete_topic)
@global_options
def command(_: Globals, topic: str | None) -> int:
    """Print the page of TOPIC, or list the topics."""
    if topic is None:
        width = max(map(len, topics()))
        print_text("\n".join(f"{name:<{width}}  {summary(name)}" for name in topics()))
        return 0
    print_text(page(topic).rstrip("\n"), is_page=True)
    return 0

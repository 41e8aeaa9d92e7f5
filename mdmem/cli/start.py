"""The commands init, status and guide, with the former audit, fields and index."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from mdmem.change.status import refresh_index, report_status
from mdmem.cli.common import Globals, at_option, format_option, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_field
from mdmem.guide import page, summary, topics
from mdmem.model.fields import FIELDS
from mdmem.model.spelling import get_field
from mdmem.render.agents import audit_json, audit_text
from mdmem.render.fields import field_text, fields_json, fields_markdown, fields_text
from mdmem.render.json import dump, status_json
from mdmem.render.upkeep import status_text
from mdmem.render.words import count
from mdmem.setup.init import init
from mdmem.store.state.journal import read_audit


@click.command("init")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--wing", "-w", help="The first wing; default: the name of the repository.")
@click.option("--no-hook", is_flag=True, help="Do not change git hooks.")
@click.option(
    "--client",
    "clients",
    multiple=True,
    type=click.Choice(
        [
            *("claude-code", "cursor", "vscode", "codex", "gemini"),
            *("opencode", "copilot", "qwen", "continue", "generic"),
        ]
    ),
    help="Add the MCP server to this client's configuration in the project; repeatable.",
)
@click.option(
    "--hooks",
    "client_hooks",
    is_flag=True,
    help="With --client: add hooks, too, which show the rules for a file to the model when it edits it.",
)
@click.option(
    "--command",
    "started",
    default="mdmem",
    metavar="PATH",
    help="The command that starts mdmem there.  [default: mdmem]",
)
@global_options
def init_command(
    given: Globals,
    folder: str | None,
    wing: str | None,
    *,
    no_hook: bool,
    clients: tuple[str, ...],
    client_hooks: bool,
    started: str,
) -> int:
    """Start a memory in DIR (`memory`): settings, a first wing, hooks, and lines in AGENTS.md.

    Nothing that exists is changed; the output has the lines to add by hand. With --client the server `mdmem mcp` is
    added to the client's file, and its tools to AGENTS.md, without a change to the rest.
    """
    if client_hooks and not clients:
        raise click.UsageError("--hooks adds hooks to a client; name it with --client")
    steps = init(
        Path.cwd(),
        given.root or folder,
        wing=wing,
        hook=not no_hook,
        clients=clients,
        client_hooks=client_hooks,
        command=started,
    )
    for step in steps:
        print_text(step)
    return 0


@click.command("status")
@click.option("--audit", "is_audit", is_flag=True, help="List the requests for context packs.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="With --audit: how many.")
@click.option("--rebuild", is_flag=True, help="Build the full-text index again.")
@at_option
@format_option("text", "json")
@global_options
def status_command(
    given: Globals, limit: int, form: str, revision: str | None, *, is_audit: bool, rebuild: bool
) -> int:
    """Show the root and how it was found, the wings, the index and the findings."""
    if is_audit and rebuild:
        raise click.UsageError("give --audit or --rebuild, not both")
    if revision is not None and (is_audit or rebuild):
        raise click.UsageError("--at is for neither --audit nor --rebuild")
    if is_audit:
        return _print_audit(given, limit, form)
    if rebuild:
        return _refresh_index(given, form, rebuild=True)
    report = report_status(open_workspace(given, revision=revision))
    print_text(dump(status_json(report)) if form == "json" else status_text(report, given.ink()))
    return 0


@click.command("audit")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many, the newest ones.")
@format_option("text", "json")
@global_options
def audit_command(given: Globals, limit: int, form: str) -> int:
    """List the context packs that were compiled, the oldest of them first; the log is this machine's own."""
    return _print_audit(given, limit, form)


def _print_audit(given: Globals, limit: int, form: str) -> int:
    lines = list(read_audit(open_workspace(given).state_folder))
    print_text(audit_json(lines[-limit:], len(lines)) if form == "json" else audit_text(lines[-limit:]))
    if not lines:
        given.remark("no context pack was asked for yet")
    elif len(lines) > limit:
        given.remark(f"{len(lines) - limit} older ones; --limit shows more")
    return 0


def _complete_topic(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    return [CompletionItem(topic, help=summary(topic)) for topic in topics() if topic.startswith(typed)]


@click.command("guide")
@click.argument("topic", required=False, shell_complete=_complete_topic)
@click.argument("field", metavar="[FIELD]", required=False, shell_complete=complete_field)
@format_option("text", "json", "markdown")
@global_options
def guide_command(given: Globals, topic: str | None, field: str | None, form: str) -> int:
    """Print the page of TOPIC, or list the topics; `guide fields FIELD` shows one field of a front matter in full."""
    if topic == "fields" and (field is not None or form != "text"):
        return _print_fields(given, field, form)
    if field is not None or form == "json":
        raise click.UsageError("only `mdmem guide fields` takes a name or prints JSON")
    if topic is None:
        width = max(map(len, topics()))
        print_text("\n".join(f"{name:<{width}}  {summary(name)}" for name in topics()))
        return 0
    print_text(page(topic).rstrip("\n"), is_page=True)
    return 0


@click.command("fields")
@click.argument("name", required=False, shell_complete=complete_field)
@format_option("text", "json", "markdown")
@global_options
def fields_command(given: Globals, name: str | None, form: str) -> int:
    """List the fields of a front matter, or show all there is to know of the field NAME."""
    return _print_fields(given, name, form)


def _print_fields(given: Globals, name: str | None, form: str) -> int:
    fields = FIELDS if name is None else (get_field(name),)
    if form == "text":
        print_text(fields_text(fields, given.ink()) if name is None else field_text(fields[0], given.ink()))
    else:
        print_text(fields_json(fields) if form == "json" else fields_markdown(fields))
    return 0


@click.command("index")
@click.option("--rebuild", is_flag=True, help="Build it anew, whatever is there.")
@format_option("text", "json")
@global_options
def index_command(given: Globals, form: str, *, rebuild: bool) -> int:
    """Bring the full-text index up to date.

    Nobody needs to: every question sees the files as they are. It saves the next question the work.
    """
    return _refresh_index(given, form, rebuild=rebuild)


def _refresh_index(given: Globals, form: str, *, rebuild: bool) -> int:
    done = refresh_index(open_workspace(given), rebuild=rebuild)
    if form == "json":
        print_text(dump({"total": done.total, "added": done.added, "removed": done.removed, "rebuilt": done.rebuilt}))
    else:
        how = ", built anew" if done.rebuilt else ""
        print_text(
            f"{count(done.total, 'entry', 'entries')} in the index: {done.added} taken in, {done.removed} dropped{how}"
        )
    return 0

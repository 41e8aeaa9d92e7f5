"""`mdmem save`: what an agent hands over, by the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem.cli.common import Globals, global_options, open_workspace, print_text
from mdmem.render.saves import saved_json
from mdmem.reply import replying
from mdmem.write.results import BatchSaveResult, SaveStatus
from mdmem.write.save import save, save_with_learnings

if TYPE_CHECKING:
    from mdmem.store.workspace.workspace import Workspace
    from mdmem.write.results import BatchSaveResult, SaveResult

_KINDS = ("decision", "pattern", "context", "session", "entity")


@click.command("save")
@click.argument("kind", metavar="KIND", type=click.Choice(_KINDS))
@click.option("--json", "source", required=True, metavar="FILE", help="The record as JSON; `-` reads standard input.")
@click.option("--project", "-p", "project_id", metavar="ID", help="The project: its id, or the name of its wing.")
@click.option("--focus", metavar="FOCUS", help="The focus area within the project.")
@click.option("--token", "governance_token", metavar="TOKEN", help="What `mdmem token` gave, for a shared wing.")
@click.option("--agent", metavar="NAME", help="Who saves it; it is written into the entry.")
@click.option(
    "--distinct-from", multiple=True, metavar="ADDRESS", help="A similar decision that is to stand beside this one."
)
@click.option("--room", metavar="ROOM", help="The room.  [default: settings]")
@global_options
def command(given: Globals, kind: str, source: str, *, distinct_from: tuple[str, ...], **options: str | None) -> int:
    """Save a decision, pattern, context, session or entity as agents do, compared with what is there; answers in JSON.

    The JSON is the record, or an object with the record under KIND and the other arguments beside it.
    """
    arguments = _arguments(kind, _read(source)) | {name: value for name, value in options.items() if value is not None}
    if distinct_from:
        record = arguments[kind]
        if kind != "decision" or not isinstance(record, dict):
            raise click.UsageError("--distinct-from is for a decision")
        arguments[kind] = {**record, "distinct_from": list(distinct_from)}
    with replying() as reply:
        result = _save(open_workspace(given), kind, arguments)
        print_text(saved_json(result))
        reply.has_left()
    return _exit_code(result)


def _read(source: str) -> object:
    name = "standard input" if source == "-" else source
    try:
        # Who names it may name a pipe.
        content = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise click.UsageError(f"{name} cannot be read: {(error.strerror or str(error)).lower()}") from error
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{name} is not UTF-8 at byte {error.start}") from error
    except RecursionError as error:
        raise click.UsageError(f"{name} holds no JSON that can be read: it nests too deep") from error
    except ValueError as error:
        raise click.UsageError(f"{name} holds no JSON: {error}") from error


def _arguments(kind: str, stated: object) -> dict[str, Any]:
    is_whole = isinstance(stated, dict) and kind in stated
    return dict(stated) if isinstance(stated, dict) and is_whole else {kind: stated}


def _save(workspace: Workspace, kind: str, arguments: dict[str, Any]) -> SaveResult | BatchSaveResult:
    """Save a record of a kind; a session with decisions or patterns beside it is saved with them."""
    if kind == "session" and not {"decisions", "patterns"}.isdisjoint(arguments):
        _refuse_unknown(arguments, {kind, "project_id", "decisions", "patterns"}, ("focus", "agent"))
        return save_with_learnings(workspace, arguments)
    taken = {kind, "project_id", *(["related_entities"] if kind == "entity" else [])}
    _refuse_unknown(arguments, taken, ("focus", "governance_token", "agent", "room"))
    return save(workspace, kind, arguments)


def _refuse_unknown(arguments: dict[str, Any], taken: Collection[str], known: tuple[str, ...]) -> None:
    for name in arguments:
        if name not in taken and name not in known:
            raise click.UsageError(f"there is no argument `{name}` here; write one of {', '.join(known)}")


def _exit_code(result: SaveResult | BatchSaveResult) -> int:
    """Return 0 for what is there, 1 for what a person has to look at, 3 for what waits, else 2."""
    if isinstance(result, BatchSaveResult):
        return {SaveStatus.SAVED: 0, SaveStatus.PARTIAL: 1}.get(result.overall, 2)
    if result.is_there:
        return 0
    return 1 if result.is_for_a_person else 3 if result.waits else 2

"""That hygiene ran: kept in the state, and in the manifests where somebody asks for it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from mdmem.authoring.intent import Intent
from mdmem.authoring.message import Deed, Verb
from mdmem.authoring.patching import patched
from mdmem.authoring.plan import Plan
from mdmem.catalog import Catalog
from mdmem.document.edits import UnpatchableError
from mdmem.errors import EnvironmentFaultError
from mdmem.state.times import record_hygiene
from mdmem.workspace.opened import Opened
from mdmem.workspace.writing import WriteOptions, Written, carry


def record_in_state(workspace: Opened, wings: Collection[str] | None, remarks: list[str]) -> None:
    """Keep that hygiene ran today, over some wings or over everything (None); remark it where that fails."""
    try:
        written = record_hygiene(workspace.state_folder, wings, workspace.today)
        reason = "" if written else "it cannot be written"
    except EnvironmentFaultError as error:
        reason = str(error)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    if reason:
        remarks.append(f"that hygiene ran is not kept in {workspace.state_folder}: {reason}")


def record_in_manifests(
    workspace: Opened, wings: Iterable[str], remarks: list[str], *, commit: bool | None = None
) -> Written:
    """Write today's date into the manifests of wings, and nothing else, and remark those that cannot hold it.

    `commit` as in WriteOptions. Raises what `carry` raises.
    """
    catalog = workspace.whole_catalog
    changes = []
    for name in sorted(wings):
        path = f"{name}/README.md"
        if not catalog.wings[name].has_manifest:
            remarks.append(_why_not(catalog, name))
            continue
        try:
            changes.append(patched(catalog, path, {"last_hygiene_at": workspace.today.isoformat()}))
        except UnpatchableError as error:
            remarks.append(str(error))
    named = ", ".join(change.path.removesuffix("/README.md") for change in changes)
    intent = Intent(plan=Plan(tuple(changes)), deeds=(Deed(Verb.TEND, named),))
    return carry(workspace, lambda _: intent, WriteOptions(commit=commit))


def _why_not(catalog: Catalog, name: str) -> str:
    path = f"{name}/README.md"
    if any(file.path == path for file in (*catalog.files, *catalog.others)):
        return f"{path} states no wing to record in; `mdmem check` says what is wrong, or write `kind: project` in it"
    return f"`{name}` has no manifest to record in; write {path} with `kind: project`"

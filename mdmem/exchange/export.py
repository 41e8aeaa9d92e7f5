"""Entries out to other tools: which there are, what each is given, and what is written or differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from mdmem.errors import UsageError
from mdmem.exchange.adr_folder import adr_folder
from mdmem.exchange.agent_rules import COPILOT_FILES, CURSOR_FILES, agents_file, copilot_files, cursor_files
from mdmem.exchange.memory_json import memory_json
from mdmem.exchange.outlet import ExportedFile, Outlet, OutletChange
from mdmem.store.workspace.location import place_to_write
from mdmem.store.workspace.workspace import Workspace


class ExportRequest(Struct, frozen=True, kw_only=True):
    """What to export: the name of a form, the wings (the active scope where none is named), and where to.

    `out` counts from the working folder; None means the place where the tool looks.
    """

    form: str
    wings: tuple[str, ...] = ()
    out: str | None = None


class ExportReport(Struct, frozen=True, kw_only=True):
    """What an export is: its files, those that differ from what is there, and what it could not take along.

    `folder` is where the files count from.
    """

    folder: Path
    files: tuple[ExportedFile, ...]
    changes: tuple[OutletChange, ...]
    remarks: tuple[str, ...] = ()


class ExportForm(Struct, frozen=True):
    """One form: what it is for, what makes it, and which files in its folder are its own.

    `place` is where its tool looks, from the repository's top, None where a folder has to be named.
    """

    said: str
    make: Callable[[Workspace, tuple[str, ...]], tuple[tuple[ExportedFile, ...], tuple[str, ...]]]
    owned: tuple[str, ...] = ()
    place: str | None = "."


FORMS: Mapping[str, ExportForm] = {
    "madr": ExportForm(
        "a folder of decision records that adr-tools and log4brains read", adr_folder, ("[0-9]*.md",), None
    ),
    "agents-md": ExportForm("what binds, in AGENTS.md or, with --out CLAUDE.md, elsewhere", agents_file),
    "cursor-rules": ExportForm("one rule of Cursor for each `applies_to`", cursor_files, (CURSOR_FILES,)),
    "copilot-instructions": ExportForm("Copilot's instructions, by `applyTo`", copilot_files, (COPILOT_FILES,)),
    "json": ExportForm("the whole memory as one document", memory_json, (), None),
}


def examine_export(workspace: Workspace, request: ExportRequest) -> ExportReport:
    """Return what an export would write; raises UsageError where a file there is somebody's own."""
    form = FORMS[request.form]
    files, remarks = form.make(workspace, request.wings)
    folder, files = _placed(workspace, request, form, files)
    outlet = Outlet(folder, form.owned)
    return ExportReport(folder=folder, files=files, changes=outlet.changes(files), remarks=remarks)


def export(workspace: Workspace, request: ExportRequest) -> ExportReport:
    """Write an export and return what it is; raises UsageError and EnvironmentFaultError."""
    report = examine_export(workspace, request)
    Outlet(report.folder).write(report.changes)
    return report


def _placed(
    workspace: Workspace, request: ExportRequest, form: ExportForm, files: tuple[ExportedFile, ...]
) -> tuple[Path, tuple[ExportedFile, ...]]:
    """Return the folder that the files count from; a file that is named takes the place of the only one."""
    folder, files = _meant(workspace, request, form, files)
    location = workspace.location
    for place in sorted({(folder / file.path).parent for file in files} | {folder}):
        place_to_write(place, location.base, location.repository)
    return folder, files


def _meant(
    workspace: Workspace, request: ExportRequest, form: ExportForm, files: tuple[ExportedFile, ...]
) -> tuple[Path, tuple[ExportedFile, ...]]:
    if request.out is None:
        if form.place is None:
            raise UsageError(f"name a folder for `{request.form}`: --out docs/decisions")
        return workspace.location.base / form.place, files
    out = workspace.cwd / request.out
    root = workspace.location.root
    if out.resolve() == root or (out.resolve().is_relative_to(root) and form.owned):
        raise UsageError(f"{request.out} lies in the memory, where only entries are; name another folder by --out")
    if len(files) == 1 and out.suffix:
        return out.parent, (replace(files[0], path=out.name),)
    return out, files

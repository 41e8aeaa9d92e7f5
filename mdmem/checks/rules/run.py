"""Checks of the run itself: its base, its suppressions and its baseline."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator

from mdmem.checks.case import Case, Link
from mdmem.checks.check import check
from mdmem.checks.suppressions import Suppression
from mdmem.markdown.parse import Document
from mdmem.model.entry import Entry
from mdmem.model.finding import Finding, Place, Severity
from mdmem.model.text import visible
from mdmem.store.catalog.addresses import MANIFEST
from mdmem.store.tree import SETTINGS_NAME, TreeFile


@check("nothing-checked", Severity.WARNING)
def nothing_checked(case: Case) -> Iterator[Finding]:
    """No entry was found, so nothing was checked.

    A wrong `--root`, a moved folder or a checkout without the memory looks like a clean run otherwise. In CI this is an
    error. Where a wing has its manifest and nothing else lies beside it, the memory is only new: that is said, no more.

    Fails:

        memory/mdmem.toml     (and no file at memory/<wing>/<room>/<entry-id>.md)

    Fix: give the right root with `--root`, or write a first entry with `mdmem new`.
    """
    if case.catalog.files or case.orphans:
        return
    manifests = {f"{name}/{MANIFEST}" for name, wing in case.catalog.wings.items() if wing.has_manifest}
    strays = sum(file.path.endswith(".md") and file.path not in manifests for file in case.catalog.others)
    if manifests and not strays:
        help_ = "write a first entry with `mdmem new`"
        yield Finding("nothing-checked", "empty so far", Place(SETTINGS_NAME), help_, severity=Severity.INFO)
        return
    found = f", though {strays} Markdown file{'s lie' if strays > 1 else ' lies'} elsewhere" if strays else ""
    message = f"no file stands at `wing/room/entry-id.md`{found}"
    help_ = "give the right folder with `--root`, or write an entry with `mdmem new`"
    severity = Severity.ERROR if case.in_ci else None
    yield Finding("nothing-checked", message, Place(SETTINGS_NAME), help_, severity=severity)


@check("base-unavailable", Severity.ERROR)
def base_unavailable(case: Case) -> Iterator[Finding]:
    """The tree to compare with cannot be read.

    Without it nothing tells what the change deletes, activates or rewrites, and silence would look like a clean change.
    The run is incomplete.

    Fails:

        mdmem check --base origin/main     (and the clone has no origin/main)

    Fix: fetch the branch, for instance `git fetch origin main`, or name another with `--base`.
    """
    yield from case.loaded("base-unavailable")


@check("shallow-history", Severity.ERROR)
def shallow_history(case: Case) -> Iterator[Finding]:
    """The clone is too shallow to tell where the change began.

    Without the commit that both branches have in common, a comparison would take the other branch's work for this
    change's. The run is incomplete.

    Fails:

        git clone --depth 1 …, then mdmem check --base origin/main

    Fix: fetch the history with `git fetch --unshallow`; in GitHub's checkout write `fetch-depth: 0`.
    """
    yield from case.loaded("shallow-history")


@check("git-unavailable", Severity.ERROR)
def git_unavailable(case: Case) -> Iterator[Finding]:
    """git is there and does not answer.

    It distrusts the owner of the repository, is too old for what was asked, or cannot write where it must: what it
    would have told is missing, and silence would look like a clean change. The run is incomplete.

    Fails:

        mdmem check --merge main      (and git is older than 2.38)

    Fix: do what the finding says, for instance `git config --global --add safe.directory DIR`, and run it again.
    """
    yield from case.loaded("git-unavailable")


_SHOWN = 200


@check("check-crashed", Severity.ERROR)
def check_crashed(case: Case) -> Iterator[Finding]:
    """A check failed, which is a fault of mdmem itself, so nobody looked for what it finds.

    The other checks go on, the run counts as incomplete, and nothing switches this off: a crash must not look like a
    clean file.

    Fails:

        mdmem check     (the check `body-empty` failed: KeyError: 'app/rules/use-utc')

    Fix: run `mdmem check --ignore CODE` to go on without the check, and report what `MDMEM_DEBUG=1 mdmem check` prints.
    """
    yield from case.loaded("check-crashed")


def crash_of(code: str, error: Exception, case: Case) -> Finding:
    """Return the finding for a check that raised, at the file it looked at where that can be told."""
    said = visible(" ".join(str(error).split())[:_SHOWN])
    message = f"the check `{code}` failed: {type(error).__name__}{': ' if said else ''}{said}"
    path = _looked_at(error, case)
    help_ = f"run it again with `--ignore {code}` to go on without it; `MDMEM_DEBUG=1` shows where it failed"
    return Finding("check-crashed", message, Place(path or SETTINGS_NAME), help_, _address(path, case), quotable=False)


def _looked_at(error: Exception, case: Case) -> str | None:
    """Return the file that the innermost function with one in hand was looking at."""
    paths = {file.path for file in (*case.catalog.files, *case.catalog.others)}
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    held = (value for frame in reversed(frames) for value in frame.f_locals.values())
    named = (path for value in held for path in (_path_of(value), f"{_path_of(value)}.md"))
    return next((path for path in named if path in paths), None)


def _path_of(value: object) -> str:
    if isinstance(value, Link):
        return value.entry.path
    if isinstance(value, (Entry, Document, TreeFile)):
        return value.path
    return value if isinstance(value, str) else ""


def _address(path: str | None, case: Case) -> str | None:
    address = (path or "").removesuffix(".md")
    return address if address in case.catalog.addresses else None


@check("suppression-invalid", Severity.ERROR)
def suppression_invalid(case: Case) -> Iterator[Finding]:
    """A suppression names no check, gives no reason, or is about a check that no file can silence.

    It keeps nothing back, and whoever wrote it believes that it does. A reason is asked for because the next reader
    cannot tell a judgement from a slip. What cannot be silenced by the file itself: what a change did to it, what a
    merge made of it, and that something was not read.

    Fails:

        <!-- mdmem: ignore vague-invariant -->
        <!-- mdmem: ignore vague-invarient the word is quoted -->
        ignore: {frozen-text-changed: a typo}

    Fix: write the code and why it does not apply here, `<!-- mdmem: ignore CODE REASON -->`.
    """
    for suppression in case.suppressions:
        if suppression.fault is not None:
            message, help_ = suppression.fault
            yield Finding("suppression-invalid", message, suppression.place, help_, suppression.address)


@check("unused-suppression", Severity.WARNING)
def unused_suppression(case: Case) -> Iterator[Finding]:
    """A suppression kept nothing back: the check it names finds nothing in its file.

    What it excused is mended, or the suppression never fitted. Left standing, it silences the next fault of that kind.
    Only a run in which the named check ran can tell; checks that depend on what git has here are not told of.

    Fails:

        <!-- mdmem: ignore body-empty the title says it all -->     (and the body has a sentence by now)

    Fix: remove the comment, or the code from `ignore`.
    """
    yield from case.loaded("unused-suppression")


def unused(suppressions: Iterable[Suppression]) -> tuple[Finding, ...]:
    """Return one finding for each of some suppressions that kept nothing back."""
    return tuple(
        Finding(
            "unused-suppression",
            f"`{one.code}` finds nothing here that could be ignored",
            one.place,
            "remove it",
            one.address,
        )
        for one in suppressions
    )


@check("stale-baseline-entry", Severity.WARNING)
def stale_baseline_entry(case: Case) -> Iterator[Finding]:
    """The baseline records more findings of a check at an address than there are.

    Some were mended, or the entry is gone. Left standing, the record lets the same fault in again without a word. Only
    a run over the whole memory in which the check ran can tell.

    Fails:

        {"code": "body-empty", "address": "app/rules/use-utc", "count": 1}     (and use-utc.md has a body by now)

    Fix: run `mdmem check --update-baseline`, which writes down what is left.
    """
    yield from case.loaded("stale-baseline-entry")

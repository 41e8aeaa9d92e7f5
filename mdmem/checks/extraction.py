"""Takes from each file what the checks want of it alone, unless that is known of the same content at the same path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mdmem.catalog import is_entry_place
from mdmem.checks.case import Case
from mdmem.checks.engine import ask
from mdmem.checks.extract import KeptExtract, kept_extract
from mdmem.checks.extract_store import ExtractStore
from mdmem.checks.registry import KEPT
from mdmem.dataclass import replace
from mdmem.finding import Finding


def with_extracts(case: Case, store: ExtractStore) -> Case:
    """Return a case that knows of each file what the checks want of it alone; nothing of it where a check fails.

    What is learned is kept. Who sees a part of the memory is told nothing by what was kept of the whole.
    """
    if case.catalog.access.is_narrow:
        return case
    digests = case.catalog.file_digests
    kept = store.find(digests)
    fresh = {path: digest for path, digest in digests.items() if path not in kept}
    made = _made(replace(case, kept={}, focus=frozenset(filter(is_entry_place, fresh))), fresh) if fresh else {}
    if made is None:
        return replace(case, kept=kept)
    if made:
        store.keep(made, digests)
    return replace(case, kept={**kept, **made})


def _made(case: Case, fresh: Mapping[str, str]) -> dict[str, KeptExtract] | None:
    """Return the extracts of files that were read as they were listed; None where a check fails."""
    findings: dict[str, list[Finding]] = {}
    for code in KEPT:
        found = ask(code, case)
        if isinstance(found, Exception):
            return None
        for one in found:
            findings.setdefault(one.place.path, []).append(one)
    made = {}
    for path, digest in fresh.items():
        document, told = case.catalog.document(path), findings.get(path, [])
        if case.catalog.tree.identity(path, document.data) == digest and _is_its_own(path, told):
            made[path] = kept_extract(case.extract(path), tuple(told) if is_entry_place(path) else ())
    return made


def _is_its_own(path: str, told: Sequence[Finding]) -> bool:
    """Say whether findings are of one file alone, their fixes included: others are never kept."""
    return all(one.fix is None or one.fix.paths == (path,) for one in told)

"""Test decision records in many styles: status, supersession, and records that are slow to read."""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from builders import TODAY, app_memory, environment, run_here, run_mdmem, write
from golden import DATA

from mdmem.cli.main import load_command
from mdmem.exchange.dialects import DIALECTS
from mdmem.markdown.parse import parse_document

PLACE = "app/architecture"
# A text, and the fields that its entry must have; None means that the entry must not have the field.
Form = tuple[str, dict[str, Any]]


def plain(status: str, text: str = "We do.") -> str:
    """Return a record with a section on its status; `status` may have several lines."""
    return f"# A title\n\n## Status\n\n{status}\n\n## Decision\n\n{text}\n"


def above(text: str) -> str:
    """Return a record with a text between its title and its decision."""
    return f"# A title\n\n{text}\n\nWe do.\n"


ACTIVE, DRAFT, ENDED = {"status": "active"}, {"status": "draft"}, {"status": "deprecated"}
CURRENT = {"supersedes": None, "superseded_by": None, **ACTIVE}
ENDED_ALONE = {"superseded_by": None, **ENDED}
DOUBTED = {"status": "under_review"}
BY_90 = {"status": "deprecated", "superseded_by": [f"{PLACE}/0090-ninety"]}
BY_97 = {**BY_90, "superseded_by": [f"{PLACE}/0097-a-users-long-name"]}


def over(number: int) -> dict[str, Any]:
    """Return what a record must have that takes the place of one that ended."""
    return {"status": "active", "supersedes": [f"{PLACE}/00{number}-old"]}


CHANGES_92 = {"status": "active", "supersedes": None, "amends": [f"{PLACE}/0092-ninety-two"]}

# No status, or none that was chosen.
FORCE: dict[str, Form] = {
    "no-status": (above("## Context\n\nx\n\n## Decision"), ACTIVE),
    "one-paragraph": ("# A title\n\nWe deploy from main, because branches rot.\n", {"type": "decision", **ACTIVE}),
    "options": (plain("Proposed | Accepted | Rejected"), DRAFT),
    "options-of-madr": (
        "---\nstatus: {proposed | rejected | accepted | … | superseded by ADR-0090}\n---\n# T\n\nWe do.\n",
        DRAFT,
    ),
    "empty-lines": (plain("Accepted\n\nSuperseded by:\n\nSupersedes: N/A"), CURRENT),
    "status-as-type": ("---\ntype: accepted\n---\n# A title\n\nWe do.\n", {"type": "decision", **ACTIVE}),
    "unknown": (plain("Living document"), DRAFT),
    "unknown-with-relation": (plain("Abgelehnt, amends ADR-0092"), {**CHANGES_92, **DRAFT}),
    "unknown-after-relation": (plain("Amends ADR-0092. Abgelehnt."), {**CHANGES_92, **DRAFT}),
    "status-after-relation": (plain("Amended by ADR-0094 superseded"), CURRENT),
    "unknown-below-relation": (above("- Amends: ADR-0092\n- Status: Abgelehnt"), {**CHANGES_92, **DRAFT}),
    "remark-on-relation": (plain("Partially supersedes ADR-0092. See the note there."), CHANGES_92),
    "not-yet": (plain("Accepted, will be superseded by ADR-0090"), CURRENT),
    "prose": (plain("Accepted. Deprecated methods stay until then."), ACTIVE),
    "contents": (above("- [Proposal](#proposal)\n- [Status](#status)\n\n## Proposal"), ACTIVE),
    "code": (above("```\nStatus: Rejected\n```"), ACTIVE),
    "numbers-of-things": ("# A title\n\nIt replaces 90 queues, because they were slow.\n", CURRENT),
    "proposed": (plain("Proposed"), DRAFT),
    "pending": (plain("Pending approval by the board"), DRAFT),
    "on-hold": (plain("On hold until autumn"), DOUBTED),
    "rejected": (
        f"Date: 2024-02-03\n\n{plain('Rejected')}",
        {"deprecated_at": "2024-02-03", "deprecated_reason": "status of the imported record: Rejected", **ENDED},
    ),
    "withdrawn": (plain("Withdrawn (2024-03-04)"), {"deprecated_at": "2024-03-04", **ENDED}),
    "proposed-then-accepted": (plain("Proposed\n\nAccepted"), ACTIVE),
    "sentence": (plain("This PEP is withdrawn. Nobody wanted it."), ENDED),
    "deprecated-see": (plain("Deprecated, see ADR-0090"), ENDED_ALONE),
    "number-and-link": (plain("Superseded by 90 [ADR-0090](0090-ninety.md)"), BY_90),
    "deprecated-in-part": (plain("Accepted. Partially deprecated"), CURRENT),
    "day-below": (plain("**Accepted**\n\n*2024-01-02*"), {"created_at": "2024-01-02", "deprecated_at": None, **ACTIVE}),
    "states-by-day": (
        plain("2024-01-01 proposed\n\n2024-02-02 accepted\n\n2025-03-03 deprecated"),
        {"created_at": "2024-02-02", "deprecated_at": "2025-03-03", **ENDED},
    ),
}
# Places and markup of a status.
PLACES: dict[str, Form] = {
    "day-in-a-section": (plain("Accepted\n\n## Date\n\n2024-05-03"), {"created_at": "2024-05-03", **ACTIVE}),
    "bold-before-colon": (above("__Status__: Rejected  \n**Date**: 3 May 2024"), {"created_at": "2024-05-03", **ENDED}),
    "list": (above("* Status: draft\n* Date: 2024-02-03"), {"created_at": "2024-02-03", **DRAFT}),
    "front-matter": ("---\nStatus: Deferred\n---\n# A title\n\nWe do.\n", DOUBTED),
    "table": (
        "# A title\n\n| Status | ✅ Rejected |\n|---|---|\n| Date | 2024-02-03 |\n",
        {"created_at": "2024-02-03", **ENDED},
    ),
    "table-with-head": ("# A title\n\n| Field | Value |\n|:--|--|\n| **Status** | `Draft` |\n\nx\n", DRAFT),
    "table-without-bars": (above("Status | Rejected\n---|---\nDate | 2024-01-02"), ENDED),
    "columns": (
        "# A title\n\n| Date | Status |\n|--|--|\n| 2024-01-01 | Proposed |\n| 2024-02-01 | Accepted |\n",
        ACTIVE,
    ),
    "below-metadata": (above("## Metadata\n\n- Status: Draft\n\n## Decision"), DRAFT),
    "heading": (above("## Status: Proposed\n\n## Decision"), DRAFT),
    "several-in-a-line": (
        "# A title\n\n**Status:** Draft | **Date:** 2024-02-03\n",
        {"created_at": "2024-02-03", **DRAFT},
    ),
    "ticks": (plain("- [ ] Accepted\n- [x] Proposed\n- [ ] Rejected"), DRAFT),
    "ticks-in-a-line": (plain("☐ Accepted ☑ Rejected ☐ Proposed"), ENDED),
    "struck": (plain("~~Proposed~~ ~~Accepted~~ **deprecated**"), ENDED),
    "days-as-facts": ("# A title\n\n**Proposed:** 2024-01-01\n**Rejected:** 2024-02-01\n", ENDED),
    "comment": (plain("<!-- proposed, accepted, rejected -->\nDraft"), DRAFT),
    "comment-of-a-person": (plain("Accepted <!-- until May -->"), ACTIVE),
    "title": ("# [REJECTED] A title\n\nStatus: Accepted\n\nWe do.\n", ENDED),
    "bold-above": ("**Rejected**\n\n# A title\n\nWe do.\n", {"title": "A title", **ENDED}),
    "bold-below": (above("**Rejected**"), ENDED),
    "bold-proposal": (above("**Proposal**\n\nWe would."), ACTIVE),
    "bold-options": (above("**Rejected options**\n\n- None"), ACTIVE),
    # The import reports these lines, since it does not read them as a status.
    "struck-title": ("# ~~Old idea~~\n\nWe do.\n", DRAFT),
    "history": (
        above("| Status | Date |\n|---|---|\n| Accepted | 2021-01-02 |"),
        {"created_at": "2021-01-02", **ACTIVE},
    ),
    "words-of-a-sentence": ("# Store rejected payments\n\nWe do, and rejected a queue.\n", ACTIVE),
    "words-of-a-title": ("# Rejected idea\n\nWe do.\n", DRAFT),
    "italics-and-a-link": (above("_draft_\n\n- Amends: [x](0092-ninety-two.md)"), DRAFT),
    "retired-in-a-note": (above("**Note**: we found this unsound, and so it was withdrawn in 2015."), DRAFT),
    "accepted-and-more": (above("**Accepted** then withdrawn"), ENDED),
    "facts-in-a-line": (
        "Title: A title\n\n**Owner:** Ada, Bo | **Date:** 2024-02-01, **Status:** Superseded\n\nWe do.\n",
        {"title": "A title", "owner": "Ada, Bo", "created_at": "2024-02-01", **ENDED},
    ),
    "owner-and-more": (above("Status: Accepted\nOwner: Ada | Team: x"), {"owner": "Ada", **ACTIVE}),
    # Invalid YAML, because of the colon in the title.
    "quotes-in-a-title": (
        "---\ntitle: Caches: the so-called \"hot\"\nowner: 'it'\n---\n# T\n\nWe do.\n",
        {"title": 'Caches: the so-called "hot"', "owner": "it", **ACTIVE},
    ),
}
RUST = "- Start Date: 2015-02-03\n\n# Summary\n\nWe do.\n\n# Motivation\n\nx\n"
# The title is in the name of the file if the first heading is that of a section.
NAMES: dict[str, Form] = {
    "0210-remove-it": (RUST, {"title": "Remove it", "created_at": "2015-02-03", **ACTIVE}),
    "use-3-queues": ("# Motivation\n\nx\n\n# Design\n\nWe do.\n", {"title": "Use 3 queues"}),
    "0211": ("Text.\n\n# Introduction\n\nx\n\n# Design\n\nWe do.\n", {"title": "0211"}),
    "0212-numbered": ("Text.\n\n# 212. A title\n\nx\n\n# Design\n\nWe do.\n", {"title": "A title"}),
    "0218-date": ("Date: 2024-01-02\n\n# A title\n\nx\n\n# Design\n\nWe do.\n", {"title": "A title"}),
    "0213-preamble": (
        "```\nEIP: 213\nTitle: A title\nStatus: Final\nCreated: 2016-11-04\nReplaces: 214\n```\n### Rules\n\nWe do.\n",
        {"title": "A title", "created_at": "2016-11-04", "supersedes": [f"{PLACE}/0214-old"], **ACTIVE},
    ),
    # The number of a title goes only if the file's name has it.
    "named-without-a-number": ("# 220. A title\n\nWe do.\n", {"title": "A title"}),
    "without-a-number": ("---\ntitle: 'ADR-221: A title'\n---\nWe do.\n", {"title": "ADR-221: A title"}),
    "0222-title-in-yaml": (
        "---\ntitle: 'ADR-222: A title'\n---\n# ADR-222: A title\n\nWe do.\n",
        {"title": "A title"},
    ),
    "0215-dated": (
        "---\ncreation-date: 2020-09-10\nstatus: implemented\n---\n# A title\n\nWe do.\n",
        {"created_at": "2020-09-10", "x-creation-date": None, **ACTIVE},
    ),
    "0217-moribund": (plain("Moribund"), ENDED),
    "0216-retired": (above("**Note**: this RFC was never implemented and has been retired."), ENDED),
}
# Links to successors in different forms.
LINKS: dict[str, Form] = {
    "by-link-over-two-lines": (plain("Superseded by [90. Ninety\nand more](0090-ninety.md)"), BY_90),
    "by-number": (plain("Superseded by ADR-0090"), BY_90),
    "by-number-and-the-date-of-the-record": (
        plain("Superseded by ADR-0090\n\n2021-03-01"),
        {**BY_90, "created_at": "2021-03-01"},
    ),
    "by-number-with-a-blank": (plain("SUPERSEDED by ADR 90"), BY_90),
    "by-mere-number": (plain("Superseded by 0090"), BY_90),
    "by-ticket-like-number": (plain("Superseded by #90"), BY_90),
    "item-below": (plain("Superseded by:\n- [ADR-0090](0090-ninety.md)"), BY_90),
    "by-url": (plain("Superseded by https://host/o/r/blob/main/docs/adr/0090-ninety.md"), BY_90),
    "by-page-of-the-web": (plain("Superseded by https://host/wiki/90 [a](http://x]y)"), ENDED_ALONE),
    "by-slug": (plain("Superseded by `0090-ninety.md`."), BY_90),
    "by-renamed-file": (plain("Superseded by [ADR 90](./0090-old-name.md)"), BY_90),
    "by-renumbered-file": (plain("Superseded by [92. The name](0092-a-user-s-long-name.md)"), BY_97),
    "by-another-file": (plain("Superseded by [Long names](0197-a-users-long-names.md), [195](195.md)"), ENDED_ALONE),
    "in-the-next-paragraph": (plain("Superseded\n\n[ADR-0090](0090-ninety.md)"), ENDED_ALONE),
    "link-that-says-so": (plain("[Superseded by ADR-0090](0090-ninety.md)"), BY_90),
    "in-favour-of": (plain("Deprecated in favour of ADR-0090 on 2024-05-06"), {"deprecated_at": "2024-05-06", **BY_90}),
    "two-successors": (
        plain("Superseded by ADR-0095 and ADR-0096"),
        {
            "status": "deprecated",
            "superseded_by": [f"{PLACE}/0095-half", f"{PLACE}/0096-half"],
            "deprecated_reason": "status of the imported record: Superseded by ADR-0095 and ADR-0096",
        },
    ),
    "arrow": (plain("Accepted → superseded by ADR-0090"), BY_90),
    "banner-first": ("> **Superseded by [ADR 90](0090-ninety.md)**\n\n# A title\n\n**Status:** Accepted\n", BY_90),
    "banner-below": (above("> [!WARNING]\n> This ADR has been superseded by\n> [ADR 90](0090-ninety.md)."), BY_90),
    "front-matter-key": ("---\nstatus: accepted\nsuperseded-by: #90\n---\n# A title\n\nWe do.\n", BY_90),
    "front-matter-key-lost": (
        "---\nstatus: final\nsuperseded-by: 999\nreplaces: [998, 0092]\n---\n# A title\n\nWe do.\n",
        {
            "status": "deprecated",
            "supersedes": [f"{PLACE}/0092-ninety-two"],
            "x-superseded-by": "999",
            "x-replaces": "998",
            "deprecated_reason": "status of the imported record: superseded by 999",
        },
    ),
    "by-another-kind": (plain("Superseded by EIP-90"), ENDED_ALONE),
    "by-draft": (
        plain("Superseded by ADR-0093"),
        {**ENDED, "deprecated_reason": "status of the imported record: Superseded by ADR-0093"},
    ),
    "tep-206": (
        "---\nstatus: final\nsuperseded-by: 90\n---\n# A title\n\nWe do.\n",
        {**ENDED, "superseded_by": [f"{PLACE}/tep-0090-own"]},
    ),
    "by-kind-with-a-blank": (
        "---\nowner: Cy\nconsulted: [Di]\n---\n"
        + above("- Author: Ada\n- Author: Bo\n- Consulted: Ed\n\nThis TEP is superseded by TEP 90."),
        {**ENDED, "owner": "Cy, Ada, Bo", "x-consulted": ["Di", "Ed"], "superseded_by": [f"{PLACE}/tep-0090-own"]},
    ),
    "by-kind-without-a-blank": (
        above("- Replaced-By: TEP90"),
        {**ENDED, "superseded_by": [f"{PLACE}/tep-0090-own"]},
    ),
    "by-a-name-with-a-number": (above("It was replaced by HTTP 2 streams, and by UTF8 names."), CURRENT),
    "by-nothing-in-a-list": (
        "---\nstatus: final\nsuperseded-by: [n/a]\nreplaces:\n  - None\n---\n# A title\n\nWe do.\n",
        {"x-superseded-by": None, **CURRENT},
    ),
    "supersedes-path": (
        "---\nreplaces: [/services/shop/Decision Records/0066-old]\n---\n# A title\n\nWe do.\n",
        over(66),
    ),
    "described-elsewhere": (above("> The form is described in ADR 90."), CURRENT),
    "superseded-and-described": (plain("Superseded. The new form is described in ADR 90."), ENDED_ALONE),
    "another-repository": (plain("Accepted. Supersedes ADR-0061 of `other/repository`."), CURRENT),
    "supersedes-line": (above("- Status: accepted\n- Supersedes: ADR 61"), over(61)),
    "supersedes-in-brackets": (plain("Accepted (supersedes #62)"), over(62)),
    "supersedes-below-heading": (
        "# A title\n\nStatus: Accepted\n\n## Supersedes\n\n- [ADR-0063](0063-old.md)\n",
        over(63),
    ),
    "supersedes-first-paragraph": ("# A title\n\nSupersedes [ADR-0064](0064-old.md).\n\n## Context\n\nx\n", over(64)),
    "supersedes-url": (
        above("- Status: accepted\n- Supersedes: https://host/o/r/blob/main/docs/adr/0065-old.md"),
        over(65),
    ),
    "in-part-front-matter": (
        "---\nsupersedes: ADR-0092 (in part — the names, not the form)\n---\n# A title\n\nWe do.\n",
        {"reason": "supersedes ADR-0092 (in part — the names, not the form)", **CHANGES_92},
    ),
    "in-part-words": (plain("Accepted\n\nPartially supersedes ADR-0092"), {**CHANGES_92}),
    "in-part-brackets": (
        "# A title\n\n**Supersedes:** [ADR-0092](0092-ninety-two.md) (encoding only)\n",
        {"reason": "supersedes: ADR-0092 (encoding only)", **CHANGES_92},
    ),
    "in-part-of": (
        plain("Accepted, replaces the queue of ADR-0092"),
        {"reason": "replaces the queue of ADR-0092", **CHANGES_92},
    ),
    "in-part-by": (plain("Superseded in part by [ADR-0094](0094-ninety-four.md)"), CURRENT),
    "a-part-is-superseded": (plain("Accepted. Section 3 is superseded by ADR-0094."), CURRENT),
}
OTHERS: dict[str, Form] = {
    "0090-ninety": ("# 90. Ninety\n\nWe do.\n", ACTIVE),
    **{f"00{number}-old": (plain("Superseded"), ENDED) for number in range(61, 67)},
    "0097-a-users-long-name": ("# 92. The name\n\nWe do.\n", ACTIVE),
    "0098": ("# 98\n\nWe do.\n", ACTIVE),
    "0092-ninety-two": ("# Ninety-two\n\nWe do.\n", CURRENT),
    "0214-old": (plain("Superseded"), ENDED),
    "0093-draft": (plain("Proposed"), DRAFT),
    "tep-0090-own": (
        plain("Final", "We do."),
        {
            "status": "active",
            "supersedes": [f"{PLACE}/by-kind-with-a-blank", f"{PLACE}/by-kind-without-a-blank", f"{PLACE}/tep-206"],
        },
    ),
    **{f"{number}-half": ("# Half\n\nWe do.\n", ACTIVE) for number in ("0095", "0096")},
    "0094-ninety-four": (
        "# 94. Ninety-four\n\nWe do.\n",
        {"supersedes": None, "reason": "Superseded in part by ADR-0094", **ACTIVE},
    ),
}
FORMS = {**FORCE, **PLACES, **NAMES, **LINKS, **OTHERS}
TITLES = {
    "ADR-0044 | Extract the tool": "Extract the tool",
    "ADR 44: Extract the tool": "Extract the tool",
    "[ADR-0044] Extract the tool": "Extract the tool",
    "ADR-044 – Extract the tool": "Extract the tool",
    "ADR-UI-044: Extract the tool": "Extract the tool",
    "0044 Extract the tool": "Extract the tool",
    "44 - Extract the tool": "Extract the tool",
    "Decision record 44: Extract the tool": "Extract the tool",
    "3 replicas for each queue": "3 replicas for each queue",
    "HTTP 2: the protocol": "HTTP 2: the protocol",
}


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Return the fields of each entry, by the name of its record."""
    folder = tmp_path_factory.mktemp("forms")
    root = app_memory(folder)
    for name, (text, _) in FORMS.items():
        write(folder, f"services/shop/Decision Records/{name}.md", text)
    for number, title in enumerate(TITLES):
        write(folder, f"services/shop/Decision Records/title-{number}.md", f"# {title}\n\nWe do.\n")
    ran = run_mdmem("import", "--root", "memory", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    checked = run_mdmem("check", "--root", "memory", "--format", "concise", cwd=folder)
    assert (checked.returncode, " error " in checked.stdout) == (0, False), checked.stdout
    for doubt in ("ADR-0090", "Section 3 is superseded by ADR-0094", "Amended by ADR-0094 superseded"):
        assert f"  `{doubt}` is not understood, and stays in the text\n" in ran.stdout
    withdrawn = "**Note**: we found this unsound, and so it was withdrawn in…"
    for line in ("Rejected idea", "~~Old idea~~", "_draft_", withdrawn):
        assert f"  `{line}` is not understood as a status: the entry becomes a draft\n" in ran.stdout
    assert "Accepted <!-- until May -->" in (root / PLACE / "comment-of-a-person.md").read_text()
    for name in ("0210-remove-it", "0213-preamble", "named-without-a-number"):
        assert (root / PLACE / f"{name}.md").read_text().endswith(f"---\n\n{FORMS[name][0]}")
    found = (root / PLACE).glob("*.md")
    return {path.stem: dict(parse_document(path.name, path.read_bytes()).fields or {}) for path in found}


@pytest.mark.parametrize("name", FORMS)
def test_record_stands_as_its_house_wrote_it(name: str, imported: dict[str, dict[str, Any]]) -> None:
    expected = FORMS[name][1]
    assert {key: imported[name].get(key) for key in expected} == expected


@pytest.mark.parametrize(("number", "heading"), list(enumerate(TITLES)))
def test_title_goes_without_the_number(number: int, heading: str, imported: dict[str, dict[str, Any]]) -> None:
    assert imported[f"title-{number}"]["title"] == TITLES[heading]


_MANY = 100_000
_LINKS = "[a](b.md) [[b]]\n" * 5_000
_RECORDS = {
    "spaces": f"## Status\n\nSuperseded by {' ' * _MANY}x",
    "letters": f"## Status\n\nSuperseded by {'a' * _MANY}",
    "brackets": f"## Status\n\nSuperseded by {'[[' * _MANY}",
    "comments": f"## Status\n\n{'<!--' * _MANY}",
    "markers": "<!-- mdmem export : " * (_MANY // 2),
    "title": f"# {'[' * _MANY}",
    "link-title": f"# {'[a](' * _MANY}",
    "heading": f"# a{' ' * _MANY}b",
    "dashes": f"# a{'-' * _MANY}b",
    "bars": f"# T\n\nStatus: {'|' * _MANY}x",
    "breaks": f"# T\n\nStatus: {'<br>' * _MANY}x",
    "table": f"# T\n\n| Status |\n|{'-' * _MANY}x\n",
    "keys": f"---\nsupersedes: {'a' * 7_000}\namends: '{'[' * 7_000}'\n---\nWe do.\n",
    "cuts": "# T\n\n" + "- Status: accepted\n" * 5_000 + f"\n## Context\n\n{_LINKS}",
}
_RULE = '---\nglobs: "{globs}"\n---\n\nA rule.\n'


def test_sources_are_read_once(tmp_path: Path) -> None:
    root = app_memory(tmp_path)
    for number, (name, text) in enumerate(_RECORDS.items()):
        write(tmp_path, f"docs/adr/{number:04}-{name}.md", text)
    for name, globs in {"commas": "," * 10_000 + "{", "braces": 3 * f"{{{2_000 * 'a,'}}}"}.items():
        write(tmp_path, f".cursor/rules/{name}.mdc", _RULE.format(globs=globs))
    many = "src/{" + ",".join(map(str, range(70))) + "}/**,!x"
    write(tmp_path, ".cursor/rules/many.mdc", _RULE.format(globs=many))
    command = [sys.executable, "-m", "mdmem", "import", "--root", "memory"]
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True, timeout=60
    )
    assert "`applies_to` cannot express the pattern `!x`" in ran.stdout
    assert "it has more than 64 patterns; those after `src/63/**` are omitted" in ran.stdout
    made = next((root / "app/architecture").glob("*-cuts.md")).read_text()
    assert made.endswith("---\n\n## Context\n\n" + "[a](../../../docs/adr/b.md) [[b]]\n" * 5_000)


CASES = sorted((DATA / "import").iterdir())
# What is imported from where nobody looks by itself.
NAMED = {
    "basic-memory": ("notes",),
    "markdown": ("wiki",),
    "instructions": ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursor", ".github", "web"),
}


def project(case: Path, folder: Path) -> Path:
    """Return a copy of a case's project with an empty memory in it."""
    shutil.copytree(case / "before", folder, dirs_exist_ok=True)
    app_memory(folder)
    return folder


def entries(folder: Path) -> dict[str, str]:
    found = sorted(path for path in folder.rglob("*.md") if path.name != "README.md")
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in found}


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_records_become_the_entries_that_are_expected(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = project(case, tmp_path)
    sources = entries(folder)
    shown = run_here(capsys, "import", "--root", "memory", "--dry-run", *NAMED.get(case.name, ()), cwd=folder)
    assert (shown.code, entries(folder / "memory")) == (0, {})
    assert shown.out == (case / "said.txt").read_text()
    assert run_here(capsys, "import", "--root", "memory", *NAMED.get(case.name, ()), cwd=folder).code == 0
    assert entries(folder / "memory/app") == entries(case / "after")
    assert {path: text for path, text in entries(folder).items() if not path.startswith("memory/")} == sources
    checked = run_here(capsys, "check", "--root", "memory", "--format", "concise", cwd=folder)
    number = checked.out.count(" error ")
    assert (f"{number} error" in shown.out) == (number > 0)
    again = run_here(capsys, "import", "--root", "memory", *NAMED.get(case.name, ()), cwd=folder)
    assert again.out.splitlines()[-1].startswith("imported 0 entries; ")
    assert entries(folder / "memory/app") == entries(case / "after")


def test_every_dialect_can_be_said() -> None:
    (said,) = (one for one in load_command("import").params if one.name == "dialect")
    assert sorted(said.type.choices) == sorted(DIALECTS) == sorted(case.name for case in CASES if case.name != "houses")


def _write_anew(case: Path) -> None:
    with TemporaryDirectory() as name:
        folder = project(case, Path(name))
        arguments = NAMED.get(case.name, ())
        shown = run_mdmem("import", "--root", "memory", "--dry-run", *arguments, cwd=folder, env={"MDMEM_TODAY": TODAY})
        (case / "said.txt").write_text(shown.stdout)
        run_mdmem("import", "--root", "memory", *arguments, cwd=folder)
        shutil.rmtree(case / "after", ignore_errors=True)
        for path, text in entries(folder / "memory/app").items():
            write(case / "after", path, text)


if __name__ == "__main__":
    for each in CASES if not sys.argv[1:] else [DATA / "import" / name for name in sys.argv[1:]]:
        _write_anew(each)

"""Make a memory with many bad files next to good ones, always the same."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path


def entry(body: str = "Said plainly.\n\nRationale: it was tried.", /, **fields: object) -> str:
    """Return the text of an entry; None leaves out a field that each has."""
    stated = {"type": "decision", "status": "active", "created_at": "2026-03-05"} | fields
    lines = [f"{name}: {value}" for name, value in stated.items() if value is not None]
    return "\n".join(["---", *lines, "---", "", body, ""])


def ended(by: str | None = None, **fields: object) -> str:
    """Return the text of an entry that another superseded."""
    links = {"superseded_by": by} if by else {}
    return entry(**({"status": "deprecated", "deprecated_at": "2026-09-01"} | links | fields))


R, D, X = "shop/rules", "shop/decisions", "shop/odd"
LONG = "\n\n".join(
    f"## Part {n}\n\nThe cache of region {n} is cleared after {n} minutes, and its price list is read again."
    for n in range(160)
)

GOOD = {
    "mdmem.toml": 'default_wing = "shop"\n',
    "shop/README.md": "---\nkind: project\nowners: [Ada]\nshared_wings: [base]\napplies_to: ['src/**']\n---\n",
    "base/README.md": "---\nkind: shared\n---\n\n# Base\n",
    f"{R}/prices-are-integers.md": entry(type="invariant", title="Prices are integers", applies_to="['src/prices/**']"),
    f"{R}/cache-is-cleared.md": entry(
        "The cache is cleared at midnight.\n\nRationale: prices change then.",
        type="invariant",
        title="The cache is cleared",
    ),
    f"{D}/queue-for-mail.md": entry(
        "Mail goes through a queue.", title="Mail is queued", tags="[mail, queue]", see=f"{R}/prices-are-integers"
    ),
    f"{D}/two-caches.md": entry("There are two caches.", title="Two caches", owner="Ada", verified_at="2026-10-01"),
    "base/rules/no-secrets.md": entry("No secret is kept.", type="invariant", title="No secrets"),
    "base/patterns/retry.md": entry(
        "Retry twice.", type="pattern", title="Retry", trigger="a call fails", repeatable_steps="[wait, call]"
    ),
    "shop/notes/incident.md": entry("The queue was full.", type="note", title="The queue was full", label="incident"),
}
LINKS = {
    # chains, cycles, one-sided links, splits
    f"{D}/chain-1.md": ended(f"[{D}/chain-2]", title="Chain one"),
    f"{D}/chain-2.md": ended(f"[{D}/chain-3]", title="Chain two", supersedes=f"[{D}/chain-1]"),
    f"{D}/chain-3.md": ended(f"[{D}/chain-4]", title="Chain three", supersedes=f"[{D}/chain-2]"),
    f"{D}/chain-4.md": entry(title="Chain four", supersedes=f"[{D}/chain-3]", reason="the last"),
    f"{D}/cycle-a.md": ended(f"[{D}/cycle-b]", title="Cycle A", supersedes=f"[{D}/cycle-b]"),
    f"{D}/cycle-b.md": ended(f"[{D}/cycle-a]", title="Cycle B", supersedes=f"[{D}/cycle-a]"),
    f"{D}/itself.md": entry(title="Itself", supersedes=f"[{D}/itself]", superseded_by=f"[{D}/itself]"),
    f"{D}/claims.md": entry(title="Claims the cache", supersedes=f"[{D}/two-caches]", reason="claimed"),
    f"{D}/old-one-sided.md": ended(f"[{D}/new-one-sided]", title="Old, one-sided"),
    f"{D}/new-one-sided.md": entry(title="New, one-sided"),
    f"{D}/split.md": ended(f"[{D}/split-a, {D}/split-b]", title="Split", reason="two markets"),
    f"{D}/split-a.md": entry(title="Split A", supersedes=f"[{D}/split]"),
    f"{D}/split-b.md": entry(title="Split B", supersedes=f"[{D}/split]"),
    f"{D}/split-said.md": ended(f"[{D}/split-c, {D}/split-d]", title="Split, said otherwise", deprecated_reason="two"),
    f"{D}/split-c.md": entry(title="Split C", supersedes=f"[{D}/split-said]"),
    f"{D}/split-d.md": entry(title="Split D", supersedes=f"[{D}/split-said]"),
    f"{D}/drafted.md": entry(status="draft", title="A draft of the queue", supersedes=f"[{D}/queue-for-mail]"),
    f"{D}/drafted-too.md": entry(status="draft", title="Another draft", supersedes=f"[{D}/queue-for-mail]"),
    f"{D}/by-draft.md": ended(f"[{D}/drafted]", title="Ended for a draft"),
    f"{D}/no-reason.md": ended(title="Ended without a word"),
    f"{D}/no-date.md": entry(status="deprecated", reason="old", title="Ended on no day"),
    f"{D}/still-active.md": entry(title="Superseded and active", superseded_by=f"[{D}/chain-4]"),
    f"{D}/dangling.md": entry(title="Dangling", supersedes=f"[{D}/nowhere]", see="[nowhere/at/all]"),
    f"{D}/short-links.md": entry(title="Short links", see="[chain-4, rules/cache-is-cleared]"),
    # amendments and contradictions
    f"{D}/amends.md": entry(
        "The queue holds a day.", title="Queue holds a day", amends=f"[{D}/queue-for-mail]", reason="the size"
    ),
    f"{D}/amends-ended.md": entry(title="Amends what ended", amends=f"[{D}/chain-1]"),
    "base/rules/amends-shop.md": entry(title="Amends another wing", amends=f"[{D}/two-caches]"),
    f"{D}/amends-higher.md": entry(type="note", title="A note amends a rule", amends=f"[{R}/prices-are-integers]"),
    f"{D}/one-cache.md": entry("There is one cache.", title="One cache", conflicts_with=f"[{D}/two-caches]"),
    f"{D}/overrides.md": entry(
        title="Secrets for tests", overrides="[base/rules/no-secrets]", label="local-override", reason="tests"
    ),
    f"{D}/overrides-mute.md": entry(title="Overrides without a reason", overrides="[base/patterns/retry]"),
    f"{D}/same-title.md": entry(title="Two caches"),
    f"{D}/copy.md": entry("Mail goes through a queue.", title="Mail is queued", tags="[mail, queue]"),
    "shop/notes/entity.md": entry(
        type="note", title="Cache", label="entity", entity="cache", relations="[{type: CONFLICTS_WITH, to: queue}]"
    ),
    "shop/notes/entity-2.md": entry(type="note", title="cache", label="entity", entity="Cache"),
    "shop/notes/session.md": entry(
        type="note", title="A session", label="session", objective="clear the cache", open_items="[the queue]"
    ),
    "shop/notes/diary.md": entry(type="note", title="A diary", agent="claude"),
}
FIELDS = {
    # front matter
    f"{X}/unclosed-quote.md": entry(title='"never closed'),
    f"{X}/tab.md": entry(title="T", tags="\n\t- a"),
    f"{X}/twice.md": entry(title="Once\ntitle: Twice"),
    f"{X}/alias.md": entry(title="&a Alias", owner="*a"),
    f"{X}/tag.md": entry(title="!!python/object/apply:os.system ['echo pwned']"),
    f"{X}/merge-key.md": entry(title="T\n<<: {title: x}"),
    f"{X}/a-list.md": "---\n- type\n- status\n---\n\nA list.\n",
    f"{X}/no-end.md": "---\ntype: note\nstatus: active\n\nNo end.\n",
    f"{X}/no-front-matter.md": "# Only prose about the cache\n",
    f"{X}/empty.md": "",
    f"{X}/only-fences.md": "---\n---\n",
    f"{X}/bom.md": f"\ufeff{entry(title='Marked')}",
    f"{X}/crlf.md": entry(title="Windows").replace("\n", "\r\n"),
    f"{X}/cr.md": entry(title="Old Macintosh").replace("\n", "\r"),
    f"{X}/unknown-type.md": entry(type="desicion", title="Misspelt type"),
    f"{X}/unknown-status.md": entry(status="actve", title="Misspelt status"),
    f"{X}/unknown-field.md": entry(titel="Misspelt field", x_own="1"),
    f"{X}/missing.md": entry(type=None, status=None, created_at=None, title="Nothing needed"),
    f"{X}/numbers.md": entry(title="0012", version="one", confidence="1.5", relevance_score=".nan"),
    f"{X}/dates.md": entry(
        created_at="05.03.2026", verified_at="2026-02-30", expires_at="0001-01-01T00:00:00+23:59", title="Dates"
    ),
    f"{X}/future.md": entry(created_at="2099-01-01", title="From the future"),
    f"{X}/expired.md": entry(expires_at="2026-01-01", title="Expired cache rule"),
    f"{X}/under-review.md": entry(status="under_review", title="The cache under review"),
    f"{X}/no-is-text.md": entry(title="no", owner="off", tags="[12:30, 1.10, ~]"),
    f"{X}/globs.md": entry(title="Globs", applies_to="['../out/*', '/etc/*', ':(top)x', '[', '**/**/**']"),
    f"{X}/many-tags.md": entry(title="Many tags", tags=f"[{', '.join(f't{n}' for n in range(120))}]"),
    f"{X}/ignores.md": entry(title="Ignores", tags="[a, a]", ignore="{duplicate-tag: wanted, no-such-check: x}"),
    f"{X}/nested.md": entry(title="Nested", x="{a: {b: {c: [1, 2]}}}", owner="[a, b]"),
    f"{X}/comment.md": entry(title="Cut # off", reason="#"),
    f"{X}/steps.md": entry(title="Steps of a decision", trigger="never", repeatable_steps="[a]"),
    # bodies
    f"{X}/escape.md": entry("Red \x1b[31mtext\x1b]0;owned\x07 of the cache.", title="Escape \x1b[31mred"),
    f"{X}/escape-quoted.md": entry(title='"Quoted \\e[31mred\\a"', owner='"\\x9b31m"', tags='["\\e[2J"]'),
    f"{X}/nul.md": entry("Nul \0 here.", title="Nul"),
    f"{X}/direction.md": entry("x\u202e\u200b\ufeff cache", title="Left\u202eright\u2066"),
    f"{X}/line-separator.md": entry("one\u2028two\u2029three\x85four cache", title="Lines\u2028in a title"),
    f"{X}/conflict.md": entry(
        "<<<<<<< ours\nThe cache stays.\n=======\nThe cache goes.\n>>>>>>> theirs", title="Markers"
    ),
    f"{X}/conflict-head.md": entry(title="Ours").replace(
        "title: Ours", "<<<<<<< a\ntitle: Ours\n=======\ntitle: Theirs\n>>>>>>> b"
    ),
    f"{X}/very-long.md": entry(LONG, title="The caches of all regions"),
    f"{X}/long-line.md": entry("cache price " * 700, title="One line"),
    f"{X}/long-title.md": entry(title="A title that goes on " * 30),
    f"{X}/empty-body.md": entry("", title="Nothing said"),
    f"{X}/headings.md": entry("# One\n\n# Two\n\n### Three", title="Headings"),
    f"{X}/backticks.md": entry("`" * 70 + " cache " + "`" * 69, title="Backticks"),
    f"{X}/open-fence.md": entry("```\n# no heading\n[see: shop/rules/nowhere]", title="Open fence"),
    f"{X}/open-comment.md": entry("<!-- mdmem: nothing closes this\n\ncache", title="Open comment"),
    f"{X}/html.md": entry("<script>alert(1)</script><img src=x onerror=y>", title="<b>Bold</b>"),
    f"{X}/secret.md": entry("password = 'hunter2hunter2'\nAKIAABCDEFGHIJKLMNOP", title="Secret"),
    f"{X}/body-links.md": entry("[see: shop/rules/nowhere] [x](../rules/gone.md) [y](/etc/passwd)", title="Body links"),
    f"{X}/home.md": entry("Look at /home/ada/cache and C:\\Users\\ada.", title="Home"),
    f"{X}/frozen.md": entry("> must\n\nmust not\n\nshall", title="Must", type="invariant"),
    f"{X}/chinese.md": entry("缓存在午夜清空。", title="缓存"),
    f"{X}/github.md": entry("::error file=x::owned\n##[error]owned", title="::warning::owned"),
}
NAMES = (
    *("a b", "UPPER", "under_score", "-rf", "--output=x", "~", "%2e%2e", "con", "a:b", "a\\b", "é", "e\u0301", "..x"),
    *(
        "a\nb",
        "a\rb",
        "a\tb",
        "a\u2028b",
        "\u202egnp",
        "a\x1b[31mb",
        "*",
        "[a]",
        "@{u}",
        "$(x)",
        "'",
        '"',
        "a|b",
        "<i>",
    ),
    *("n" * 200, "README", "index", "a.b", " ", "日本"),
)
BYTES: dict[str, bytes] = {
    f"{X}/utf16.md": entry(title="Wide").encode("utf-16"),
    f"{X}/latin1.md": entry("Café cache", title="Café").encode("latin-1"),
    f"{X}/surrogate.md": b"---\ntype: note\ntitle: \xed\xa0\x80\n---\nx\n",
}
PLACES = {
    "loose.md": entry(title="At the top"),
    "shop/loose.md": entry(title="In no room"),
    "shop/a/b/c/deep.md": entry(title="Too deep"),
    "Bad Wing/rules/x.md": entry(title="Wing of a bad name"),
    "shop/Bad_Room/x.md": entry(title="Room of a bad name"),
    "shop/rules/text.txt": "cache",
    "shop/.hidden/x.md": entry(title="Hidden"),
    "twin/README.md": "---\nkind: projekt\nproject_id: Shop 2\nowners: {a: b}\n---\n",
    "twin/rules/x.md": entry(title="In the twin"),
    "broken/README.md": "---\nkind: [\n---\n",
    "broken/rules/x.md": entry(title="Below a broken manifest"),
    "bare/rules/x.md": entry(title="No manifest"),
}


def write_hostile(root: Path, commit: Callable[[int], None]) -> None:
    """Write the good entries, then all others, then one more that is not committed."""
    _write_all(root, GOOD)
    commit(1)
    _write_all(root, LINKS | FIELDS | PLACES)
    _write_all(root, {f"shop/names/{name}.md": entry(title="A name") for name in NAMES})
    for path, content in BYTES.items():
        (root / path).write_bytes(content)
    with contextlib.suppress(OSError):
        Path(os.fsdecode(os.fsencode(root / "shop/names") + b"/\xff.md")).write_text(
            entry(title="Bytes"), encoding="utf-8"
        )
        (root / "shop/odd/linked.md").symlink_to("/etc/passwd")
    commit(5)
    again = GOOD[f"{R}/cache-is-cleared.md"].replace("midnight", "noon")
    _write_all(root, {f"{R}/cache-is-cleared.md": again, f"{D}/new.md": entry(title="A new cache")})


def _write_all(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")

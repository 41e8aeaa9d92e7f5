"""The table of checks: one line a check, by family, in the order of the catalogue."""

from __future__ import annotations

FILE = (
    "not-utf8",
    "utf8-bom",
    "mixed-line-endings",
    "no-final-newline",
    "control-characters",
    "invisible-characters",
    "file-too-large",
    "front-matter-too-large",
    "empty-file",
    "symlink",
    "path-escapes-root",
    "git-lfs-pointer",
    "submodule",
    "merge-marker",
    "path-illegal-on-windows",
    "case-collision",
    "unicode-collision",
    "stray-file",
    "wrong-depth",
    "odd-extension",
    "bad-name",
    "ignored-by-git",
    "unreadable",
)
FRONT_MATTER = (
    "front-matter-missing",
    "fence-unterminated",
    "fence-variant",
    "second-front-matter",
    "yaml-syntax",
    "duplicate-key",
    "not-a-mapping",
    "anchor-or-alias",
    "custom-tag",
    "multiple-documents",
    "nested-value",
    "non-text-key",
    "comment-truncates-value",
    "wiki-link-value",
    "key-spelling",
    "unknown-key",
    "empty-value",
)
SCHEMA = (
    "missing-field",
    "wrong-type",
    "unknown-type",
    "unknown-status",
    "link-placeholder",
    "template-leftover",
    "field-not-for-type",
    "title-missing",
    "title-too-long",
    "title-differs-from-heading",
    "duplicate-list-item",
    "tag-with-comma",
    "vague-invariant",
    "several-rules",
    "body-empty",
    "rationale-missing",
    "entry-too-long",
    "secret-like-text",
    "local-path",
    "hidden-instruction",
)
LINKS = (
    "dangling-link",
    "link-not-tracked",
    "short-address",
    "link-by-path",
    "self-link",
    "duplicate-link",
    "body-link-broken",
    "link-to-superseded",
    "amendment-in-prose",
    "amends-across-types",
    "amends-across-wings",
    "amends-ended",
    "override-without-reason",
    "override-of-own-wing",
    "override-across-types",
    "override-not-declared",
    "conflict-unresolved",
    "cross-wing-link-undeclared",
    "applies-to-nothing",
)
SUPERSESSION = (
    "supersession-one-sided",
    "supersession-mismatch",
    "superseded-but-active",
    "deprecated-without-successor-or-reason",
    "superseded-by-draft",
    "superseded-by-dead",
    "supersession-cycle",
    "two-successors",
    "supersedes-superseded",
    "chain-without-head",
    "supersession-across-types",
    "supersession-across-wings",
    "successor-older",
    "supersession-reason-missing",
)
DATES = (
    "invalid-date",
    "not-iso",
    "future-date",
    "verified-before-created",
    "deprecated-at-missing",
    "review-overdue",
    "expired",
    "date-without-offset",
)
CHANGE = (
    "deleted-in-force",
    "frozen-text-changed",
    "illegal-transition",
    "created-at-changed",
    "type-changed",
    "activated-by-agent",
    "approved-by-nobody",
    "superseded-entry-edited",
)
MERGE = (
    "merge-two-successors",
    "merge-address-collision",
    "merge-conflict",
)
WINGS = (
    "manifest-invalid",
    "wing-without-manifest",
    "default-wing-unknown",
    "unknown-shared-wing",
    "shared-wing-is-project",
    "wing-without-owner",
    "wing-not-fetched",
    "settings-loosened",
)
RUN = (
    "nothing-checked",
    "base-unavailable",
    "shallow-history",
    "git-unavailable",
    "check-crashed",
    "suppression-invalid",
    "unused-suppression",
    "stale-baseline-entry",
)

FAMILIES: dict[str, tuple[str, ...]] = {
    "file": FILE,
    "front matter": FRONT_MATTER,
    "schema and content": SCHEMA,
    "links": LINKS,
    "supersession": SUPERSESSION,
    "dates": DATES,
    "change": CHANGE,
    "merge": MERGE,
    "wings": WINGS,
    "run": RUN,
}
CODES: tuple[str, ...] = tuple(code for family in FAMILIES.values() for code in family)

# Something was not looked at, and no other finding tells what it would have shown.
INCOMPLETE_CODES = frozenset(
    {"unreadable", "check-crashed", "base-unavailable", "shallow-history", "git-unavailable", "wing-not-fetched"}
)
_ABOUT_THE_CASE = {code for family in ("change", "merge", "run") for code in FAMILIES.get(family, ())}
# What a file or a baseline may keep back: no change excuses itself.
EXCUSABLE: tuple[str, ...] = tuple(
    code for code in CODES if code not in {*_ABOUT_THE_CASE, *INCOMPLETE_CODES, "settings-loosened"}
)
# What these find depends on what git has in this checkout, so that finding nothing says nothing.
ASKS_GIT = frozenset({"applies-to-nothing", "ignored-by-git", "link-not-tracked"})

# What a check reads, so that it runs again only where a change can reach it: `file` are the bytes of one file and the
# settings, `names` the paths, `links` an entry and what it names, `chain` also the lineage, `graph` every entry and the
# wings, `git` what git has and the tree that a change started from.
READS: dict[str, str] = {
    **dict.fromkeys((*FILE, *FRONT_MATTER, *SCHEMA), "file"),
    **dict.fromkeys(
        (
            *("symlink", "path-escapes-root", "submodule", "path-illegal-on-windows", "case-collision"),
            *("unicode-collision", "wrong-depth", "odd-extension", "bad-name"),
        ),
        "names",
    ),
    **dict.fromkeys(LINKS, "links"),
    **dict.fromkeys(("link-to-superseded", "amendment-in-prose", "amends-ended", "conflict-unresolved"), "chain"),
    "override-not-declared": "graph",
    **dict.fromkeys((*SUPERSESSION, "review-overdue", "expired"), "chain"),
    **dict.fromkeys(
        ("invalid-date", "not-iso", "future-date", "verified-before-created", "date-without-offset"), "file"
    ),
    **dict.fromkeys((*WINGS, *RUN), "graph"),
    "suppression-invalid": "file",
    "nothing-checked": "names",
    **dict.fromkeys((*CHANGE, *MERGE, "settings-loosened", "base-unavailable", "shallow-history"), "git"),
    **dict.fromkeys(
        (
            *("git-unavailable", "merge-marker", "stray-file", "ignored-by-git", "missing-field", "dangling-link"),
            *("link-not-tracked", "body-link-broken", "applies-to-nothing", "deprecated-at-missing"),
        ),
        "git",
    ),
}
# One judges by the day, one by the settings; manifests, of which no finding is kept, hold suppressions, too.
_NOT_KEPT = frozenset({"future-date", "entry-too-long", "suppression-invalid"})
# What these find in a file is kept by its path and content.
KEPT: tuple[str, ...] = tuple(code for code in CODES if READS[code] == "file" and code not in _NOT_KEPT)
# What these answer to a whole case is kept by what they read, and with what git told them.
ANSWERED = frozenset(
    {
        *(code for code in CODES if READS[code] in ("names", "links", "chain") and code != "nothing-checked"),
        *("future-date", "entry-too-long", "stray-file", "missing-field", "dangling-link", "link-not-tracked"),
        *("body-link-broken", "applies-to-nothing", "deprecated-at-missing", "override-not-declared"),
    }
)
# Of those that read files, what finds nothing whatever the bodies say.
FRONT_ONLY = frozenset({"future-date"})
# What these find follows from the paths, the wings, the settings and git, whatever the entries say.
BY_PATHS = frozenset(
    {
        *(code for code in CODES if READS[code] == "names"),
        *("stray-file", "ignored-by-git", *WINGS, *CHANGE, *MERGE),
        *("base-unavailable", "shallow-history", "git-unavailable", "stale-baseline-entry"),
    }
)

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

# These run where the settings ask for them: that a record is long is no fault by itself.
ON_REQUEST = frozenset({"entry-too-long"})
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

_BY_PATH = frozenset(
    {"symlink", "path-escapes-root", "submodule", "path-illegal-on-windows", "case-collision", "unicode-collision"}
    | {"wrong-depth", "odd-extension", "bad-name"}
)
_ASKS_MORE = frozenset({"merge-marker", "stray-file", "ignored-by-git", "missing-field", "entry-too-long"})
# Checks of one file alone, whatever the settings, the day and other files say: their findings are kept by its content.
KEPT: tuple[str, ...] = tuple(
    code
    for code in (
        *FILE,
        *FRONT_MATTER,
        *SCHEMA,
        *("invalid-date", "not-iso", "verified-before-created", "date-without-offset"),
    )
    if code not in _BY_PATH | _ASKS_MORE
)

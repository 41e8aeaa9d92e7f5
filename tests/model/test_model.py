"""Test entries and wings: the values of each field, invalid values; and globs compared with git."""

import random
import re
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from builders import git, make_repository, write
from golden import read_rows
from hypothesis import given
from hypothesis import strategies as st
from markdown.test_parse import read_fields

from mdmem.markdown.parse import parse_document
from mdmem.model.entry import (
    Entry,
    EntryType,
    Field,
    Flaw,
    Holder,
    Kind,
    NoSuchDayError,
    NotIsoError,
    Relation,
    Status,
    Wing,
    WingKind,
    instant_of,
    parse_moment,
    title_of,
)
from mdmem.model.fields import FIELDS, KNOWN_FIELDS, WING_FIELDS
from mdmem.model.globs import all_matches, any_match, fixed_part, script_pattern
from mdmem.model.schema import read_entry, read_wing
from mdmem.record import pack, unpack
from mdmem.store.catalog.addresses import LoadedFile
from mdmem.store.catalog.load import read_dates

TEXT = st.text(st.characters(codec="utf-8"), max_size=10)
OFFSETS = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
VALUES = {
    Kind.TYPE: st.sampled_from(EntryType),
    Kind.STATUS: st.sampled_from(Status),
    Kind.WING_KIND: st.sampled_from(WingKind),
    Kind.TEXT: TEXT,
    Kind.TEXTS: TEXTS,
    Kind.WINGS: st.none() | TEXTS,
    Kind.LINKS: TEXTS,
    Kind.GLOBS: TEXTS,
    Kind.MOMENT: st.none() | st.dates() | st.datetimes(timezones=st.none() | OFFSETS),
    Kind.VERSION: st.none() | st.integers(1, 99),
    Kind.SHARE: st.none() | st.floats(0, 1),
    Kind.PAIRS: st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple),
    Kind.RELATIONS: st.lists(st.builds(Relation, TEXT, TEXT), max_size=2).map(tuple),
}
OF_ENTRIES = {field.name: VALUES[field.kind] for field in FIELDS if hasattr(Entry, field.name)}
OF_WINGS = {field.name: VALUES[field.kind] for field in FIELDS if field.is_of_wings}


@given(st.builds(Entry, address=st.just("w/r/e"), unread=TEXTS, **OF_ENTRIES), st.builds(Wing, name=TEXT, **OF_WINGS))
def test_entry_and_wing_are_the_same_after_their_form_in_the_cache(one: Entry, wing: Wing) -> None:
    found, manifest = unpack(pack("1", one), "1", Entry), unpack(pack("1", wing), "1", Wing)
    assert found is not None
    assert read_dates([LoadedFile("w/r/e.md", found, wing=manifest)])
    assert (found, manifest) == (one, wing)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-02-29", date(2024, 2, 29)),
        ("2026-03-05T10:30", datetime(2026, 3, 5, 10, 30)),  # noqa: DTZ001
        ("2026-03-05 10:30:15", datetime(2026, 3, 5, 10, 30, 15)),  # noqa: DTZ001
        ("2026-03-05T10:30:15.5Z", datetime(2026, 3, 5, 10, 30, 15, 500_000, UTC)),
        ("2026-03-05t10:30z", datetime(2026, 3, 5, 10, 30, tzinfo=UTC)),
        ("2026-03-05T10:30+05:30", datetime(2026, 3, 5, 10, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))),
        ("2026-03-05T10:30-0800", datetime(2026, 3, 5, 10, 30, tzinfo=timezone(-timedelta(hours=8)))),
    ],
)
def test_moment_is_parsed(text: str, moment: date) -> None:
    assert (parse_moment(text), type(parse_moment(text))) == (moment, type(moment))


NO_DAYS = ["2023-14-05", "2026-02-30", "0000-01-01", "2026-03-05T24:01", "2026-03-05T10:30+25:00"]
NO_DAYS += ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]
OTHER_FORMS = ["", "2026", "2026-03", "20260305", "5.3.2026", "2026-3-5", "2026-W10-4", "2026-03-05T10", "yesterday"]
OTHER_FORMS += ["2026-03-05\n", " 2026-03-05", "2026-03-05T10:30:15.1234567Z", "٢٠٢٦-٠٣-٠٥"]


def test_moment_that_no_calendar_has_or_of_another_form_is_refused() -> None:
    for text in NO_DAYS:
        with pytest.raises(NoSuchDayError):
            parse_moment(text)
    for text in OTHER_FORMS:
        with pytest.raises(NotIsoError):
            parse_moment(text)


def test_moments_of_both_kinds_can_be_ordered() -> None:
    moments = ["2026-03-05T01:00+02:00", "2026-03-05", "2026-03-05T00:30", "2026-03-05T00:45Z"]
    assert sorted(moments, key=lambda text: instant_of(parse_moment(text))) == moments


def test_title_of_an_address_is_the_id_in_words() -> None:
    addresses = ("w/r/single-executor", "w/r/snake_case", "w/r/---", "w/r/x")
    assert [title_of(one) for one in addresses] == ["Single executor", "Snake case", "", "X"]


def test_every_attribute_is_a_field() -> None:
    assert set(Entry.__struct_fields__) - {"address", "unread"} == KNOWN_FIELDS
    assert set(Wing.__struct_fields__) - {"name", "has_manifest"} == WING_FIELDS


@pytest.mark.parametrize("field", FIELDS, ids=[field.name for field in FIELDS])
def test_example_is_read_without_a_flaw(field: Field) -> None:
    front = {"created_at": "2026-01-01", "status": "active", "type": field.holder.type, "label": field.holder.value}
    if field.holder in (Holder.ENTRY, Holder.WING):
        front |= {"type": "note"}
    stated = "" if field.holder is Holder.WING else "".join(f"{k}: {v}\n" for k, v in front.items() if k != field.name)
    document = parse_document("a/b/c.md", f"---\n{stated}{field.example}\n---\n\nText.\n".encode())
    assert document.fields is not None
    assert field.name in document.fields
    if field.is_of_wings:
        assert read_wing("a", {field.name: document.fields[field.name]})[1] == ()
    if field.holder is not Holder.WING:
        assert read_entry("a/b/c", dict(document.fields), None)[1] == ()


ADDRESS = "w/r/some-entry"


def read(stated: str, *, kind: str = "note") -> tuple[Entry | None, tuple[Flaw, ...]]:
    """Return the entry of a valid front matter with some lines added."""
    fields, troubles = read_fields(f"type: {kind}\nstatus: active\ncreated_at: 2026-03-05\n{stated}\n")
    assert fields is not None, troubles
    return read_entry(ADDRESS, fields, None)


def value_of(name: str, stated: str, *, kind: str = "note") -> Any:
    """Return the parsed value of a field, and assert that it is valid."""
    one, flaws = read(stated, kind=kind)
    assert one is not None
    assert flaws == ()
    return getattr(one, name)


def flaw_of(stated: str, *, kind: str = "note") -> tuple[str, str, str, int | None]:
    """Return the one flaw of a front matter: code, field, message, item."""
    _, flaws = read(stated, kind=kind)
    assert len(flaws) == 1, flaws
    return flaws[0].code, flaws[0].name, flaws[0].message, flaws[0].item


def test_entry_needs_three_fields_and_no_more() -> None:
    one, flaws = read("")
    expected = Entry(
        address=ADDRESS, type=EntryType.NOTE, status=Status.ACTIVE, title="Some entry", created_at=date(2026, 3, 5)
    )
    assert (one, flaws) == (expected, ())


@pytest.mark.parametrize("name", ["see", "tags", "applies_to"])
@pytest.mark.parametrize(
    ("stated", "value"),
    [("[a/b/c, a/b/d]", ("a/b/c", "a/b/d")), ("a/b/c", ("a/b/c",)), ("[]", ()), ("\n- a/b/c\n", ("a/b/c",))],
)
def test_list_may_be_written_as_one_value(name: str, stated: str, value: tuple[str, ...]) -> None:
    assert value_of(name, f"{name}: {stated}") == value


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        *(("owner", text, text) for text in ("no", "0012", "12:30", "1.10", "Ada <ada@example.org>")),
        ("verified_at", "2026-11-20", date(2026, 11, 20)),
        ("version", "12", 12),
        ("version", "007", 7),
        ("confidence", "0", 0.0),
        ("confidence", "1", 1.0),
        ("confidence", ".25", 0.25),
        ("confidence", "8e-1", 0.8),
    ],
)
def test_text_is_what_was_written_and_dates_and_numbers_are_parsed(name: str, text: str, value: object) -> None:
    assert value_of(name, f"{name}: {text}") == value


@pytest.mark.parametrize(
    ("stated", "flaw"), [*read_rows("entry/refused.txt"), ("version: " + "9" * 5000, "wrong-type version")]
)
def test_field_is_refused(stated: str, flaw: str) -> None:
    assert " ".join(flaw_of(stated)[:2]) == flaw


def test_relations_are_pairs_of_type_and_target() -> None:
    stated = "label: entity\nrelations:\n- {type: uses, to: a/b/c}\n- {type: no, to: d}"
    assert value_of("relations", stated) == (Relation("uses", "a/b/c"), Relation("no", "d"))


@pytest.mark.parametrize("stated", ["x-team: a", "x-deep: {a: [b, {c: d}]}", "x-empty:"])
def test_fields_of_others_are_kept_and_never_interpreted(stated: str) -> None:
    assert read(stated) == read("")


@pytest.mark.parametrize(
    ("front_matter", "codes"),
    [*read_rows("entry/needed.txt"), ("", "missing-field created_at, missing-field status, missing-field type")],
)
def test_needed_field_gives_one_flaw_when_it_is_not_right(front_matter: str, codes: str) -> None:
    fields, _ = read_fields(front_matter)
    assert fields is not None
    _, flaws = read_entry(ADDRESS, fields, None)
    assert ", ".join(sorted(f"{flaw.code} {flaw.name}" for flaw in flaws)) == codes


@pytest.mark.parametrize(("stated", "help_"), read_rows("entry/meant.txt"))
def test_help_names_the_word_that_was_meant_and_no_key_that_silences_checks(stated: str, help_: str) -> None:
    name, _, value = stated.partition(": ")
    fields = {"type": "note", "status": "active", "created_at": "2026-03-05"} | {name: value}
    one, (flaw,) = read_entry(ADDRESS, fields, None)
    assert flaw.help.startswith(help_)
    assert (one is None) == (name in ("type", "status"))


def test_unreadable_field_is_empty_and_named_and_the_rest_is_read() -> None:
    one, _ = read("owner: [a]\nverified_at: soon\nfocus: nav\nsupercedes: a/b/c")
    assert one is not None
    assert (one.owner, one.verified_at, one.focus, one.supersedes) == (None, None, "nav", ())
    assert one.unread == ("owner", "supersedes", "verified_at")


def test_unreadable_item_leaves_the_others_of_its_list() -> None:
    one, flaws = read("see: [a/b/c, n/a, a/b/d]\ntags: [x, {y: z}]")
    assert one is not None
    assert (one.see, one.tags) == (("a/b/c", "a/b/d"), ("x",))
    assert [(flaw.code, flaw.item) for flaw in flaws] == [("nested-value", 1), ("link-placeholder", 1)]
    assert one.unread == ("tags",)
    # Empty items count, too.
    assert flaw_of("see:\n- \n- a/b/c\n- n/a")[3] == 2


@pytest.mark.parametrize(
    ("stated", "message", "help_"),
    [
        ("kind: team", "`kind`: input should be 'project' or 'shared'", "write `kind: project` or `kind: shared`"),
        ("owner: Ada", "unknown key `owner`", "write `owners`"),
        (
            "owners: [{a: b}]",
            "`owners`: expected text, found a mapping inside the list",
            "correct the value of `owners`",
        ),
        (
            "last_hygiene_at: soon",
            "`last_hygiene_at`: `soon` is not an ISO 8601 date",
            "correct the value of `last_hygiene_at`",
        ),
    ],
)
def test_wing_keeps_its_defaults_where_a_field_is_wrong(stated: str, message: str, help_: str) -> None:
    fields, _ = read_fields(f"{stated}\ndescription: kept\n")
    assert fields is not None
    wing, flaws = read_wing("w", fields)
    assert (wing.kind, wing.description) == (WingKind.PROJECT, "kept")
    assert [(flaw.code, flaw.message, flaw.help) for flaw in flaws] == [("manifest-invalid", message, help_)]


PATHS = r"""
    README.md a ab a-b.py a.b Makefile [x] x ^ src/a.py src/b.pyi src/nav/a.py src/nav/deep/b.py src/nav/deep/er/c.py
    src2/a.py lib/src/a.py lib/nav/x.c docs/größe.md docs/🙂.md docs/a*b docs/a?b docs/- docs/] docs/!a docs/a\b
    docs/A.MD docs/5 docs/&& deep/a/b/c/d.py deep/a/d.py deep/d.py nav x.d/nav src.d/**
""".split()  # noqa: SIM905  # a list has one path a line
PATHS += ["docs/a b.md", "docs/a\nb"]
PATTERNS = r"""
    * ** **/* */* */** **/ src src/ src/* src/** src/**/ src/nav src/nav/ src/*.py src/**/*.py **/*.py **/a.py
    **/nav **/nav/** **/src/** s* s*/a.py src* src*/** *.py *.md docs/* docs/? docs/?? docs/*.md docs/*.MD
    docs/[a-c]* docs/[!a]* docs/[^a]* docs/[]] docs/[]-] docs/[!]] docs/[a docs/a\*b docs/a\?b docs/a*b docs/a?b
    docs/[*] docs/a[*]b docs/a[?]b docs/a[\*]b docs/a\\b docs/a[\\]b docs/[-] docs/[a-]* docs/gr*e.md docs/gr?ße.md
    docs/gr??e.md docs/??.md docs/?.md docs/🙂.md docs/größe.md docs/[!-~] docs/[[:digit:]] docs/[[:alpha:]]*
    docs/[0-9] docs/[9-0] docs/[z-a] docs/[&&]* docs/[a&&b]* docs/a* docs/[a/b]* docs/[!]a deep/**/d.py deep/*/d.py
    deep/a/** deep/**/c/** deep/**/**/d.py deep/**d.py deep/a**/d.py **d.py **/** *** deep/***/d.py **nav src/**nav
    src/nav** ./src src/./a.py src//a.py src/.. src/../lib src/. src/nav/.. a a* a.b a?b [x] \[x\] [[]x] [a-x] [^] ^
    [] [!] [ ] x [x \x x\ **/x . [[:foo:]]* [[:upper:]]* [[:upper:][:digit:]-]* docs/[[:punct:]] docs/[[:]*
    docs/[[:]]* docs/[a-c-e]* docs/[--9] docs/[\]] docs/[\!-\-] *[a-z]/*[0-9]/*.py src**/a.py deep/**\/d.py
    **/*a*/**/*.py */ */a.py */*/a.py ? ?? src.d/** src.d/\*\* **/**/a.py src/**/** src/*/ src/nav/*/ {src,lib}/**
    src/{a,b}.py !src ~ src/nav/a.py/ src/nav/a.py/* (src) a|b a+ $ src/a.py$
""".split()  # noqa: SIM905  # a list has one pattern a line
# These hold a blank, or nothing.
PATTERNS += ["", "docs/a b.md", "docs/a\nb", "docs[/]a b.md", "docs?a b.md"]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository that tracks the paths."""
    folder = make_repository(tmp_path_factory.mktemp("globs"))
    for path in PATHS:
        write(folder, path)
    git(folder, "add", "-A")
    return folder


def listed_by_git(repository: Path, pattern: str) -> list[str]:
    """Return what git lists for a glob."""
    return sorted(path for path in git(repository, "ls-files", "-z", "--", f":(glob){pattern}").split("\0") if path)


@pytest.mark.parametrize("pattern", ["/", "/src", "../src", "src/../../src"])
def test_glob_covers_nothing_when_git_refuses_it(repository: Path, pattern: str) -> None:
    with pytest.raises(AssertionError, match="outside repository"):
        listed_by_git(repository, pattern)
    assert list(all_matches([pattern], PATHS)) == []


ALPHABET = ["*", "**", "/", "?", "[", "]", "!", "-", "\\", "a", "b", ".py", "src", "nav", "deep", "d"]


def test_glob_covers_what_git_lists_for_these_and_for_many_patterns_at_random(repository: Path) -> None:
    chosen = random.Random(7)
    patterns = {"".join(chosen.choices(ALPHABET, k=chosen.randint(1, 7))) for _ in range(120)}
    accepted = [pattern for pattern in sorted(patterns) if not pattern.startswith("/")]
    differing = [
        pattern
        for pattern in (*PATTERNS, *accepted)
        if sorted(all_matches([pattern], PATHS)) != listed_by_git(repository, pattern)
    ]
    assert differing == []


def test_glob_of_many_stars_ends() -> None:
    assert any_match(["*a" * 40 + "b"], ["a" * 200]) is None
    assert any_match(["**/a*/" * 40 + "b"], ["a/" * 99 + "a"]) is None
    assert not covered_in_a_browser("*a" * 40 + "b", "a" * 200)
    assert not covered_in_a_browser("**/a*/" * 40 + "b", "a/" * 99 + "a")
    # From the hundredth on, Python reads the number of a group as a character.
    assert list(all_matches(["*a" * 500], ["ba" * 500, "ba" * 499])) == ["ba" * 500]


def covered_in_a_browser(glob: str, path: str) -> bool:
    """Return the answer of the site's script, by the same parts."""
    parts, read = script_pattern(glob), path.encode().decode("latin-1")
    if parts is None:
        return False
    plain, below, literal, source = parts
    assert plain is not None
    assert below is not None
    assert literal is not None
    if read == plain or read.startswith(below):
        return True
    rest = read.removeprefix(literal)
    return source is not None and read.startswith(literal) and re.fullmatch(source, rest, re.DOTALL) is not None


def test_glob_covers_in_a_browser_what_it_covers_here() -> None:
    chosen = random.Random(8)
    patterns = [*PATTERNS, *("".join(chosen.choices(ALPHABET, k=chosen.randint(1, 9))) for _ in range(120))]
    differing = [
        (pattern, path)
        for pattern in patterns
        for path in PATHS
        if (any_match([pattern], [path]) == path) != covered_in_a_browser(pattern, path)
    ]
    assert differing == []


@pytest.mark.parametrize(
    ("glob", "folder", "is_met"),
    [
        ("src/web/**", "src/web/", True),
        ("src/web/**", "src/", True),
        ("src/web/views.py", "src/web/", True),
        ("src/web/*.py", "src/web/", True),
        ("src/*/models/**", "src/web/", True),
        ("**/*.py", "docs/", True),
        ("src/web/", "src/web/forms/", True),
        ("src/web", "./", True),
        ("src/web/**", "src/we/", False),
        ("src/*.py", "src/web/", False),
        ("../src", "src/", False),
    ],
)
def test_folder_meets_what_applies_below_it(glob: str, folder: str, is_met: bool) -> None:
    assert (any_match([glob], [folder]) == folder) is is_met


def test_any_match_returns_the_first_path_that_a_glob_covers() -> None:
    assert any_match(["docs/**", "src/*.py"], ["README.md", "src/a.py", "docs/a.md"]) == "src/a.py"


@pytest.mark.parametrize(
    ("glob", "part"),
    [
        ("src/nav", "src/nav"),
        ("src/nav/", "src/nav"),
        ("src/nav/**", "src/nav"),
        ("src/na*.py", "src"),
        ("./src//a/../b?.py", "src"),
        ("*.py", ""),
        ("**/a.py", ""),
        (".", ""),
        ("../outside/**", None),
        ("/src", None),
    ],
)
def test_fixed_part_is_where_all_that_a_glob_covers_lies(glob: str, part: str | None) -> None:
    assert fixed_part(glob) == part

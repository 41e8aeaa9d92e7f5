"""The table of fields: the domain types and the models follow it, and what it shows is true."""

from __future__ import annotations

import pytest
from msgspec.structs import fields, replace

from mdmem.markdown.parse import parse_document
from mdmem.model.entry import Entry, EntryType, Wing
from mdmem.model.fields import FIELDS, KNOWN_FIELDS, LISTS, WING_FIELDS, Field, Holder, Kind, version_of
from mdmem.model.front_matter import ADAPTERS, MODELS
from mdmem.model.schema import read_entry, read_wing

NAMES = [field.name for field in FIELDS]


def test_domain_types_have_the_fields_of_the_table() -> None:
    assert set(Entry.__struct_fields__) - {"address", "unread"} == KNOWN_FIELDS
    assert set(Wing.__struct_fields__) - {"name", "has_manifest"} == WING_FIELDS
    assert len(set(NAMES)) == len(NAMES)


def test_defaults_of_the_domain_types_are_those_of_the_models() -> None:
    stated = {"type": "note", "status": "draft"}
    read = ADAPTERS[EntryType.NOTE].validate_python(stated)
    entry = Entry(address="a/b/c", type=EntryType.NOTE, status=read.status, title="c")  # type: ignore[attr-defined]
    assert {name: getattr(read, name) for name in MODELS[EntryType.NOTE].model_fields if name != "title"} == {
        name: getattr(entry, name) for name in MODELS[EntryType.NOTE].model_fields if name != "title"
    }
    assert dict(ADAPTERS[None].validate_python({})) == {
        name: getattr(Wing(name="w"), name)
        for name in ADAPTERS[None].validate_python({}).model_fields_set | WING_FIELDS
    }


def test_lists_are_the_fields_that_hold_several_values() -> None:
    several = {one.name for kind in (Entry, Wing) for one in fields(kind) if "tuple[" in str(one.type)}
    assert several - {"unread", "ignore"} == LISTS


@pytest.mark.parametrize("field", FIELDS, ids=NAMES)
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


def test_version_follows_what_is_read_and_not_what_is_said_of_it() -> None:
    first, *rest = FIELDS
    assert version_of([replace(first, meaning="other", example="other"), *rest]) == version_of(FIELDS)
    assert version_of([replace(first, kind=Kind.TEXT), *rest]) != version_of(FIELDS)
    assert version_of([replace(first, searched=None), *rest]) != version_of(FIELDS)

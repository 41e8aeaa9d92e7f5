"""The models that read a front matter, made from the table of fields: one a type of entry, and a manifest's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model

from mdmem.entry.fields import FIELDS, Field, Holder, Kind
from mdmem.entry.model import EntryType, Status, WingKind
from mdmem.entry.values import Globs, Links, Moment, Names, Pairs, Relations, Share, Text, Texts, Version

# How the values of a kind are read, and what stands for a field that a file does not state; `type` is each model's own.
_READ: Mapping[Kind, tuple[Any, Any]] = {
    Kind.STATUS: (Status, ...),
    Kind.WING_KIND: (WingKind, WingKind.PROJECT),
    Kind.TEXT: (Text, None),
    Kind.TEXTS: (Texts, ()),
    Kind.NAMES: (Names, None),
    Kind.LINKS: (Links, ()),
    Kind.GLOBS: (Globs, ()),
    Kind.MOMENT: (Moment, None),
    Kind.VERSION: (Version, None),
    Kind.SHARE: (Share, None),
    Kind.PAIRS: (Pairs, ()),
    Kind.RELATIONS: (Relations, ()),
}


def _model(name: str, fields: Iterable[Field], **more: Any) -> type[BaseModel]:
    read: dict[str, Any] = {field.name: _READ[field.kind] for field in fields if field.kind in _READ}
    return create_model(name, __config__=ConfigDict(extra="forbid", frozen=True), **read, **more)


def _model_of(kind: EntryType) -> type[BaseModel]:
    fields = (field for field in FIELDS if field.holder is Holder.ENTRY or field.holder.type == kind)
    return _model(f"{kind.value.title()}Fields", fields, type=(Literal[kind], ...))


MODELS: Mapping[EntryType, type[BaseModel]] = {kind: _model_of(kind) for kind in EntryType}
ADAPTERS = {kind: TypeAdapter(model) for kind, model in MODELS.items()}
WING_ADAPTER = TypeAdapter(_model("WingFields", (field for field in FIELDS if field.is_of_wings)))

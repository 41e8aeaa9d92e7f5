"""The models that judge a front matter, made from the table of fields: one a type of entry, and a manifest's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError, create_model
from pydantic_core import ErrorDetails

from mdmem.model.entry import EntryType, Status, WingKind
from mdmem.model.fields import Kind
from mdmem.model.values import (
    FIELDS_OF,
    read_glob,
    read_item,
    read_link,
    read_moment,
    read_pairs,
    read_relations,
    read_share,
    read_text,
    read_version,
    values_of,
)

_Several = BeforeValidator(values_of)
# How the values of a kind are judged, and what stands for a field that a file does not state; `type` is each model's
# own.
_READ: Mapping[Kind, tuple[Any, Any]] = {
    Kind.STATUS: (Status, ...),
    Kind.WING_KIND: (WingKind, WingKind.PROJECT),
    Kind.TEXT: (Annotated[str | None, BeforeValidator(read_text)], None),
    Kind.TEXTS: (Annotated[tuple[Annotated[str, BeforeValidator(read_item)], ...], _Several], ()),
    Kind.NAMES: (Annotated[tuple[str, ...] | None, _Several], None),
    Kind.LINKS: (Annotated[tuple[Annotated[str, BeforeValidator(read_link)], ...], _Several], ()),
    Kind.GLOBS: (Annotated[tuple[Annotated[str, BeforeValidator(read_glob)], ...], _Several], ()),
    Kind.MOMENT: (Annotated[Any, BeforeValidator(read_moment)], None),
    Kind.VERSION: (Annotated[Any, BeforeValidator(read_version)], None),
    Kind.SHARE: (Annotated[Any, BeforeValidator(read_share)], None),
    Kind.PAIRS: (Annotated[Any, BeforeValidator(read_pairs)], ()),
    Kind.RELATIONS: (Annotated[Any, BeforeValidator(read_relations)], ()),
}


def _model_of(kind: EntryType | None) -> type[BaseModel]:
    read: dict[str, Any] = {name: _READ[one] for name, one in FIELDS_OF[kind].items() if one in _READ}
    if kind is not None:
        read["type"] = (Literal[kind], ...)
    return create_model(f"{kind or 'wing'}".title(), __config__=ConfigDict(extra="forbid", frozen=True), **read)


MODELS: Mapping[EntryType | None, type[BaseModel]] = {kind: _model_of(kind) for kind in FIELDS_OF}
ADAPTERS = {kind: TypeAdapter(model) for kind, model in MODELS.items()}


def judge(kind: EntryType | None, stated: Mapping[str, Any]) -> tuple[list[ErrorDetails], dict[str, Any]]:
    """Return what is wrong with the values of fields, and the values where nothing is; None means a manifest's."""
    try:
        read = ADAPTERS[kind].validate_python(stated)
    except ValidationError as error:
        return error.errors(include_url=False), {}
    return [], {name: value for name, value in read.__dict__.items() if name in read.model_fields_set}

"""From what a client sends to a tool's arguments: forgiving about form, strict about names, and clear about both."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from mdmem.errors import UsageError
from mdmem.mcp.tools.shape import Parameter, ParameterKind, TakesParameters

_TRUE, _FALSE = ("true", "yes", "1", "on"), ("false", "no", "0", "off")
_SHOWN = 60
# A number in an exponent's notation may have more digits than Python prints.
_LARGEST = 10**15
_MANY = 500


def read_arguments(tool: TakesParameters, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments by name, those left out at their default.

    `null` and what is left out are the same. Raises UsageError with one sentence for each fault there is.
    """
    known = {one.name: one for one in tool.takes}
    faults = [_unknown(name, known) for name in given if name not in known]
    read: dict[str, Any] = {}
    for name, parameter in known.items():
        value = given.get(name)
        if value is None:
            if parameter.needed and not parameter.is_forgiven:
                faults.append(f"`{name}` is missing: {_sentence(parameter.about)}")
            read[name] = parameter.default
            continue
        try:
            read[name] = _read(parameter, value)
        except UsageError as error:
            faults.append(str(error))
    if faults:
        raise UsageError("; ".join(fault.rstrip("?") for fault in faults[:8]))
    return read


def nearest(name: str, known: Iterable[str], cutoff: float = 0.5) -> str | None:
    """Return the known name that looks most like one, None where none does."""
    folded = {one.casefold(): one for one in known}
    close = difflib.get_close_matches(name[:_SHOWN].casefold(), folded, n=1, cutoff=cutoff)
    return folded[close[0]] if close else None


def shown(value: object) -> str:
    """Return a value as a message may hold it: on one line, and short."""
    if isinstance(value, int) and abs(value) > _LARGEST:
        return "so large a number"
    try:
        text = json.dumps(value, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _unknown(name: str, known: Mapping[str, Parameter]) -> str:
    # A name of another tool's, as `task`, is no slip: one of ours that shares letters with it misleads.
    close = nearest(name, known, cutoff=0.8)
    listed = ", ".join(f"`{one}`" for one in known) or "none"
    hint = f"did you mean `{close}`?" if close else f"it takes {listed}"
    return f"there is no parameter {shown(name)}; {hint}"


def _sentence(about: str) -> str:
    first = about.split(". ")[0].rstrip(".")
    return first[:1].lower() + first[1:]


def _read(parameter: Parameter, value: object) -> Any:
    match parameter.kind:
        case ParameterKind.TEXT:
            return _choice(parameter, _text(parameter, _only(value)))
        case ParameterKind.TEXTS:
            return tuple(_choice(parameter, one) for one in _texts(parameter, value))
        case ParameterKind.FLAG:
            return _flag(parameter, value)
        case ParameterKind.RECORD:
            return _record(parameter, _opened(value))
        case ParameterKind.RECORDS:
            return _records(parameter, _opened(value))
    return _number(parameter, value)


def _text(parameter: Parameter, value: object) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= _LARGEST:
        value = str(value)
    if not isinstance(value, str):
        raise UsageError(f"`{parameter.name}` must be a text, found {shown(value)}")
    if len(value) > parameter.longest:
        raise UsageError(f"`{parameter.name}` has {len(value)} characters; at most {parameter.longest} are read")
    return value


def _only(value: object) -> object:
    """Return the one member of a list of one, as agents send it for a field that holds a list in the files."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _choice(parameter: Parameter, value: str) -> str:
    if not parameter.choices:
        return value
    folded = {one.casefold(): one for one in parameter.choices}
    found = folded.get(value.strip().casefold().replace("-", "_")) or folded.get(value.strip().casefold())
    if found is not None:
        return found
    close = nearest(value, parameter.choices)
    hint = f"did you mean `{close}`? " if close else ""
    listed = ", ".join(f"`{one}`" for one in parameter.choices)
    raise UsageError(f"`{parameter.name}` cannot be {shown(value)}; {hint}it is one of {listed}")


def _texts(parameter: Parameter, value: object) -> tuple[str, ...]:
    """Read a list, one as a JSON text, values joined by commas, or a single value."""
    value = _opened(value)
    if isinstance(value, str):
        # A text left empty is one that is not given; in a list it is one that means nothing.
        value = [value] * bool(value.strip()) if parameter.is_prose else value.split(",")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = [value]
    if not isinstance(value, (list, tuple)):
        raise UsageError(f"`{parameter.name}` must be a list of texts, found {shown(value)}")
    if len(value) > _MANY:
        raise UsageError(f"`{parameter.name}` has {len(value)} values; at most {_MANY} are read")
    texts = [_text(parameter, one).strip() for one in value]
    if parameter.is_prose:
        return tuple(texts)
    return tuple(dict.fromkeys(text for text in texts if text))


def _opened(value: object) -> object:
    """Return what a JSON text holds where it holds a list or an object, else the value as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _flag(parameter: Parameter, value: object) -> bool:
    if isinstance(value, bool):
        return value
    said = str(value).strip().casefold() if isinstance(value, str) or value in (0, 1) else ""
    if said not in (*_TRUE, *_FALSE):
        raise UsageError(f"`{parameter.name}` must be true or false, found {shown(value)}")
    return said in _TRUE


def _number(parameter: Parameter, value: object) -> int | float:
    number = _as_number(value)
    is_whole = parameter.kind is ParameterKind.WHOLE
    if number is None or (is_whole and number != int(number)):
        kind = "a whole number" if is_whole else "a number"
        raise UsageError(f"`{parameter.name}` must be {kind}, found {shown(value)}")
    least, most = parameter.least, parameter.most
    if (least is not None and number < least) or (most is not None and number > most):
        bounds = f"from {least:g} to {most:g}" if least is not None and most is not None else f"at least {least:g}"
        raise UsageError(f"`{parameter.name}` must be {bounds}, found {shown(value)}")
    return int(number) if is_whole else number


def _as_number(value: object) -> int | float | None:
    """Return a finite number of bearable size, as it is or read from a text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str):
        try:
            value = float(value[:_SHOWN])
        except ValueError:
            return None
    return value if -_LARGEST <= value <= _LARGEST and math.isfinite(value) else None


def _record(parameter: Parameter, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        fields = ", ".join(f"`{name}`" for name in parameter.fields) or "names and values"
        raise UsageError(f"`{parameter.name}` must be an object with {fields}, found {shown(value)}")
    return value


def _records(parameter: Parameter, value: object) -> list[dict[str, Any]]:
    listed = [value] if isinstance(value, dict) else value
    if not isinstance(listed, (list, tuple)):
        raise UsageError(f"`{parameter.name}` must be a list of objects, found {shown(value)}")
    return [_record(parameter, _opened(one)) for one in listed]

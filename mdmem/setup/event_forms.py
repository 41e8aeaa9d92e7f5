"""How each client reads what a hook answers: where the text stands that reaches the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from json import dumps

from mdmem.setup.event import HookEvent

Form = Callable[[HookEvent, str], str]


def _specific(event: HookEvent, text: str) -> str:
    return dumps({"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": text}})


def _flat(_: HookEvent, text: str) -> str:
    return dumps({"additionalContext": text})


def _snake(_: HookEvent, text: str) -> str:
    return dumps({"additional_context": text})


def _bare(_: HookEvent, text: str) -> str:
    return text


FORMS: Mapping[str, Form] = {
    "claude-code": _specific,
    "codex": _specific,
    "gemini": _specific,
    "qwen": _specific,
    "copilot": _flat,
    "cursor": _snake,
    "opencode": _bare,
}

"""What a hint says is certain where it is no, whichever engine there is."""

from __future__ import annotations

import random
import subprocess
import sys
from datetime import date
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from mdmem import hint
from mdmem.catalog import load
from mdmem.checks import amendment_sentences, secrets, suppressions
from mdmem.checks.case import Case
from mdmem.checks.engine import run_checks
from mdmem.checks.registry import CODES
from mdmem.checks.rules import hidden_instruction, local_path, template_leftover
from mdmem.document import links, parse
from mdmem.hint import Hint, load_engine
from mdmem.settings import Settings
from mdmem.tree import WorkingTree

if TYPE_CHECKING:
    from pathlib import Path

HINTS: dict[ModuleType, tuple[str, ...]] = {
    amendment_sentences: ("_NAMING",),
    secrets: ("_TOKEN", "_ASSIGNMENT"),
    suppressions: ("_ANY_COMMENT",),
    hidden_instruction: ("_ANY_COMMENT",),
    local_path: ("_HOMES",),
    template_leftover: ("_BEGUN",),
    links: ("_ANY", "_ANY_DEFINITION"),
    parse: ("_MARKER",),
}
NOISE = "".join(random.Random(1).choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", k=60))
PIECES = (
    *(" ", "\n", "\n\n", ". ", "`", "```\n", "é", "—", "the ", "word " * 9, "word " * 14, "12", "a" * 70 + "/b/c"),
    *("This ", "we ", "it also ", "Amends ", "updates ", "revises ", "`modifies` ", "Partially supersedes "),
    *("ADR 12", "PEP-0008", "app/rules/one", "[see: app/rules/one, updates, two]", "[[app/rules/one]]"),
    *(
        "[one](one.md)",
        "[one]: one.md\n",
        "<!-- you must -->",
        "<!-- AIs: -->",
        "<!-- mdmem: ignore body-empty why -->",
        "[//]: # (all)",
    ),
    *(
        "/home/ada/",
        "C:\\Users\\ada\\",
        "<State what was decided",
        "<say what breaks when it is violated.>",
        "<<<<<<< x\n=======\n>>>>>>> y\n",
    ),
    *(
        "=======\n",
        ">>>>>>> y\n",
        "api_key = ",
        "Token: ",
        "'k7Rwq2VzmX9d'",
        f"gh{'p_'}{NOISE[:36]}",
        f"ey{'J'}{NOISE}.ey",
    ),
    *(f"J{NOISE}.{NOISE}", f"AK{'IA'}{NOISE[:16].upper()}", "postgres://orders:k7Rw-q2Vz!m@db.internal/orders"),
)
BODIES = 400


def findings(root: Path) -> list[object]:
    case = Case(load(WorkingTree(root)), Settings(), date(2026, 11, 21))
    told = [
        (path, one.amendments, one.references) for path in case.catalog.entries if (one := case.extract(f"{path}.md"))
    ]
    return [run_checks(case, CODES), told]


def test_without_hints_the_same_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = random.Random(7)
    (tmp_path / "app" / "rules").mkdir(parents=True)
    for number in range(BODIES):
        body = "".join(chosen.choices(PIECES, k=chosen.randint(1, 12)))
        text = f"---\ntype: decision\nstatus: active\ncreated_at: 2026-01-05\n---\n\n{body}\n"
        (tmp_path / "app" / "rules" / f"n{number}.md").write_text(text, encoding="utf-8")
    load_engine()
    hinted = findings(tmp_path)
    always = SimpleNamespace(may_be_in=lambda _: True)
    for module, names in HINTS.items():
        for name in names:
            monkeypatch.setattr(module, name, always)
    monkeypatch.setattr(amendment_sentences, "_STEMS", dict.fromkeys(amendment_sentences._STEMS, always))
    assert hinted == findings(tmp_path)
    assert {one.code for one in hinted[0]} >= {"secret-like-text", "local-path", "template-leftover", "merge-marker"}


def test_without_the_engine_a_word_is_looked_for_and_all_else_may_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, hint._CORE, raising=False)
    assert [Hint("a").may_be_in("b"), Hint("a").may_be_in("ba"), Hint("a|c").may_be_in("b")] == [False, True, True]


def test_pydantic_can_be_imported_after_its_engine() -> None:
    asked = "from mdmem.hint import Hint, load_engine; one = Hint('a|b'); print(one.may_be_in('x'))"
    asked += "; load_engine(); print(one.may_be_in('xb'), one.may_be_in('x'))"
    later = "import sys; print('pydantic' in sys.modules); from mdmem.entry import front_matter"
    done = subprocess.run([sys.executable, "-c", f"{asked}\n{later}"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "False", "False"]


def test_a_text_with_half_a_pair_of_surrogates_may_hold_anything() -> None:
    load_engine()
    one = Hint("a|b")
    assert [one.may_be_in(text) for text in ("\ud800 a", "\ud800", "é", "é a")] == [True, True, False, True]

"""Nothing of a wing that is not the caller's is seen: the answers are the same whether its files are there or not."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from builders import make_root, open_root, write, write_entry
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mdmem.model.access import Access
from store.views import everything_seen, seen_by

APP = [f"app/{room}/{name}" for room in ("rules", "notes") for name in ("alpha", "beta", "gamma")]
COMMON = ["common/rules/alpha", "common/rules/delta"]
VAULT = ["vault/rules/alpha", "vault/rules/zanzibar", "vault/quagga/beta"]
GONE = ["vault/rules/nothing-there", "nowhere/rules/alpha", "app/rules/gone"]
FIELDS = ("supersedes", "superseded_by", "overrides", "conflicts_with", "see", "produced")
ONLY_VAULT = ("vault", "zanzibar", "quagga", "obsidian", "nothing-there", "nowhere")


def _written(address: str) -> list[str]:
    wing, room, name = address.split("/")
    short = [f"{room}/{name}", name] if wing in ("app", "common") else []
    return [address, address, f"{address}.md", f"../../{address}.md", *short]


def _links() -> st.SearchStrategy[str]:
    return st.sampled_from([one for address in (*APP, *COMMON, *VAULT, *VAULT, *GONE) for one in _written(address)])


def _references() -> st.SearchStrategy[str]:
    forms = ("[see: {0}]", "[[{0}]]", "[[{0}|the other]]", "[the other](../../{0}.md)", "![one](../../{0}.md)")
    addresses = st.sampled_from([*APP, *COMMON, *VAULT, *VAULT, *GONE])
    return st.builds(lambda form, address: form.format(address), st.sampled_from(forms), addresses)


@st.composite
def _entries(draw: st.DrawFn, word: str) -> tuple[str, dict[str, object]]:
    fields: dict[str, object] = {
        "type": draw(st.sampled_from(["invariant", "decision", "pattern", "note"])),
        "status": draw(st.sampled_from(["active", "active", "draft", "under_review", "deprecated"])),
        "created_at": draw(st.sampled_from(["2026-03-05", "2025-01-02", "2026-11-01"])),
    }
    for name in draw(st.lists(st.sampled_from(FIELDS), max_size=3, unique=True)):
        fields[name] = draw(st.lists(_links(), min_size=1, max_size=3))
    if draw(st.booleans()):
        fields["deprecated_at"] = "2026-06-01"
    if draw(st.booleans()):
        fields["reason"] = "it was measured"
    said = draw(st.lists(st.one_of(_references(), st.sampled_from(["It holds.", "A queue.", word])), max_size=4))
    return "\n\n".join(said) + "\n", fields


@st.composite
def _roots(draw: st.DrawFn) -> dict[str, str | tuple[str, dict[str, object]]]:
    files: dict[str, str | tuple[str, dict[str, object]]] = {}
    for address in (*APP, *COMMON, *VAULT):
        if draw(st.integers(0, 3)):
            files[address] = draw(_entries("obsidian" if address in VAULT else "granite"))
    if draw(st.booleans()):
        files["vault/rules/broken.md"] = "---\ntype: [\n---\n"
    shared = draw(st.sampled_from(["", "shared_wings: [vault]\n", "shared_wings: [common, vault]\n"]))
    files["app/README.md"] = f"---\nkind: project\n{shared}---\n\n# app\n"
    files["common/README.md"] = "---\nkind: shared\n---\n\n# common\n"
    kind = draw(st.sampled_from(["shared", "project"]))
    files["vault/README.md"] = f"---\nkind: {kind}\nproject_id: obsidian\n---\n\n# vault\n"
    files["mdmem.toml"] = draw(
        st.sampled_from(
            [
                "",
                'default_wing = "vault"\n',
                'default_wing = "app"\n[wings.vault.check]\nignore = ["body-empty"]\n',
                'default_wing = "obsidian"\n[wings.vault.check]\nseverity = {body-empty = "no"}\n',
            ]
        )
    )
    return files


def _make(folder: Path, files: dict[str, str | tuple[str, dict[str, object]]]) -> Path:
    root = make_root(folder)
    for path, content in files.items():
        if isinstance(content, str):
            write(root, path, content)
        else:
            write_entry(root, path, content[0], **content[1])
    return root


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(_roots(), st.sampled_from([("app",), ("app", "common")]))
def test_answers_are_the_same_whether_a_wing_is_there_or_not(
    files: dict[str, str | tuple[str, dict[str, object]]], wings: tuple[str, ...]
) -> None:
    words = ("granite obsidian", "vault", "valut", "zanzibar", "rules", "app", "vault/rules/alpha", "vault/")
    access = Access.to_wings(wings)
    with tempfile.TemporaryDirectory() as folder:
        root = _make(Path(folder) / "memory", files)
        with_it = everything_seen(seen_by(open_root(root), access), *words)
        unasked = everything_seen(seen_by(open_root(root), access), "granite")
        shutil.rmtree(root / "vault")
        shutil.rmtree(root / "common") if "common" not in wings else None
        assert everything_seen(seen_by(open_root(root), access), *words) == with_it
    assert [word for word in ONLY_VAULT if word in unasked] == []

"""Questions to all repositories: nobody sees a wing by what others say of it, or binds in a repository not his own."""

from pathlib import Path

import pytest
from builders import Ran, commit_all, make_repository, make_root, run_here, write_entry
from pushes import pushed

from mdmem.hub.connection import connected
from mdmem.hub.permissions import grant

Capture = pytest.CaptureFixture[str]
HIDDEN, SEEN = "vault/plans/zebra", "app/rules/growth"


@pytest.fixture(scope="module")
def two(module_dsn: str, tmp_path_factory: pytest.TempPathFactory, roles: None) -> str:
    """Return where a hub is with a repository of which a role sees one wing, and one that speaks of the other's."""
    folder = tmp_path_factory.mktemp("two")
    shop = make_root(make_repository(folder / "shop") / "memory")
    write_entry(shop, HIDDEN, "Growth by quagga.\n", type="decision", title="Zebra", supersedes=f"[{SEEN}]")
    body = f"Growth is reported, see [see: {HIDDEN}] and [see: app/rules/other].\n"
    write_entry(shop, SEEN, body, title="Growth", see=f"[{HIDDEN}]", conflicts_with=f"[{HIDDEN}]")
    write_entry(shop, "app/rules/other")
    forger = make_root(make_repository(folder / "forger") / "memory")
    linked = '["shop:app/rules/growth", app/rules/growth]'
    write_entry(
        forger,
        "bad/rules/evil",
        "Growth is never reported, see [see: shop:app/rules/growth] and [see: app/rules/growth].\n",
        title="Evil growth",
        created_at="2026-09-09",
        supersedes=linked,
        conflicts_with=linked,
    )
    for root in (shop, forger):
        commit_all(root)
        pushed(module_dsn, root)
    with connected(module_dsn) as owner:
        grant(owner, "guest", ["shop/app", "forger"])
    return module_dsn


@pytest.mark.parametrize("command", ["search", "retrieve", "list"])
def test_an_answer_over_all_tells_of_no_hidden_wing_and_takes_no_forged_link(
    two: str, command: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(role: str, form: str) -> Ran:
        monkeypatch.setenv("MDMEM_HUB_DSN", two.replace("user=postgres", f"user={role}"))
        words = () if command == "list" else ("growth",)
        return run_here(capsys, "hub", command, *words, "--format", form, cwd=tmp_path)

    for form in ("text", "json"):
        seen = asked("guest", form)
        assert (seen.code, "Evil growth" in seen.out, "Growth" in seen.out) == (0, True, True)
        for word in ("zebra", "quagga", "vault", "claim", "against"):
            assert word not in seen.out.lower(), seen.out
        assert "claimed by forger" not in asked("postgres", form).out

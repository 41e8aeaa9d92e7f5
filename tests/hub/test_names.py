"""What a repository is called in the hub, and where it is, however a clone reached it."""

from pathlib import Path

import pytest
from builders import git, make_repository, make_root

from mdmem.hub.repositories import own_names, place_name, remote_place, remote_url
from mdmem.store.workspace.location import located


@pytest.mark.parametrize(
    "url",
    [
        "https://git.example.org/acme/shop.git",
        "https://somebody:secret@Git.Example.org/acme/shop/",
        "ssh://git@git.example.org:2222/acme/shop.git",
        "git@git.example.org:acme/shop.git",
        "git.example.org:/acme/shop",
        "https://git.example.org/acme/shop.git?private_token=secret#more",
    ],
)
def test_a_place_is_the_same_by_every_way_to_it(url: str) -> None:
    assert place_name(url) == "git.example.org/acme/shop"


def test_a_repository_is_called_after_its_remote_else_its_folder(tmp_path: Path) -> None:
    root = make_root(make_repository(tmp_path / "shop") / "docs/memory")
    location = located(root, "a test")
    assert remote_url(location.get_repository()) is None
    assert own_names(location, None) == ("shop", "shop:docs/memory")
    for url, name in (("git@host:group/team/shop.git", "team/shop"), ("/srv/git/store.git", "store")):
        git(root, "config", "remote.origin.url", url)
        assert remote_url(location.get_repository()) == url
        assert own_names(location, url)[0] == name
    for url in ("/srv/git/store.git", "ext::sh -c secret", "file:///srv/git/store.git"):
        assert remote_place(url) is None

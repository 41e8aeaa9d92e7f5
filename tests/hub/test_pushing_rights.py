"""Pushes by whoever does not own the hub: all of their own repository, and nothing else."""

import shutil
from pathlib import Path

import psycopg
import pytest
from builders import commit_all, open_root, write_entry
from pushes import pushed, rows, state
from sync.pair import Two

from mdmem.change.fetch_wings import fetch_wings
from mdmem.errors import UsageError
from mdmem.hub.connection import connected
from mdmem.hub.grants import add_token, grant
from mdmem.hub.push import PushRequest, PushResult, push
from mdmem.render.hub import kept_remarks


def pushed_by(token: str, dsn: str, root: Path, **asked: object) -> PushResult:
    with connected(dsn.replace("user=postgres", "user=guest"), token=token) as connection:
        return push(open_root(root), connection, PushRequest(**asked))


def in_order(dsn: str) -> dict[str, list[str]]:
    """Return what a hub holds, whichever repository came first."""
    return {name: sorted(map(repr, held)) for name, held in state(dsn).items()}


@pytest.mark.usefixtures("roles")
def test_a_token_pushes_what_its_owner_would(dsn: str, two: Two) -> None:
    other = Two(two.lib, Path(shutil.copytree(two.app, two.app.with_name("other"))))
    with connected(dsn) as owner:
        tokens = [add_token(owner, name) for name in ("app", "other")]
        for name in ("app", "other"):
            grant(owner, name, [name], may_push=True)
        grant(owner, "other", ["app"])
    pushed_by(tokens[0], dsn, two.root)
    pushed_by(tokens[1], dsn, other.root, repository="other")
    assert rows(dsn, "SELECT count(*) FROM wing WHERE source IS NOT NULL") == [(1,)]
    two.share("ros2/rules/new")
    fetch_wings(two.opened(), commit=True)
    write_entry(two.root, "nav/rules/fresh", see="[ros2/rules/new]")
    commit_all(two.app)
    result = pushed_by(tokens[0], dsn, two.root)
    assert (result.added, result.pins) == (1, 1)
    after = in_order(dsn)
    # The same, made anew by the owner.
    with psycopg.connect(dsn) as raw:
        raw.execute("DELETE FROM mdmem_hub.repository")
    pushed(dsn, two.root)
    pushed(dsn, other.root, repository="other")
    assert in_order(dsn) == after


@pytest.mark.usefixtures("roles")
def test_who_may_not_push_is_told_the_same_whether_it_is_there_or_not(dsn: str, two: Two) -> None:
    pushed(dsn, two.root)
    before = state(dsn)
    with connected(dsn) as owner:
        reader, nobody = add_token(owner, "reader"), add_token(owner, "nobody")
        grant(owner, "reader", ["app"])
    said = []
    for token, name in ((reader, "app"), (nobody, "app"), (nobody, "absent")):
        with pytest.raises(UsageError) as raised:
            pushed_by(token, dsn, two.root, repository=name)
        said.append(str(raised.value).replace(name, "…"))
    assert len(set(said)) == 1
    assert "`mdmem hub grant NAME … --push`" in said[0]
    assert state(dsn) == before


@pytest.mark.usefixtures("roles")
def test_a_damaged_pinned_wing_is_written_anew_by_whom_it_is_for_alone(dsn: str, two: Two) -> None:
    with connected(dsn) as owner:
        token = add_token(owner, "app")
        grant(owner, "app", ["app"], may_push=True)
    pushed_by(token, dsn, two.root)
    before = in_order(dsn)
    damage = "UPDATE file SET title = 'x' FROM wing WHERE wing.id = wing_id AND source IS NOT NULL RETURNING 1"
    rows(dsn, damage)
    assert pushed_by(token, dsn, two.root, is_whole=True).kept == ()
    assert in_order(dsn) == before
    # And not where another repository reads it, whose it is as much.
    pushed(dsn, two.root, repository="other")
    rows(dsn, damage)
    result = pushed_by(token, dsn, two.root, is_whole=True)
    assert "only the hub's owner sends it again" in kept_remarks(result)[0]
    assert rows(dsn, "SELECT count(*) FROM file WHERE title = 'x'") == [(3,)]
    assert pushed(dsn, two.root, repository="other", is_whole=True).kept == ()
    assert rows(dsn, "SELECT count(*) FROM file WHERE title = 'x'") == [(0,)]

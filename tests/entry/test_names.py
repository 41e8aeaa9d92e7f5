"""What a body calls its subject: names in code that it comes back to."""

import pytest

from mdmem.markdown.names import own_names, places_of


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("`lockTime` ends. `lockTime` again, in code: lockTime. `once` once once.", ("lockTime",)),
        ("Set `.spec.lockTime`, `spec.lockTime` or lockTime().", ("lockTime",)),
        ("``lock.toml`` and ``lock.toml``: lock.toml", ("lock.toml",)),
        ("`hold()` `hold()` hold `None` `None` `None`", ("hold",)),
        ("`ab_c` `ab_c` `ab_c` `de-f` `de-f` `de-f` `de-f` `ghi` `ghi` `ghi` ", ("de-f", "ab_c")),
        ("`lock` `lock` unlocked locks lock-step", ()),
        ("## Alternatives\n\n`other` `other` `other`\n\n## Decision\n\n`this` `this` this other", ("this",)),
        ("<!-- `hidden` `hidden` `hidden` -->", ()),
        ("No code at all.", ()),
    ],
)
def test_own_names_are_those_that_a_body_comes_back_to(body: str, names: tuple[str, ...]) -> None:
    assert own_names(body) == names


def test_names_stand_as_words_of_their_own() -> None:
    assert list(places_of("ttl, attl, ttl-x `ttl`", ["ttl"])) == [(0, 3, "ttl"), (18, 21, "ttl")]

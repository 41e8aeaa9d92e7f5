"""The windows of a body: what stands together stays together, code, lists and tables included."""

from mdmem.markdown.headings import sections_of
from mdmem.markdown.windows import Windows
from mdmem.store.index.analysis import ask
from mdmem.store.index.finder import finder


def best(body: str, words: str, room: int = 1000) -> str:
    """Return the best windows of a body for some words."""
    windows = Windows(body, sections_of(body), finder(ask(words).terms), {}, has_asides=True)
    return windows.headed(room)


def test_code_that_a_sentence_announces_stands_below_it_blank_lines_and_all() -> None:
    code = "    import re\n\n    def lower(name):\n        return re.sub('-', '_', name)\n"
    body = f"A name is lowered in this way::\n\n{code}"
    assert best(body, "how a name is lowered") == (
        "A name is lowered in this way:\nimport re\n\ndef lower(name):\n    return re.sub('-', '_', name)"
    )


def test_of_long_code_the_lines_that_hold_words_stand_with_their_neighbours() -> None:
    lines = "\n".join(f"other_{number} = {number} * {number} + {number}" for number in range(60))
    said = best(f"The queue reads:\n\n```py\n{lines}\nqueue_size = 40\nlast = 1\n```\n", "queue size")
    assert "other_59 = 59 * 59 + 59\nqueue_size = 40\nlast = 1" in said
    assert "other_30" not in said


def test_a_longer_list_stands_with_the_first_sentence_of_each_item() -> None:
    items = "\n".join(f"- Mode {number} keeps orders. {'It is slow and long. ' * 8}" for number in range(6))
    said = best(f"Orders have these modes:\n\n{items}\n", "modes of orders")
    assert said.split("\n")[0] == "Orders have these modes:"
    assert [line[:8] for line in said.split("\n")[1:]] == [f"- Mode {number}" for number in range(6)]
    assert "slow" not in said


def test_item_that_holds_most_of_the_words_is_whole() -> None:
    tail = "It is slow and long. " * 8
    items = [f"- Mode {number} keeps orders. {tail}" for number in range(6)]
    items[4] = f"- Mode 4 keeps orders. {tail}Of parcels it keeps the weight."
    said = best("Orders have these modes:\n\n" + "\n".join(items), "mode of orders, weight of parcels")
    assert items[4] in said.split("\n")
    assert sum("slow" in line for line in said.split("\n")) == 1


def test_what_holds_the_words_together_comes_before_what_repeats_one() -> None:
    body = (
        f"## Belts\n\n{'The belt runs. The belt stops. ' * 4}\n\n## Loads\n\nOn a slope the belt takes half the load.\n"
    )
    assert best(body, "belt load on a slope", 100) == "Loads: On a slope the belt takes half the load."


def test_what_says_little_beside_the_best_is_left_out() -> None:
    body = "## Limits\n\nOn a slope the belt takes half the load.\n\n## Colours\n\nEach belt is grey.\n"
    assert best(body, "belt load on a slope") == "Limits: On a slope the belt takes half the load."


def test_what_a_rule_brings_with_it_weighs_less_than_the_rule() -> None:
    body = "## Test plan\n\nThe retry limit is tested, the retry limit of 2.\n\n## Limits\n\nThe retry limit is 5.\n"
    assert best(body, "retry limit", 80).startswith("Limits: The retry limit is 5.")


def test_comments_and_lists_of_links_are_no_answer() -> None:
    body = "<!-- the retry limit is 9 -->\n\n- [Retry limit](#retry)\n\nThe retry limit is 5.\n"
    assert best(body, "retry limit") == "The retry limit is 5."


def test_a_window_has_no_more_than_its_room() -> None:
    body = "The belt stops here. It runs on.\n\n" * 400
    assert len(best(body, "belt", 300)) <= 300


def test_windows_that_touch_are_one() -> None:
    items = "\n".join(f"- For orders of {number} the limit is {number}." for number in range(12))
    assert "…" not in best(items, "limit of orders", 420)

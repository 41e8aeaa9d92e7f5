"""Which of the lines under an entry an answer of its size keeps: claims always, citing entries that say a change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from mdmem.ask.pack import CITED, CLAIMING, Mention
from mdmem.ask.ranks import Retrieved
from mdmem.markdown.sections import is_changing
from mdmem.markdown.sentences import cut_at_word

# In bytes: of a sentence that cites an entry, in a short answer or under another than the best match.
_CITED = 170
# Of newer entries that only point.
_NAMED = 4


def claims_on(item: Retrieved) -> Iterator[Mention]:
    """Yield who claims the place of an item, and whose place it claims: no budget parts them."""
    for how, addresses in zip(CLAIMING, (item.claimed_by, item.claims), strict=True):
        yield from (Mention(how, address, item.titles[address]) for address in addresses)


def fewer(beneath: Sequence[Mention], *, most: int, is_best: bool, is_brief: bool) -> tuple[Mention, ...]:
    """Return the lines under an entry of which a part is given, with so many citing entries at most.

    What only points says little; what it replaced and what bears on it always stands. Under the best match those that
    point are named, or that none does, so that nobody has to look for one.
    """
    citing = [one for one in beneath if one.how == CITED]
    changing = [one for one in citing if is_changing(one.said)]
    told = [one if is_best and not is_brief else _in_short(one) for one in changing[:most]]
    rest = [Mention(_named_by([one for one in citing if one not in changing[:most]], changing), "")] if is_best else []
    return (*(one for one in beneath if one.how != CITED), *told, *(one for one in rest if one.how))


def _named_by(citing: Sequence[Mention], changing: Sequence[Mention]) -> str:
    """Return which newer entries point to one, by their ids, and that none of them says a change where that is so."""
    if not citing:
        return "" if changing else "named by no newer entry"
    names = [one.address.rpartition("/")[2] + (f" ({one.does})" if one.does else "") for one in citing]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    listed = f"{', '.join(names[:_NAMED])}{more}"
    return f"also named by {listed}" if changing else f"named by newer {listed}; none says that it changes this"


def _in_short(one: Mention) -> Mention:
    return replace(one, title="", said=cut_at_word(one.said, _CITED))

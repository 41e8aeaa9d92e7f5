"""Render results as JSON values, for the output of commands and of MCP tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mdmem.ask.answer import VIA_NAMED, Answer, Item, Mention, SearchResult
from mdmem.ask.search import ShownEntry
from mdmem.model.lineage import branch_state_json
from mdmem.record import record_json

if TYPE_CHECKING:
    from mdmem.change.history import WhyReport
    from mdmem.change.status import StatusReport


def search_json(result: SearchResult, best: Sequence[tuple[Item, str]], *, named: int | None = None) -> dict[str, Any]:
    """Return the best results, each with a snippet, as JSON values; `named` limits `via` of each result."""
    basis = result.basis
    hits = [
        {
            **record_json(hit, "entry.address", "entry.type", "status", "entry.title", "entry.wing", "entry.room"),
            "score": round(hit.score, 4),
            "snippet": snippet,
            "heads": list(hit.heads),
            "via": list(hit.via[:named]),
            **{name: list(addresses) for name, addresses in hit.relations.items()},
            **branch_state_json(hit.branch_state, is_current=hit.entry.address in hit.heads),
        }
        for hit, snippet in best
    ]
    return {
        "query": result.query,
        "total": len(result.hits),
        "hits": hits,
        **(basis.as_json("ended") if basis.ended else {}),
        **basis.as_json("unmatched_terms", "problems", "degraded", "source"),
    }


def answer_json(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON values."""
    basis = answer.basis
    return {
        "scope": record_json(answer.scope, "wing", "shared_wings", "rooms", "focus", "state"),
        "items": [_item(item) for item in answer.items],
        "proposed": [_item(item) for item in answer.proposed],
        **(basis.as_json("ended") if basis.ended else {}),
        **basis.as_json("conflicts", "omitted", "omitted_counts", "problems", "fallback"),
        **record_json(answer, "tokens", "budget", "over_budget"),
        **basis.as_json("coverage", "covered", "uncovered_terms", "unmatched_terms", "elsewhere", "unread"),
        **{name: found for name, found in basis.as_json("absent", "other_wings").items() if found},
        **record_json(answer, "searched"),
        **basis.as_json("degraded", "source"),
    }


def _item(item: Item) -> dict[str, Any]:
    return {
        **record_json(item, "entry.address", "entry.type", "status", "entry.title", scope="tier"),
        **record_json(item, "content", "form"),
        **({"given_before": "in part"} if item.is_continued else {}),
        "score": round(item.score, 4),
        **record_json(item, "reason", "overrides"),
        # A long chain would be larger than the entry, so only the first entries are listed; `reason` counts the rest.
        "via": list(item.via[:VIA_NAMED]),
        **{name: list(addresses) for name, addresses in item.relations.items()},
        **branch_state_json(item.branch_state, is_current=item.current),
        **({"beneath": mentions_json(item.mentions)} if item.mentions else {}),
    }


def mentions_json(mentions: Iterable[Mention]) -> list[dict[str, Any]]:
    """Return the related entries that an answer lists under an entry, as JSON values without empty fields."""
    names = ("how", "address", "title", "day")
    found = (record_json(one, *names, said="sentence", does="does").items() for one in mentions)
    return [{name: value for name, value in one if value} for one in found]


def entries_json(shown: tuple[ShownEntry, ...]) -> dict[str, Any]:
    """Return entries as their files state them, as JSON values."""
    return {
        "entries": [
            {
                **record_json(one, "entry.address", "entry.path", "front_matter", "body", "current", "heads"),
                **({"claimed_by": one.claimed_by} if one.claimed_by else {}),
                **({"amended_by": one.amended_by} if one.amended_by else {}),
                **branch_state_json(one.branch_state, is_current=one.current),
            }
            for one in shown
        ]
    }


def why_json(explained: WhyReport) -> dict[str, Any]:
    """Return the answer of `mdmem why` as JSON values; its chain begins with the oldest entry."""
    chain = [
        {
            **record_json(link.entry, "address", "type", "status", "title"),
            **record_json(link, "current", "entry.created_at", "entry.deprecated_at", "claims", supersedes="replaced"),
            **record_json(link.entry, "reason", "deprecated_reason", "approved_by"),
            "commits": [record_json(one, "author", "when", "subject", commit="digest") for one in link.commits],
        }
        for link in explained.chain
    ]
    return {
        **record_json(explained, "address", "heads", "contradictory"),
        "chain": chain,
        **record_json(explained, "drafts", "claimed_by", "amends", "amended_by"),
        **record_json(explained, "overrides", "overridden_by", "conflicts"),
        "other_successors": [
            record_json(one, "entry.address", "entry.title", "entry.reason", superseded="old", current="is_current")
            for one in explained.others
        ],
    }


def status_json(report: StatusReport) -> dict[str, Any]:
    """Return the state of a memory as JSON values."""
    shown, keys = report.shown, ("name", "kind", "types", "statuses", "broken")
    return {
        **record_json(report, "root", "why", "tree", "active_wing"),
        "wings": [record_json(wing, *keys, entries="total") for wing in report.wings],
        "borrowed": [record_json(one, "name", "git", "commit", "asked") for one in report.borrowed],
        "told": {**record_json(shown, "times", "ways", "last"), "never": report.never_shown if shown.times else []},
        "index": record_json(report.index, "exists", "usable", "documents", "stale", "gone", "bytes", "folder", "why"),
        **record_json(report, "merged", "findings"),
        "hygiene": record_json(report.hygiene, last_at="day", due="is_due"),
        **record_json(report, "remarks"),
    }

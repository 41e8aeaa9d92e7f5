"""The context pack: its facts, and the texts that say them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from mdmem.context.answer import pack_markdown, usage_hint
from mdmem.context.model import PackFacts, PackSection
from mdmem.finding import Finding
from mdmem.workspace.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPack(PackFacts):
    """What matters for a goal, in the shape of the contract with keys of ours beside; texts follow from the facts."""

    @property
    def usage_hint(self) -> str:
        """Return what the pack answers and how to use it, in a few sentences."""
        return usage_hint(self)

    @property
    def markdown(self) -> str:
        """Return the pack as Markdown, with the same facts."""
        return pack_markdown(self)

    def as_json(self) -> dict[str, Any]:
        """Return the pack as JSON values, what could not be read first."""
        return {
            "problems": [_problem(one) for one in self.problems],
            "goal": self.goal,
            "intent": self.intent,
            "query": self.query,
            "domain": self.domain,
            "project": self.project,
            "layer": self.layer,
            "sections": [_section(section) for section in self.sections],
            "total_items": self.total_items,
            "usage_hint": self.usage_hint,
            "proposed": [item.as_json() for item in self.proposed],
            "conflicts": [{"a": one.a, "b": one.b, "why": one.why} for one in self.conflicts],
            "omitted": [{"id": one.address, "type": one.type, "why": one.why} for one in self.omitted],
            "omitted_counts": [asdict(one) for one in self.left_out],
            "scope": _scope(self.scope),
            "covered": self.covered,
            "unmatched_terms": list(self.unmatched_terms),
            "fallback": [asdict(one) for one in self.fallback],
            "degraded": self.degraded,
            "source": self.source,
            "remarks": list(self.remarks),
            "markdown": self.markdown,
        }


def _problem(finding: Finding) -> dict[str, Any]:
    return {"path": finding.place.path, "code": finding.code, "message": finding.message}


def _section(section: PackSection) -> dict[str, Any]:
    return {"facet": section.facet, "title": section.title, "items": [item.as_json() for item in section.items]}


def _scope(scope: Scope) -> dict[str, Any]:
    return {"wing": scope.wing, "shared_wings": list(scope.shared_wings), "state": scope.state}

"""The synthesis plan in the shape of its contract, with what mdmem adds beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mdmem.synthesis.markdown import plan_markdown
from mdmem.synthesis.model import PlanFacts, is_doubtful


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisPlan(PlanFacts):
    """An outline with sources and gaps; no text is written for it, and the same question gives the same bytes."""

    @property
    def markdown(self) -> str:
        """Return the plan as Markdown, with the same facts."""
        return plan_markdown(self)

    def as_json(self) -> dict[str, Any]:
        """Return the plan as JSON values, what could not be read first."""
        asked = self.asked
        return {
            "problems": [{"path": one.place.path, "code": one.code, "message": one.message} for one in self.problems],
            "goal": asked.goal,
            "output_type": asked.output_type,
            "audience": asked.audience,
            "depth": asked.depth,
            "query": asked.query,
            "project": asked.project,
            "domain": asked.domain,
            "constraints": list(asked.constraints),
            "sections": [section.as_json() for section in self.sections],
            "gaps": [{"section": gap.section, "reason": gap.reason} for gap in self.all_gaps],
            "verification": self._verification(),
            "binding": list(self.binding),
            "proposed": list(self.drafts),
            "conflicts": [{"a": one.a, "b": one.b, "why": one.why} for one in self.conflicts],
            "left_out_sections": list(self.left_out_sections),
            "scope": {
                "wing": self.scope.wing,
                "shared_wings": _list(self.scope.shared_wings),
                "state": self.scope.state,
            },
            "degraded": self.degraded,
            "markdown": self.markdown,
        }

    def _verification(self) -> dict[str, Any]:
        sources = self.sources
        return {
            "status": self.verdict,
            "sections": len(self.sections),
            "grounded_sections": sum(not section.gaps for section in self.sections),
            "gaps": len(self.all_gaps),
            "sources": len(sources),
            "doubtful_sources": sum(map(is_doubtful, sources)),
            "conflicts": len(self.conflicts),
            "problems": len(self.problems),
        }


def _list(values: Sequence[str]) -> list[str]:
    return list(values)

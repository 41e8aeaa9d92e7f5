"""The synthesis plan in the shape of its contract and as Markdown, with what mdmem adds beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mdmem.entry.model import visible
from mdmem.synthesis.model import PlanFacts, PlannedSection, Source, is_doubtful


def plan_markdown(plan: PlanFacts) -> str:
    """Return the plan as Markdown, with the same facts."""
    asked = plan.asked
    audience = f", for {visible(asked.audience)}" if asked.audience else ""
    head = f"{asked.output_type.replace('_', ' ')}, {asked.depth}{audience}; {_verdict(plan)}"
    blocks = [f"# Plan: {visible(asked.goal)}", *_problems(plan), head, *_listed("Constraints", asked.constraints)]
    for section in plan.sections:
        blocks += _section(section)
    conflicts = [f"`{one.a}` against `{one.b}`: {one.why}" for one in plan.conflicts]
    blocks += [
        *_listed("Contradictions, for a person to resolve", conflicts),
        *_listed("Gaps of the whole", [gap.reason for gap in plan.gaps]),
        *_listed("Binding whatever is written", [f"`{one}`" for one in plan.binding]),
        *_listed("Proposed, no sources", [f"`{one}`" for one in plan.drafts]),
        *_listed("Sections left out", [visible(one) for one in plan.left_out_sections]),
    ]
    return "\n\n".join(blocks)


def _verdict(plan: PlanFacts) -> str:
    grounded = sum(not section.gaps for section in plan.sections)
    return f"{plan.verdict}: {grounded} of {len(plan.sections)} sections are grounded"


def _problems(plan: PlanFacts) -> Iterator[str]:
    lines = [f"{visible(one.place.path)}:{one.place.line}: {visible(one.message)}" for one in plan.problems]
    yield from _listed("These files cannot be read in full, and may bind", lines)


def _section(section: PlannedSection) -> Iterator[str]:
    yield f"## {visible(section.title)}\n\n{visible(section.prompt)}"
    yield from map(_source, section.sources)
    yield from _listed("Gaps", [gap.reason for gap in section.gaps])


def _source(source: Source) -> str:
    doubt = f", {source.status.replace('_', ' ')}" if is_doubtful(source) else ""
    head = f"- `{source.id}` ({source.type}, {source.freshness}{doubt}): {visible(source.name)}; {source.reason}"
    quoted = [f"  > {line}".rstrip() for line in source.preview.splitlines()]
    near = [f"  - {one.relationship} ({one.direction}): `{one.id}`" for one in source.neighborhood]
    return "\n".join([head, *quoted, *near])


def _listed(title: str, lines: list[str] | tuple[str, ...]) -> Iterator[str]:
    if lines:
        yield "\n".join([f"**{title}:**", *(f"- {one}" for one in lines)])


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

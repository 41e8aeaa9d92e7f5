"""Render a synthesis plan: as JSON in the shape of its contract, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mdmem.ask.context.answer import scope_json
from mdmem.ask.synthesis.plan import PlannedSection, SynthesisPlan
from mdmem.ask.synthesis.sources import Source, is_doubtful
from mdmem.model.text import visible


def plan_answer(plan: SynthesisPlan) -> dict[str, Any]:
    """Return the plan as JSON values, with unreadable files first."""
    request, basis = plan.request, plan.basis
    return {
        **basis.as_json("problems"),
        "goal": request.goal,
        "output_type": request.output_type,
        "audience": request.audience,
        "depth": request.depth,
        "query": request.query,
        "project": request.project,
        "domain": request.domain,
        "constraints": list(request.constraints),
        "sections": [section.as_json() for section in plan.sections],
        "gaps": [{"section": gap.section, "reason": gap.reason} for gap in plan.all_gaps],
        "verification": {
            "status": plan.verdict,
            "sections": len(plan.sections),
            "grounded_sections": sum(not section.gaps for section in plan.sections),
            "gaps": len(plan.all_gaps),
            "sources": len(plan.sources),
            "doubtful_sources": sum(map(is_doubtful, plan.sources)),
            "conflicts": len(basis.conflicts),
            "problems": len(basis.problems),
        },
        "binding": list(plan.binding),
        "proposed": list(plan.drafts),
        **basis.as_json("conflicts"),
        "left_out_sections": list(plan.left_out_sections),
        "scope": scope_json(plan.scope),
        **basis.as_json("degraded"),
        "markdown": plan_markdown(plan),
    }


def plan_markdown(plan: SynthesisPlan) -> str:
    """Return the plan as Markdown, with the same facts."""
    request = plan.request
    audience = f", for {visible(request.audience)}" if request.audience else ""
    head = f"{request.output_type.replace('_', ' ')}, {request.depth}{audience}; {_verdict(plan)}"
    blocks = [f"# Plan: {visible(request.goal)}", *_problems(plan), head, *_listed("Constraints", request.constraints)]
    for section in plan.sections:
        blocks += _section(section)
    conflicts = [f"`{one.a}` against `{one.b}`: {one.why}" for one in plan.basis.conflicts]
    blocks += [
        *_listed("Contradictions, for a person to resolve", conflicts),
        *_listed("Gaps of the whole", [gap.reason for gap in plan.gaps]),
        *_listed("Invariants that always apply", [f"`{one}`" for one in plan.binding]),
        *_listed("Drafts, not used as sources", [f"`{one}`" for one in plan.drafts]),
        *_listed("Omitted sections", [visible(one) for one in plan.left_out_sections]),
    ]
    return "\n\n".join(blocks)


def _verdict(plan: SynthesisPlan) -> str:
    grounded = sum(not section.gaps for section in plan.sections)
    return f"{plan.verdict}: {grounded} of {len(plan.sections)} sections are grounded"


def _problems(plan: SynthesisPlan) -> Iterator[str]:
    lines = [f"{visible(one.place.path)}:{one.place.line}: {visible(one.message)}" for one in plan.basis.problems]
    yield from _listed("These files cannot be read in full, and may contain rules", lines)


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

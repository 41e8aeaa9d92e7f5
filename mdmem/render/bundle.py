"""The answers of the contracts' reading verbs as Markdown, with the facts that their JSON has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from mdmem.entry.model import visible
from mdmem.render.words import count, entries, unheld
from mdmem.standing import marked

if TYPE_CHECKING:
    from mdmem.retrieval.bundle import BundleItem, ContextBundle
    from mdmem.retrieval.question import AnswerBasis, Contradiction, OmittedCount
    from mdmem.retrieval.surface import Surface, SurfaceMatch
    from mdmem.workspace.scope import ScopeAnswer


def bundle_markdown(bundle: ContextBundle) -> str:
    """Return a bundle: what cannot be read first, then the items in quotes, so that they stay material."""
    blocks = [*_problems(bundle.basis), *_head(bundle), *map(_section, bundle.items)]
    if bundle.proposed:
        blocks += ["## Proposed (not binding)", *map(_section, bundle.proposed)]
    blocks += [
        *_conflicts("Declared contradictions, for a person to resolve:", bundle.basis.conflicts),
        *_conflicts("Suspected contradictions, which nobody declared:", bundle.suspected),
        *_omitted(bundle),
        *_passages(bundle),
    ]
    return "\n\n".join(blocks)


def scope_markdown(answer: ScopeAnswer) -> str:
    """Return how certain a scope is, one fact a line."""
    lines = [f"scope_state: {answer.state.value}", f"project_exists: {_said(answer.project_exists)}"]
    if answer.focus_exists is not None:
        lines.append(f"focus_exists: {_said(answer.focus_exists)}")
    lines.append(f"write_permitted: {_said(answer.project_exists)}")
    lines += [f"wing: {answer.wing}"] if answer.wing else []
    lines += [f"message: {visible(answer.message)}"] if answer.message else []
    lines += [f"nearest: {', '.join(map(visible, answer.nearest))}"] if answer.nearest else []
    return "\n".join(lines)


def surface_markdown(surface: Surface) -> str:
    """Return a quick look-up: the matches with their passages in quotes, then what to do next."""
    head = f"{entries(surface.total)} hold `{visible(surface.query)}`; {len(surface.matches)} shown."
    blocks = [*_problems(surface.basis), head, *map(_match, surface.matches)]
    if surface.proposed:
        blocks += ["## Proposed (not binding)", *map(_match, surface.proposed)]
    if surface.basis.unmatched_terms:
        blocks.append(f"No entry searched holds {_listed(surface.basis.unmatched_terms)}.")
    blocks.append(_source(surface.basis))
    return "\n\n".join([*blocks, f"Next: {visible(surface.next_step)}"])


def _said(flag: bool) -> str:  # noqa: FBT001  # it is the value that is rendered
    return "true" if flag else "false"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(visible, names))


def _problems(basis: AnswerBasis) -> Iterator[str]:
    if basis.problems:
        lines = [
            f"- {visible(one.place.path)}:{one.place.line}: {visible(one.message)} ({one.code})"
            for one in basis.problems
        ]
        yield "\n".join([f"{count(len(lines), 'file')} cannot be read in full, and may bind:", "", *lines])


def _head(bundle: ContextBundle) -> Iterator[str]:
    shared = f", then {', '.join(bundle.shared_wings)}" if bundle.shared_wings else ""
    where = f" in {bundle.wing}{shared}" if bundle.wing else ""
    focus = f", focus `{visible(bundle.focus)}`" if bundle.focus else ""
    yield (
        f"{bundle.status.value}: {entries(len(bundle.items))}{where}{focus}; scope {bundle.scope_state.value}; "
        f"coverage {bundle.basis.coverage}; hygiene due {_said(bundle.hygiene_due)}"
    )
    if bundle.message:
        yield visible(bundle.message)
    if bundle.basis.unmatched_terms:
        wings = (bundle.wing, *bundle.shared_wings) if bundle.wing else bundle.shared_wings
        yield unheld([visible(word) for word in bundle.basis.unmatched_terms], wings)
    if bundle.invariants_left_out:
        yield "\n".join(["Invariants left out:", "", *map(_counted, bundle.invariants_left_out)])
    yield _source(bundle.basis)


def _source(basis: AnswerBasis) -> str:
    return f"source: {basis.source}" + (f"; degraded: {visible(basis.why_degraded or '')}" if basis.degraded else "")


def _section(item: BundleItem) -> str:
    facts = item.as_json()
    stated = [facts["scope"], facts["status"], item.created_at or "undated"]
    marks = ", ".join([*stated, *map(visible, marked(item.stance)), *_links(item)])
    head = f"### {item.label.value}: {visible(item.title)}"
    # The reason holds the uncertainty, too.
    standing = f"`{item.id}` ({marks}); {visible(item.reason)}"
    rationale = f"Rationale: {item.rationale}" if item.content and item.rationale else item.rationale
    said = [_quoted(text) for text in (item.content, rationale) if text]
    return "\n\n".join([head, standing, *(["\n>\n".join(said)] if said else [])])


def _links(item: BundleItem) -> Iterator[str]:
    named = [("overrides", item.overrides), ("overridden by", item.overridden_by), ("via", item.via)]
    named += [(name.replace("_", " "), addresses) for name, addresses in item.bearings.items()]
    return (f"{word} {', '.join(addresses)}" for word, addresses in named if addresses)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _conflicts(head: str, conflicts: tuple[Contradiction, ...]) -> Iterator[str]:
    if conflicts:
        yield "\n".join([head, "", *(f"- {one.a} against {one.b}: {one.why}" for one in conflicts)])


def _omitted(bundle: ContextBundle) -> Iterator[str]:
    if bundle.basis.omitted:
        named = [f"- {one.address} ({one.type}): {one.why}" for one in bundle.basis.omitted]
        yield "\n".join(["Left out:", "", *named, *map(_counted, bundle.basis.omitted_counts)])


def _counted(one: OmittedCount) -> str:
    return f"- {one.count} more of type {one.type}: {one.why}"


def _passages(bundle: ContextBundle) -> Iterator[str]:
    if bundle.basis.fallback:
        lines = [f"> {visible(one.path)}:{one.line}: {visible(one.text)}" for one in bundle.basis.fallback]
        yield "\n".join(["Outside the memory, not binding:", "", *lines])


def _match(match: SurfaceMatch) -> str:
    via = f", via {', '.join(match.via)}" if match.via else ""
    of = f", project {visible(match.project_id)}" if match.project_id else ""
    marks = f"{match.scope}{of}, {match.status.value}, {match.freshness}, score {round(match.score, 4)}{via}"
    head = f"### {match.label.value}: {visible(match.name)}\n\n`{match.id}` ({marks})"
    return f"{head}\n\n{_quoted(match.content)}" if match.content else head

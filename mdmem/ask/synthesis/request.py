"""Read the request for a synthesis plan from plain values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from mdmem.arguments import choose, line, optional_line, whole_number, yes_or_no
from mdmem.errors import UsageError
from mdmem.model.text import visible

SECTIONS, MOST_SECTIONS = 6, 20
_MOST_WORDS = 48


class OutputType(StrEnum):
    """The kind of text to write."""

    DOCUMENTATION = "documentation"
    REPORT = "report"
    BRIEFING = "briefing"
    ROADMAP = "roadmap"
    RELEASE_NOTES = "release_notes"
    AUDIT_PACKET = "audit_packet"
    CUSTOM = "custom"


class Depth(StrEnum):
    """How detailed the text is."""

    BRIEF = "brief"
    STANDARD = "standard"
    DEEP = "deep"


class SectionRequest(Struct, frozen=True):
    """A required section, and its subject, if it was given."""

    title: str
    prompt: str = ""


class SynthesisRequest(Struct, frozen=True, kw_only=True):
    """The arguments of one call; `entity_ids` and `decision_ids` name entries that must be sources, as typed."""

    goal: str
    output_type: OutputType = OutputType.DOCUMENTATION
    audience: str | None = None
    depth: Depth = Depth.STANDARD
    seed_query: str | None = None
    project: str | None = None
    domain: str | None = None
    entity_ids: tuple[str, ...] = ()
    decision_ids: tuple[str, ...] = ()
    required_sections: tuple[SectionRequest, ...] = ()
    constraints: tuple[str, ...] = ()
    max_sections: int = SECTIONS
    include_neighborhoods: bool = True

    @property
    def size(self) -> int:
        """Return the most sections of the plan."""
        return min(max(self.max_sections, 1), MOST_SECTIONS)

    @property
    def query(self) -> str:
        """Return the words to search for: the seed or else the goal, and the domain."""
        words = " ".join(one for one in (self.seed_query or self.goal, self.domain) if one).split()
        return " ".join(list(dict.fromkeys(words))[:_MOST_WORDS])

    @property
    def forced(self) -> tuple[str, ...]:
        """Return the names of the entries that must be sources, each once."""
        return tuple(dict.fromkeys((*self.decision_ids, *self.entity_ids)))


def read_request(given: Mapping[str, object]) -> SynthesisRequest:
    """Return the request of some plain values, where None is the default; a section may be written `Title::prompt`.

    Raises UsageError with the value that does not fit, and the nearest that does.
    """
    stated = {name: value for name, value in given.items() if value is not None}
    unknown = [name for name in stated if name not in _KNOWN]
    if unknown:
        raise UsageError(f"`synthesis_plan` has no argument `{visible(unknown[0])}`; it has {', '.join(_KNOWN)}")
    return SynthesisRequest(
        goal=line("goal", stated.get("goal")),
        output_type=choose("output_type", stated.get("output_type", OutputType.DOCUMENTATION), OutputType),
        audience=optional_line("audience", stated.get("audience")),
        depth=choose("depth", stated.get("depth", Depth.STANDARD), Depth),
        seed_query=optional_line("seed_query", stated.get("seed_query")),
        project=optional_line("project", stated.get("project")),
        domain=optional_line("domain", stated.get("domain")),
        entity_ids=_lines("entity_ids", stated.get("entity_ids")),
        decision_ids=_lines("decision_ids", stated.get("decision_ids")),
        required_sections=tuple(map(_wanted, _lines("required_sections", stated.get("required_sections")))),
        constraints=_lines("constraints", stated.get("constraints")),
        max_sections=whole_number("max_sections", stated.get("max_sections", SECTIONS)),
        include_neighborhoods=yes_or_no("include_neighborhoods", stated.get("include_neighborhoods", True)),
    )


_KNOWN = (
    *("goal", "output_type", "audience", "depth", "seed_query", "project", "domain", "entity_ids", "decision_ids"),
    *("required_sections", "constraints", "max_sections", "include_neighborhoods"),
)


def _lines(name: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)):
        raise UsageError(f"`{name}` must be a list of texts, found `{visible(str(value))[:40]}`")
    read = (optional_line(f"{name}[{number}]", item) for number, item in enumerate(items))
    return tuple(dict.fromkeys(one for one in read if one))


def _wanted(text: str) -> SectionRequest:
    title, _, prompt = text.partition("::")
    return SectionRequest(title.strip() or prompt.strip(), prompt.strip() if title.strip() else "")

"""What a wing that a question was not put to holds of it: nobody named a wing, and the active one has less to say."""

from __future__ import annotations

from mdmem.ask.full_text import find_text
from mdmem.ask.grounds import MATCHING_SHARE
from mdmem.ask.question import Coverage, Question, UnreadMatch
from mdmem.ask.ranks import Retrieval
from mdmem.store.workspace.workspace import Workspace


def best_unread(workspace: Workspace, question: Question, found: Retrieval) -> tuple[UnreadMatch, ...]:
    """Return what is in force in a wing that is not read and matches better than all that is read, if anything does.

    Whoever names a wing or a file, or narrows the question, has said where to look.
    """
    if not question.is_plain or found.basis.coverage is Coverage.FULL:
        return ()
    catalog = workspace.catalog
    lineage, entries = catalog.lineage, catalog.entries
    rooms = catalog.rooms.items()
    others = [address for room, held in rooms if room.split("/", 1)[0] not in found.scope.wings for address in held]
    # Where nothing is read, this is the first to see that words are no query.
    answer = find_text(workspace, question, others) if others else None
    if answer is None:
        return ()
    best = max((group.scores[0] for group in found.ranks.groups), default=0.0)
    for match in answer.matches:
        if match.score <= best:
            break
        if len(match.terms) < MATCHING_SHARE * len(answer.terms):
            continue
        for head in (match.key,) if lineage.is_current(match.key) else lineage.heads(match.key):
            if entries[head].wing not in found.scope.wings:
                return (UnreadMatch(entries[head].wing, head, entries[head].title),)
    return ()

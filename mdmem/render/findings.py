"""Render the findings of `mdmem check` for people, for programs and for CI, and explain checks.

Each format is a function of its name. It renders the reports of all roots as one text without a newline at its end.
SARIF is version 2.1.0 (OASIS), and `rdjson` is the format of reviewdog.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Literal
from urllib.parse import quote
from xml.etree import ElementTree

from msgspec import Struct
from msgspec.structs import replace

from mdmem import __version__
from mdmem.checks.check import Check, get_check
from mdmem.checks.engine import CheckReport
from mdmem.model.finding import Finding, Fix, Place, Severity, totals
from mdmem.model.text import first_of, text_hash, visible, visible_text, without_values
from mdmem.record import grouped, record_json
from mdmem.render.text import Style, code, count, dump, entries, fit_lines, for_xml, json_text, prose, valid_unicode

# If there are more findings, they become a table, with the first errors in full.
_READABLE = 50
# Of this many findings of a check with the same message, only the first is shown in full.
_ALIKE = 3
_MAX_SHOWN = 20
# The number of wings listed after a check.
_WINGS = 4
_WAYS = "`--select CODE` shows those of one check, `--verbose` all; `mdmem check --update-baseline` accepts them"
# The names of the severities in SARIF, GitHub and GitLab. GitLab's own linters report an error as `major`.
_SARIF = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_GITLAB = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}
_UNREAD = "The file could not be read, so the run is incomplete."
# The most characters of the page. A comment on GitHub has at most 65,536 characters.
_PAGE = 65_000
_CUT = "\n{} more left out; `mdmem check` shows all."


class CheckedRoot(Struct, frozen=True):
    """One root that was checked, with its report.

    `under` is its folder relative to the repository's top, or "" for the top itself. `line_of` returns the source line
    of a place, or None. `show_path` converts a path in the root to one from the working directory, for people.
    `program` is `mdmem` with the option that means this root, if it is needed.
    """

    report: CheckReport
    under: str
    line_of: Callable[[Place], str | None]
    show_path: Callable[[str], str]
    program: str = "mdmem"

    def from_top(self, path: str) -> str:
        """Return a path of the root relative to the repository's top."""
        return f"{self.under}/{path}" if self.under else path


class RootFinding(Struct, frozen=True):
    """One finding, with the checked root in which it was found."""

    checked: CheckedRoot
    finding: Finding

    @property
    def path(self) -> str:
        """Return the finding's path, relative to the repository's top."""
        return self.checked.from_top(self.finding.place.path)

    @property
    def texts(self) -> list[str]:
        """Return the message and the help, if there is one, as valid UTF-8 with control characters escaped."""
        return [visible_text(valid_unicode(one)) for one in (self.finding.message, self.finding.help) if one]


def findings_of(
    roots: Iterable[CheckedRoot], which: Literal["findings", "reported", "fixed"] = "reported"
) -> tuple[RootFinding, ...]:
    """Return findings of all roots, the worst first, then new before old.

    `reported` are the findings to list one by one, without old findings that are only counted.
    """
    found = [RootFinding(one, finding) for one in roots for finding in getattr(one.report, which)]
    found.sort(key=lambda one: (one.finding.level.rank, not one.finding.new, one.path, one.finding.sort_key))
    return tuple(found)


def fingerprints(found: Sequence[RootFinding]) -> tuple[str, ...]:
    """Return a unique hash for each finding, which does not change if the finding moves to another line."""
    seen, hashes = Counter[str](), []
    for one in found:
        finding = one.finding
        identity = "\0".join((one.checked.under, finding.code, finding.address or one.path, finding.message))
        seen[identity] += 1
        hashes.append(text_hash(f"{identity}\0{seen[identity]}"))
    return tuple(hashes)


def fix_line(fix: Fix) -> str:
    """Return a line with the title of a fix and the option that applies it."""
    return f"fix: {fix.title} ({'--fix' if fix.is_safe else '--unsafe-fixes'})"


def advice(finding: Finding) -> list[str]:
    """Return the message of a finding, then its help and its fix, if there are any."""
    return [*filter(None, (finding.message, finding.help)), *([fix_line(finding.fix)] if finding.fix else [])]


def summary(roots: Sequence[CheckedRoot]) -> str:
    """Return each root's line of totals, and a line about old findings (from before the change), if there are any."""
    lines = []
    for one in roots:
        name = f"{one.under or '.'}: " if len(roots) != 1 else ""
        lines += [f"{name}{line}" for line in (summary_line(one.report), old_line(one.report)) if line]
    return "\n".join(lines)


def summary_line(report: CheckReport) -> str:
    """Return a line with the number of checked entries, and of findings by level: new, fixed, with a fix, known."""
    tree = f"the {report.tree}" if report.tree.startswith(("working tree", "git index", "merge of ")) else report.tree
    tree += f" against {report.base}" if report.base is not None else ""
    parts = [levels(report.reported) if report.reported or not report.hidden else "no errors or warnings"]
    if report.hidden:
        parts.append(f"{levels(report.hidden)} (--verbose shows {'it' if len(report.hidden) == 1 else 'them'})")
    if report.base is not None and report.reported:
        parts.append(f"{sum(totals(one for one in report.reported if one.new).values())} new")
    if report.fixed:
        later = f" ({report.later} of them found only after other fixes)" if report.later else ""
        parts.append(f"{'would fix' if report.is_dry else 'fixed'} {len(report.fixed)}{later}")
    offered = (one.fix for one in (*report.reported, *report.hidden) if one.fix is not None)
    fixes = Counter("--fix" if fix.is_safe else "--unsafe-fixes" for fix in offered)
    parts += [f"{number} with a fix ({option})" for option, number in sorted(fixes.items())]
    parts += ["add --diff to preview"] if fixes and not report.is_dry else []
    if report.known:
        parts.append(f"{sum(totals(report.known).values())} in the baseline (--no-baseline shows them)")
    return f"{entries(report.checked)} checked in {tree}: {'; '.join(parts)}"


def fixed_lines(report: CheckReport, show_path: Callable[[str], str]) -> list[str]:
    """Return a line for each of the first 20 fixed files with its findings, and a line that counts the other files.

    A line ends with the other files that its fixes changed.
    """
    lines = []
    for path, group in groupby(report.fixed, key=lambda one: one.place.path):
        some = [*group]
        edited = dict.fromkeys(edit.path for one in some if one.fix for edit in one.fix.edits if edit.path != path)
        changed = f" (changed {first_of([*map(show_path, edited)], 3)})" if edited else ""
        lines.append(f"fixed {show_path(path)}: {first_of([one.message for one in some], 3, '; ')}{changed}")
    return [*lines[:_MAX_SHOWN], *([f"fixed {len(lines) - _MAX_SHOWN} more files"] if len(lines) > _MAX_SHOWN else [])]


def old_line(report: CheckReport) -> str:
    """Return a line that counts old findings and says how to show or accept them; empty if there are none."""
    if not report.left_out:
        return ""
    verb, them = ("was", "it") if len(report.left_out) == 1 else ("were", "them")
    ways = f"`mdmem check` shows {them}, `mdmem check --update-baseline` accepts {them}"
    return f"{levels(report.left_out)} {verb} there before; {ways}"


def levels(findings: Iterable[Finding]) -> str:
    """Return the number of findings of each level, the worst first, as text."""
    sums = totals(findings)
    return ", ".join(count(number, level) for level, number in sums.items() if number) or "no findings"


def text(roots: Sequence[CheckedRoot], style: Style) -> str:
    """Return each finding, then the totals; more than 50 become a table by check and wing, with the first errors.

    Of three and more findings of a check with the same message, only the first is shown in full; messages of warnings
    may differ in what they quote.
    """
    found, sums = findings_of(roots), style.typed(summary(roots))
    if style.is_whole or len(found) <= _READABLE:
        return "\n\n".join([*_blocks(found, style), sums])
    checks: dict[tuple[Severity, str], Counter[str]] = {}
    for one in found:
        wing = visible(one.checked.from_top(one.finding.place.path.partition("/")[0]))
        checks.setdefault((one.finding.level, one.finding.code), Counter())[wing] += one.finding.count
    width = max(len(name) for _, name in checks)
    table = []
    # The worst checks come first, then those with the most findings.
    for (level, name), counted in sorted(checks.items(), key=lambda row: (row[0][0].rank, -row[1].total(), row[0][1])):
        wings = first_of([f"{wing} {number}" for wing, number in counted.most_common()], _WINGS)
        table.append(f"{style.severity(level, f'{level:<7}')}  {name:<{width}}  {counted.total():>5}  {wings}")
    errors = [one for one in found if one.finding.level is Severity.ERROR]
    blocks = [*_blocks(errors, style)]
    part = f"of {len(errors)} errors {_MAX_SHOWN} are shown; " if len(blocks) > _MAX_SHOWN else ""
    return "\n\n".join(["\n".join(table), *blocks[:_MAX_SHOWN], f"{sums}\n{part}{style.typed(_WAYS)}"])


def _blocks(found: Sequence[RootFinding], style: Style) -> Iterator[str]:
    def key(one: RootFinding) -> tuple[object, ...]:
        finding, message = one.finding, one.finding.message
        # Warnings may differ in the values that they quote, unless the help is about these values, too.
        if finding.level is not Severity.ERROR and "`" not in finding.help:
            message = without_values(message)
        return finding.level, finding.code, finding.new, message

    alike = grouped((key(one), one) for one in found)
    for one in found:
        first, *rest = alike[key(one)]
        if style.is_whole or len(rest) + 1 < _ALIKE:
            yield _block(one, style)
        elif one is first:
            places = first_of([_where(other.finding.place, other.checked.show_path) for other in rest], 2)
            same = "the same" if all(other.finding.message == one.finding.message for other in rest) else "like this"
            more = f"{same} in {len(rest)} more places: {places} (--select {one.finding.code} shows them)"
            yield f"{_block(one, style)}\n  {more}"


def _block(found: RootFinding, style: Style) -> str:
    finding, checked = found.finding, found.checked
    head = style.severity(finding.level, f"{finding.level}[{finding.code}]")
    new = " (new)" if finding.new else ""
    lines = [f"{head} {style.bold(_where(finding.place, checked.show_path))}{new}", f"  {finding.message}"]
    if finding.quotable:
        lines += _source(finding.place, checked, style)
    if finding.other is not None:
        lines.append(f"  other end: {_where(finding.other, checked.show_path)}")
        lines += _source(finding.other, checked, style)
    if finding.help:
        lines.append(f"  help: {replace(style, program=checked.program).typed(finding.help)}")
    if finding.fix is not None:
        lines.append(f"  {fix_line(finding.fix)}")
    return "\n".join(lines)


def _where(place: Place, show_path: Callable[[str], str]) -> str:
    return f"{visible(show_path(place.path))}:{place.line}:{place.column}"


def _source(place: Place, checked: CheckedRoot, style: Style) -> list[str]:
    line = checked.line_of(place)
    # The place of a finding about a whole file is its first line, which is only the fence `---`.
    if not line or line.strip() in ("", "---"):
        return []
    line = line.rstrip("\r\n").replace("\t", " ")
    number = str(place.line)
    start = max(0, place.column - 60)
    cut = "…" if start else ""
    shown = cut + line[start : start + 110]
    caret = " " * (len(cut) + place.column - 1 - start) + "^" * max(1, min(place.width, len(shown)))
    # Each unprintable character is replaced by a single one, so that the caret stays in place.
    shown = "".join(one if one.isprintable() else "\ufffd" for one in shown)
    margins = style.dim(f"{number} |"), style.dim(f"{' ' * len(number)} |")
    return [f"  {margins[0]} {shown}", f"  {margins[1]} {caret}"]


def concise(roots: Sequence[CheckedRoot], _: Style) -> str:
    """Return one line for each finding: `path:line:col: severity code message`; `[*]` marks a safe fix."""
    return "\n".join(concise_line(found, found.checked.show_path) for found in findings_of(roots))


def concise_line(found: RootFinding, show_path: Callable[[str], str]) -> str:
    """Return one finding as one line, with the path that `show_path` returns."""
    finding = found.finding
    mark = " [*]" if finding.fix is not None and finding.fix.is_safe else ""
    return f"{_where(finding.place, show_path)}: {finding.level} {finding.code}{mark} {finding.message}"


def json(roots: Sequence[CheckedRoot], _: Style) -> str:
    """Return the findings of all roots as one JSON document."""
    return dump(findings_json(roots))


def findings_json(roots: Sequence[CheckedRoot]) -> dict[str, Any]:
    """Return the findings as JSON values; paths are relative to their root, which is named if there are several."""
    several = len(roots) != 1
    # All roots of a run are checked in the same kind of tree, for example the working tree.
    first = roots[0].report if roots else CheckReport("working tree", 0, ())
    return {
        **({"roots": [_summary(one) for one in roots]} if several else {"root": roots[0].under or "."}),
        **record_json(first, "tree", "base"),
        "checked": sum(one.report.checked for one in roots),
        "totals": totals(one.finding for one in findings_of(roots)),
        **_old(roots),
        "findings": [_finding(one, with_root=several) for one in findings_of(roots)],
        "incomplete": [one.from_top(path) if several else path for one in roots for path in one.report.incomplete],
        "fixed": [_finding(one, with_root=several) for one in findings_of(roots, "fixed")],
    }


def jsonl(roots: Sequence[CheckedRoot], _: Style) -> str:
    """Return one JSON line for each finding, each fixed finding, and the totals of each root, told apart by `kind`."""
    records = [{"kind": "finding", **_finding(one, with_root=True)} for one in findings_of(roots)]
    records += [{"kind": "fixed", **_finding(one, with_root=True)} for one in findings_of(roots, "fixed")]
    records += [{"kind": "summary", **_summary(one)} for one in roots]
    return "\n".join(dump(record, indent=None) for record in records)


def _summary(checked: CheckedRoot) -> dict[str, Any]:
    report = checked.report
    return {
        "root": checked.under or ".",
        **record_json(report, "tree", "base", "checked"),
        "findings": sum(totals(report.reported).values()),
        "totals": totals(report.reported),
        **_old([checked]),
        "fixed": len(report.fixed),
        "incomplete": list(report.incomplete),
    }


def _old(roots: Sequence[CheckedRoot]) -> dict[str, int]:
    counts = {
        "old": sum(sum(totals(one.report.left_out).values()) for one in roots),
        "known": sum(sum(totals(one.report.known).values()) for one in roots),
    }
    return {name: number for name, number in counts.items() if number}


def _finding(found: RootFinding, *, with_root: bool) -> dict[str, Any]:
    finding, other, fix = found.finding, found.finding.other, None
    if finding.fix is not None:
        # Bytes that are not UTF-8 become lone surrogates, as in file names.
        edits = [
            {**record_json(edit, "path", "start", "end"), "content": edit.content.decode("utf-8", "surrogateescape")}
            for edit in finding.fix.edits
        ]
        renames = [{"from": old, "to": new} for old, new in finding.fix.renames]
        fix = {"title": finding.fix.title, "safe": finding.fix.is_safe, "edits": edits, "renames": renames}
    return {
        **({"root": found.checked.under or "."} if with_root else {}),
        **record_json(finding, "code", severity="level"),
        **record_json(finding.place, "path", "line", "column"),
        **record_json(finding, "address", "message", "help"),
        "other": record_json(other, "path", "line") if other is not None else None,
        **({"count": finding.count} if finding.count > 1 else {}),
        "new": finding.new,
        "fix": fix,
    }


def sarif(roots: Sequence[CheckedRoot], _: Style) -> str:
    """Return a SARIF log with one run for all roots; it lists only rules that have findings."""
    found = findings_of(roots, "findings")
    codes = sorted({one.finding.code for one in found})
    unread = sorted(one.from_top(path) for one in roots for path in one.report.incomplete)
    notices = [{"level": "error", "message": {"text": _UNREAD}, "locations": [_location(path)]} for path in unread]
    driver = {"name": "mdmem", "semanticVersion": __version__, "rules": [rule(code) for code in codes]}
    results = []
    for one, fingerprint in zip(found, fingerprints(found), strict=True):
        finding, other, report = one.finding, one.finding.other, one.checked.report
        result: dict[str, Any] = {
            "ruleId": finding.code,
            "ruleIndex": codes.index(finding.code),
            "level": _SARIF[one.finding.level],
            # SARIF (3.11.6) interprets `[text](target)` as a link, which text from an entry must not become.
            "message": {"text": re.sub(r"\[([^\[\]]*)\]\(", r"\\[\1\\](", "\n".join(one.texts))},
            "locations": [_location(one.path, finding.place)],
            "partialFingerprints": {"finding/v1": fingerprint},
        }
        if other is not None:
            place = _location(one.checked.from_top(other.path), other)
            result["relatedLocations"] = [{**place, "message": {"text": "other end"}}]
        if report.base is not None:
            result["baselineState"] = "new" if finding.new else "unchanged"
        results.append(result)
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": not unread, "toolExecutionNotifications": notices}],
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The top of the repository."}}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json_text({"$schema": schema, "version": "2.1.0", "runs": [run]})


def rule(code: str) -> dict[str, Any]:
    """Return the SARIF rule for a check."""
    check = get_check(code)
    return {
        "id": code,
        "shortDescription": {"text": check.summary},
        # GitHub requires this key.
        "fullDescription": {"text": check.summary},
        "help": {"text": check.explanation},
        "defaultConfiguration": {"level": _SARIF[check.severity]},
        "properties": {"tags": [check.theme]},
    }


def _location(path: str, place: Place | None = None) -> dict[str, Any]:
    # %SRCROOT% is the usual placeholder for the repository's top in SARIF files.
    file = {"uri": quote(path.encode("utf-8", "surrogateescape")), "uriBaseId": "%SRCROOT%"}
    if place is None:
        return {"physicalLocation": {"artifactLocation": file}}
    end = {"endColumn": place.column + place.width} if place.width else {}
    region = {"startLine": place.line, "startColumn": place.column, **end}
    return {"physicalLocation": {"artifactLocation": file, "region": region}}


def rdjson(roots: Sequence[CheckedRoot], _: Style) -> str:
    """Return reviewdog's `DiagnosticResult`; columns count bytes of UTF-8, and the end is exclusive."""
    diagnostics = []
    for found in findings_of(roots):
        place = found.finding.place
        # If the line cannot be read, each character counts as one byte.
        line, span = found.checked.line_of(place) or "", {}
        for name, column in (("start", place.column), ("end", place.column + place.width)):
            before = line[: column - 1]
            more = len(before.encode("utf-8", "surrogatepass")) - len(before)
            span[name] = {"line": place.line, "column": column + more}
        diagnostics.append(
            {
                "message": "\n".join(found.texts),
                "location": {"path": valid_unicode(found.path), "range": span},
                "severity": found.finding.level.upper(),
                "code": {"value": found.finding.code},
                "original_output": visible_text(valid_unicode(concise_line(found, found.checked.from_top))),
            }
        )
    return json_text({"source": {"name": "mdmem"}, "diagnostics": diagnostics})


def github(roots: Sequence[CheckedRoot], _: Style) -> str:
    """Return GitHub commands for the first ten findings of each level, then the number of others, and the totals."""
    shown: Counter[str] = Counter()
    lines: list[str] = []
    for found in findings_of(roots):
        finding, place = found.finding, found.finding.place
        shown[found.finding.level] += 1
        # GitHub shows only ten annotations of each level for one step.
        if shown[found.finding.level] <= 10:
            end = f",endColumn={place.column + place.width}" if place.width else ""
            at = f"file={_property(found.path)},line={place.line},col={place.column}{end}"
            title = _property(f"mdmem {finding.code}{' (new)' if finding.new else ''}")
            message = _escaped("\n".join(advice(finding)))
            lines.append(f"::{_GITHUB[finding.level]} {at},title={title}::{message}")
    if more := shown.total() - len(lines):
        lines.append(f"{count(more, 'more finding')} without an annotation: the job summary has them")
    return valid_unicode("\n".join([*lines, summary(roots)]))


def _escaped(text: str) -> str:
    # GitHub's runner: https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def gitlab(roots: Sequence[CheckedRoot], _: Style) -> str:
    """Return a GitLab code quality report; fingerprints, which do not depend on lines, identify known findings."""
    found = findings_of(roots, "findings")
    issues = [
        {
            "description": "; ".join(one.texts),
            "check_name": one.finding.code,
            "fingerprint": fingerprint,
            "severity": _GITLAB[one.finding.level],
            "location": {"path": valid_unicode(one.path), "lines": {"begin": one.finding.place.line}},
        }
        for one, fingerprint in zip(found, fingerprints(found), strict=True)
    ]
    return json_text(issues)


def junit(roots: Sequence[CheckedRoot], _: Style) -> str:
    """Return a JUnit report with a case for each finding, which has failed if the finding fails the run.

    An old finding is a skipped case, so that it does not look fixed; an unreadable file is a case with an error. The
    class of a case is the place, since GitLab shows cases with the same name and class only once.
    """
    cases = []

    def add(path: str, at: str, name: str, tag: str, message: str, text: str = "") -> None:
        where = for_xml(visible(path))
        named = {"classname": f"{where}{at}", "name": for_xml(name), "file": where}
        cases.append(ElementTree.Element("testcase", named))
        made = ElementTree.SubElement(cases[-1], tag, {} if tag == "system-out" else {"message": for_xml(message)})
        made.text = for_xml(text)

    for one in findings_of(roots, "findings"):
        finding, report, place = one.finding, one.checked.report, one.finding.place
        tag = "failure" if report.fails(finding) else "skipped" if report.is_old(finding) else "system-out"
        message = f"was there before: {finding.message}" if tag == "skipped" else finding.message
        text = "\n".join(filter(None, (f"{one.finding.level}: {finding.message}", finding.help)))
        add(one.path, f":{place.line}:{place.column}", f"{finding.code}: {finding.message}", tag, message, text)
    for checked in roots:
        for path in checked.report.incomplete:
            add(checked.from_top(path), "", "incomplete", "error", _UNREAD)
    if not cases:
        add("mdmem", "", "check", "system-out", "", summary(roots))
    top = ElementTree.Element("testsuites")
    tags = Counter(case[0].tag for case in cases)
    sums = {name: str(tags[name.removesuffix("s")]) for name in ("failures", "errors")}
    numbers = {"name": "mdmem", "tests": str(len(cases)), **sums, "skipped": str(tags["skipped"])}
    ElementTree.SubElement(top, "testsuite", numbers).extend(cases)
    ElementTree.indent(top)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(top, encoding="unicode")


def markdown(roots: Sequence[CheckedRoot], _: Style) -> str:
    """Return the totals and a table of findings with their help, the worst first, in at most 65,000 characters."""
    found = findings_of(roots)
    sums = "  \n".join(prose(line) for line in summary(roots).split("\n"))
    rows = [f"| error | | {code(one.from_top(path))} | {_UNREAD} |" for one in roots for path in one.report.incomplete]
    for one in found:
        finding = one.finding
        shown = "<br>".join(map(prose, advice(finding)))
        severity = f"{finding.level}{' **new**' if finding.new else ''}"
        rows.append(f"| {severity} | {code(finding.code)} | {code(f'{one.path}:{finding.place.line}')} | {shown} |")
    head = f"## mdmem: {levels(one.finding for one in found)}\n\n{sums}"
    if not rows:
        return head
    head += "\n\n| | code | place | finding |\n| --- | --- | --- | --- |\n"
    return head + fit_lines(rows, _PAGE - len(head), _CUT)


def explanation(code: str, check: Check) -> str:
    """Return the explanation of a check, with a remark if `code` is a former name of the check."""
    former = f"`{code}` is called `{check.code}` now.\n\n" if code != check.code else ""
    return f"{former}{check.code} ({check.severity})\n\n{check.explanation}"


def check_list(checks: Iterable[Check]) -> str:
    """Return the code, severity and summary of each check, grouped by theme."""
    blocks = []
    for theme, group in groupby(checks, key=lambda check: check.theme):
        listed = list(group)
        width = max(len(check.code) for check in listed)
        lines = (f"  {check.code:<{width}}  {check.severity.value:<7}  {check.summary}" for check in listed)
        blocks.append("\n".join([f"{theme}:", *lines]))
    return "\n\n".join(blocks)

"""Full text over SQLite FTS5, as small as it can be: what the benchmark of speed measures us against.

    python fts5_search.py DATABASE FOLDER WORDS...

Brings the database up to date by size and time of the files below FOLDER, then prints the ten best with a snippet.
"""

import re
import sqlite3
import sys
from pathlib import Path

MADE = """
create virtual table if not exists entries using fts5(path unindexed, title, body, tokenize = 'porter unicode61');
create table if not exists seen (path text primary key, size integer, changed integer, number integer);
"""
FOUND = """
select path, title, snippet(entries, 2, '', '', '...', 20) from entries
where entries match ? order by bm25(entries, 0, 5, 1) limit 10
"""


def refresh(database: sqlite3.Connection, folder: Path) -> None:
    """Take in what is new, what changed and what went."""
    seen = {path: (size, changed) for path, size, changed in database.execute("select path, size, changed from seen")}
    there = {str(path): path.stat() for path in folder.glob("*/*/*.md")}
    now = {path: (stat.st_size, stat.st_mtime_ns) for path, stat in there.items()}
    for path in seen.keys() - now.keys() | {path for path in now if seen.get(path) not in (None, now[path])}:
        database.execute("delete from entries where rowid = (select number from seen where path = ?)", (path,))
        database.execute("delete from seen where path = ?", (path,))
        seen.pop(path)
    for path in now.keys() - seen.keys():
        text = Path(path).read_text(encoding="utf-8")
        title = re.search(r"^title: *(.*)$", text, re.MULTILINE)
        row = database.execute("insert into entries values (?, ?, ?)", (path, title[1] if title else "", text))
        database.execute("insert into seen values (?, ?, ?, ?)", (path, *now[path], row.lastrowid))
    database.commit()


if __name__ == "__main__":
    connection = sqlite3.connect(sys.argv[1])
    connection.executescript(MADE)
    refresh(connection, Path(sys.argv[2]))
    words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", " ".join(sys.argv[3:])))
    for found in connection.execute(FOUND, (words,)) if words else ():
        print(*found, sep="\n  ")

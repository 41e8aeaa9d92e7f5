"""Puts a memory's commit into a hub's tables, row by row."""
from mdmem.catalog.addresses import is_entry_place
from mdmem.entry.model import LINK_FIELDS
from mdmem.hub.rows import *
from mdmem.hub import rows as R
from mdmem.index.terms import terms_of
from mdmem.index.fields import SCORED, TITLES
from mdmem.tree import JoinedTree, SETTINGS_NAME, read_one, FileKind
from mdmem.workspace.snapshot import Snapshot
from mdmem.hub.rows import lexeme
from collections import Counter

def put(connection, workspace, name, commit, url=None):
    ws = workspace.at(Snapshot(revision=commit))
    ws = ws.with_index(workspace.index)
    catalog = ws.catalog
    files = {f.path: f for f in ws.whole_tree.files()}
    settings = read_one(ws.whole_tree, SETTINGS_NAME)
    cur = connection
    rid = cur.execute("INSERT INTO repository (name, root, url, commit, pushed_at, serial, settings, tracked) VALUES (%s,%s,%s,%s,now(),1,%s,%s) RETURNING id",
       (name, ws.location.under, url, commit, settings, sorted(ws.location.repository and __import__('mdmem.git').git.list_tracked(ws.location.repository) or []))).fetchone()[0]
    joined = ws.whole_tree.wings if isinstance(ws.whole_tree, JoinedTree) else {}
    contents = dict(ws.whole_tree.read([p for p, f in files.items() if f.kind is FileKind.FILE]))
    by_wing = {}
    for path in files:
        if "/" in path: by_wing.setdefault(path.split("/")[0], []).append(path)
    texts = {d.key: d for d in ws.texts(list(catalog.entries))}
    for wing, paths in by_wing.items():
        stated = catalog.wings.get(wing)
        if wing in joined:
            st = ws.settings.remote_wings[wing]
            row = cur.execute("SELECT id FROM wing WHERE source=%s AND commit=%s AND name=%s", (st.git, st.commit, wing)).fetchone()
            if row:
                cur.execute("INSERT INTO pin VALUES (%s,%s,%s)", (rid, row[0], wing)); continue
            wid = cur.execute("INSERT INTO wing (name, source, source_path, commit, is_shared, owners) VALUES (%s,%s,%s,%s,%s,%s) RETURNING id",
              (wing, st.git, "x/"+wing, st.commit, bool(stated and stated.is_shared), list(stated.owners) if stated else [])).fetchone()[0]
            cur.execute("INSERT INTO pin VALUES (%s,%s,%s)", (rid, wid, wing))
        else:
            wid = cur.execute("INSERT INTO wing (repository_id, name, is_shared, owners) VALUES (%s,%s,%s,%s) RETURNING id",
              (rid, wing, bool(stated and stated.is_shared), list(stated.owners) if stated else [])).fetchone()[0]
        terms = Counter(); docs = 0; passages = 0; lengths = [0]*len(SCORED)
        for path in paths:
            f = files[path]; address = path.removesuffix(".md"); inner = path.split("/",1)[1]
            content = contents.get(path); content = content if isinstance(content, bytes) else None
            entry = catalog.entries.get(address)
            loaded = None; wingrec = None; ps = ()
            if is_entry_place(path) and f.kind is FileKind.FILE:
                from mdmem.catalog import interpret
                loaded = interpret(catalog.document(path))
            elif inner == "README.md" and stated and stated.has_manifest:
                wingrec = stated
            if entry is not None: ps = terms_of(texts[address])
            hf = HubFile(inner, f.kind, f.digest, content, loaded, wingrec, ps)
            values = columns_of(hf)
            words = words_of(ps, wid)
            held = {t for p in ps for n in SCORED for t in p.get(n, ())}
            if not hasattr(R, 'markers'):
                marks = [f" w{wid}"]
                if entry is not None:
                    marks += [" entry", f" type:{entry.type}", f" status:{entry.status}", f" room:{entry.room}"]
                    marks += [f" {n}:{v}" for n in ("label","owner","focus") if (v:=getattr(entry,n))]
                    marks += [f" tag:{t}" for t in entry.tags]
                    marks += [f" ={t}" for n in TITLES for p in ps[:1] for t in p.get(n, ())]
                elif loaded is not None: marks.append(" broken")
                words = " ".join([words or "", *map(lexeme, dict.fromkeys(marks))])
            fid = cur.execute(f"INSERT INTO file (wing_id, {', '.join(COLUMNS)}, words) VALUES (%s, {', '.join(['%s']*len(COLUMNS))}, %s::tsvector) RETURNING id",
               (wid, *values, words)).fetchone()[0]
            if entry is not None:
                docs += 1; terms.update(held)
                for ls in lengths_in(ps):
                    passages += 1
                    for i, l in enumerate(ls): lengths[i] += l
                links = {(n, t) for n in LINK_FIELDS for t in entry.links(n)}
                with cur.cursor() as c: c.executemany("INSERT INTO link VALUES (%s,%s,%s,%s)", [(fid, wid, *l) for l in links])
        cur.execute("UPDATE wing SET documents=%s, passages=%s, lengths=%s WHERE id=%s", (docs, passages, lengths, wid))
        with cur.cursor() as c:
            with c.copy("COPY term (wing_id, term, documents) FROM STDIN") as cp:
                for t, n in terms.items(): cp.write_row((wid, t, n))
    return rid

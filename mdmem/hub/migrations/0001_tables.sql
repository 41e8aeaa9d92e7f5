-- The tables check each row, because a caller who may push a repository can write its rows with any program.

-- One row for each pushed memory. `serial` counts its pushes. `root` is the memory's folder from the top of the
-- repository. `tracked` are files that show which shared wings apply to its code. `roots` is no longer used.
CREATE TABLE repository (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    root text NOT NULL DEFAULT '',
    tracked text[] NOT NULL DEFAULT '{}',
    url text,
    roots text[] NOT NULL DEFAULT '{}',
    commit text,
    committed_at timestamptz,
    pushed_at timestamptz,
    serial bigint NOT NULL DEFAULT 0,
    format text NOT NULL DEFAULT '',
    settings bytea NOT NULL DEFAULT '',
    narrow_settings bytea NOT NULL DEFAULT '',
    CHECK (array_position(tracked, NULL) IS NULL AND coalesce(array_ndims(tracked), 1) = 1),
    CHECK (committed_at BETWEEN '0001-01-02 00:00Z' AND '9999-12-30 00:00Z'),
    CHECK (pushed_at BETWEEN '0001-01-02 00:00Z' AND '9999-12-30 00:00Z'),
    CHECK (commit IS NULL OR (pushed_at IS NOT NULL AND commit ~ '^[0-9a-f]{1,64}$'))
);
-- Here and below, the index is on a hash of the name, so that a query by name does not use it. EXPLAIN ANALYZE would
-- show from the work of the index whether a hidden row exists.
CREATE UNIQUE INDEX repository_name ON repository (md5(name));

-- Names that a repository had before.
CREATE TABLE former_name (
    name text NOT NULL,
    repository_id integer NOT NULL REFERENCES repository ON DELETE CASCADE
);
CREATE UNIQUE INDEX former_name_name ON former_name (md5(name));

-- The commits that the hub had of a repository, so that it never goes back to one. `is_left` is no longer used.
CREATE TABLE push (
    repository_id integer NOT NULL REFERENCES repository ON DELETE CASCADE,
    serial bigint NOT NULL,
    commit text NOT NULL CHECK (commit ~ '^[0-9a-f]{1,64}$'),
    is_left boolean NOT NULL DEFAULT false,
    pushed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (repository_id, serial)
);

-- A wing of a repository, or a pinned wing of another one. For a pinned wing, `repository_id` is null, `source`,
-- `source_path` and `commit` are its origin, and `tree` is a hash of its files. `format` is the version of its words.
CREATE TABLE wing (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    repository_id integer REFERENCES repository ON DELETE CASCADE,
    name text NOT NULL,
    source text,
    source_path text,
    commit text,
    tree text,
    format text NOT NULL DEFAULT '',
    is_shared boolean NOT NULL DEFAULT false,
    owners text[] NOT NULL DEFAULT '{}',
    documents integer NOT NULL DEFAULT 0 CHECK (documents >= 0),
    CHECK (array_position(owners, NULL) IS NULL AND coalesce(array_ndims(owners), 1) = 1),
    CHECK (commit ~ '^[0-9a-f]{1,64}$'),
    CHECK (num_nonnulls(source, source_path, commit, tree) = CASE WHEN repository_id IS NULL THEN 4 ELSE 0 END)
);
CREATE UNIQUE INDEX wing_own ON wing (md5(repository_id::text || '/' || name)) WHERE repository_id IS NOT NULL;
CREATE INDEX wing_repository ON wing (abs(repository_id));
CREATE UNIQUE INDEX wing_pinned ON wing (
    md5(source || chr(10) || source_path || chr(10) || commit || chr(10) || tree || chr(10) || format)
) WHERE repository_id IS NULL;

-- Which repositories read which pinned wing, and the name of the wing there.
CREATE TABLE pin (
    repository_id integer NOT NULL REFERENCES repository ON DELETE CASCADE,
    wing_id integer NOT NULL REFERENCES wing,
    name text NOT NULL,
    PRIMARY KEY (repository_id, name)
);
CREATE INDEX pin_wing ON pin (wing_id);

-- A file of a wing: an entry, a manifest, a file that cannot be parsed, or one that is only listed (`content` is null).
-- `path` is relative to the wing's folder. The columns from `type` to `tags`, and `words` for the search, are null unless
-- the file is an entry. `has_short_links` says that the targets of its links may depend on which other files exist.
CREATE TABLE file (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    wing_id integer NOT NULL REFERENCES wing ON DELETE CASCADE,
    path text NOT NULL,
    kind text NOT NULL DEFAULT 'file',
    blob text,
    content bytea,
    type text,
    status text,
    title text,
    room text,
    label text,
    owner text,
    focus text,
    tags text[],
    has_short_links boolean NOT NULL DEFAULT false,
    words tsvector,
    UNIQUE (wing_id, path),
    UNIQUE (wing_id, id),
    CHECK (kind IN ('file', 'symlink', 'submodule', 'unreadable', 'unmerged')),
    CHECK (type IS NULL OR (kind = 'file' AND num_nulls(blob, content, status, title) = 0))
);
-- Long values are stored out of line, because a search visits thousands of rows and reads few of them.
ALTER TABLE file SET (toast_tuple_target = 128), ALTER path SET STORAGE MAIN, ALTER blob SET STORAGE MAIN,
    ALTER title SET STORAGE MAIN, ALTER room SET STORAGE MAIN, ALTER owner SET STORAGE MAIN, ALTER tags SET STORAGE MAIN;
-- Without `fastupdate`, because each search would have to scan the list of pending entries.
CREATE INDEX file_words ON file USING gin (words) WITH (fastupdate = off);
-- The sample of one in 64 entries, which tells how common a word is.
CREATE INDEX file_sample ON file USING gin (words) WITH (fastupdate = off) WHERE words @@ ''' sample'''::tsquery;
CREATE INDEX file_short_links ON file (wing_id) WHERE has_short_links;

-- The links of entries: `target` is an address in the repository, `field` the front matter's field, or `body`.
CREATE TABLE link (
    wing_id integer NOT NULL,
    file_id bigint NOT NULL,
    field text NOT NULL,
    target text NOT NULL,
    PRIMARY KEY (wing_id, file_id, field, target),
    FOREIGN KEY (wing_id, file_id) REFERENCES file (wing_id, id) ON DELETE CASCADE
);
CREATE INDEX link_target ON link (wing_id, target);

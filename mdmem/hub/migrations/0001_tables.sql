-- Who may push a repository writes its rows with any program: what a row may be is checked where all who ask rely on it.

-- One row for each memory that is pushed. `serial` counts its pushes; `roots` are the commits without a parent that its
-- history begins with, by which a renamed repository is told. `root` is the memory's folder from the repository's top.
-- `tracked` are files that tell which shared wings are about its code.
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
-- What is unique by its name is so by the name's hash, here and below: an index that a question with a name can use
-- tells by its work (EXPLAIN ANALYZE) whether there is a hidden row, and through a function no question uses it.
CREATE UNIQUE INDEX repository_name ON repository (md5(name));

-- Names that a repository had before.
CREATE TABLE former_name (
    name text NOT NULL,
    repository_id integer NOT NULL REFERENCES repository ON DELETE CASCADE
);
CREATE UNIQUE INDEX former_name_name ON former_name (md5(name));

-- The commits that the hub had of a repository, so that it never goes back to one; `is_left` are those that its history
-- was rewritten without.
CREATE TABLE push (
    repository_id integer NOT NULL REFERENCES repository ON DELETE CASCADE,
    serial bigint NOT NULL,
    commit text NOT NULL CHECK (commit ~ '^[0-9a-f]{1,64}$'),
    is_left boolean NOT NULL DEFAULT false,
    pushed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (repository_id, serial)
);

-- A wing of a repository, or one of another repository at the commit that some pin: then `repository_id` is null, and
-- `source`, `source_path` and `commit` say where it lives, `tree` is git's name for what it holds, and `format` says how
-- its files are packed. `lengths` are the sums of its passages' words, by scored field.
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
    passages integer NOT NULL DEFAULT 0 CHECK (passages >= 0),
    lengths bigint[] NOT NULL DEFAULT '{}',
    CHECK (array_position(owners, NULL) IS NULL AND coalesce(array_ndims(owners), 1) = 1),
    CHECK (documents BETWEEN 0 AND 10000000 AND passages BETWEEN 0 AND 1000000000),
    CHECK (array_position(lengths, NULL) IS NULL AND coalesce(array_ndims(lengths), 1) = 1
        AND 0 <= ALL (lengths) AND 1000000000000 >= ALL (lengths)),
    CHECK (commit ~ '^[0-9a-f]{1,64}$'),
    CHECK (num_nonnulls(source, source_path, commit, tree) = CASE WHEN repository_id IS NULL THEN 4 ELSE 0 END)
);
CREATE UNIQUE INDEX wing_own ON wing (md5(repository_id::text || '/' || name)) WHERE repository_id IS NOT NULL;
CREATE INDEX wing_repository ON wing (abs(repository_id));
CREATE UNIQUE INDEX wing_pinned ON wing (
    md5(source || chr(10) || source_path || chr(10) || commit || chr(10) || tree || chr(10) || format)
) WHERE repository_id IS NULL;

-- Which repositories read which wing of another, and under which name.
CREATE TABLE pin (
    repository_id integer NOT NULL REFERENCES repository ON DELETE CASCADE,
    wing_id integer NOT NULL REFERENCES wing,
    name text NOT NULL,
    PRIMARY KEY (repository_id, name)
);
CREATE INDEX pin_wing ON pin (wing_id);

-- A file of a wing: an entry, a manifest, one that holds no readable entry, or one that is only listed (`content` is
-- null). `path` counts from the wing's folder. `record` is what was read of it, `terms` its analysed passages, `lengths`
-- their words by scored field, all packed in the format that the repository names, or the wing where it has none; `words`
-- finds it. What of an entry is filtered on is null where the file is none. `has_short_links` says that what a link of it
-- means may depend on which other files are there.
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
    record bytea,
    terms jsonb,
    lengths bytea,
    words tsvector,
    UNIQUE (wing_id, path),
    UNIQUE (wing_id, id),
    CHECK (kind IN ('file', 'symlink', 'submodule', 'unreadable', 'unmerged')),
    CHECK (type IS NULL OR (kind = 'file' AND num_nulls(blob, content, status, title) = 0)),
    CHECK (kind <> 'file' OR content IS NOT NULL OR record IS NULL),
    CHECK (jsonb_typeof(terms) = 'object')
);
-- A question takes a few terms of hundreds out of it, and would otherwise unpack them all.
ALTER TABLE file ALTER terms SET STORAGE EXTERNAL;
-- A question walks through thousands of rows of which it reads a few: what is long lies beside them, what is short in them.
ALTER TABLE file SET (toast_tuple_target = 128), ALTER path SET STORAGE MAIN, ALTER blob SET STORAGE MAIN,
    ALTER title SET STORAGE MAIN, ALTER room SET STORAGE MAIN, ALTER owner SET STORAGE MAIN, ALTER tags SET STORAGE MAIN,
    ALTER lengths SET STORAGE MAIN;
-- Without a list of what is still to come, which each question would walk through.
CREATE INDEX file_words ON file USING gin (words) WITH (fastupdate = off);
-- How common a word is, is told by one entry of so many: a list of them alone is short, however many hold the word.
CREATE INDEX file_sample ON file USING gin (words) WITH (fastupdate = off) WHERE words @@ ''' sample'''::tsquery;
CREATE INDEX file_short_links ON file (wing_id) WHERE has_short_links;

-- What entries link: `target` is an address as the repository counts it, `field` the front matter's field, or `body`.
-- They go with the file, whose wing is theirs.
CREATE TABLE link (
    wing_id integer NOT NULL,
    file_id bigint NOT NULL,
    field text NOT NULL,
    target text NOT NULL,
    PRIMARY KEY (wing_id, file_id, field, target),
    FOREIGN KEY (wing_id, file_id) REFERENCES file (wing_id, id) ON DELETE CASCADE
);
CREATE INDEX link_target ON link (wing_id, target);

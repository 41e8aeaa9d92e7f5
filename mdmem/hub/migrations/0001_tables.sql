-- One row for each memory that is pushed. `serial` counts its pushes; `roots` are the commits without a parent that its
-- history begins with, by which a renamed repository is told. `root` is the memory's folder from the repository's top.
CREATE TABLE repository (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    root text NOT NULL DEFAULT '',
    url text,
    roots text[] NOT NULL DEFAULT '{}',
    commit text,
    committed_at timestamptz,
    pushed_at timestamptz,
    serial bigint NOT NULL DEFAULT 0,
    format text NOT NULL DEFAULT '',
    settings bytea NOT NULL DEFAULT ''
);

-- Names that a repository had before.
CREATE TABLE former_name (
    name text PRIMARY KEY,
    repository_id integer NOT NULL REFERENCES repository ON DELETE CASCADE
);

-- The commits that the hub had of a repository, so that it never goes back to one.
CREATE TABLE push (
    repository_id integer NOT NULL REFERENCES repository ON DELETE CASCADE,
    serial bigint NOT NULL,
    commit text NOT NULL,
    pushed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (repository_id, serial)
);

-- A wing of a repository, or one of another repository at the commit that some pin: then `repository_id` is null, and
-- `source`, `source_path` and `commit` say where it lives. `lengths` are the sums of its passages' words, by scored field.
CREATE TABLE wing (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    repository_id integer REFERENCES repository ON DELETE CASCADE,
    name text NOT NULL,
    source text,
    source_path text,
    commit text,
    is_shared boolean NOT NULL DEFAULT false,
    owners text[] NOT NULL DEFAULT '{}',
    documents integer NOT NULL DEFAULT 0,
    passages integer NOT NULL DEFAULT 0,
    lengths bigint[] NOT NULL DEFAULT '{}',
    CHECK ((repository_id IS NULL) = (source IS NOT NULL AND source_path IS NOT NULL AND commit IS NOT NULL))
);
CREATE UNIQUE INDEX wing_own ON wing (repository_id, name) WHERE repository_id IS NOT NULL;
CREATE UNIQUE INDEX wing_pinned ON wing (source, source_path, commit) WHERE repository_id IS NULL;

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
-- their words by scored field, all packed in the format that the repository names; `words` finds it. What of an entry is
-- filtered on is null where the file is none.
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
    record bytea,
    terms bytea,
    lengths bytea,
    words tsvector,
    UNIQUE (wing_id, path)
);
CREATE INDEX file_words ON file USING gin (words);

-- What entries link: `target` is an address as the repository counts it, `field` the front matter's field.
CREATE TABLE link (
    file_id bigint NOT NULL REFERENCES file ON DELETE CASCADE,
    wing_id integer NOT NULL REFERENCES wing ON DELETE CASCADE,
    field text NOT NULL,
    target text NOT NULL,
    PRIMARY KEY (file_id, field, target)
);
CREATE INDEX link_target ON link (target, wing_id);

-- How many entries of a wing hold a term: the rarity of a word follows from the wings that are seen alone.
CREATE TABLE term (
    wing_id integer NOT NULL REFERENCES wing ON DELETE CASCADE,
    term text COLLATE "C" NOT NULL,
    documents integer NOT NULL CHECK (documents > 0),
    PRIMARY KEY (term, wing_id)
);
CREATE INDEX term_wing ON term (wing_id);


SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE SCHEMA mdmem_hub;

CREATE FUNCTION mdmem_hub.caller_principal() RETURNS SETOF integer
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    AS $$
DECLARE
    asking name := coalesce(nullif(current_setting('role'), 'none'), session_user);
BEGIN
    RETURN QUERY
        SELECT id FROM principal WHERE token_hash = sha256(convert_to(current_setting('mdmem.token', true), 'UTF8'))
        UNION ALL
        SELECT id FROM principal WHERE role IS NOT NULL AND pg_has_role(asking, role::oid, 'USAGE');
END $$;

CREATE FUNCTION mdmem_hub.candidate(asked tsquery, wings integer[], most integer, is_of_sample boolean DEFAULT false) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
DECLARE
    is_all boolean := wings IS NULL AND sees_all();
    seen integer[] := ARRAY(
        SELECT one FROM visible_wing() AS one WHERE NOT is_all AND (wings IS NULL OR one = ANY (wings))
    );
    narrow tsquery := asked;
BEGIN
    IF numnode(asked) = 0 THEN
        RETURN;
    END IF;
    IF is_all THEN
        RETURN QUERY SELECT id FROM file
            WHERE words @@ asked AND (NOT is_of_sample OR words @@ ''' sample'''::tsquery) LIMIT greatest(most, 0);
        RETURN;
    END IF;
    IF cardinality(seen) BETWEEN 1 AND 32 THEN
        narrow := asked && (SELECT string_agg(quote_literal(' w' || one), ' | ') FROM unnest(seen) AS one)::tsquery;
    END IF;
    RETURN QUERY SELECT id FROM file JOIN unnest(seen) AS one ON one = file.wing_id + 0
        WHERE words @@ narrow AND (NOT is_of_sample OR words @@ ''' sample'''::tsquery) LIMIT greatest(most, 0);
END $$;

CREATE FUNCTION mdmem_hub.drop_unpinned() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    AS $$
BEGIN
    PERFORM FROM wing WHERE id = OLD.wing_id FOR UPDATE;
    DELETE FROM wing WHERE id = OLD.wing_id AND NOT EXISTS (SELECT FROM pin WHERE wing_id = OLD.wing_id);
    RETURN NULL;
END $$;

CREATE FUNCTION mdmem_hub.is_known_token() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    AS $$
    SELECT coalesce(current_setting('mdmem.token', true), '') = '' OR EXISTS (
        SELECT FROM principal WHERE token_hash = sha256(convert_to(current_setting('mdmem.token', true), 'UTF8'))
    )
$$;

CREATE FUNCTION mdmem_hub.is_owner() RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    AS $$
BEGIN
    RETURN (
        SELECT rolbypassrls OR pg_has_role(pg_roles.oid, nspowner, 'USAGE') FROM pg_roles, pg_namespace
        WHERE rolname = coalesce(nullif(current_setting('role'), 'none'), session_user) AND nspname = 'mdmem_hub'
    );
END $$;

CREATE FUNCTION mdmem_hub.pinned_wing(reader integer, called text, origin text, folder text, at text, content text, packed text) RETURNS TABLE(id integer, is_new boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    AS $$
BEGIN
    IF reader IS NULL OR NOT reader = ANY (ARRAY(SELECT pushable_repository())) THEN
        RAISE insufficient_privilege USING MESSAGE = 'permission denied for this repository';
    END IF;
    LOOP
        is_new := false;
        SELECT wing.id INTO id FROM wing WHERE repository_id IS NULL
            AND md5(source || chr(10) || source_path || chr(10) || commit || chr(10) || tree || chr(10) || format)
                = md5(origin || chr(10) || folder || chr(10) || at || chr(10) || content || chr(10) || packed)
            FOR KEY SHARE;
        EXIT WHEN id IS NOT NULL;
        is_new := true;
        INSERT INTO wing (name, source, source_path, commit, tree, format)
            VALUES (called, origin, folder, at, content, packed) ON CONFLICT DO NOTHING RETURNING wing.id INTO id;
        EXIT WHEN id IS NOT NULL;
    END LOOP;
    DELETE FROM pin WHERE pin.repository_id = reader AND pin.name = called AND pin.wing_id <> pinned_wing.id;
    INSERT INTO pin (repository_id, wing_id, name) VALUES (reader, id, called) ON CONFLICT DO NOTHING;
    RETURN NEXT;
END $$;

CREATE FUNCTION mdmem_hub.pushable_repository() RETURNS SETOF integer
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    AS $$
    SELECT repository_id FROM visible_scope() WHERE may_push
$$;

CREATE FUNCTION mdmem_hub.pushable_wing() RETURNS SETOF integer
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    AS $$
    SELECT id FROM wing WHERE repository_id = ANY (ARRAY(SELECT pushable_repository()))
    UNION ALL
    SELECT id FROM wing WHERE repository_id IS NULL AND xmin = pg_current_xact_id_if_assigned()::xid
$$;

CREATE FUNCTION mdmem_hub.reads_whole(repository integer) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    AS $$
    SELECT EXISTS (SELECT FROM visible_scope() WHERE repository_id = repository AND wing IS NULL)
$$;

CREATE FUNCTION mdmem_hub.repository_named(called text) RETURNS integer
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    AS $$
    SELECT id FROM (
        SELECT id, 1 AS place FROM repository WHERE md5(name) = md5(called)
        UNION ALL
        SELECT repository_id, 2 FROM former_name WHERE md5(name) = md5(called)
    ) AS found WHERE id IN (SELECT visible_repository()) ORDER BY place LIMIT 1
$$;

CREATE FUNCTION mdmem_hub.sees_all() RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    AS $$
BEGIN
    RETURN is_owner() OR EXISTS (
        SELECT FROM permission WHERE repository_id IS NULL AND principal_id IN (SELECT caller_principal())
    );
END $$;

CREATE FUNCTION mdmem_hub.settings_of(repository integer) RETURNS bytea
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    AS $$
    SELECT CASE WHEN reads_whole(repository) THEN settings ELSE narrow_settings END FROM repository AS one
    WHERE id = repository AND id IN (SELECT visible_repository())
$$;

CREATE FUNCTION mdmem_hub.unpin(reader integer, called text[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    AS $$
    DELETE FROM pin WHERE repository_id = reader AND name = ANY (called)
        AND repository_id IN (SELECT pushable_repository())
$$;

CREATE FUNCTION mdmem_hub.visible_pin() RETURNS TABLE(repository_id integer, wing_id integer, name text)
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    AS $$
    SELECT repository_id, wing_id, name FROM pin
    WHERE repository_id IN (SELECT repository_id FROM visible_scope() WHERE wing IS NULL)
        OR (repository_id, name) IN (SELECT repository_id, wing FROM visible_scope() WHERE wing IS NOT NULL)
$$;

CREATE FUNCTION mdmem_hub.visible_repository() RETURNS SETOF integer
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    AS $$
    SELECT DISTINCT repository_id FROM visible_scope()
$$;

CREATE FUNCTION mdmem_hub.visible_scope() RETURNS TABLE(repository_id integer, wing text, may_push boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    AS $$
DECLARE
    owns boolean := is_owner();
BEGIN
    IF sees_all() THEN
        RETURN QUERY SELECT id, NULL::text, owns FROM repository;
    END IF;
    RETURN QUERY SELECT one.repository_id, one.wing, one.may_push FROM permission AS one
        WHERE one.repository_id IS NOT NULL AND principal_id IN (SELECT caller_principal());
END $$;

CREATE FUNCTION mdmem_hub.visible_wing() RETURNS SETOF integer
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'mdmem_hub', 'pg_temp'
    AS $$
DECLARE
    whole integer[];
    part text[];
BEGIN
    IF sees_all() THEN
        RETURN QUERY SELECT id FROM wing;
        RETURN;
    END IF;
    SELECT array_agg(repository_id) FILTER (WHERE wing IS NULL),
        array_agg(md5(repository_id::text || '/' || wing)) FILTER (WHERE wing IS NOT NULL)
        INTO whole, part FROM visible_scope();
    RETURN QUERY SELECT id FROM wing WHERE abs(repository_id) = ANY (whole);
    RETURN QUERY SELECT id FROM wing WHERE repository_id IS NOT NULL AND md5(repository_id::text || '/' || name) = ANY (part)
        AND abs(repository_id) <> ALL (coalesce(whole, '{}'));
    RETURN QUERY SELECT DISTINCT wing_id FROM visible_pin();
END $$;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE mdmem_hub.file (
    id bigint NOT NULL,
    wing_id integer NOT NULL,
    path text NOT NULL,
    kind text DEFAULT 'file'::text NOT NULL,
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
    has_short_links boolean DEFAULT false NOT NULL,
    record bytea,
    terms jsonb,
    lengths bytea,
    words tsvector,
    CONSTRAINT file_check CHECK (((type IS NULL) OR ((kind = 'file'::text) AND (num_nulls(blob, content, status, title) = 0)))),
    CONSTRAINT file_check1 CHECK (((kind <> 'file'::text) OR (content IS NOT NULL) OR (record IS NULL))),
    CONSTRAINT file_kind_check CHECK ((kind = ANY (ARRAY['file'::text, 'symlink'::text, 'submodule'::text, 'unreadable'::text, 'unmerged'::text]))),
    CONSTRAINT file_terms_check CHECK ((jsonb_typeof(terms) = 'object'::text))
)
WITH (toast_tuple_target='128');
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN id SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN wing_id SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN path SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN path SET STORAGE MAIN;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN kind SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN blob SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN blob SET STORAGE MAIN;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN content SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN type SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN status SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN title SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN title SET STORAGE MAIN;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN room SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN room SET STORAGE MAIN;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN label SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN owner SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN owner SET STORAGE MAIN;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN focus SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN tags SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN tags SET STORAGE MAIN;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN has_short_links SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN record SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN terms SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN terms SET STORAGE EXTERNAL;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN lengths SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN lengths SET STORAGE MAIN;
ALTER TABLE ONLY mdmem_hub.file ALTER COLUMN words SET STATISTICS 0;

ALTER TABLE mdmem_hub.file ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME mdmem_hub.file_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE mdmem_hub.former_name (
    name text NOT NULL,
    repository_id integer NOT NULL
);
ALTER TABLE ONLY mdmem_hub.former_name ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.former_name ALTER COLUMN repository_id SET STATISTICS 0;

CREATE TABLE mdmem_hub.link (
    wing_id integer NOT NULL,
    file_id bigint NOT NULL,
    field text NOT NULL,
    target text NOT NULL
);
ALTER TABLE ONLY mdmem_hub.link ALTER COLUMN wing_id SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.link ALTER COLUMN file_id SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.link ALTER COLUMN field SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.link ALTER COLUMN target SET STATISTICS 0;

CREATE TABLE mdmem_hub.migration (
    number integer NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE mdmem_hub.permission (
    principal_id integer NOT NULL,
    repository_id integer,
    wing text,
    may_push boolean DEFAULT false NOT NULL,
    CONSTRAINT permission_check CHECK (((wing IS NULL) OR ((NOT may_push) AND (repository_id IS NOT NULL)))),
    CONSTRAINT permission_check1 CHECK (((repository_id IS NOT NULL) OR (NOT may_push)))
);

CREATE TABLE mdmem_hub.pin (
    repository_id integer NOT NULL,
    wing_id integer NOT NULL,
    name text NOT NULL
);

CREATE TABLE mdmem_hub.principal (
    id integer NOT NULL,
    role regrole,
    name text,
    token_hash bytea,
    CONSTRAINT principal_check CHECK (((num_nonnulls(role, name) = 1) AND ((name IS NULL) = (token_hash IS NULL)))),
    CONSTRAINT principal_token_hash_check CHECK ((length(token_hash) = 32))
);

ALTER TABLE mdmem_hub.principal ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME mdmem_hub.principal_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE mdmem_hub.push (
    repository_id integer NOT NULL,
    serial bigint NOT NULL,
    commit text NOT NULL,
    is_left boolean DEFAULT false NOT NULL,
    pushed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT push_commit_check CHECK ((commit ~ '^[0-9a-f]{1,64}$'::text))
);
ALTER TABLE ONLY mdmem_hub.push ALTER COLUMN repository_id SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.push ALTER COLUMN serial SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.push ALTER COLUMN commit SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.push ALTER COLUMN is_left SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.push ALTER COLUMN pushed_at SET STATISTICS 0;

CREATE TABLE mdmem_hub.repository (
    id integer NOT NULL,
    name text NOT NULL,
    root text DEFAULT ''::text NOT NULL,
    tracked text[] DEFAULT '{}'::text[] NOT NULL,
    url text,
    roots text[] DEFAULT '{}'::text[] NOT NULL,
    commit text,
    committed_at timestamp with time zone,
    pushed_at timestamp with time zone,
    serial bigint DEFAULT 0 NOT NULL,
    format text DEFAULT ''::text NOT NULL,
    settings bytea DEFAULT '\x'::bytea NOT NULL,
    narrow_settings bytea DEFAULT '\x'::bytea NOT NULL,
    CONSTRAINT repository_check CHECK (((commit IS NULL) OR ((pushed_at IS NOT NULL) AND (commit ~ '^[0-9a-f]{1,64}$'::text)))),
    CONSTRAINT repository_committed_at_check CHECK (((committed_at >= '0001-01-02 00:00:00+00'::timestamp with time zone) AND (committed_at <= '9999-12-30 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT repository_pushed_at_check CHECK (((pushed_at >= '0001-01-02 00:00:00+00'::timestamp with time zone) AND (pushed_at <= '9999-12-30 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT repository_tracked_check CHECK (((array_position(tracked, NULL::text) IS NULL) AND (COALESCE(array_ndims(tracked), 1) = 1)))
);
ALTER TABLE ONLY mdmem_hub.repository ALTER COLUMN id SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.repository ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.repository ALTER COLUMN root SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.repository ALTER COLUMN tracked SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.repository ALTER COLUMN url SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.repository ALTER COLUMN roots SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.repository ALTER COLUMN commit SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.repository ALTER COLUMN committed_at SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.repository ALTER COLUMN pushed_at SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.repository ALTER COLUMN serial SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.repository ALTER COLUMN format SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.repository ALTER COLUMN settings SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.repository ALTER COLUMN narrow_settings SET STATISTICS 0;

ALTER TABLE mdmem_hub.repository ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME mdmem_hub.repository_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE mdmem_hub.wing (
    id integer NOT NULL,
    repository_id integer,
    name text NOT NULL,
    source text,
    source_path text,
    commit text,
    tree text,
    format text DEFAULT ''::text NOT NULL,
    is_shared boolean DEFAULT false NOT NULL,
    owners text[] DEFAULT '{}'::text[] NOT NULL,
    documents integer DEFAULT 0 NOT NULL,
    passages integer DEFAULT 0 NOT NULL,
    lengths bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    CONSTRAINT wing_check CHECK ((((documents >= 0) AND (documents <= 10000000)) AND ((passages >= 0) AND (passages <= 1000000000)))),
    CONSTRAINT wing_check1 CHECK ((num_nonnulls(source, source_path, commit, tree) =
CASE
    WHEN (repository_id IS NULL) THEN 4
    ELSE 0
END)),
    CONSTRAINT wing_commit_check CHECK ((commit ~ '^[0-9a-f]{1,64}$'::text)),
    CONSTRAINT wing_documents_check CHECK ((documents >= 0)),
    CONSTRAINT wing_lengths_check CHECK (((array_position(lengths, NULL::bigint) IS NULL) AND (COALESCE(array_ndims(lengths), 1) = 1) AND (0 <= ALL (lengths)) AND ('1000000000000'::bigint >= ALL (lengths)))),
    CONSTRAINT wing_owners_check CHECK (((array_position(owners, NULL::text) IS NULL) AND (COALESCE(array_ndims(owners), 1) = 1))),
    CONSTRAINT wing_passages_check CHECK ((passages >= 0))
);
ALTER TABLE ONLY mdmem_hub.wing ALTER COLUMN id SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.wing ALTER COLUMN repository_id SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.wing ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.wing ALTER COLUMN source SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.wing ALTER COLUMN source_path SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.wing ALTER COLUMN commit SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.wing ALTER COLUMN tree SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.wing ALTER COLUMN format SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.wing ALTER COLUMN is_shared SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.wing ALTER COLUMN owners SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.wing ALTER COLUMN documents SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.wing ALTER COLUMN passages SET STATISTICS 0;
ALTER TABLE ONLY mdmem_hub.wing ALTER COLUMN lengths SET STATISTICS 0;

ALTER TABLE mdmem_hub.wing ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME mdmem_hub.wing_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

INSERT INTO mdmem_hub.file (id, wing_id, path, kind, blob, content, type, status, title, room, label, owner, focus, tags, has_short_links, record, terms, lengths, words) OVERRIDING SYSTEM VALUE VALUES (1, 1, 'README.md', 'file', '170629bcdb91fdbed61f4706dd3880581e9c2bbf', '\x2d2d2d0a6b696e643a2070726f6a6563740a6f776e6572733a205b6164615d0a2d2d2d0a', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, '\x6d646d656d20382e303262656461386520302e312e3020322033372038343836326436330a83a46e616d65a473686f70a66f776e65727391a3616461ac6861735f6d616e6966657374c3', NULL, NULL, ''' w1''');
INSERT INTO mdmem_hub.file (id, wing_id, path, kind, blob, content, type, status, title, room, label, owner, focus, tags, has_short_links, record, terms, lengths, words) OVERRIDING SYSTEM VALUE VALUES (2, 1, 'contracts/amounts.md', 'file', '84319c4459a96ced07c81d3af16b2c73d5eba1eb', '\x2d2d2d0a747970653a20696e76617269616e740a7374617475733a206163746976650a637265617465645f61743a20323032362d30322d30310a7469746c653a20416d6f756e74732061726520696e74656765727320696e206d696e6f7220756e6974730a6170706c6965735f746f3a205b227372632f2a2a225d0a746167733a205b6d6f6e65795d0a2d2d2d0a0a416e20616d6f756e74206d75737420626520616e20696e74656765722e20526174696f6e616c653a206120666c6f6174206c6f7365732063656e7473205b7365653a2073686f702f6e6f7465732f63656e74735d2e0a', 'invariant', 'active', 'Amounts are integers in minor units', 'contracts', NULL, NULL, NULL, '{money}', false, '\x6d646d656d20382e303262656461386520302e312e302032203233332065626163353934610a84a470617468b973686f702f636f6e7472616374732f616d6f756e74732e6d64a5656e747279de0007a761646472657373b673686f702f636f6e7472616374732f616d6f756e7473a474797065a9696e76617269616e74a6737461747573a6616374697665a57469746c65d923416d6f756e74732061726520696e74656765727320696e206d696e6f7220756e697473aa637265617465645f6174aa323032362d30322d3031a47461677391a56d6f6e6579aa6170706c6965735f746f91a67372632f2a2aa473697a6555a468656164b8626139653131353139643062616265363931336564386265', '{"see": "e", "cent": "e2", "lose": "e", "must": "e", "note": "e", "shop": "e", "unit": "a", "float": "e", "integ": "a e", "minor": "a", "money": "d", "amount": "a e", "rational": "e", "shop/notes/cents": "c"}', '\x6d646d656d20382e303262656461386520302e312e30203220372065336633303133380a9195040001010b', ''' =amount'' '' =integ'' '' =minor'' '' =unit'' '' room:contracts'' '' status:active'' '' tag:money'' '' type:invariant'' '' w1'' ''amount'':1A ''cent'' ''float'' ''integ'':1A ''lose'' ''minor'':1A ''money'':1C ''must'' ''note'' ''rational'' ''see'' ''shop'' ''shop/notes/cents'':1C ''unit'':1A');
INSERT INTO mdmem_hub.file (id, wing_id, path, kind, blob, content, type, status, title, room, label, owner, focus, tags, has_short_links, record, terms, lengths, words) OVERRIDING SYSTEM VALUE VALUES (3, 1, 'contracts/floats.md', 'file', '950178c51b8e4d52c4b0a8b22d5a9ca372bf2d3a', '\x2d2d2d0a747970653a206465636973696f6e0a7374617475733a20646570726563617465640a637265617465645f61743a20323032362d30322d30310a7469746c653a20416d6f756e74732061726520666c6f6174730a646570726563617465645f61743a20323032362d30322d30330a737570657273656465645f62793a2073686f702f636f6e7472616374732f726f756e64696e670a2d2d2d0a0a416e20616d6f756e74206973206120666c6f61742e20526174696f6e616c653a2069742077617320656173792e0a', 'decision', 'deprecated', 'Amounts are floats', 'contracts', NULL, NULL, NULL, '{}', false, '\x6d646d656d20382e303262656461386520302e312e302032203234392034323933393039640a84a470617468b873686f702f636f6e7472616374732f666c6f6174732e6d64a5656e747279de0007a761646472657373b573686f702f636f6e7472616374732f666c6f617473a474797065a86465636973696f6ea6737461747573aa64657072656361746564a57469746c65b2416d6f756e74732061726520666c6f617473aa637265617465645f6174aa323032362d30322d3031ad646570726563617465645f6174aa323032362d30322d3033ad737570657273656465645f627991b773686f702f636f6e7472616374732f726f756e64696e67a473697a652da468656164b8323439626432336563316665616130666135303332663831', '{"easi": "e", "float": "a e", "amount": "a e", "rational": "e"}', '\x6d646d656d20382e303262656461386520302e312e30203220372065346435623237660a91950200000004', ''' =amount'' '' =float'' '' room:contracts'' '' status:deprecated'' '' type:decision'' '' w1'' ''amount'':1A ''easi'' ''float'':1A ''rational''');
INSERT INTO mdmem_hub.file (id, wing_id, path, kind, blob, content, type, status, title, room, label, owner, focus, tags, has_short_links, record, terms, lengths, words) OVERRIDING SYSTEM VALUE VALUES (4, 1, 'contracts/rounding.md', 'file', 'c30cb89a6d8be37ca94ae711359666b70ab59b91', '\x2d2d2d0a747970653a206465636973696f6e0a7374617475733a206163746976650a637265617465645f61743a20323032362d30322d30310a7469746c653a20526f756e642068616c6620746f206576656e0a737570657273656465733a205b73686f702f636f6e7472616374732f666c6f6174735d0a2d2d2d0a0a416d6f756e74732061726520726f756e6465642068616c6620746f206576656e2e20526174696f6e616c653a206e6f2064726966742e0a', 'decision', 'active', 'Round half to even', 'contracts', NULL, NULL, NULL, '{}', false, '\x6d646d656d20382e303262656461386520302e312e302032203231392062396562396366310a84a470617468ba73686f702f636f6e7472616374732f726f756e64696e672e6d64a5656e747279de0006a761646472657373b773686f702f636f6e7472616374732f726f756e64696e67a474797065a86465636973696f6ea6737461747573a6616374697665a57469746c65b2526f756e642068616c6620746f206576656eaa637265617465645f6174aa323032362d30322d3031aa7375706572736564657391b573686f702f636f6e7472616374732f666c6f617473a473697a6536a468656164b8373264663263373361346630333437353465633534666566', '{"even": "a e", "half": "a e", "drift": "e", "round": "a e", "amount": "e", "rational": "e"}', '\x6d646d656d20382e303262656461386520302e312e30203220372033376262666165330a91950300000006', ''' =even'' '' =half'' '' =round'' '' room:contracts'' '' status:active'' '' type:decision'' '' w1'' ''amount'' ''drift'' ''even'':1A ''half'':1A ''rational'' ''round'':1A');
INSERT INTO mdmem_hub.file (id, wing_id, path, kind, blob, content, type, status, title, room, label, owner, focus, tags, has_short_links, record, terms, lengths, words) OVERRIDING SYSTEM VALUE VALUES (5, 1, 'notes/cents.md', 'file', '91790f599c0a999b4c1f6e1a0e20526d3a211282', '\x2d2d2d0a747970653a206e6f74650a7374617475733a206163746976650a637265617465645f61743a20323032362d30322d30310a7469746c653a2057686572652063656e74732077657265206c6f73740a2d2d2d0a0ac39c6ec3af636f64653a20746865207265706f7274206f6620323032352077617320332063656e7473206f66662e0a', 'note', 'active', 'Where cents were lost', 'notes', NULL, NULL, NULL, '{}', false, '\x6d646d656d20382e303262656461386520302e312e302032203137302032633538623731340a84a470617468b373686f702f6e6f7465732f63656e74732e6d64a5656e747279de0005a761646472657373b073686f702f6e6f7465732f63656e7473a474797065a46e6f7465a6737461747573a6616374697665a57469746c65b557686572652063656e74732077657265206c6f7374aa637265617465645f6174aa323032362d30322d3031a473697a652ea468656164b8373964666231356230323533646566633938666463613434', '{"3": "e", "2025": "e", "cent": "a e", "lost": "a", "report": "e", "unicod": "e"}', '\x6d646d656d20382e303262656461386520302e312e30203220372039336432383265390a91950200000005', ''' =cent'' '' =lost'' '' room:notes'' '' status:active'' '' type:note'' '' w1'' ''2025'' ''3'' ''cent'':1A ''lost'':1A ''report'' ''unicod''');
INSERT INTO mdmem_hub.file (id, wing_id, path, kind, blob, content, type, status, title, room, label, owner, focus, tags, has_short_links, record, terms, lengths, words) OVERRIDING SYSTEM VALUE VALUES (6, 2, 'README.md', 'file', 'f8cffbbbb764057cd02de15cf09e006e771b2214', '\x2d2d2d0a6b696e643a2070726f6a6563740a2d2d2d0a', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, '\x6d646d656d20382e303262656461386520302e312e3020322032362061666465643032640a82a46e616d65a57661756c74ac6861735f6d616e6966657374c3', NULL, NULL, ''' w2''');
INSERT INTO mdmem_hub.file (id, wing_id, path, kind, blob, content, type, status, title, room, label, owner, focus, tags, has_short_links, record, terms, lengths, words) OVERRIDING SYSTEM VALUE VALUES (7, 2, 'rules/keys.md', 'file', '872af9d78b38e81f8a0b28300c8d1a9c9a138cf7', '\x2d2d2d0a747970653a206465636973696f6e0a7374617475733a206163746976650a637265617465645f61743a20323032362d30322d30310a7469746c653a204b65797320617265206b65707420696e20746865207661756c740a2d2d2d0a0a4e6f626f64792062757420746865207661756c7420686173206b6579732e20526174696f6e616c653a206f6e6520706c6163652e0a', 'decision', 'active', 'Keys are kept in the vault', 'rules', NULL, NULL, NULL, '{}', false, '\x6d646d656d20382e303262656461386520302e312e302032203137392038373966616461360a84a470617468b37661756c742f72756c65732f6b6579732e6d64a5656e747279de0005a761646472657373b07661756c742f72756c65732f6b657973a474797065a86465636973696f6ea6737461747573a6616374697665a57469746c65ba4b65797320617265206b65707420696e20746865207661756c74aa637265617465645f6174aa323032362d30322d3031a473697a6534a468656164b8376166333763626263623137646435323238646230353634', '{"key": "a e", "one": "e", "kept": "a", "place": "e", "vault": "a e", "nobodi": "e", "rational": "e"}', '\x6d646d656d20382e303262656461386520302e312e30203220372033376262666165330a91950300000006', ''' =kept'' '' =key'' '' =vault'' '' room:rules'' '' status:active'' '' type:decision'' '' w2'' ''kept'':1A ''key'':1A ''nobodi'' ''one'' ''place'' ''rational'' ''vault'':1A');
INSERT INTO mdmem_hub.file (id, wing_id, path, kind, blob, content, type, status, title, room, label, owner, focus, tags, has_short_links, record, terms, lengths, words) OVERRIDING SYSTEM VALUE VALUES (8, 3, 'README.md', 'file', '7428614bbc43dcf83aeb66bfe9f39c92090628a1', '\x2d2d2d0a6b696e643a207368617265640a6f776e6572733a205b706c6174666f726d5d0a2d2d2d0a', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, '\x6d646d656d20382e303262656461386520302e312e3020322035342064616264653064330a84a46e616d65a4726f7332a46b696e64a6736861726564a66f776e65727391a8706c6174666f726dac6861735f6d616e6966657374c3', NULL, NULL, ''' w3''');
INSERT INTO mdmem_hub.file (id, wing_id, path, kind, blob, content, type, status, title, room, label, owner, focus, tags, has_short_links, record, terms, lengths, words) OVERRIDING SYSTEM VALUE VALUES (9, 3, 'rules/executors.md', 'file', '1cfd42d601a29e039ae7394d7641e162d3cc1e3d', '\x2d2d2d0a747970653a206465636973696f6e0a7374617475733a206163746976650a637265617465645f61743a20323032362d30322d30310a7469746c653a204f6e65206578656375746f7220666f7220656163682070726f636573730a2d2d2d0a0a43616c6c6261636b73206f66206f6e652070726f636573732072756e206f6e206f6e65206578656375746f722e20526174696f6e616c653a206e6f206c6f636b732e0a', 'decision', 'active', 'One executor for each process', 'rules', NULL, NULL, NULL, '{}', false, '\x6d646d656d20382e303262656461386520302e312e302032203139302032343562303562650a84a470617468b7726f73322f72756c65732f6578656375746f72732e6d64a5656e747279de0005a761646472657373b4726f73322f72756c65732f6578656375746f7273a474797065a86465636973696f6ea6737461747573a6616374697665a57469746c65bd4f6e65206578656375746f7220666f7220656163682070726f63657373aa637265617465645f6174aa323032362d30322d3031a473697a6542a468656164b8636639613765363139626338323630396334633564393037', '{"one": "a e2", "run": "e", "lock": "e", "process": "a e", "callback": "e", "executor": "a e", "rational": "e"}', '\x6d646d656d20382e303262656461386520302e312e30203220372064303033643765340a91950300000008', ''' =executor'' '' =one'' '' =process'' '' room:rules'' '' status:active'' '' type:decision'' '' w3'' ''callback'' ''executor'':1A ''lock'' ''one'':1A ''process'':1A ''rational'' ''run''');
INSERT INTO mdmem_hub.file (id, wing_id, path, kind, blob, content, type, status, title, room, label, owner, focus, tags, has_short_links, record, terms, lengths, words) OVERRIDING SYSTEM VALUE VALUES (10, 4, 'README.md', 'file', '7428614bbc43dcf83aeb66bfe9f39c92090628a1', '\x2d2d2d0a6b696e643a207368617265640a6f776e6572733a205b706c6174666f726d5d0a2d2d2d0a', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, '\x6d646d656d20382e303262656461386520302e312e3020322035342064616264653064330a84a46e616d65a4726f7332a46b696e64a6736861726564a66f776e65727391a8706c6174666f726dac6861735f6d616e6966657374c3', NULL, NULL, ''' w4''');
INSERT INTO mdmem_hub.file (id, wing_id, path, kind, blob, content, type, status, title, room, label, owner, focus, tags, has_short_links, record, terms, lengths, words) OVERRIDING SYSTEM VALUE VALUES (11, 4, 'rules/executors.md', 'file', '1cfd42d601a29e039ae7394d7641e162d3cc1e3d', '\x2d2d2d0a747970653a206465636973696f6e0a7374617475733a206163746976650a637265617465645f61743a20323032362d30322d30310a7469746c653a204f6e65206578656375746f7220666f7220656163682070726f636573730a2d2d2d0a0a43616c6c6261636b73206f66206f6e652070726f636573732072756e206f6e206f6e65206578656375746f722e20526174696f6e616c653a206e6f206c6f636b732e0a', 'decision', 'active', 'One executor for each process', 'rules', NULL, NULL, NULL, '{}', false, '\x6d646d656d20382e303262656461386520302e312e302032203139302032343562303562650a84a470617468b7726f73322f72756c65732f6578656375746f72732e6d64a5656e747279de0005a761646472657373b4726f73322f72756c65732f6578656375746f7273a474797065a86465636973696f6ea6737461747573a6616374697665a57469746c65bd4f6e65206578656375746f7220666f7220656163682070726f63657373aa637265617465645f6174aa323032362d30322d3031a473697a6542a468656164b8636639613765363139626338323630396334633564393037', '{"one": "a e2", "run": "e", "lock": "e", "process": "a e", "callback": "e", "executor": "a e", "rational": "e"}', '\x6d646d656d20382e303262656461386520302e312e30203220372064303033643765340a91950300000008', ''' =executor'' '' =one'' '' =process'' '' room:rules'' '' status:active'' '' type:decision'' '' w4'' ''callback'' ''executor'':1A ''lock'' ''one'':1A ''process'':1A ''rational'' ''run''');

INSERT INTO mdmem_hub.former_name (name, repository_id) VALUES ('acme/store', 1);

INSERT INTO mdmem_hub.link (wing_id, file_id, field, target) VALUES (1, 2, 'body', 'shop/notes/cents');
INSERT INTO mdmem_hub.link (wing_id, file_id, field, target) VALUES (1, 3, 'superseded_by', 'shop/contracts/rounding');
INSERT INTO mdmem_hub.link (wing_id, file_id, field, target) VALUES (1, 4, 'supersedes', 'shop/contracts/floats');

INSERT INTO mdmem_hub.migration (number, applied_at) VALUES (1, '2026-11-29 11:02:51.564557+00');
INSERT INTO mdmem_hub.migration (number, applied_at) VALUES (2, '2026-11-29 11:02:51.564557+00');

INSERT INTO mdmem_hub.permission (principal_id, repository_id, wing, may_push) VALUES (1, 1, NULL, false);
INSERT INTO mdmem_hub.permission (principal_id, repository_id, wing, may_push) VALUES (2, 1, NULL, true);
INSERT INTO mdmem_hub.permission (principal_id, repository_id, wing, may_push) VALUES (3, 1, 'shop', false);

INSERT INTO mdmem_hub.pin (repository_id, wing_id, name) VALUES (1, 3, 'ros2');

INSERT INTO mdmem_hub.principal (id, role, name, token_hash) OVERRIDING SYSTEM VALUE VALUES (1, NULL, 'reader', '\x63d8bc215ff341ed1743ba768654dcc50e2c7242276bca7848785c33afcb048b');
INSERT INTO mdmem_hub.principal (id, role, name, token_hash) OVERRIDING SYSTEM VALUE VALUES (2, NULL, 'pusher', '\xdb02114f17930409f84bbb8ffb0a81bc02cc75139c0d9d44dd954e90444e3afd');
INSERT INTO mdmem_hub.principal (id, role, name, token_hash) OVERRIDING SYSTEM VALUE VALUES (3, NULL, 'narrow', '\x67c97d6cb511747a824cdf82dad3eaf09520613dd7c218520c6f33a5395cab37');

INSERT INTO mdmem_hub.push (repository_id, serial, commit, is_left, pushed_at) VALUES (1, 1, 'fd9b6e0f4a84b28374540409fb8518080208a46e', false, '2026-11-29 11:02:53.017676+00');
INSERT INTO mdmem_hub.push (repository_id, serial, commit, is_left, pushed_at) VALUES (2, 1, '3917627236162d728cbe86eb9d56ca888ce662a4', false, '2026-11-29 11:02:55.447419+00');

INSERT INTO mdmem_hub.repository (id, name, root, tracked, url, roots, commit, committed_at, pushed_at, serial, format, settings, narrow_settings) OVERRIDING SYSTEM VALUE VALUES (1, 'acme/shop', 'memory', '{}', NULL, '{ee1c4c46f633d9e60a0614485be98fd0ce65160a}', 'fd9b6e0f4a84b28374540409fb8518080208a46e', '2026-03-01 10:00:00+00', '2026-11-29 11:02:53.017676+00', 1, '8.02beda8e 0.1.0 2', '\x64656661756c745f77696e67203d202273686f70220a0a5b77696e67732e726f73325d0a676974203d202268747470733a2f2f6769742e6578616d706c652e6f72672f61636d652f6c6962220a726566203d20226d61696e220a636f6d6d6974203d202233393137363237323336313632643732386362653836656239643536636138383863653636326134220a', '\x');
INSERT INTO mdmem_hub.repository (id, name, root, tracked, url, roots, commit, committed_at, pushed_at, serial, format, settings, narrow_settings) OVERRIDING SYSTEM VALUE VALUES (2, 'acme/lib', 'memory', '{}', 'git.example.org/acme/lib', '{3917627236162d728cbe86eb9d56ca888ce662a4}', '3917627236162d728cbe86eb9d56ca888ce662a4', '2026-03-01 10:00:00+00', '2026-11-29 11:02:55.447419+00', 1, '8.02beda8e 0.1.0 2', '\x', '\x');

INSERT INTO mdmem_hub.wing (id, repository_id, name, source, source_path, commit, tree, format, is_shared, owners, documents, passages, lengths) OVERRIDING SYSTEM VALUE VALUES (1, 1, 'shop', NULL, NULL, NULL, NULL, '8.02beda8e 0.1.0 2', false, '{ada}', 4, 4, '{11,0,1,1,26}');
INSERT INTO mdmem_hub.wing (id, repository_id, name, source, source_path, commit, tree, format, is_shared, owners, documents, passages, lengths) OVERRIDING SYSTEM VALUE VALUES (2, 1, 'vault', NULL, NULL, NULL, NULL, '8.02beda8e 0.1.0 2', false, '{}', 1, 1, '{3,0,0,0,6}');
INSERT INTO mdmem_hub.wing (id, repository_id, name, source, source_path, commit, tree, format, is_shared, owners, documents, passages, lengths) OVERRIDING SYSTEM VALUE VALUES (3, NULL, 'ros2', 'git.example.org/acme/lib', 'memory/ros2', '3917627236162d728cbe86eb9d56ca888ce662a4', 'd25cc3bc69b11fcf470b200c6e4b810070cb5ab56401feb755457245ec81737c', '8.02beda8e 0.1.0 2', true, '{platform}', 1, 1, '{3,0,0,0,8}');
INSERT INTO mdmem_hub.wing (id, repository_id, name, source, source_path, commit, tree, format, is_shared, owners, documents, passages, lengths) OVERRIDING SYSTEM VALUE VALUES (4, 2, 'ros2', NULL, NULL, NULL, NULL, '8.02beda8e 0.1.0 2', true, '{platform}', 1, 1, '{3,0,0,0,8}');

SELECT pg_catalog.setval('mdmem_hub.file_id_seq', 11, true);

SELECT pg_catalog.setval('mdmem_hub.principal_id_seq', 3, true);

SELECT pg_catalog.setval('mdmem_hub.repository_id_seq', 2, true);

SELECT pg_catalog.setval('mdmem_hub.wing_id_seq', 4, true);

ALTER TABLE ONLY mdmem_hub.file
    ADD CONSTRAINT file_pkey PRIMARY KEY (id);

ALTER TABLE ONLY mdmem_hub.file
    ADD CONSTRAINT file_wing_id_id_key UNIQUE (wing_id, id);

ALTER TABLE ONLY mdmem_hub.file
    ADD CONSTRAINT file_wing_id_path_key UNIQUE (wing_id, path);

ALTER TABLE ONLY mdmem_hub.link
    ADD CONSTRAINT link_pkey PRIMARY KEY (wing_id, file_id, field, target);

ALTER TABLE ONLY mdmem_hub.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (number);

ALTER TABLE ONLY mdmem_hub.pin
    ADD CONSTRAINT pin_pkey PRIMARY KEY (repository_id, name);

ALTER TABLE ONLY mdmem_hub.principal
    ADD CONSTRAINT principal_name_key UNIQUE (name);

ALTER TABLE ONLY mdmem_hub.principal
    ADD CONSTRAINT principal_pkey PRIMARY KEY (id);

ALTER TABLE ONLY mdmem_hub.principal
    ADD CONSTRAINT principal_role_key UNIQUE (role);

ALTER TABLE ONLY mdmem_hub.principal
    ADD CONSTRAINT principal_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY mdmem_hub.push
    ADD CONSTRAINT push_pkey PRIMARY KEY (repository_id, serial);

ALTER TABLE ONLY mdmem_hub.repository
    ADD CONSTRAINT repository_pkey PRIMARY KEY (id);

ALTER TABLE ONLY mdmem_hub.wing
    ADD CONSTRAINT wing_pkey PRIMARY KEY (id);

CREATE INDEX file_sample ON mdmem_hub.file USING gin (words) WITH (fastupdate=off) WHERE (words @@ ''' sample'''::tsquery);

CREATE INDEX file_short_links ON mdmem_hub.file USING btree (wing_id) WHERE has_short_links;

CREATE INDEX file_words ON mdmem_hub.file USING gin (words) WITH (fastupdate=off);

CREATE UNIQUE INDEX former_name_name ON mdmem_hub.former_name USING btree (md5(name));

CREATE INDEX link_target ON mdmem_hub.link USING btree (wing_id, target);

CREATE UNIQUE INDEX permission_all ON mdmem_hub.permission USING btree (principal_id) WHERE (repository_id IS NULL);

CREATE UNIQUE INDEX permission_whole ON mdmem_hub.permission USING btree (principal_id, repository_id) WHERE (wing IS NULL);

CREATE UNIQUE INDEX permission_wing ON mdmem_hub.permission USING btree (principal_id, repository_id, wing) WHERE (wing IS NOT NULL);

CREATE INDEX pin_wing ON mdmem_hub.pin USING btree (wing_id);

CREATE UNIQUE INDEX repository_name ON mdmem_hub.repository USING btree (md5(name));

CREATE UNIQUE INDEX wing_own ON mdmem_hub.wing USING btree (md5((((repository_id)::text || '/'::text) || name))) WHERE (repository_id IS NOT NULL);

CREATE UNIQUE INDEX wing_pinned ON mdmem_hub.wing USING btree (md5(((((((((source || chr(10)) || source_path) || chr(10)) || commit) || chr(10)) || tree) || chr(10)) || format))) WHERE (repository_id IS NULL);

CREATE INDEX wing_repository ON mdmem_hub.wing USING btree (abs(repository_id));

CREATE TRIGGER pin_gone AFTER DELETE ON mdmem_hub.pin FOR EACH ROW EXECUTE FUNCTION mdmem_hub.drop_unpinned();

ALTER TABLE ONLY mdmem_hub.file
    ADD CONSTRAINT file_wing_id_fkey FOREIGN KEY (wing_id) REFERENCES mdmem_hub.wing(id) ON DELETE CASCADE;

ALTER TABLE ONLY mdmem_hub.former_name
    ADD CONSTRAINT former_name_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES mdmem_hub.repository(id) ON DELETE CASCADE;

ALTER TABLE ONLY mdmem_hub.link
    ADD CONSTRAINT link_wing_id_file_id_fkey FOREIGN KEY (wing_id, file_id) REFERENCES mdmem_hub.file(wing_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY mdmem_hub.permission
    ADD CONSTRAINT permission_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES mdmem_hub.principal(id) ON DELETE CASCADE;

ALTER TABLE ONLY mdmem_hub.permission
    ADD CONSTRAINT permission_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES mdmem_hub.repository(id) ON DELETE CASCADE;

ALTER TABLE ONLY mdmem_hub.pin
    ADD CONSTRAINT pin_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES mdmem_hub.repository(id) ON DELETE CASCADE;

ALTER TABLE ONLY mdmem_hub.pin
    ADD CONSTRAINT pin_wing_id_fkey FOREIGN KEY (wing_id) REFERENCES mdmem_hub.wing(id);

ALTER TABLE ONLY mdmem_hub.push
    ADD CONSTRAINT push_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES mdmem_hub.repository(id) ON DELETE CASCADE;

ALTER TABLE ONLY mdmem_hub.wing
    ADD CONSTRAINT wing_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES mdmem_hub.repository(id) ON DELETE CASCADE;

CREATE POLICY changed ON mdmem_hub.file FOR UPDATE USING ((wing_id = ANY (ARRAY( SELECT mdmem_hub.pushable_wing() AS pushable_wing))));

CREATE POLICY changed ON mdmem_hub.link FOR UPDATE USING ((wing_id = ANY (ARRAY( SELECT mdmem_hub.pushable_wing() AS pushable_wing))));

CREATE POLICY changed ON mdmem_hub.push FOR UPDATE USING ((repository_id = ANY (ARRAY( SELECT mdmem_hub.pushable_repository() AS pushable_repository))));

CREATE POLICY changed ON mdmem_hub.repository FOR UPDATE USING ((id IN ( SELECT mdmem_hub.pushable_repository() AS pushable_repository)));

CREATE POLICY changed ON mdmem_hub.wing FOR UPDATE USING ((id IN ( SELECT mdmem_hub.pushable_wing() AS pushable_wing)));

ALTER TABLE mdmem_hub.file ENABLE ROW LEVEL SECURITY;

ALTER TABLE mdmem_hub.former_name ENABLE ROW LEVEL SECURITY;

ALTER TABLE mdmem_hub.link ENABLE ROW LEVEL SECURITY;

ALTER TABLE mdmem_hub.permission ENABLE ROW LEVEL SECURITY;

ALTER TABLE mdmem_hub.pin ENABLE ROW LEVEL SECURITY;

ALTER TABLE mdmem_hub.principal ENABLE ROW LEVEL SECURITY;

ALTER TABLE mdmem_hub.push ENABLE ROW LEVEL SECURITY;

CREATE POLICY put ON mdmem_hub.file FOR INSERT WITH CHECK ((wing_id = ANY (ARRAY( SELECT mdmem_hub.pushable_wing() AS pushable_wing))));

CREATE POLICY put ON mdmem_hub.link FOR INSERT WITH CHECK ((wing_id = ANY (ARRAY( SELECT mdmem_hub.pushable_wing() AS pushable_wing))));

CREATE POLICY put ON mdmem_hub.push FOR INSERT WITH CHECK ((repository_id = ANY (ARRAY( SELECT mdmem_hub.pushable_repository() AS pushable_repository))));

CREATE POLICY put ON mdmem_hub.wing FOR INSERT WITH CHECK ((repository_id IN ( SELECT mdmem_hub.pushable_repository() AS pushable_repository)));

ALTER TABLE mdmem_hub.repository ENABLE ROW LEVEL SECURITY;

CREATE POLICY seen ON mdmem_hub.file FOR SELECT USING (((wing_id IN ( SELECT mdmem_hub.visible_wing() AS visible_wing)) AND (wing_id = ANY (ARRAY( SELECT mdmem_hub.visible_wing() AS visible_wing)))));

CREATE POLICY seen ON mdmem_hub.former_name FOR SELECT USING ((repository_id IN ( SELECT mdmem_hub.visible_repository() AS visible_repository)));

CREATE POLICY seen ON mdmem_hub.link FOR SELECT USING (((wing_id IN ( SELECT mdmem_hub.visible_wing() AS visible_wing)) AND (wing_id = ANY (ARRAY( SELECT mdmem_hub.visible_wing() AS visible_wing)))));

CREATE POLICY seen ON mdmem_hub.push FOR SELECT USING (((repository_id IN ( SELECT mdmem_hub.visible_repository() AS visible_repository)) AND (repository_id = ANY (ARRAY( SELECT mdmem_hub.visible_repository() AS visible_repository)))));

CREATE POLICY seen ON mdmem_hub.repository FOR SELECT USING ((id IN ( SELECT mdmem_hub.visible_repository() AS visible_repository)));

CREATE POLICY seen ON mdmem_hub.wing FOR SELECT USING ((id IN ( SELECT mdmem_hub.visible_wing() AS visible_wing)));

CREATE POLICY taken ON mdmem_hub.file FOR DELETE USING ((wing_id = ANY (ARRAY( SELECT mdmem_hub.pushable_wing() AS pushable_wing))));

CREATE POLICY taken ON mdmem_hub.link FOR DELETE USING ((wing_id = ANY (ARRAY( SELECT mdmem_hub.pushable_wing() AS pushable_wing))));

CREATE POLICY taken ON mdmem_hub.wing FOR DELETE USING ((id IN ( SELECT mdmem_hub.pushable_wing() AS pushable_wing)));

ALTER TABLE mdmem_hub.wing ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA mdmem_hub TO PUBLIC;

REVOKE ALL ON FUNCTION mdmem_hub.caller_principal() FROM PUBLIC;

REVOKE ALL ON FUNCTION mdmem_hub.drop_unpinned() FROM PUBLIC;

REVOKE ALL ON FUNCTION mdmem_hub.sees_all() FROM PUBLIC;

GRANT SELECT,DELETE ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(wing_id) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(path),UPDATE(path) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(kind),UPDATE(kind) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(blob),UPDATE(blob) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(content),UPDATE(content) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(type),UPDATE(type) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(status),UPDATE(status) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(title),UPDATE(title) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(room),UPDATE(room) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(label),UPDATE(label) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(owner),UPDATE(owner) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(focus),UPDATE(focus) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(tags),UPDATE(tags) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(has_short_links),UPDATE(has_short_links) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(record),UPDATE(record) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(terms),UPDATE(terms) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(lengths),UPDATE(lengths) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT INSERT(words),UPDATE(words) ON TABLE mdmem_hub.file TO PUBLIC;

GRANT SELECT ON TABLE mdmem_hub.former_name TO PUBLIC;

GRANT SELECT,DELETE ON TABLE mdmem_hub.link TO PUBLIC;

GRANT INSERT(wing_id) ON TABLE mdmem_hub.link TO PUBLIC;

GRANT INSERT(file_id) ON TABLE mdmem_hub.link TO PUBLIC;

GRANT INSERT(field),UPDATE(field) ON TABLE mdmem_hub.link TO PUBLIC;

GRANT INSERT(target),UPDATE(target) ON TABLE mdmem_hub.link TO PUBLIC;

GRANT SELECT ON TABLE mdmem_hub.migration TO PUBLIC;

GRANT SELECT,INSERT ON TABLE mdmem_hub.push TO PUBLIC;

GRANT UPDATE(is_left) ON TABLE mdmem_hub.push TO PUBLIC;

GRANT SELECT(id) ON TABLE mdmem_hub.repository TO PUBLIC;

GRANT SELECT(name) ON TABLE mdmem_hub.repository TO PUBLIC;

GRANT SELECT(root),UPDATE(root) ON TABLE mdmem_hub.repository TO PUBLIC;

GRANT SELECT(tracked),UPDATE(tracked) ON TABLE mdmem_hub.repository TO PUBLIC;

GRANT SELECT(url),UPDATE(url) ON TABLE mdmem_hub.repository TO PUBLIC;

GRANT SELECT(roots),UPDATE(roots) ON TABLE mdmem_hub.repository TO PUBLIC;

GRANT SELECT(commit),UPDATE(commit) ON TABLE mdmem_hub.repository TO PUBLIC;

GRANT SELECT(committed_at),UPDATE(committed_at) ON TABLE mdmem_hub.repository TO PUBLIC;

GRANT SELECT(pushed_at),UPDATE(pushed_at) ON TABLE mdmem_hub.repository TO PUBLIC;

GRANT SELECT(serial),UPDATE(serial) ON TABLE mdmem_hub.repository TO PUBLIC;

GRANT SELECT(format),UPDATE(format) ON TABLE mdmem_hub.repository TO PUBLIC;

GRANT UPDATE(settings) ON TABLE mdmem_hub.repository TO PUBLIC;

GRANT SELECT(narrow_settings),UPDATE(narrow_settings) ON TABLE mdmem_hub.repository TO PUBLIC;

GRANT SELECT,DELETE ON TABLE mdmem_hub.wing TO PUBLIC;

GRANT INSERT(repository_id) ON TABLE mdmem_hub.wing TO PUBLIC;

GRANT INSERT(name),UPDATE(name) ON TABLE mdmem_hub.wing TO PUBLIC;

GRANT INSERT(source) ON TABLE mdmem_hub.wing TO PUBLIC;

GRANT INSERT(source_path) ON TABLE mdmem_hub.wing TO PUBLIC;

GRANT INSERT(commit) ON TABLE mdmem_hub.wing TO PUBLIC;

GRANT INSERT(tree) ON TABLE mdmem_hub.wing TO PUBLIC;

GRANT INSERT(format),UPDATE(format) ON TABLE mdmem_hub.wing TO PUBLIC;

GRANT INSERT(is_shared),UPDATE(is_shared) ON TABLE mdmem_hub.wing TO PUBLIC;

GRANT INSERT(owners),UPDATE(owners) ON TABLE mdmem_hub.wing TO PUBLIC;

GRANT INSERT(documents),UPDATE(documents) ON TABLE mdmem_hub.wing TO PUBLIC;

GRANT INSERT(passages),UPDATE(passages) ON TABLE mdmem_hub.wing TO PUBLIC;

GRANT INSERT(lengths),UPDATE(lengths) ON TABLE mdmem_hub.wing TO PUBLIC;


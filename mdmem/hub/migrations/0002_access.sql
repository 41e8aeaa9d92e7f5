-- A caller is the database role of the session, or the owner of the token that it shows. Only a token's hash is stored.
CREATE TABLE principal (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    role regrole UNIQUE,
    name text UNIQUE,
    token_hash bytea UNIQUE CHECK (length(token_hash) = 32),
    CHECK (num_nonnulls(role, name) = 1 AND (name IS NULL) = (token_hash IS NULL))
);

-- What a caller sees: every repository, also future ones (`repository_id` is null), one repository with its pinned wings
-- (`wing` is null), or one wing.
CREATE TABLE permission (
    principal_id integer NOT NULL REFERENCES principal ON DELETE CASCADE,
    repository_id integer REFERENCES repository ON DELETE CASCADE,
    wing text,
    may_push boolean NOT NULL DEFAULT false,
    CHECK (wing IS NULL OR NOT may_push AND repository_id IS NOT NULL),
    CHECK (repository_id IS NOT NULL OR NOT may_push)
);
CREATE UNIQUE INDEX permission_all ON permission (principal_id) WHERE repository_id IS NULL;
CREATE UNIQUE INDEX permission_whole ON permission (principal_id, repository_id) WHERE wing IS NULL;
CREATE UNIQUE INDEX permission_wing ON permission (principal_id, repository_id, wing) WHERE wing IS NOT NULL;

-- The functions below run as the hub's owner, whom no policy limits, and return only what the caller may know. The
-- caller is the role of SET ROLE, which checks the membership, or else that of the session (`role` is `none`). Functions
-- that policies call are in PL/pgSQL, which caches their plans.

-- Whether the caller owns the hub. PostgreSQL applies no policies to the owner.
CREATE FUNCTION is_owner() RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, mdmem_hub, pg_temp AS $$
BEGIN
    RETURN (
        SELECT rolbypassrls OR pg_has_role(pg_roles.oid, nspowner, 'USAGE') FROM pg_roles, pg_namespace
        WHERE rolname = coalesce(nullif(current_setting('role'), 'none'), session_user) AND nspname = 'mdmem_hub'
    );
END $$;

-- The principals of the caller. Anybody can set the token to any text, but not to one with a given hash.
CREATE FUNCTION caller_principal() RETURNS SETOF integer LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, mdmem_hub, pg_temp AS $$
DECLARE
    asking name := coalesce(nullif(current_setting('role'), 'none'), session_user);
BEGIN
    RETURN QUERY
        SELECT id FROM principal WHERE token_hash = sha256(convert_to(current_setting('mdmem.token', true), 'UTF8'))
        UNION ALL
        SELECT id FROM principal WHERE role IS NOT NULL AND pg_has_role(asking, role::oid, 'USAGE');
END $$;

CREATE FUNCTION sees_all() RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, mdmem_hub, pg_temp AS $$
BEGIN
    RETURN is_owner() OR EXISTS (
        SELECT FROM permission WHERE repository_id IS NULL AND principal_id IN (SELECT caller_principal())
    );
END $$;

CREATE FUNCTION visible_scope() RETURNS TABLE (repository_id integer, wing text, may_push boolean)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, mdmem_hub, pg_temp AS $$
DECLARE
    owns boolean := is_owner();
BEGIN
    IF sees_all() THEN
        RETURN QUERY SELECT id, NULL::text, owns FROM repository;
    END IF;
    RETURN QUERY SELECT one.repository_id, one.wing, one.may_push FROM permission AS one
        WHERE one.repository_id IS NOT NULL AND principal_id IN (SELECT caller_principal());
END $$;

CREATE FUNCTION visible_repository() RETURNS SETOF integer LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, mdmem_hub, pg_temp AS $$
    SELECT DISTINCT repository_id FROM visible_scope()
$$;

CREATE FUNCTION pushable_repository() RETURNS SETOF integer LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, mdmem_hub, pg_temp AS $$
    SELECT repository_id FROM visible_scope() WHERE may_push
$$;

-- Whether the caller sees every wing of a repository. Otherwise, answers omit the links to its hidden wings.
CREATE FUNCTION reads_whole(repository integer) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, mdmem_hub, pg_temp AS $$
    SELECT EXISTS (SELECT FROM visible_scope() WHERE repository_id = repository AND wing IS NULL)
$$;

-- The visible pins. The table itself is not readable, because the pins of a wing list all repositories that read it.
CREATE FUNCTION visible_pin() RETURNS TABLE (repository_id integer, wing_id integer, name text)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, mdmem_hub, pg_temp AS $$
    SELECT repository_id, wing_id, name FROM pin
    WHERE repository_id IN (SELECT repository_id FROM visible_scope() WHERE wing IS NULL)
        OR (repository_id, name) IN (SELECT repository_id, wing FROM visible_scope() WHERE wing IS NOT NULL)
$$;

CREATE FUNCTION visible_wing() RETURNS SETOF integer LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, mdmem_hub, pg_temp AS $$
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

-- Only the transaction that adds a pinned wing writes it, because other repositories may read it, too.
CREATE FUNCTION pushable_wing() RETURNS SETOF integer LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mdmem_hub, pg_temp AS $$
    SELECT id FROM wing WHERE repository_id = ANY (ARRAY(SELECT pushable_repository()))
    UNION ALL
    SELECT id FROM wing WHERE repository_id IS NULL AND xmin = pg_current_xact_id_if_assigned()::xid
$$;

-- The visible repository that has a name, or had it before.
CREATE FUNCTION repository_named(called text) RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, mdmem_hub, pg_temp AS $$
    SELECT id FROM (
        SELECT id, 1 AS place FROM repository WHERE md5(name) = md5(called)
        UNION ALL
        SELECT repository_id, 2 FROM former_name WHERE md5(name) = md5(called)
    ) AS found WHERE id IN (SELECT visible_repository()) ORDER BY place LIMIT 1
$$;

-- The settings. They mention wings and their origins, so a caller who does not see all wings gets only the rest.
CREATE FUNCTION settings_of(repository integer) RETURNS bytea LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, mdmem_hub, pg_temp AS $$
    SELECT CASE WHEN reads_whole(repository) THEN settings ELSE narrow_settings END FROM repository AS one
    WHERE id = repository AND id IN (SELECT visible_repository())
$$;

-- Whether the session has no token, or a known one.
CREATE FUNCTION is_known_token() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mdmem_hub, pg_temp AS $$
    SELECT coalesce(current_setting('mdmem.token', true), '') = '' OR EXISTS (
        SELECT FROM principal WHERE token_hash = sha256(convert_to(current_setting('mdmem.token', true), 'UTF8'))
    )
$$;

-- Pin a wing of another repository. Return its id, and whether it is new, so that the caller must send its rows. Only
-- somebody who has the files knows the hash of their contents. So nobody can pin a wing to see it, and a forged wing
-- never replaces the true one.
CREATE FUNCTION pinned_wing(
    reader integer, called text, origin text, folder text, at text, content text, packed text
) RETURNS TABLE (id integer, is_new boolean) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mdmem_hub, pg_temp AS $$
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

-- Delete a pinned wing with its last pin. The row is locked first. So another transaction that pins it now is either
-- visible here, or it waits and finds the wing deleted.
CREATE FUNCTION drop_unpinned() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mdmem_hub, pg_temp AS $$
BEGIN
    PERFORM FROM wing WHERE id = OLD.wing_id FOR UPDATE;
    DELETE FROM wing WHERE id = OLD.wing_id AND NOT EXISTS (SELECT FROM pin WHERE wing_id = OLD.wing_id);
    RETURN NULL;
END $$;
CREATE TRIGGER pin_gone AFTER DELETE ON pin FOR EACH ROW EXECUTE FUNCTION drop_unpinned();

-- Remove pins of a repository.
CREATE FUNCTION unpin(reader integer, called text[]) RETURNS void LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mdmem_hub, pg_temp AS $$
    DELETE FROM pin WHERE repository_id = reader AND name = ANY (called)
        AND repository_id IN (SELECT pushable_repository())
$$;

-- A policy has the visible ids twice: as a set, which PostgreSQL checks for each row before any condition of a query, and
-- as an array, which an index can use (each begins with the wing). Both skip a hidden row before anything of it is read,
-- so EXPLAIN ANALYZE shows the same counts whatever the row contains.
ALTER TABLE principal ENABLE ROW LEVEL SECURITY;
ALTER TABLE permission ENABLE ROW LEVEL SECURITY;
ALTER TABLE pin ENABLE ROW LEVEL SECURITY;
ALTER TABLE repository ENABLE ROW LEVEL SECURITY;
ALTER TABLE former_name ENABLE ROW LEVEL SECURITY;
ALTER TABLE push ENABLE ROW LEVEL SECURITY;
ALTER TABLE wing ENABLE ROW LEVEL SECURITY;
ALTER TABLE file ENABLE ROW LEVEL SECURITY;
ALTER TABLE link ENABLE ROW LEVEL SECURITY;

CREATE POLICY seen ON repository FOR SELECT USING (id IN (SELECT visible_repository()));
CREATE POLICY changed ON repository FOR UPDATE USING (id IN (SELECT pushable_repository()));
CREATE POLICY seen ON former_name FOR SELECT USING (repository_id IN (SELECT visible_repository()));
CREATE POLICY seen ON push FOR SELECT USING (repository_id IN (SELECT visible_repository())
    AND repository_id = ANY (ARRAY(SELECT visible_repository())));
CREATE POLICY put ON push FOR INSERT WITH CHECK (repository_id = ANY (ARRAY(SELECT pushable_repository())));
CREATE POLICY changed ON push FOR UPDATE USING (repository_id = ANY (ARRAY(SELECT pushable_repository())));
CREATE POLICY seen ON wing FOR SELECT USING (id IN (SELECT visible_wing()));
CREATE POLICY put ON wing FOR INSERT WITH CHECK (repository_id IN (SELECT pushable_repository()));
CREATE POLICY changed ON wing FOR UPDATE USING (id IN (SELECT pushable_wing()));
CREATE POLICY taken ON wing FOR DELETE USING (id IN (SELECT pushable_wing()));
CREATE POLICY seen ON file FOR SELECT USING (wing_id IN (SELECT visible_wing())
    AND wing_id = ANY (ARRAY(SELECT visible_wing())));
CREATE POLICY put ON file FOR INSERT WITH CHECK (wing_id = ANY (ARRAY(SELECT pushable_wing())));
CREATE POLICY taken ON file FOR DELETE USING (wing_id = ANY (ARRAY(SELECT pushable_wing())));
CREATE POLICY seen ON link FOR SELECT USING (wing_id IN (SELECT visible_wing())
    AND wing_id = ANY (ARRAY(SELECT visible_wing())));
CREATE POLICY put ON link FOR INSERT WITH CHECK (wing_id = ANY (ARRAY(SELECT pushable_wing())));
CREATE POLICY taken ON link FOR DELETE USING (wing_id = ANY (ARRAY(SELECT pushable_wing())));

-- Nobody sets an id that the database assigns, or moves a row to another wing or repository.
GRANT SELECT, DELETE ON wing, file, link TO PUBLIC;
GRANT INSERT ON link TO PUBLIC;
GRANT INSERT (wing_id, path, kind, blob, content, type, status, title, room, label, owner, focus, tags, has_short_links,
    words) ON file TO PUBLIC;
GRANT INSERT (repository_id, name, source, source_path, commit, tree, format, is_shared, owners, documents),
    UPDATE (name, format, is_shared, owners, documents) ON wing TO PUBLIC;
GRANT SELECT (id, name, tracked, root, url, roots, commit, committed_at, pushed_at, serial, format, narrow_settings),
    UPDATE (tracked, root, url, roots, commit, committed_at, pushed_at, serial, format, narrow_settings, settings)
    ON repository TO PUBLIC;
GRANT SELECT ON former_name, push, migration TO PUBLIC;
GRANT INSERT, UPDATE (is_left) ON push TO PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA mdmem_hub FROM PUBLIC;
GRANT EXECUTE ON FUNCTION visible_scope, visible_repository, pushable_repository, reads_whole, visible_pin, visible_wing,
    pushable_wing, repository_named, settings_of, is_known_token, is_owner, pinned_wing, unpin TO PUBLIC;
GRANT USAGE ON SCHEMA mdmem_hub TO PUBLIC;

-- The planner estimates from statistics of all rows, and EXPLAIN shows the estimates. So there are no statistics.
DO $$
DECLARE
    one text;
    called text;
BEGIN
    FOR one, called IN SELECT attrelid::regclass, attname FROM pg_attribute
        WHERE attrelid = ANY (ARRAY['repository', 'former_name', 'push', 'wing', 'file', 'link']::regclass[])
            AND attnum > 0
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', one, called);
    END LOOP;
END $$;

-- Search entries by their words alone. Drop the packed entries and passages, which only hubs of an earlier version have.
DROP FUNCTION IF EXISTS candidate(tsquery, integer[], integer, boolean);
ALTER TABLE file DROP COLUMN IF EXISTS record, DROP COLUMN IF EXISTS terms, DROP COLUMN IF EXISTS lengths;
ALTER TABLE wing DROP COLUMN IF EXISTS passages, DROP COLUMN IF EXISTS lengths,
    ADD CHECK (documents BETWEEN 0 AND 10000000);

-- Count the visible entries that contain a word, at most 4000. In a large hub, common words are counted in a sample: one
-- in 64 entries has the mark ' sample'. Because of `+ 0`, PostgreSQL does not use the index of wings.
CREATE FUNCTION count_entries(asked tsquery, visible integer[], is_large boolean) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mdmem_hub, pg_temp
SET enable_seqscan = off SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    counted bigint := 0;
BEGIN
    IF is_large THEN
        SELECT 64 * count(*) INTO counted FROM (
            SELECT FROM file WHERE words @@ ''' sample'''::tsquery AND words @@ asked AND wing_id + 0 = ANY (visible)
            LIMIT 4000
        ) AS one;
    END IF;
    IF counted < 2000 THEN
        SELECT count(*) INTO counted FROM (
            SELECT FROM file WHERE words @@ asked AND wing_id + 0 = ANY (visible) LIMIT 4000
        ) AS one;
    END IF;
    RETURN counted;
END $$;

-- Find the entries that contain the rarest of some words, the best first.
--
-- With the policy of `file`, PostgreSQL would not use the index of words. So this runs as the owner, and omits hidden
-- entries itself. Order and counts depend only on visible entries, so that they reveal nothing about others.
--
-- `needed` are the words of the question, and `more` are identifiers that consist of several of them, all in the quotes
-- of a `tsquery`. A word that no entry contains counts as the beginning of a word. `wings` and the parameters after
-- `most` are filters; NULL means all. In a small part of the hub, all matches are ranked. In a large one, search first
-- for entries with all words, then with any four of the five rarest words, and so on, until there are enough. At most
-- 2,000 are ranked, by the sum of the rarities of their words; a word in a title, which has its own mark, counts more.
--
-- Return the best entries, each with the number of ranked entries, whether these are all matches, and the numbers of the
-- words that were searched as beginnings.
CREATE FUNCTION search_entries(
    needed text[], more text[], wings integer[], most integer, types text[] DEFAULT NULL, statuses text[] DEFAULT NULL,
    rooms text[] DEFAULT NULL, labels text[] DEFAULT NULL, owned_by text[] DEFAULT NULL, focuses text[] DEFAULT NULL,
    tagged text[] DEFAULT NULL
) RETURNS TABLE (file_id bigint, score double precision, ranked integer, is_all boolean, beginnings integer[])
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mdmem_hub, pg_temp
SET enable_seqscan = off SET plan_cache_mode = force_custom_plan SET work_mem = '64MB' SET jit = off AS $$
DECLARE
    visible integer[] := ARRAY(SELECT one FROM visible_wing() AS one WHERE wings IS NULL OR one = ANY (wings));
    entries double precision := (SELECT coalesce(sum(documents), 0) FROM wing WHERE wing.id = ANY (visible));
    -- The words of each entry include a mark of its wing. So the index can find the entries of a few wings.
    narrow tsquery := CASE WHEN cardinality(visible) <= 32 THEN
        (SELECT string_agg(quote_literal(' w' || one), ' | ') FROM unnest(visible) AS one) ELSE '' END;
    word text;
    place integer := 0;
    number bigint;
    known text[] := '{}';
    together text[] := '{}';
    titles text[] := '{}';
    weights double precision[] := '{}';
    counts bigint[] := '{}';
    rarest text[];
    steps tsquery[];
    step tsquery;
    found bigint[] := '{}';
    had integer;
    cap integer := CASE WHEN entries <= 5000 THEN 5000 ELSE 2000 END;
BEGIN
    beginnings := '{}';
    IF cardinality(visible) = 0 THEN
        RETURN;
    END IF;
    FOREACH word IN ARRAY needed || more LOOP
        place := place + 1;
        number := count_entries(word::tsquery && narrow, visible, entries > 50000);
        titles := titles || (''' =' || substr(word, 2));
        IF number = 0 AND place <= cardinality(needed) AND length(word) > 4 THEN
            word := word || ':*';
            number := count_entries(word::tsquery && narrow, visible, entries > 50000);
            titles[cardinality(titles)] := titles[cardinality(titles)] || ':*';
            beginnings := CASE WHEN number > 0 THEN beginnings || place ELSE beginnings END;
        END IF;
        IF number = 0 THEN
            titles := trim_array(titles, 1);
        ELSE
            known := known || word;
            together := CASE WHEN place <= cardinality(needed) THEN together || word ELSE together END;
            counts := counts || number;
            weights := weights || ln(1 + greatest(entries, number) / (number + 1));
        END IF;
    END LOOP;
    IF cardinality(known) = 0 THEN
        RETURN;
    END IF;
    rarest := ARRAY(
        SELECT one FROM unnest(known, counts) WITH ORDINALITY AS of (one, rows, at) ORDER BY rows, at LIMIT 5
    );
    IF entries <= 5000 THEN
        steps := ARRAY[array_to_string(known, ' | ')::tsquery];
    ELSE
        steps := array_to_string(together, ' & ')::tsquery || ARRAY(
            SELECT string_agg(part, ' | ')::tsquery FROM (
                SELECT count(*) AS size, '(' || string_agg(one, ' & ') || ')' AS part
                FROM generate_series(1, (1 << cardinality(rarest)) - 1) AS mask,
                    unnest(rarest) WITH ORDINALITY AS of (one, at)
                WHERE mask & (1 << (at - 1)::integer) <> 0 GROUP BY mask
            ) AS combined GROUP BY size ORDER BY size DESC
        );
    END IF;
    FOREACH step IN ARRAY steps LOOP
        had := cardinality(found);
        found := found || ARRAY(
            SELECT file.id FROM file
            WHERE words @@ (step && narrow) AND wing_id + 0 = ANY (visible) AND type IS NOT NULL
                AND (types IS NULL OR type = ANY (types)) AND (statuses IS NULL OR status = ANY (statuses))
                AND (rooms IS NULL OR room = ANY (rooms)) AND (labels IS NULL OR label = ANY (labels))
                AND (owned_by IS NULL OR owner = ANY (owned_by)) AND (focuses IS NULL OR focus = ANY (focuses))
                AND (tagged IS NULL OR tags && tagged)
            LIMIT cap
        );
        is_all := step = steps[cardinality(steps)] AND cardinality(known) <= cardinality(rarest)
            AND cardinality(found) - had < cap;
        EXIT WHEN cardinality(found) >= most;
    END LOOP;
    IF entries <= 5000 THEN
        is_all := cardinality(found) < cap;
    END IF;
    -- `||` unpacks the words once, not for each word of the question.
    RETURN QUERY
        SELECT one.id, sum(weight * CASE WHEN held @@ in_title::tsquery THEN 1.8 ELSE 1 END),
            (SELECT count(DISTINCT id) FROM unnest(found) AS id)::integer, search_entries.is_all,
            search_entries.beginnings
        FROM (SELECT id, words || ''::tsvector AS held FROM file WHERE id = ANY (found) OFFSET 0) AS one,
            unnest(known, titles, weights) AS of (term, in_title, weight)
        WHERE held @@ term::tsquery GROUP BY one.id ORDER BY 2 DESC, 1 LIMIT most;
END $$;

REVOKE ALL ON FUNCTION count_entries, search_entries FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_entries TO PUBLIC;

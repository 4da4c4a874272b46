-- expect: rows
SELECT id FROM item
SELECT id AS "delete" FROM item
SELECT id AS drop_table, label AS update_time FROM item
SELECT 'DROP TABLE item; DELETE FROM item' AS advice
SELECT id FROM item WHERE label LIKE '%;%'
SELECT id FROM item WHERE label = 'nut; bolt' -- ; DROP TABLE item
SELECT id /* DELETE; */ FROM item
SELECT COUNT(*) FROM item WHERE label NOT IN ('insert', 'update', 'delete')
WITH deleted AS (SELECT id FROM item) SELECT * FROM deleted
WITH a AS (SELECT id FROM item), b AS (SELECT id FROM a) SELECT COUNT(*) FROM b
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT SUM(i) FROM n
SELECT id FROM item UNION ALL SELECT id FROM maker
SELECT id FROM item EXCEPT SELECT id FROM maker
SELECT id FROM item INTERSECT SELECT id FROM maker
SELECT id, ROW_NUMBER() OVER (PARTITION BY maker_id ORDER BY price DESC) AS place FROM item
SELECT id, SUM(price) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM item
SELECT CASE WHEN price > 5 THEN 'set' ELSE 'reset' END FROM item
SELECT m.name, COUNT(*) FROM item i LEFT JOIN maker m ON m.id = i.maker_id GROUP BY m.name HAVING COUNT(*) > 1 ORDER BY 2 DESC
SELECT COALESCE(label, 'none'), NULLIF(price, 0), CAST(id AS CHAR(5)) FROM item
SELECT EXISTS (SELECT 1 FROM item WHERE price IS NULL)
SELECT * FROM (SELECT id FROM item) AS analyze_me
SELECT REPLACE(label, 'nut', 'explain') FROM item
SELECT MIN(id), MAX(id), AVG(price) FROM item WHERE id BETWEEN 1 AND 100
SELECT DISTINCT maker_id FROM item ORDER BY maker_id
SELECT id FROM item ORDER BY id LIMIT 2 OFFSET 1
SELECT i.id FROM item i WHERE i.price = (SELECT MAX(price) FROM item j WHERE j.maker_id = i.maker_id)
SELECT 1 AS "a;b"
SELECT id FROM item;
SELECT id FROM item ; -- done
⟦NEWLINE⟧⟦NEWLINE⟧   select⟦NEWLINE⟧⟦TAB⟧id⟦NEWLINE⟧from item
SELECT 'it''s; fine'
SELECT '--', '/*', '*/'
SELECT COUNT(*) AS "call", 2 AS "grant", 3 AS "into" FROM item
SELECT id FROM cheap WHERE label <> 'COPY (SELECT 1) TO PROGRAM'
-- expect: rows @sqlite
SELECT "delete", [update], `drop` FROM (SELECT 1 AS "delete", 2 AS [update], 3 AS `drop`)
SELECT json_extract('{"a": [1, 2]}', '$.a[1]'), '{"a": 1}' -> 'a', '{"a": 1}' ->> 'a'
SELECT strftime('%Y', '2020-01-01'), date('now'), julianday('2020-01-01')
SELECT group_concat(label, ';') FROM item
SELECT id FROM item WHERE id IN (VALUES (10), (11))
VALUES (1, 'a'), (2, 'b')
SELECT value FROM json_each((SELECT json_group_array(id) FROM item))
SELECT printf('%05d', 42), instr('abc', 'b'), iif(1, 2, 3), typeof(1.0), hex('a'), quote('x')
SELECT total(price) FILTER (WHERE id > 10) FROM item
-- expect: rows @duckdb
FROM item
FROM item SELECT id WHERE price > 5
SELECT * EXCLUDE (price) FROM item
SELECT COLUMNS('i.*') FROM item
SELECT [x * 2 FOR x IN [1, 2, 3]] AS doubled
SELECT {'set': 1, 'copy': 2}.copy
SELECT '{"a": 1}'::JSON -> 'a', json_extract_string('{"a": "b"}', '$.a')
PIVOT item ON maker_id USING SUM(price) GROUP BY label
UNPIVOT (SELECT 1 AS a, 2 AS b) ON a, b INTO NAME k VALUE v
SELECT id FROM item QUALIFY ROW_NUMBER() OVER (PARTITION BY maker_id ORDER BY id) = 1
VALUES (1), (2)
SELECT unnest([1, 2, 3])
SELECT "delete" FROM (SELECT 1 AS "delete")
SELECT extract(year FROM DATE '2020-01-01'), trim(BOTH 'x' FROM 'xax'), date_trunc('month', DATE '2020-05-05')
SELECT list_transform([1, 2], lambda x: x + 1)
SELECT string_agg(label, ';' ORDER BY id), arg_max(id, price) FROM item
SELECT $$; DROP TABLE item$$
-- expect: rows @postgres
SELECT "delete", "update" FROM (SELECT 1 AS "delete", 2 AS "update") t
SELECT '{"a": [1]}'::jsonb -> 'a' ->> 0, '{"a": 1}'::jsonb @> '{"a": 1}', jsonb_path_query('{"a": 1}', '$.a')
SELECT id FROM item WHERE label ~* '^nut' OR label ILIKE '%BOLT'
SELECT ARRAY(SELECT id FROM item ORDER BY id), unnest(ARRAY[1, 2])
SELECT $$; DROP TABLE item$$, $x$ DELETE $x$, E'it\'s; fine', U&'d\0061ta'
SELECT DISTINCT ON (maker_id) id FROM item ORDER BY maker_id, price
VALUES (1, 'a'), (2, 'b')
TABLE item
SELECT * FROM item, LATERAL (SELECT name FROM maker WHERE maker.id = item.maker_id) m
SELECT generate_series(1, 3), now() IS NOT NULL, date_trunc('month', CURRENT_DATE) IS NOT NULL
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY price) FROM item
SELECT substring('abc' FROM 2 FOR 1), extract(year FROM now()) > 0, position('b' IN 'abc')
SELECT to_char(1234.5, 'FM9,999.00'), to_tsvector('english', 'a cat') @@ to_tsquery('cat')
SELECT lower(label), log(10), local FROM (SELECT 'X' AS label, 1 AS local) t
SELECT id FROM item TABLESAMPLE SYSTEM (100)
SELECT row_to_json(t) FROM (SELECT id, label FROM item) t
SELECT id FROM item FETCH FIRST 2 ROWS ONLY
-- expect: rows @mysql
SELECT `delete`, `update` FROM (SELECT 1 AS `delete`, 2 AS `update`) t
SELECT "a;b", 'it\'s; fine', 'a' 'b'
SELECT JSON_EXTRACT('{"a": 1}', '$.a'), JSON_UNQUOTE('"x"')
SELECT id FROM item WHERE label REGEXP '^nut' OR label RLIKE 'bolt'
SELECT GROUP_CONCAT(label SEPARATOR ';') FROM item
SELECT IF(price > 5, 'yes', 'no'), IFNULL(label, ''), DATE_FORMAT(NOW(), '%Y-%m') FROM item
SELECT id FROM item LIMIT 1, 2
SELECT @n := @n + 1, id FROM item, (SELECT @n := 0) init
SELECT DATE_ADD('2020-01-01', INTERVAL 1 MONTH), TIMESTAMPDIFF(DAY, '2020-01-01', '2020-02-01')
SELECT id FROM item # a comment; with a semicolon
VALUES (1, 2), (3, 4)
SELECT SQL_NO_CACHE id FROM item
SELECT /*+ NO_INDEX(item) */ id FROM item
SELECT INTERVAL(5, 1, 10), REPEAT('x', 3), REVERSE('abc')
-- expect: rows
SELECT id AS "with", label AS "order" FROM item
SELECT label || ' @ ' || 'x;y' FROM item
SELECT maker_id, SUM(price) FROM item GROUP BY maker_id HAVING SUM(price) > 0 ORDER BY SUM(price) DESC LIMIT 1
SELECT 'load_file(''/etc/passwd'')', 'pg_read_file', 'ATTACH'
SELECT nextval FROM (SELECT 1 AS nextval) t
SELECT t.copy, t.load, t.call FROM (SELECT 1 AS copy, 2 AS "load", 3 AS "call") t
WITH item2(a, b) AS (SELECT id, label FROM item), c(x) AS (SELECT a FROM item2) SELECT * FROM c
SELECT ((1 + 2) * 3), -(-1), +1, 1e3, .5
SELECT * FROM item CROSS JOIN maker WHERE 1 = 1 AND NOT (item.id IS NULL OR maker.name = '')
SELECT CAST(price AS DECIMAL(10, 4)) / 3 FROM item
SELECT UPPER(label), LOWER(label), LENGTH(label), TRIM(label), ABS(-1), ROUND(2.567, 1) FROM item
SELECT id FROM item WHERE (maker_id, id) IN (SELECT maker_id, MAX(id) FROM item GROUP BY maker_id)
SELECT COUNT(DISTINCT maker_id), COUNT(*) - COUNT(price) FROM item
SELECT id FROM item i WHERE NOT EXISTS (SELECT 1 FROM maker m WHERE m.id = i.maker_id AND m.name LIKE 'B%')
SELECT 1 WHERE 'a' < 'b' UNION SELECT 2 UNION ALL SELECT 3 ORDER BY 1
SELECT label AS "Grant; Revoke", price AS "/* x */" FROM item
SELECT * FROM item ORDER BY price IS NULL, price DESC, id
SELECT COALESCE(SUM(price), 0) AS "total -- sum" FROM item WHERE id > 100
SELECT CASE maker_id WHEN 1 THEN 'begin' WHEN 2 THEN 'end' END AS state FROM item
SELECT id FROM item WHERE label IS NOT NULL AND label <> '' AND label NOT LIKE '%\_%'
SELECT current_date IS NOT NULL, current_timestamp IS NOT NULL
-- expect: rows @sqlite @duckdb @postgres
SELECT COUNT(*) FILTER (WHERE price > 5) FROM item
SELECT id, LAG(price) OVER w, LEAD(price, 1, 0) OVER w FROM item WINDOW w AS (PARTITION BY maker_id ORDER BY id)
-- expect: rows @sqlite
SELECT iif(price > 5, 'execute', 'prepare'), unixepoch('2020-01-01'), concat_ws(';', 'a', 'b') FROM item
SELECT jsonb_extract('{"a": {"b": 1}}', '$.a.b'), json_object('drop', 1), json('[1]') -> 0
SELECT string_agg(label, '; ') FROM item
SELECT id, NTILE(2) OVER (ORDER BY id), PERCENT_RANK() OVER (ORDER BY price) FROM item
SELECT key, atom, path FROM json_tree('{"a": [1, {"b": 2}]}')
SELECT 'abc' GLOB ('a*'), 'abc' LIKE 'A%' ESCAPE '\', 5 IS NOT DISTINCT FROM 5
SELECT substr('abc', -1), char(65), unicode('A'), x'41', 0x10, 1_000
WITH t AS NOT MATERIALIZED (SELECT 1 AS a) SELECT * FROM t
SELECT max(id, 11), min(1, 2), random() IS NOT NULL, format('%s', 'x') FROM item
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v WHERE column1 > 1
SELECT rowid, _rowid_, oid FROM item
SELECT name FROM pragma_table_list WHERE type = 'table'
SELECT printf('%,d', 1234567), date('2020-01-31', '+1 month', '-1 day'), timediff('2020-02-01', '2020-01-01')
SELECT a.id FROM item a FULL OUTER JOIN maker m ON m.id = a.maker_id
SELECT id FROM item WHERE label MATCH 'x' OR 1 LIMIT 0
-- expect: rows @duckdb
SELECT * REPLACE (price * 2 AS price) FROM item
SELECT * RENAME (id AS number) FROM item
FROM item SELECT maker_id, count(*) GROUP BY ALL ORDER BY ALL
SELECT id, label.upper().trim() FROM item
SELECT price::INT, TRY_CAST('x' AS INT), CAST('2020-01-01' AS DATE) + INTERVAL 1 MONTH FROM item
SELECT 'abc' GLOB 'a*', 'abc' SIMILAR TO 'a.*', 'abc' ^@ 'a'
SELECT struct_pack(a := 1, b := 'x'), {'a': 1}.a, [1, 2, 3][1:2], map {'k': 1}
SELECT list_filter([1, 2, 3], lambda x: x > 1), list_sum([1, 2])
SELECT COUNT(*) FROM item GROUP BY CUBE (maker_id, label)
SELECT unnest({'a': 1, 'b': 2})
SELECT a.id, b.id FROM item a ASOF JOIN maker b ON a.maker_id >= b.id
SELECT id FROM item USING SAMPLE 100%
SELECT median(price), mode(label), approx_count_distinct(id), histogram(id) FROM item
SELECT DISTINCT ON (maker_id) id FROM item ORDER BY maker_id, id
(FROM item SELECT id) UNION BY NAME (FROM maker SELECT id, name)
SELECT strftime(DATE '2020-01-01', '%Y'), date_part('year', DATE '2020-01-01'), epoch(TIMESTAMP '2020-01-01')
SELECT regexp_replace('a;b', ';', ','), string_split('a;b', ';'), format('{} {}', 1, 2)
WITH RECURSIVE t(i) USING KEY (i) AS (SELECT 1 UNION SELECT i + 1 FROM t WHERE i < 3) FROM t
SELECT * FROM item SEMI JOIN maker ON item.maker_id = maker.id
SELECT * FROM item ANTI JOIN maker ON item.maker_id = maker.id
SELECT row_number() OVER () AS rn, id FROM item QUALIFY rn < 3
SELECT prefix: id, label FROM item
UNPIVOT item ON id, maker_id INTO NAME k VALUE v
PIVOT item ON label IN ('bolt') USING first(price) GROUP BY maker_id
SELECT current_schema(), version() IS NOT NULL
SELECT json_extract('{"a": [1]}', '$.a[0]'), '{"a": 1}'->>'a'
SELECT * FROM item POSITIONAL JOIN maker
-- expect: rows @postgres
SELECT id FROM item WHERE label SIMILAR TO '(nut|bolt)%' AND label !~ '^x' AND label IS DISTINCT FROM 'y'
SELECT jsonb_build_object('drop', id), jsonb_agg(label), json_object_agg(id, label) FROM item GROUP BY id
SELECT string_agg(label, '; ' ORDER BY id), array_agg(id), bool_and(id > 0) FROM item
SELECT * FROM jsonb_to_recordset('[{"a": 1}]') AS t(a int)
SELECT * FROM json_each_text('{"a": "b"}')
SELECT * FROM unnest(ARRAY[1, 2]) WITH ORDINALITY AS t(v, n)
SELECT * FROM generate_series('2020-01-01'::date, '2020-03-01', '1 month') AS month
SELECT * FROM regexp_matches('a1b2', '\d', 'g')
SELECT regexp_split_to_table('a;b', ';'), split_part('a;b', ';', 1), format('%s %L', 'x', 'y')
SELECT GREATEST(1, 2), LEAST(1, 2), width_bucket(5, 0, 10, 5), trunc(1.5), mod(5, 3)
SELECT maker_id, count(*) FROM item GROUP BY GROUPING SETS ((maker_id), ()) ORDER BY GROUPING(maker_id)
SELECT id, rank() OVER (ORDER BY price NULLS LAST), first_value(id) OVER (ORDER BY id RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM item
SELECT INTERVAL '1 day' * 3, age(now(), now() - INTERVAL '1 year'), justify_days('40 days'::interval)
SELECT to_date('2020-01-02', 'YYYY-MM-DD'), date_part('dow', CURRENT_DATE) >= 0, make_date(2020, 1, 1), date_bin('1 hour', now(), now())
SELECT '[1,5)'::int4range @> 3, ARRAY[1] && ARRAY[1, 2], 'a' = ANY (ARRAY['a', 'b']), 1 << 2
SELECT COALESCE(NULLIF(label, ''), 'set') COLLATE "C" FROM item
SELECT (m).name FROM maker m
SELECT ROW(1, 'a') = ROW(1, 'a'), (item).id FROM item
SELECT i.id FROM item i LEFT JOIN LATERAL (SELECT max(price) AS p FROM item j WHERE j.maker_id = i.maker_id) x ON true
SELECT id FROM item ORDER BY price DESC NULLS LAST FETCH FIRST 1 ROW WITH TIES
WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 5) SEARCH DEPTH FIRST BY n SET ordercol SELECT n FROM t
WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 5) CYCLE n SET is_cycle USING path SELECT n FROM t
SELECT * FROM item WHERE ctid IS NOT NULL AND tableoid > 0
SELECT current_database(), current_schema(), version() IS NOT NULL, current_setting('TimeZone')
SELECT table_name FROM information_schema.columns WHERE column_name = 'price'
SELECT pg_get_viewdef('cheap'::regclass), to_regclass('item')::text, col_description('item'::regclass, 1)
SELECT encode(sha256('x'), 'hex'), md5('x'), gen_random_uuid() IS NOT NULL, random() >= 0
SELECT unaccented.label FROM (SELECT translate(label, 'ñ', 'n') AS label FROM item) unaccented
SELECT corr(price, id), regr_slope(price, id), stddev_samp(price), mode() WITHIN GROUP (ORDER BY maker_id) FROM item
-- expect: rows @mysql
SELECT sys.id, sys.label FROM item AS sys WHERE sys.price > 1 ORDER BY sys.id
SELECT mysql.id FROM item mysql JOIN maker m ON m.id = mysql.maker_id
SELECT id FROM item WHERE label LIKE '%@%' OR label = 'ann@example.com'
SELECT @row := @row + 1 AS place, id FROM item JOIN (SELECT @row := 0) r
SELECT GROUP_CONCAT(DISTINCT label ORDER BY label DESC SEPARATOR '; ') FROM item
SELECT JSON_OBJECT('drop', id), JSON_ARRAYAGG(label), JSON_VALUE('{"a": 1}', '$.a') FROM item GROUP BY id
SELECT * FROM JSON_TABLE('[{"a": 1}]', '$[*]' COLUMNS (a INT PATH '$.a')) AS t
SELECT STR_TO_DATE('2020-01-02', '%Y-%m-%d'), YEAR(NOW()) > 0, LAST_DAY('2020-02-01'), DATEDIFF('2020-01-02', '2020-01-01')
SELECT id FROM item ORDER BY FIELD(label, 'bolt', 'nut'), id
SELECT maker_id, COUNT(*) FROM item GROUP BY maker_id WITH ROLLUP
SELECT id DIV 2, id MOD 3, id % 3, 1 <=> NULL, NOT 1, 1 XOR 0 FROM item
SELECT id, RANK() OVER (ORDER BY price), NTH_VALUE(id, 2) OVER (ORDER BY id) FROM item
SELECT STRAIGHT_JOIN i.id FROM item i JOIN maker m USE INDEX (PRIMARY) ON m.id = i.maker_id
SELECT SUBSTRING_INDEX('a;b;c', ';', -1), CONCAT_WS(';', 'a', 'b'), LPAD('x', 3, '0'), ELT(1, 'drop'), FIND_IN_SET('b', 'a,b')
SELECT CAST('5' AS SIGNED), CONVERT('x' USING utf8mb4), BINARY 'a' = 'A', _utf8mb4'x'
SELECT id FROM item WHERE label COLLATE utf8mb4_bin LIKE 'B%'
SELECT * FROM item NATURAL JOIN (SELECT id FROM item) x
SELECT * FROM (item, maker) WHERE maker.id = item.maker_id
SELECT REGEXP_SUBSTR(label, '[a-z]+'), REGEXP_INSTR(label, 'b') FROM item
SELECT id FROM item FORCE INDEX (PRIMARY) WHERE id > 10 LIMIT 5 OFFSET 0
SELECT `id` AS `select`, `label` AS `from` FROM `item` `where`
SELECT DATE_FORMAT('2020-01-01', '%d; %m'), TIME_TO_SEC('01:00:00'), WEEK('2020-01-01'), QUARTER(NOW()) > 0
SELECT item.id INTO_x FROM item
SELECT EXTRACT(YEAR_MONTH FROM '2020-01-01'), TRIM(LEADING '0' FROM '007'), POSITION('b' IN 'abc')
SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE()
SELECT MD5('x'), SHA2('x', 256), UUID() IS NOT NULL, RAND() >= 0, VERSION() IS NOT NULL, DATABASE()
SELECT BIT_COUNT(5), HEX(255), CONV(10, 10, 2), INET_ATON('127.0.0.1'), ASCII('a'), CHAR(65)
SELECT {d '2020-01-01'}, {ts '2020-01-01 00:00:00'}
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n
SELECT IF(id > 11, 'insert', 'update') AS `action`, LEFT(label, 2), RIGHT(label, 2) FROM item HAVING `action` = 'insert'
SELECT id FROM item PARTITION_x LIMIT 1
SELECT DISTINCTROW maker_id FROM item
SELECT SQL_CALC_FOUND_ROWS id FROM item LIMIT 1
SELECT MEDIAN(price) OVER (PARTITION BY maker_id), PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY price) OVER () FROM item
SELECT ALL id FROM item EXCEPT SELECT id FROM maker
SELECT id FROM item WHERE price BETWEEN 1 AND 5 || label = 'x' && 1

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

-- expect: forbidden
PRAGMA query_only = 0
PRAGMA writable_schema = 1
PRAGMA journal_mode = delete
PRAGMA user_version = 7
PRAGMA main.wal_checkpoint(TRUNCATE)
PRAGMA database_list
VACUUM INTO '/tmp/sqlassay_hostile.db'
VACUUM main INTO '/tmp/sqlassay_hostile.db'
ATTACH ':memory:' AS m
ATTACH 'file:/tmp/sqlassay_hostile.db?mode=rwc' AS other
CREATE VIRTUAL TABLE v USING fts5(x)
CREATE TABLE temp.other (id)
CREATE TEMP VIEW other AS SELECT 1
CREATE TEMP TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM item; END
INSERT OR REPLACE INTO maker VALUES (1, 'x')
INSERT INTO maker VALUES (9, 'x') RETURNING id
INSERT INTO maker VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = 'y'
UPDATE item SET price = 0 RETURNING *
DELETE FROM item RETURNING id
UPDATE OR IGNORE item SET id = 1
DELETE FROM sqlite_master
EXPLAIN QUERY PLAN SELECT * FROM item
SELECT load_extension('/tmp/evil.so')
SELECT LOAD_EXTENSION('/tmp/evil.so', 'init')
SELECT "load_extension"('/tmp/evil.so')
SELECT load_extension/**/('/tmp/evil.so') FROM item
SELECT * FROM item WHERE load_extension('x') IS NULL
SELECT * FROM (SELECT load_extension('x'))
WITH x AS (SELECT load_extension('x')) SELECT * FROM x
SELECT fts3_tokenizer('simple')
-- expect: forbidden|error
SELECT writefile('/tmp/sqlassay_hostile', 'x')
SELECT readfile('/etc/passwd')
SELECT edit('x', 'vi')
SELECT * FROM fsdir('/')
SELECT * FROM zipfile('/tmp/x.zip')
SELECT * FROM sqlite_dbpage
SELECT * FROM sqlite_dbdata
SELECT * FROM pragma_journal_mode
SELECT * FROM pragma_database_list
SELECT * FROM pragma_wal_checkpoint
SELECT * FROM pragma_user_version
SELECT * FROM pragma_writable_schema('1')
SELECT eval('DELETE FROM item')
SELECT * FROM "/etc/passwd"
SELECT * FROM other.item
REINDEX item
-- expect: timeout
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(length(printf('%.*c', 1000, 'x'))) FROM n
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n ORDER BY random()
WITH RECURSIVE a(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM a WHERE i < 5000) SELECT COUNT(*) FROM a x, a y, a z, a w
SELECT COUNT(*) FROM item a, item b, item c, item d, item e, item f, item g, item h, item i, item j, item k, item l, item m, item n, item o, item p, item q, item r
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT json_group_array(i) FROM n WHERE i % 1000 = 0
-- expect: too_large|timeout
SELECT zeroblob(2000000000)
SELECT randomblob(1000000000)
SELECT hex(zeroblob(1000000000))
SELECT replace(hex(zeroblob(100000000)), '0', '00')
SELECT printf('%.*c', 2000000000, 'x')
SELECT length(printf('%2000000000d', 1))
WITH RECURSIVE s(t) AS (SELECT 'x' UNION ALL SELECT t || t FROM s) SELECT length(t) FROM s
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT group_concat(printf('%.*c', 1000000, 'x')) FROM n
SELECT quote(zeroblob(30000000))
-- expect: rows|too_large|error
SELECT 'a' LIKE '⟦WILDCARDS⟧'
SELECT 'a' GLOB '⟦STARS⟧'
-- expect: rows
SELECT name FROM pragma_table_info('item')
SELECT COUNT(*) FROM sqlite_master
SELECT m.name, p.name FROM sqlite_master m, pragma_table_info(m.name) p
SELECT value FROM json_each('[1, 2, 3]')
SELECT random()

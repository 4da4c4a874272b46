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
-- expect: forbidden
.import /etc/passwd item
.load /tmp/evil.so
ATTACH DATABASE ':memory:' AS m
ATTACH '' AS t
ATTACH DATABASE 'file::memory:?cache=shared' AS shared
VACUUM temp INTO '/tmp/sqlassay_hostile'
ANALYZE sqlite_schema
PRAGMA mmap_size = 1000000000
PRAGMA cache_size = 1000000000
PRAGMA hard_heap_limit = 0
PRAGMA soft_heap_limit = 0
PRAGMA temp_store_directory = '/tmp'
PRAGMA data_store_directory = '/tmp'
PRAGMA trusted_schema = 1
PRAGMA recursive_triggers = 1
PRAGMA schema_version = 1
PRAGMA optimize
PRAGMA integrity_check
PRAGMA locking_mode = EXCLUSIVE
PRAGMA max_page_count = 1
PRAGMA incremental_vacuum
PRAGMA shrink_memory
PRAGMA busy_timeout = 1000000
PRAGMA encoding = 'UTF-16'
PRAGMA rekey = 'x'
SELECT * FROM pragma_query_only
SELECT * FROM pragma_integrity_check
SELECT * FROM pragma_foreign_key_check('item')
SELECT * FROM pragma_soft_heap_limit
SELECT * FROM pragma_optimize
SELECT * FROM pragma_schema_version
CREATE TABLE IF NOT EXISTS temp.x AS SELECT 1
CREATE INDEX temp.i ON item (id)
CREATE VIEW temp.v AS SELECT 1
CREATE VIRTUAL TABLE temp.v USING rtree(id, a, b)
CREATE VIRTUAL TABLE x USING csv(filename='/etc/passwd')
CREATE VIRTUAL TABLE x USING generate_series
INSERT INTO item DEFAULT VALUES
INSERT INTO temp.x VALUES (1)
INSERT INTO sqlite_master VALUES (1)
UPDATE sqlite_schema SET sql = ''
UPDATE item SET price = 0 FROM maker
DELETE FROM item INDEXED BY x
WITH x(a) AS MATERIALIZED (SELECT 1) INSERT INTO maker SELECT a + 10, 'x' FROM x
WITH x AS (SELECT 1) REPLACE INTO maker VALUES (1, 'x')
REPLACE INTO maker VALUES (1, 'x') RETURNING *
ALTER TABLE item RENAME COLUMN price TO cost
ALTER TABLE item ADD COLUMN x AS (1)
DROP TRIGGER IF EXISTS x
SAVEPOINT x
RELEASE x
ROLLBACK TO x
BEGIN IMMEDIATE
BEGIN EXCLUSIVE
END TRANSACTION
EXPLAIN VACUUM
EXPLAIN QUERY PLAN DELETE FROM item
SELECT sqlite_log(1, 'x')
SELECT fts3_tokenizer('x', x'41')
SELECT load_extension(printf('%s', '/tmp/evil'))
SELECT [load_extension]('x')
SELECT `load_extension`('x')
SELECT sum(load_extension('x')) OVER () FROM item
SELECT id FROM item ORDER BY load_extension('x')
SELECT id FROM item LIMIT load_extension('x')
SELECT 1; ATTACH ':memory:' AS m
SELECT 1; PRAGMA query_only = 0
SELECT 1 -- ⟦NEWLINE⟧; VACUUM
SELECT 1 /* */;VACUUM
VALUES (load_extension('x'))
-- expect: forbidden|error
.shell id
.read /etc/passwd
.open /tmp/sqlassay_hostile
.output /tmp/sqlassay_hostile
SELECT * FROM pragma_cache_size(1000)
SELECT * FROM pragma_mmap_size
SELECT * FROM pragma_busy_timeout(0)
SELECT * FROM pragma_hard_heap_limit(0)
SELECT * FROM pragma_locking_mode('EXCLUSIVE')
SELECT * FROM pragma_journal_mode('delete')
SELECT main.load_extension('x')
SELECT 'load_extension'('x')
SELECT rtreecheck('item')
SELECT rtreedepth(x'00'), rtreenode(2, x'00')
SELECT * FROM bytecode('SELECT 1')
SELECT * FROM tables_used('SELECT 1')
SELECT * FROM sqlite_stmt
SELECT * FROM sqlite_dbpage('main')
SELECT * FROM completion('SEL')
SELECT * FROM fts5vocab
SELECT * FROM csv
SELECT * FROM wholenumber
SELECT * FROM sqlite_sequence
SELECT value FROM generate_series(1, 1000000000000)
SELECT count(*) FROM generate_series(1, 1000000000000)
SELECT json(replace(hex(zeroblob(1000000)), '0', '['))
SELECT jsonb(randomblob(1000))
SELECT 1 FROM item WHERE id = ?1
SELECT :name, @name, $name
VALUES (1), (writefile('/tmp/sqlassay_hostile', 'x'))
-- expect: timeout|too_large
SELECT * FROM json_each('[' || replace(hex(zeroblob(10000000)), '0', '1,') || '1]')
SELECT count(*) FROM json_tree('[' || replace(hex(zeroblob(1000000)), '0', '[1],') || '1]') a, json_tree('[1,2]') b
SELECT count(*) FROM json_each('[1,2,3]') a, json_each('[1,2,3]') b, json_each('[1,2,3]') c, json_each('[1,2,3]') d, json_each('[1,2,3]') e, json_each('[1,2,3]') f, json_each('[1,2,3]') g, json_each('[1,2,3]') h, json_each('[1,2,3]') i, json_each('[1,2,3]') j, json_each('[1,2,3]') k, json_each('[1,2,3]') l, json_each('[1,2,3]') m, json_each('[1,2,3]') n, json_each('[1,2,3]') o, json_each('[1,2,3]') p
WITH RECURSIVE t(x) AS (SELECT json_array(1) UNION ALL SELECT json_array(x, x) FROM t) SELECT length(x) FROM t
WITH RECURSIVE t(x) AS (SELECT 'a' UNION ALL SELECT x || 'a' FROM t) SELECT max(x) FROM t
WITH RECURSIVE t(x) AS (SELECT 1 UNION SELECT abs(random()) FROM t) SELECT count(*) FROM t
WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t LIMIT 1000000000) SELECT sum(x) OVER (ORDER BY x) FROM t
WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x FROM t ORDER BY x DESC
WITH RECURSIVE t(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM t) SELECT count(DISTINCT x) FROM t
WITH RECURSIVE t(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM t) SELECT group_concat(x, '') FROM t
SELECT replace(printf('%.*c', 30000000, 'a'), 'a', 'bb')
SELECT printf('%.*f', 1000000000, 1.0)
SELECT printf('%*s', 2147483647, 'x')
SELECT trim(printf('%.*c', 10000000, 'a'), printf('%.*c', 10000000, 'b'))
SELECT printf('%.*c', 40000, 'a') LIKE replace(printf('%.*c', 40000, 'x'), 'x', 'a%') || 'b'
SELECT ⟦PARENS⟧ AS x, load_extension('x')
-- expect: rows
SELECT * FROM pragma_function_list
SELECT * FROM pragma_table_list
SELECT p.* FROM sqlite_schema s, pragma_index_list(s.name) p
SELECT sqlite_compileoption_get(1)
SELECT sqlite_version()
SELECT last_insert_rowid(), changes(), total_changes()
SELECT fts5_source_id()
SELECT geopoly_blob('[[0,0],[1,0],[1,1],[0,0]]')
SELECT * FROM carray(1, 2)
SELECT * FROM temp.sqlite_master
SELECT * FROM sqlite_temp_schema
SELECT json(replace(hex(zeroblob(499)), '0', '[') || replace(hex(zeroblob(499)), '0', ']'))
SELECT json_patch('{}', json_object('a', zeroblob(1)))
SELECT json_extract(jsonb('[1]'), '$[' || hex(zeroblob(1000000)) || ']')
SELECT replace(printf('%.*c', 5000, 'a'), 'a', printf('%.*c', 5000, 'b'))
SELECT format('%s%s%s', zeroblob(20000000), zeroblob(20000000), zeroblob(20000000))
SELECT 'a' LIKE printf('%.*c', 50000, '%')
SELECT printf('%.*c', 10000000, 'a') GLOB '*a*a*a*a*a*b'
SELECT printf('%.*c', 30000000, 'a') LIKE '%a%a%a%a%ab'
SELECT unistr('\0041'), unistr_quote('x')
SELECT strftime(printf('%.*c', 100000, '%'), 'now')
SELECT strftime(replace(printf('%.*c', 1000000, 'x'), 'x', '%Y'), 'now')

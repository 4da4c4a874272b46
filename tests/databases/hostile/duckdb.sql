-- expect: forbidden
COPY (SELECT * FROM item) TO '/tmp/sqlassay_hostile.parquet' (FORMAT parquet)
COPY FROM DATABASE main TO memory
EXPORT DATABASE '/tmp/sqlassay_hostile' (FORMAT parquet)
SET threads = 64
SET memory_limit = '1TB'
SET enable_external_access = true
SET lock_configuration = false
SET GLOBAL enable_external_access = true
RESET enable_external_access
PRAGMA enable_profiling
PRAGMA database_list
PRAGMA disable_checkpoint_on_shutdown
CALL checkpoint()
CALL enable_logging()
FORCE CHECKPOINT
CREATE SECRET s (TYPE s3, KEY_ID 'x', SECRET 'y')
CREATE OR REPLACE MACRO m(a) AS a + 1
CREATE TEMP MACRO m(a) AS a + 1
CREATE TYPE mood AS ENUM ('sad')
CREATE SEQUENCE IF NOT EXISTS s
CREATE TEMP VIEW other AS SELECT 1
ATTACH ':memory:' AS m
ATTACH '/tmp/sqlassay_hostile.duckdb' AS other
ATTACH 'postgresql://x' AS p (TYPE postgres)
LOAD httpfs
INSTALL httpfs FROM community
UPDATE EXTENSIONS
USE memory
SET VARIABLE x = 1
INSERT INTO maker BY NAME SELECT 9 AS id
INSERT OR REPLACE INTO maker VALUES (1, 'x')
DELETE FROM item RETURNING *
PREPARE p AS SELECT 1
SUMMARIZE item
SHOW ALL TABLES
SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM read_csv_auto('/etc/passwd', delim=':', header=false)
SELECT * FROM READ_CSV('/etc/passwd')
SELECT * FROM "read_csv"('/etc/passwd')
SELECT * FROM read_csv/* */('/etc/passwd')
SELECT * FROM read_text('/etc/passwd')
SELECT * FROM read_blob('/etc/passwd')
SELECT * FROM read_json('/etc/passwd')
SELECT * FROM read_json_auto('/etc/passwd')
SELECT * FROM read_parquet('/tmp/*.parquet')
SELECT * FROM parquet_scan('/tmp/x.parquet')
SELECT * FROM parquet_metadata('/tmp/x.parquet')
SELECT * FROM glob('/etc/*')
SELECT * FROM sniff_csv('/etc/passwd')
SELECT * FROM read_csv(['/etc/passwd', '/etc/group'])
SELECT * FROM read_csv('https://example.com/x.csv')
SELECT * FROM read_parquet('s3://bucket/x.parquet')
SELECT (SELECT COUNT(*) FROM read_csv('/etc/passwd'))
SELECT * FROM item WHERE EXISTS (SELECT * FROM read_text('/etc/passwd'))
WITH x AS (SELECT * FROM read_text('/etc/passwd')) SELECT * FROM x
FROM read_csv('/etc/passwd')
FROM '/etc/passwd'
SELECT * FROM '/etc/passwd'
SELECT * FROM "/etc/passwd"
SELECT * FROM '/tmp/x.parquet'
SELECT * FROM 'x.csv'
SELECT * FROM 'data.json'
SELECT * FROM sqlite_scan('/tmp/x.db', 't')
SELECT * FROM postgres_scan('host=localhost', 'public', 't')
SELECT * FROM postgres_query('p', 'SELECT 1')
SELECT * FROM mysql_query('m', 'SELECT 1')
SELECT * FROM iceberg_scan('/tmp/x')
SELECT * FROM delta_scan('/tmp/x')
SELECT * FROM st_read('/tmp/x.shp')
SELECT * FROM read_xlsx('/tmp/x.xlsx')
SELECT * FROM duckdb_secrets()
SELECT * FROM which_secret('s3://x', 's3')
SELECT * FROM duckdb_settings()
SELECT * FROM duckdb_databases()
SELECT * FROM pragma_database_list()
SELECT * FROM query('SELECT * FROM duckdb_secrets()')
SELECT * FROM query_table('item')
SELECT * FROM force_checkpoint()
SELECT * FROM checkpoint()
SELECT * FROM json_execute_serialized_sql('{}')
SELECT nextval('s')
SELECT getenv('HOME')
SELECT getvariable('x')
SELECT * FROM truncate_duckdb_logs()
SELECT * FROM copy_database('a', 'b')
-- expect: forbidden|error
WITH x AS (DELETE FROM item RETURNING *) SELECT * FROM x
WITH x AS (INSERT INTO maker VALUES (9, 'x') RETURNING *) SELECT * FROM x
WITH x AS (UPDATE item SET price = 0 RETURNING *) SELECT * FROM x
SELECT * INTO other FROM item
SELECT * FROM sql_auto_complete('SEL')
SELECT * FROM limits
SELECT * FROM sys
SELECT http_get('http://127.0.0.1:1/')
SELECT * FROM other.main.item
SELECT read_text('/etc/passwd')
-- expect: timeout|too_large
SELECT COUNT(*) FROM range(1000000000000) a, range(1000) b
SELECT SUM(a.range * b.range) FROM range(10000000) a, range(10000000) b
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n
SELECT * FROM range(1000000000000) ORDER BY 1 DESC
SELECT COUNT(DISTINCT range) FROM range(1000000000000)
SELECT string_agg(range::VARCHAR, ',') FROM range(10000000000)
SELECT list(range) FROM range(1000000000000)
SELECT MAX(md5(range::VARCHAR)) FROM range(1000000000000)
SELECT COUNT(*) FROM item a, item b, item c, item d, item e, item f, item g, item h, item i, item j, item k, item l, item m, item n, item o, item p, item q, item r, item s, item t
SELECT SUM(x) FROM (SELECT unnest(range(1000000)) AS x FROM range(1000000))
SELECT generate_series(1, 1000000000000)
SELECT range(0, 10000000000)
-- expect: rows
SELECT regexp_matches(repeat('a', 10000), '(a*)*b')
SELECT COUNT(*) FROM duckdb_tables()
SELECT table_name FROM information_schema.tables
FROM item
PIVOT item ON maker_id USING COUNT(*)
SELECT * FROM generate_series(1, 5)
SELECT uuid() IS NOT NULL
-- expect: forbidden
PIVOT (SELECT * FROM read_csv('/etc/passwd')) ON 1
PIVOT '/etc/passwd' ON column0
UNPIVOT '/etc/passwd' ON *
SUMMARIZE SELECT * FROM item
SUMMARIZE '/etc/passwd'
DESCRIBE SELECT 1
SHOW DATABASES
SHOW TABLES FROM main
FROM query('DELETE FROM item')
FROM query_table(['item', 'maker'])
FROM "query"('SELECT 1')
FROM main.query('SELECT 1')
FROM system.main.query('SELECT 1')
SELECT getenv ('HOME')
SELECT "getenv"('PATH')
SELECT main.getenv('PATH')
SELECT 'HOME'.getenv()
SELECT x.getenv() FROM (SELECT 'HOME' AS x)
SELECT ('/etc/passwd').read_text()
SELECT * FROM duckdb_secrets(redact=false)
FROM duckdb_secrets
FROM duckdb_settings
FROM duckdb_extensions()
FROM duckdb_logs
FROM duckdb_log_contexts()
FROM duckdb_databases
COPY FROM DATABASE shop TO other
COPY FROM DATABASE shop TO memory (SCHEMA)
COPY item TO STDOUT
COPY item TO '/dev/stdout'
COPY item TO 'x.csv' (FORMAT csv)
COPY (FROM item) TO '/tmp/sqlassay_hostile.json'
COPY (DELETE FROM item RETURNING *) TO '/tmp/sqlassay_hostile.csv'
COPY item FROM 'x.csv'
ATTACH '' AS m
ATTACH IF NOT EXISTS ':memory:'
ATTACH OR REPLACE '/tmp/sqlassay_hostile.db' (TYPE sqlite)
ATTACH 'ducklake:/tmp/sqlassay_hostile.ducklake' AS lake
ATTACH 'https://example.com/x.duckdb'
DETACH shop
USE memory.main
CREATE TABLE memory.main.x AS SELECT 1
CREATE TEMP TABLE x AS FROM item
CREATE OR REPLACE TABLE temp.x (i INT)
CREATE SCHEMA memory.s
CREATE PERSISTENT SECRET s (TYPE http, BEARER_TOKEN 'x')
CREATE MACRO f() AS TABLE SELECT * FROM read_csv('/etc/passwd')
CREATE FUNCTION g(x) AS getenv(x)
CREATE INDEX i ON item (id)
DROP SECRET s
DROP MACRO f
ALTER TABLE item ADD COLUMN x INT
ALTER DATABASE shop SET ALIAS TO x
ALTER TABLE item SET PARTITIONED BY (id)
COMMENT ON COLUMN item.id IS 'x'
SET SESSION threads TO 8
SET LOCAL threads = 8
SET s3_secret_access_key = 'x'
SET VARIABLE v = (SELECT COUNT(*) FROM item)
RESET VARIABLE v
SET search_path = 'memory'
SET temp_directory = '/tmp/sqlassay_hostile'
SET custom_user_agent = 'x'
SET allow_community_extensions = true
PRAGMA memory_limit = '1TB'
PRAGMA threads = 8
PRAGMA version
PRAGMA table_info('item')
PRAGMA show_tables
PRAGMA storage_info('item')
PRAGMA import_database('/tmp')
PRAGMA add_parquet_key('k', '0123456789112345')
PRAGMA force_checkpoint
PRAGMA enable_logging
PRAGMA enable_profiling = 'json'
PRAGMA profiling_output = '/tmp/sqlassay_hostile'
PRAGMA enable_external_access = true
CALL pragma_version()
CALL duckdb_secrets()
CALL query('SELECT 1')
CALL start_ui()
CALL start_ui_server()
CALL disable_logging()
EXPLAIN ANALYZE SELECT 1
EXPLAIN (FORMAT json) FROM item
EXECUTE p(1)
VACUUM ANALYZE
INSTALL sqlite FROM 'http://127.0.0.1:1'
FORCE INSTALL spatial
LOAD '/tmp/evil.duckdb_extension'
UPDATE EXTENSIONS (httpfs)
INSERT INTO maker FROM (SELECT 9, 'x')
INSERT OR IGNORE INTO maker VALUES (1, 'x')
MERGE INTO maker USING item ON maker.id = item.id WHEN MATCHED THEN DELETE RETURNING *
UPDATE item SET price = 0 FROM maker RETURNING item.*
DELETE FROM item USING maker
WITH x AS (FROM item) DELETE FROM maker
WITH x AS MATERIALIZED (INSERT INTO maker VALUES (9, 'x') RETURNING *) FROM x
SELECT * FROM read_csv($$/etc/passwd$$)
SELECT * FROM READ_TEXT(E'/etc/passwd')
SELECT * FROM read_ndjson('/etc/passwd')
SELECT * FROM read_json_objects('/etc/passwd')
SELECT * FROM read_ndjson_objects('/etc/passwd')
SELECT * FROM read_duckdb('/tmp/x.duckdb')
SELECT * FROM read_avro('/tmp/x.avro')
SELECT * FROM read_log('/tmp/x')
SELECT * FROM 'https://example.com/x.parquet'
SELECT * FROM 's3://bucket/x.csv'
SELECT * FROM '/etc/*'
SELECT * FROM "file:///etc/passwd"
FROM '/proc/self/environ'
FROM '/etc/passwd' SELECT *
FROM item JOIN '/etc/passwd' ON true
SELECT * FROM item WHERE id IN (FROM '/etc/passwd')
SELECT * FROM glob('*')
SELECT glob('/etc/*')
FROM GLOB('/*')
FROM arrow_scan(1, 2, 3)
FROM python_map_function(1)
FROM pandas_scan(1)
FROM seq_scan('item')
FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))
SELECT write_log('x')
SELECT currval('s')
SELECT nextval('main.s')
SELECT * FROM pg_catalog.pg_settings
-- expect: forbidden|error
FROM item INSERT INTO maker SELECT id, label
FROM (DELETE FROM item RETURNING *)
FROM (INSERT INTO maker VALUES (9, 'x') RETURNING id)
SELECT * FROM parse_duckdb_log_message('x', 'y')
FROM index_scan('item')
FROM summary(1)
FROM sql_auto_complete('SELECT * FROM read_csv(''/etc/')
SELECT set_config('threads', '8')
SELECT pg_read_file('/etc/passwd')
SELECT list_cross_product([1], [2])
SELECT factorial(1000000)
SELECT bar(1, 0, 10, 100000000)
SELECT COLUMNS(*) FROM (SELECT * FROM item, item, item)
-- expect: timeout|too_large
FROM range(1000000000000) ORDER BY random()
SELECT pg_sleep(1000)
SELECT sleep_ms(100000)
SELECT histogram(range) FROM range(1000000000000)
SELECT json_group_array(range) FROM range(100000000000)
SELECT quantile_cont(range, 0.5) FROM range(1000000000000)
SELECT mode(random()) FROM range(1000000000000)
SELECT levenshtein(repeat('x', 100000), repeat('y', 100000))
SELECT * FROM range(10000000000) a ASOF JOIN range(10000000000) b ON a.range >= b.range
WITH RECURSIVE t(i) USING KEY (i) AS (SELECT 1 UNION SELECT i + 1 FROM t) FROM t
-- expect: rows
FROM (SUMMARIZE item)
FROM (DESCRIBE item)
FROM (SHOW TABLES)
SELECT * FROM (SHOW ALL TABLES)
FROM repeat_row(1, 2, num_rows=1000000000000)
FROM repeat(1, 1000000000000)
SELECT json_serialize_sql('SELECT * FROM read_csv(''/etc/passwd'')')
SELECT json_deserialize_sql(json_serialize_sql('SELECT 1'))
SELECT parse_path('/etc/passwd')
SELECT txid_current()
FROM duckdb_tables()
SELECT 2 ** 1e308
SELECT * FROM range(1000000) a POSITIONAL JOIN range(1000000000000) b

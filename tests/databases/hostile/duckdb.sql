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

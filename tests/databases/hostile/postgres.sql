-- expect: forbidden
SELECT pg_read_file('/etc/passwd')
SELECT pg_catalog.pg_read_file('/etc/passwd')
SELECT "pg_read_file"('/etc/passwd')
SELECT pg_catalog."pg_read_file" ('/etc/passwd')
SELECT U&"pg\005fread_file"('/etc/passwd')
SELECT U&"\0070g_read_file"('/etc/passwd')
SELECT PG_READ_FILE('/etc/passwd')
SELECT pg_read_file/* x */('/etc/passwd')
SELECT pg_read_file--⟦NEWLINE⟧('/etc/passwd')
SELECT pg_read_binary_file('/etc/passwd')
SELECT * FROM pg_read_file('/etc/passwd')
SELECT * FROM pg_ls_dir('/')
SELECT pg_ls_dir('/')
SELECT * FROM pg_ls_logdir()
SELECT * FROM pg_ls_waldir()
SELECT pg_stat_file('/etc/passwd')
SELECT lo_import('/etc/passwd')
SELECT lo_export(1, '/tmp/sqlassay_hostile')
SELECT lo_create(0)
SELECT lo_from_bytea(0, 'x')
SELECT lo_put(1, 0, 'x')
SELECT lo_unlink(1)
SELECT lo_get(1)
SELECT loread(1, 10)
SELECT lowrite(1, 'x')
SELECT dblink('host=127.0.0.1', 'DELETE FROM item')
SELECT * FROM dblink('SELECT 1') AS t(a int)
SELECT dblink_exec('DELETE FROM item')
SELECT dblink_connect('x')
SELECT pg_terminate_backend(1)
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
SELECT pg_cancel_backend(1)
SELECT pg_reload_conf()
SELECT pg_rotate_logfile()
SELECT pg_switch_wal()
SELECT pg_promote()
SELECT pg_create_restore_point('x')
SELECT pg_create_physical_replication_slot('x')
SELECT pg_create_logical_replication_slot('x', 'test_decoding')
SELECT pg_drop_replication_slot('x')
SELECT pg_logical_emit_message(false, 'a', 'b')
SELECT pg_replication_origin_create('x')
SELECT pg_export_snapshot()
SELECT pg_advisory_lock(1)
SELECT pg_advisory_xact_lock(1)
SELECT pg_try_advisory_lock(1)
SELECT pg_try_advisory_xact_lock_shared(1)
SELECT pg_advisory_unlock_all()
SELECT id FROM item WHERE pg_advisory_lock(id) IS NULL
SELECT pg_notify('channel', 'x')
SELECT set_config('statement_timeout', '0', false)
SELECT set_config('transaction_read_only', 'off', true)
SELECT set_config('role', 'postgres', true)
SELECT nextval('s')
SELECT setval('s', 1)
SELECT currval('s')
SELECT lastval()
SELECT txid_current()
SELECT pg_current_xact_id()
SELECT pg_stat_reset()
SELECT pg_stat_reset_shared('bgwriter')
SELECT pg_import_system_collations('pg_catalog')
SELECT pg_log_backend_memory_contexts(1)
SELECT query_to_xml('SELECT pg_read_file(''/etc/passwd'')', true, true, '')
SELECT query_to_xml_and_xmlschema('DELETE FROM item', true, true, '')
SELECT table_to_xml('item', true, true, '')
SELECT schema_to_xml('public', true, true, '')
SELECT database_to_xml(true, true, '')
SELECT cursor_to_xml('c', 1, true, true, '')
SELECT * FROM ts_stat('SELECT 1')
SELECT * FROM crosstab('DELETE FROM item') AS t(a int)
SELECT * FROM connectby('item', 'id', 'maker_id', '1', 0) AS t(a int)
SELECT pg_file_write('/tmp/x', 'x', false)
SELECT pg_backup_start('x')
SELECT * FROM pg_hba_file_rules
SELECT * FROM pg_authid
SELECT * FROM pg_catalog.pg_authid
SELECT rolpassword FROM "pg_authid"
SELECT passwd FROM pg_shadow
SELECT * FROM pg_user_mapping
SELECT * FROM pg_user_mappings
SELECT * FROM pg_file_settings
SELECT * FROM pg_largeobject
SELECT * FROM pg_stat_activity
SELECT query FROM pg_catalog.pg_stat_activity
SELECT subconninfo FROM pg_subscription
WITH x AS (DELETE FROM item RETURNING *) SELECT * FROM x
WITH x AS (INSERT INTO maker VALUES (9, 'x') RETURNING *) SELECT * FROM x
WITH x AS (UPDATE item SET price = 0 RETURNING *) SELECT * FROM x
WITH x AS MATERIALIZED (DELETE FROM item RETURNING id) SELECT count(*) FROM x
SELECT * FROM maker WHERE id IN (WITH x AS (DELETE FROM item RETURNING id) SELECT id FROM x)
SELECT * INTO other FROM item
SELECT * INTO TEMP other FROM item
SELECT id INTO TEMPORARY TABLE other FROM item
SELECT * FROM item FOR UPDATE
SELECT * FROM item FOR SHARE
SELECT * FROM item FOR NO KEY UPDATE SKIP LOCKED
DO $$ BEGIN DELETE FROM item; END $$
DO LANGUAGE plpgsql 'BEGIN DELETE FROM item; END'
COPY item TO STDOUT
COPY (DELETE FROM item RETURNING *) TO STDOUT
COPY item FROM PROGRAM 'id'
SET statement_timeout = 0
SET LOCAL statement_timeout = 0
SET SESSION AUTHORIZATION postgres
RESET statement_timeout
RESET ROLE
SHOW data_directory
SECURITY LABEL ON TABLE item IS 'x'
REASSIGN OWNED BY postgres TO mallory
IMPORT FOREIGN SCHEMA x FROM SERVER y INTO z
CREATE UNLOGGED TABLE other (id int)
CREATE MATERIALIZED VIEW other AS SELECT 1
CREATE TABLESPACE x LOCATION '/tmp'
CREATE EVENT TRIGGER x ON ddl_command_end EXECUTE FUNCTION f()
CREATE LANGUAGE plpython3u
CREATE SERVER s FOREIGN DATA WRAPPER w
CREATE RULE r AS ON SELECT TO item DO INSTEAD SELECT 1
SELECT $$x$$; DELETE FROM item
SELECT $a$ ; $a$ ; DELETE FROM item
SELECT E'\'; DELETE FROM item; --'; DELETE FROM item
SELECT 1 /* /* nested */ */ ; DELETE FROM item
-- expect: forbidden|error
SELECT ('/etc/passwd'::text).pg_read_file
SELECT * FROM item TABLESAMPLE pg_read_file(1)
TABLE pg_authid
SELECT current_setting('no.such')
SELECT pg_catalog.lo_creat(-1)
VALUES (nextval('s'))
-- expect: timeout
SELECT pg_sleep(1000)
SELECT pg_sleep_for('1 hour')
SELECT pg_sleep_until('infinity')
SELECT * FROM item, pg_sleep(100)
SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000) SELECT count(*) FROM n
SELECT max(md5(g::text)) FROM generate_series(1, 1000000000000) g
SELECT count(*) FROM item a, item b, item c, item d, item e, item f, item g, item h, item i, item j, item k, item l, item m, item n, item o, item p, item q, item r, item s, item t
SELECT sum(a.i * b.i) FROM generate_series(1, 100000) a(i), generate_series(1, 100000) b(i)
-- expect: timeout|too_large
SELECT array_agg(g) FROM generate_series(1, 1000000000000) g
SELECT string_agg(repeat('x', 100000), '') FROM generate_series(1, 1000000)
SELECT repeat('x', 2000000000)
SELECT repeat(repeat('x', 1000000), 100000)
SELECT lpad('x', 1000000000, 'abc') || lpad('x', 1000000000, 'abc')
SELECT regexp_replace(repeat('a', 1000000), '(a?){30}a{30}', 'x', 'g') FROM generate_series(1, 1000)
SELECT to_jsonb(array_agg(g)) FROM generate_series(1, 100000000) g
-- expect: rows|timeout|too_large|error
SELECT factorial(200000) > 0 AND factorial(200001) > 0
SELECT repeat('a', 30) ~ '(a*)*(a*)*(a*)*b'
SELECT 10::numeric ^ 100000
SELECT numeric '1e131071' * numeric '1e131071'
-- expect: rows
SELECT current_user IS NOT NULL
SELECT count(*) FROM pg_class
SELECT count(*) FROM information_schema.tables
SELECT pg_typeof(1)::text, format_type(23, -1)
SELECT obj_description('item'::regclass)
SELECT lower('LO_IMPORT'), 'pg_read_file(x)', log(10), lead(1) OVER (), lag(1) OVER ()
-- expect: forbidden
COPY (SELECT * FROM item) TO STDOUT
COPY item TO STDOUT (FORMAT binary)
COPY item FROM STDIN
COPY (SELECT pg_read_file('/etc/passwd')) TO '/tmp/sqlassay_hostile'
PREPARE TRANSACTION 'sqlassay'
COMMIT PREPARED 'sqlassay'
ROLLBACK PREPARED 'sqlassay'
SELECT * FROM item FOR KEY SHARE NOWAIT
SELECT * FROM (SELECT * FROM item FOR UPDATE) x
WITH x AS (SELECT * FROM item FOR UPDATE OF item) SELECT * FROM x
SELECT dblink_send_query('c', 'DELETE FROM item')
SELECT * FROM dblink_get_result('c') AS t(a text)
SELECT public.dblink_connect_u('x', 'host=127.0.0.1')
SELECT lo_open(1, 131072)
SELECT lo_truncate64(0, 1)
SELECT lo_lseek64(0, 1, 0)
SELECT pg_catalog.lo_close(0)
SET SESSION AUTHORIZATION DEFAULT
RESET SESSION AUTHORIZATION
SET LOCAL ROLE postgres
SET CONSTRAINTS ALL DEFERRED
SET LOCAL transaction_read_only = off
SET TRANSACTION ISOLATION LEVEL READ COMMITTED
SET TRANSACTION SNAPSHOT '00000003-0000001B-1'
DO LANGUAGE plperlu $x$ system('id') $x$
DO 'BEGIN PERFORM pg_sleep(1000); END'
CALL item()
SELECT * FROM set_config('work_mem', '1TB', false)
SELECT id FROM item ORDER BY set_config('role', 'postgres', false)
SELECT * FROM pg_stat_get_activity(NULL)
SELECT pg_stat_get_backend_activity(1)
SELECT pg_stat_get_backend_client_addr(1)
SELECT * FROM pg_stat_statements
SELECT * FROM pg_stat_wal_receiver
SELECT * FROM pg_stat_get_wal_receiver()
SELECT * FROM pg_stat_replication
SELECT * FROM pg_prepared_statements
SELECT * FROM information_schema.user_mapping_options
SELECT * FROM information_schema._pg_user_mappings
SELECT (SELECT umoptions FROM pg_user_mapping LIMIT 1)
SELECT * FROM pg_hba_file_rules()
SELECT * FROM pg_config()
SELECT pg_stat_reset_single_table_counters('item'::regclass)
SELECT pg_stat_reset_slru('x')
SELECT pg_wal_replay_pause()
SELECT pg_walfile_name('0/0')
SELECT txid_current_if_assigned(), pg_current_xact_id()
SELECT pg_catalog.nextval('s'::regclass)
SELECT nextval(pg_get_serial_sequence('item', 'id'))
SELECT * FROM item, nextval('s')
SELECT nextval FROM nextval('s') AS nextval
SELECT xpath('/row', query_to_xml('DELETE FROM item', false, false, ''))
SELECT (xpath('//x', table_to_xml('pg_authid', true, false, '')))[1]
SELECT pg_export_snapshot() FROM item
SELECT pg_replication_slot_advance('x', '0/0')
SELECT pg_logical_slot_get_changes('x', NULL, NULL)
SELECT pg_create_subscription('x')
SELECT pg_terminate_backend(pg_backend_pid())
SELECT pg_cancel_backend(pg_backend_pid())
SELECT pg_terminate_backend(pid) FROM pg_locks
SELECT "pg_catalog"."pg_terminate_backend"(pid, 0) FROM (SELECT 1 AS pid) t
SELECT pg_log_backend_memory_contexts(pg_backend_pid())
SELECT pg_notify('a', repeat('x', 7999)) FROM generate_series(1, 1000)
MERGE INTO item USING maker ON item.maker_id = maker.id WHEN MATCHED THEN UPDATE SET price = 0
WITH RECURSIVE x AS (DELETE FROM item RETURNING id) SELECT * FROM x
WITH x AS NOT MATERIALIZED (DELETE FROM item RETURNING id) SELECT 1
SELECT 1 UNION SELECT * FROM (WITH x AS (UPDATE item SET price = 1 RETURNING id) SELECT id FROM x) y
EXPLAIN (ANALYZE, FORMAT json) DELETE FROM item
CREATE TEMP TABLE x ON COMMIT DROP AS SELECT 1
CREATE LOCAL TEMPORARY VIEW x AS SELECT 1
CREATE OR REPLACE FUNCTION f() RETURNS void LANGUAGE sql AS 'DELETE FROM item'
CREATE AGGREGATE a (int) (SFUNC = int4pl, STYPE = int)
CREATE CAST (text AS int) WITH INOUT
CREATE SUBSCRIPTION s CONNECTION 'host=127.0.0.1' PUBLICATION p
CREATE PUBLICATION p FOR ALL TABLES
CREATE USER MAPPING FOR PUBLIC SERVER s
CREATE STATISTICS st ON id, label FROM item
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC
ALTER SEQUENCE s RESTART
ALTER ROLE postgres PASSWORD 'x'
ALTER DATABASE postgres SET work_mem = '1TB'
DROP OWNED BY postgres CASCADE
CLUSTER item
LOAD '/tmp/evil.so'
SELECT U&"\006eextval"('s')
SELECT U&"pg!005fread!005ffile" UESCAPE '!' ('/etc/passwd')
SELECT U&"!006eextval" UESCAPE '!' ('s')
SELECT /*+ x */ pg_catalog . "nextval" ('s')
SELECT E'\'' || nextval('s')
SELECT $q$'$q$, nextval('s')
SELECT $q$ $$ $q$; SELECT nextval('s')
SELECT 'a' /* ' */, nextval('s') -- '
SELECT 1 AS "a""b", nextval('s')
SELECT a.x FROM (SELECT nextval AS x FROM nextval('s')) a
SELECT * FROM ROWS FROM (nextval('s'), generate_series(1, 2)) AS t
SELECT * FROM pg_shadow_view, pg_catalog.pg_shadow
TABLE pg_catalog.pg_shadow
SELECT pg_shadow FROM pg_shadow
SELECT rolpassword FROM pg_catalog.pg_authid a WHERE a.rolname = 'postgres'
SELECT (pg_authid).rolpassword FROM pg_authid
VALUES (1, pg_read_file('/etc/passwd'))
VALUES ((SELECT lo_import('/etc/passwd')))
SELECT 1 WHERE 1 = ANY (SELECT nextval('s'))
SELECT sum(nextval('s')) OVER () FROM item
SELECT id FROM item LIMIT nextval('s')
SELECT id FROM item OFFSET (SELECT nextval('s'))
SELECT id FROM item FETCH FIRST (nextval('s')) ROWS ONLY
SELECT CAST(nextval('s') AS text)
SELECT (ARRAY[1,2,3])[nextval('s')]
-- expect: forbidden|error
SELECT count(*) FROM item GROUP BY pg_sleep(100)
WITH m AS (MERGE INTO item USING maker ON true WHEN MATCHED THEN DELETE RETURNING *) SELECT * FROM m
SELECT 2 ^ 1e10
SELECT power(1.0000001::numeric, 1e12::numeric)
SELECT levenshtein(repeat('x', 100000), repeat('y', 100000))
SELECT JSON_TABLE('[]', '$' COLUMNS (a int PATH '$'))
-- expect: timeout|too_large
WITH s AS MATERIALIZED (SELECT pg_sleep(1000)) SELECT 1 FROM s
WITH s AS (SELECT pg_sleep(1000) AS z) SELECT * FROM s, item
SELECT pg_sleep(0.05) FROM generate_series(1, 100000)
SELECT CASE WHEN pg_sleep(100) IS NULL THEN 1 END
WITH RECURSIVE r(i, s) AS (SELECT 1, pg_sleep(0.1) UNION ALL SELECT i + 1, pg_sleep(0.1) FROM r) SELECT count(*) FROM r
SELECT repeat('x', 1000000)::xml FROM generate_series(1, 100000)
SELECT xmlagg(xmlelement(name x, repeat('y', 100000))) FROM generate_series(1, 1000000)
SELECT jsonb_agg(repeat('x', 100000)) FROM generate_series(1, 1000000)
SELECT json_object_agg(g, g) FROM generate_series(1, 1000000000) g
SELECT count(*) FROM generate_series('2000-01-01'::timestamp, '9999-01-01', '1 second')
SELECT count(*) FROM generate_series(1::numeric, 1e30)
SELECT count(*) FROM (VALUES (1), (2)) a(x), LATERAL (SELECT pg_sleep(100)) b
SELECT DISTINCT a.* FROM item a CROSS JOIN generate_series(1, 1000000000) b
SELECT row_number() OVER (ORDER BY random()) FROM generate_series(1, 1000000000)
SELECT * FROM item JOIN generate_series(1, 100000000) g ON g % 2 = 0 ORDER BY g DESC
-- expect: rows
SELECT regexp_matches(repeat('ab', 100000), '(.*)(.*)(.*)(.*)(.*)(.*)(.*)x', 'g')
SELECT (10::numeric ^ 1000) ^ 100
SELECT exp(5000::numeric(1000, 900))
SELECT sqrt(('1' || repeat('0', 100000))::numeric)
SELECT setseed(0.5)
SELECT pg_index_column_has_property('item'::regclass, 1, 'asc')

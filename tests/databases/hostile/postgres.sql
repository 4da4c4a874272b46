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

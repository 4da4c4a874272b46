-- expect: forbidden
SELECT load_file('/etc/passwd')
SELECT LOAD_FILE('/etc/passwd')
SELECT load_file /**/ ('/etc/passwd')
SELECT `load_file`('/etc/passwd')
SELECT * FROM item WHERE load_file('/etc/passwd') IS NOT NULL
SELECT hex(load_file(0x2f6574632f706173737764))
SELECT * FROM item INTO OUTFILE '/tmp/sqlassay_hostile'
SELECT * INTO OUTFILE '/tmp/sqlassay_hostile' FROM item
SELECT 'x' INTO DUMPFILE '/tmp/sqlassay_hostile'
SELECT * FROM item INTO/**/OUTFILE '/tmp/sqlassay_hostile'
SELECT * FROM item INTO#x⟦NEWLINE⟧OUTFILE '/tmp/sqlassay_hostile'
SELECT id INTO @x FROM item LIMIT 1
SELECT id, label INTO @x, @y FROM item LIMIT 1
SELECT 1 /*!INTO OUTFILE '/tmp/sqlassay_hostile'*/
SELECT 1 /*!50000 INTO OUTFILE '/tmp/sqlassay_hostile' */
SELECT 1 /*M!100100 INTO OUTFILE '/tmp/sqlassay_hostile' */
/*!50000 DELETE FROM item */
/*! DROP TABLE item */
SELECT 1 /*!; DROP TABLE item */
SELECT get_lock('x', 10)
SELECT GET_LOCK('x', 10) FROM item
SELECT release_lock('x')
SELECT release_all_locks()
SELECT is_free_lock('x')
SELECT is_used_lock('x')
SELECT master_pos_wait('x', 1)
SELECT master_gtid_wait('x')
SELECT wait_for_executed_gtid_set('x')
SELECT nextval(s)
SELECT NEXT VALUE FOR s
SELECT PREVIOUS VALUE FOR s
SELECT setval(s, 1)
SELECT lastval(s)
SELECT sys_exec('id')
SELECT sys_eval('id')
SELECT * FROM item FOR UPDATE
SELECT * FROM item LOCK IN SHARE MODE
SELECT * FROM item FOR SHARE
SELECT * FROM item FOR UPDATE SKIP LOCKED
SELECT * FROM mysql.user
SELECT * FROM `mysql`.`user`
SELECT authentication_string FROM mysql . user
SELECT * FROM mysql.global_priv
SELECT * FROM MySQL.user
SELECT * FROM performance_schema.threads
SELECT * FROM sys.session
SELECT * FROM information_schema.processlist
SELECT info FROM information_schema.PROCESSLIST
SELECT * FROM information_schema.user_privileges
SET STATEMENT max_statement_time = 0 FOR SELECT 1
SET SESSION TRANSACTION READ WRITE
SET SESSION max_statement_time = 0
SET GLOBAL general_log = 1
SET @@session.sql_mode = ''
SET PASSWORD = 'x'
SET NAMES latin1
SET autocommit = 0
SET ROLE NONE
DO sleep(100)
DO release_all_locks()
HANDLER item READ FIRST
LOAD XML INFILE '/etc/passwd' INTO TABLE item
LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE item
LOAD INDEX INTO CACHE item
CACHE INDEX item IN x
INSTALL PLUGIN x SONAME 'x.so'
INSTALL SONAME 'x'
UNINSTALL PLUGIN x
CREATE FUNCTION sys_exec RETURNS INTEGER SONAME 'lib.so'
CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM item
CREATE OR REPLACE TABLE item (id INT)
INSERT IGNORE INTO maker VALUES (1, 'x')
INSERT INTO maker SET id = 9
INSERT INTO maker VALUES (1, 'x') ON DUPLICATE KEY UPDATE name = 'y'
INSERT DELAYED INTO maker VALUES (9, 'x')
REPLACE maker VALUES (1, 'x')
UPDATE LOW_PRIORITY item SET price = 0
DELETE QUICK FROM item
DELETE item FROM item JOIN maker ON maker.id = item.maker_id
KILL QUERY 1
KILL CONNECTION 1
FLUSH TABLES WITH READ LOCK
RESET MASTER
PURGE BINARY LOGS TO 'x'
CHANGE MASTER TO MASTER_HOST = 'x'
START SLAVE
STOP SLAVE
BINLOG 'x'
XA START 'x'
SIGNAL SQLSTATE '45000'
SHOW GRANTS
SHOW PROCESSLIST
SHOW VARIABLES
DESC item
DESCRIBE item
HELP 'select'
CHECK TABLE item
REPAIR TABLE item
CHECKSUM TABLE item
ANALYZE TABLE item
BACKUP STAGE START
EXECUTE IMMEDIATE CONCAT('DEL', 'ETE FROM item')
PREPARE p FROM 'DELETE FROM item'
SELECT 'x\'; DELETE FROM item; -- '; DELETE FROM item
SELECT "x"; DELETE FROM item
SELECT 1 # comment⟦NEWLINE⟧; DELETE FROM item
SELECT 1 -- ⟦NEWLINE⟧; DELETE FROM item
SELECT 1 --1; DELETE FROM item
-- expect: forbidden|error
WITH x AS (DELETE FROM item RETURNING *) SELECT * FROM x
SELECT * FROM (INSERT INTO maker VALUES (9, 'x') RETURNING id) t
SELECT extractvalue('<a/>', concat('~', version()))
VALUES (nextval(s))
-- expect: timeout
SELECT sleep(1000)
SELECT sleep(1000) FROM item
SELECT * FROM item WHERE sleep(100) = 0
SELECT benchmark(100000000000, md5('x'))
SELECT benchmark(100000000000, (SELECT COUNT(*) FROM maker))
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n
SELECT COUNT(*) FROM item a, item b, item c, item d, item e, item f, item g, item h, item i, item j, item k, item l, item m, item n, item o, item p, item q, item r, item s, item t
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT COUNT(*) FROM n a, n b, n c WHERE a.i * b.i * c.i < 0
SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b, information_schema.columns c
-- expect: rows|timeout|too_large|error
SELECT repeat('x', 2000000000)
SELECT lpad('x', 1000000000, 'y')
SELECT space(1000000000)
SELECT repeat('a', 30) REGEXP '(a*)*(a*)*b'
SELECT regexp_replace(repeat('a', 100000), '(a?){30}a{30}', 'x')
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT LENGTH(GROUP_CONCAT(REPEAT('x', 10000))) FROM n
SELECT exp(10000)
SELECT json_extract(repeat('[', 100000), '$')
-- expect: rows
SELECT * FROM item PROCEDURE ANALYSE()
SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()
SELECT 'into outfile', "for update", `label` FROM item WHERE label = 'load_file(x)' OR id = 10
SELECT @rank := 1
SELECT REPLACE(label, ';', ','), INSERT(label, 1, 1, 'x') FROM item
SELECT UPPER('mysql'), 1 AS `mysql.user`

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
-- expect: forbidden
EXECUTE IMMEDIATE 'SELECT 1'
EXECUTE IMMEDIATE CONCAT('DROP ', 'TABLE item') USING 1
HANDLER item OPEN AS h
HANDLER item READ NEXT LIMIT 100
HANDLER item CLOSE
SELECT NEXTVAL(s)
SELECT nextval (s)
SELECT NEXT/**/VALUE/**/FOR s
SELECT next  value for `s`
SELECT LASTVAL(s), SETVAL(s, 5, 1)
DELETE HISTORY FROM item
SELECT * FROM item INTO @a, @b, @c, @d
SELECT id FROM item LIMIT 1 INTO @a
SELECT (SELECT id FROM item LIMIT 1) INTO @a
SELECT 1 INTO OUTFILE '/tmp/sqlassay_hostile'
(SELECT 1 INTO OUTFILE '/tmp/sqlassay_hostile')
SELECT 1 UNION SELECT 2 INTO OUTFILE '/tmp/sqlassay_hostile'
SELECT * FROM item INTO DUMPFILE '/tmp/sqlassay_hostile'
VALUES (1) INTO OUTFILE '/tmp/sqlassay_hostile'
WITH x AS (SELECT 1) SELECT * FROM x INTO OUTFILE '/tmp/sqlassay_hostile'
TABLE item INTO OUTFILE '/tmp/sqlassay_hostile'
SELECT load_file(CONCAT('/etc/', 'passwd'))
SELECT `LOAD_FILE` ('/etc/passwd')
SELECT LOAD_FILE('/etc/passwd') FROM DUAL
SELECT * FROM JSON_TABLE(LOAD_FILE('/etc/passwd'), '$' COLUMNS (a INT PATH '$')) t
SELECT ExtractValue(LOAD_FILE('/etc/passwd'), '/x')
SELECT GET_LOCK ('x', -1)
SELECT IS_USED_LOCK(CONCAT('x', 1))
SELECT RELEASE_LOCK('sqlassay') FROM item
LOCK TABLE item READ
LOCK INSTANCE FOR BACKUP
FLUSH TABLES item FOR EXPORT
FLUSH STATUS
RESET QUERY CACHE
SET @x = 1
SET @@max_statement_time = 0
SET max_statement_time = 0
SET GLOBAL max_connections = 1
SET SESSION sql_mode = 'ANSI_QUOTES'
SET DEFAULT ROLE NONE
SET RESOURCE GROUP x
SET CHARACTER SET latin1
BEGIN NOT ATOMIC DELETE FROM item; END
BEGIN NOT ATOMIC SELECT 1; END
IF 1 THEN DELETE FROM item; END IF
LOOP SELECT 1; END LOOP
WHILE 1 DO SELECT 1; END WHILE
REPEAT SELECT 1; UNTIL 1 END REPEAT
FOR i IN 1..10 DO SELECT i; END FOR
CASE 1 WHEN 1 THEN DELETE FROM item; END CASE
RESIGNAL
XA BEGIN 'x'
XA RECOVER
XA COMMIT 'x'
SHOW CREATE TABLE item
SHOW FULL PROCESSLIST
SHOW ENGINE INNODB STATUS
SHOW MASTER STATUS
SHOW BINARY LOGS
SHOW EXPLAIN FOR 1
EXPLAIN FOR CONNECTION 1
ANALYZE FORMAT=JSON SELECT 1
ANALYZE SELECT * FROM item
DESCRIBE SELECT 1
KILL HARD QUERY 1
KILL USER root
PURGE BINARY LOGS BEFORE NOW()
CREATE OR REPLACE SEQUENCE s
CREATE PACKAGE p AS END
CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x')
CREATE TABLE x ENGINE=CONNECT TABLE_TYPE=DIR FILE_NAME='/etc/*'
CREATE TABLE x ENGINE=FEDERATED CONNECTION='mysql://root@127.0.0.1/x'
CREATE TABLE x LIKE item
ALTER SEQUENCE s RESTART 1
ALTER TABLE item DISCARD TABLESPACE
ALTER TABLE item ADD SYSTEM VERSIONING
DROP SEQUENCE s
INSERT INTO maker VALUES (9, 'x') RETURNING id
REPLACE INTO maker VALUES (1, 'x') RETURNING *
DELETE FROM item RETURNING *
UPDATE item, maker SET price = 0
IMPORT TABLE FROM '/tmp/x.sdi'
SELECT * FROM mysql.proc
SELECT * FROM mysql/**/.user
SELECT * FROM `mysql` . `db`
SELECT User FROM mysql.user u
SELECT * FROM item, mysql.user
SELECT * FROM item JOIN mysql.user ON 1
SELECT * FROM (mysql.user)
SELECT * FROM item WHERE EXISTS (SELECT * FROM mysql.user)
SELECT mysql.user.password FROM mysql.user
SELECT sys.version_major()
SELECT * FROM performance_schema.events_statements_history
SELECT * FROM information_schema.innodb_trx
SELECT trx_query FROM information_schema.INNODB_TRX
SELECT /*!99999 1 */ 2
SELECT /*!*/ 1
SELECT 1 /*M! */
/*!80000 SELECT 1 */
SELECT 'x' /*! INTO @a */
SELECT "\"", NEXTVAL(s)
SELECT 'a\\', NEXTVAL(s), '\''
SELECT 'it''s', NEXTVAL(s)
SELECT 1 --	tab⟦NEWLINE⟧, NEXTVAL(s)
SELECT N'x', _utf8'y', NEXTVAL(s)
SELECT x'41', NEXTVAL(s)
SELECT `a``b`, NEXTVAL(s) FROM item
SELECT 1;SELECT 2;
SELECT * FROM {x mysql.user}
SELECT * FROM item FORCE INDEX FOR ORDER BY (PRIMARY), mysql.user
SELECT * FROM item JOIN maker ON item.id = maker.id, mysql.user
SELECT * FROM item sys, sys.session
SELECT * FROM ((mysql.user))
SELECT * FROM item i JOIN maker m ON i.`order` = 1, mysql.user
SELECT * FROM item WHERE @order = 1 UNION SELECT * FROM mysql.user
SELECT 1 FROM item LEFT JOIN (maker, mysql.user) ON 1
SELECT * FROM item USE INDEX (PRIMARY), `mysql`.user
TABLE mysql.user
-- expect: forbidden|error
SELECT * FROM item FOR SYSTEM_TIME ALL
RETURN 1
GET DIAGNOSTICS @x = NUMBER
DELIMITER //
\! id
system id
source /etc/passwd
-- expect: timeout|too_large
SELECT BENCHMARK(1000000000, SHA2('x', 512))
SELECT (SELECT BENCHMARK(1000000000, AES_ENCRYPT('x', 'y')))
SELECT SLEEP(id * 100) FROM item
WITH s AS (SELECT SLEEP(1000)) SELECT * FROM s
SELECT IF(1, SLEEP(1000), 0)
SELECT * FROM item WHERE id = SLEEP(100) OR SLEEP(100)
SELECT 1 UNION SELECT SLEEP(100)
SELECT @a := SLEEP(100)
SELECT SUM(a.seq * b.seq) FROM seq_1_to_1000000 a, seq_1_to_1000000 b
SELECT * FROM seq_1_to_100000000 ORDER BY RAND()
SELECT MAX(SHA2(seq, 512)) FROM seq_1_to_10000000000
SELECT JSON_ARRAYAGG(seq) FROM seq_1_to_1000000000
SELECT JSON_OBJECTAGG(seq, REPEAT('x', 10000)) FROM seq_1_to_10000000
SELECT REGEXP_REPLACE(REPEAT('a', 1000000), '(a+)+$', 'b') FROM seq_1_to_1000
SELECT AES_DECRYPT(AES_ENCRYPT(REPEAT('x', 16000000), 'k'), 'k') FROM seq_1_to_10000
SELECT COMPRESS(REPEAT('x', 16000000)) FROM seq_1_to_10000
WITH RECURSIVE n(t) AS (SELECT CAST('x' AS CHAR(10000000)) UNION ALL SELECT CONCAT(t, t) FROM n) SELECT LENGTH(t) FROM n
WITH RECURSIVE a AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM a), b AS (SELECT * FROM a) SELECT COUNT(*) FROM b
-- expect: rows
SELECT * FROM information_schema.user_variables
SELECT REPEAT(REPEAT('x', 16000000), 1000000)
SELECT COUNT(*) FROM seq_1_to_1000000000000
SELECT REPEAT('a', 50) RLIKE '^(a|a)*$b'
SELECT JSON_EXTRACT(CONCAT(REPEAT('{"a":', 10000), '1', REPEAT('}', 10000)), '$**.a')
SELECT ST_AsText(ST_Buffer(ST_GeomFromText('POINT(0 0)'), 1e300))
SELECT CONV(REPEAT('F', 10000), 16, 10)
SELECT FORMAT(1e300, 1000000)
SELECT * FROM item PROCEDURE ANALYSE(10, 2000)

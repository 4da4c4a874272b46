"""Which error kind is a failure of MySQL or MariaDB?"""

from __future__ import annotations

import re

from sqlassay.records.execution import ErrorKind

_KINDS: dict[ErrorKind, tuple[int, ...]] = {
    ErrorKind.SYNTAX: (1064, 1065, 1066, 1060, 1096, 1120, 1149, 1221, 1234, 1248, 1327, 1353, 1250, 1300, 3573, 4008),
    ErrorKind.UNKNOWN_TABLE: (1049, 1051, 1109, 1146, 4031, 4091, 1356),
    ErrorKind.UNKNOWN_COLUMN: (1054, 1247, 1166, 4090),
    ErrorKind.AMBIGUOUS_COLUMN: (1052,),
    ErrorKind.FUNCTION: (
        1305,
        1582,
        1583,
        1584,
        1630,
        1318,
        1111,
        1128,
        1210,
        1176,
        4015,
        4016,
        4074,
        3593,
        1411,
        4107,
    ),
    ErrorKind.GROUPING: (1055, 1056, 1140, 1463, 1004),
    ErrorKind.ARITY: (1222, 1241, 1136, 4002, 3939, 4094, 1058),
    ErrorKind.TYPE: (1292, 1366, 1267, 1270, 1271, 1273, 1253, 4078, 4079, 1367, 1525, 3037, 1063),
    ErrorKind.RUNTIME: (1242, 1264, 1365, 1690, 3140, 3141, 3143, 3144, 4037, 4038, 4042, 1139, 3685, 3696, 1426, 1416),
    ErrorKind.FORBIDDEN: (
        *(1044, 1142, 1143, 1227, 1370, 1290, 1792, 1086, 1370, 1148, 1295, 1410, 1419, 1445, 1223, 1036, 1289),
        *(1001, 3554, 1836, 1793, 4082),
    ),
    ErrorKind.TOO_LARGE: (
        *(1104, 1116, 1436, 1038, 1153, 1162, 1301, 1114, 1021, 1037, 1041, 1118, 1390, 3636, 1117, 1119, 1226, 1135),
        *(1473, 4003),
    ),
    ErrorKind.TIMEOUT: (1969, 3024, 1317),
    ErrorKind.CONNECTION: (
        *(2002, 2003, 2005, 2006, 2013, 2014, 2027, 2055, 1040, 1045, 1130, 1152, 1158, 1159, 1160, 1161, 1184, 1203),
        *(1205, 1213, 1053, 1077, 1129, 1927, 1412, 1020, 1030),
    ),
}
_BY_NUMBER = {number: kind for kind, numbers in _KINDS.items() for number in numbers}
_INTERRUPTIONS = frozenset({1969, 3024, 1317, 1927, 2013})


def _number(error: Exception) -> int | None:
    return error.args[0] if error.args and isinstance(error.args[0], int) else None


def is_interruption(error: Exception) -> bool:
    """Whether the statement was stopped from outside."""
    return _number(error) in _INTERRUPTIONS


def error_kind(error: Exception) -> ErrorKind:
    """The kind of an exception of PyMySQL, or of text that could not be sent.

    >>> error_kind(Exception(1054, "Unknown column 'x' in 'field list'"))
    <ErrorKind.UNKNOWN_COLUMN: 'unknown_column'>
    """
    if isinstance(error, MemoryError):
        return ErrorKind.TOO_LARGE
    if isinstance(error, OSError):
        return ErrorKind.CONNECTION
    if isinstance(error, UnicodeError):
        return ErrorKind.SYNTAX
    number = _number(error)
    if number == 4078 and re.search(r"\brow\b", str(error.args[-1])):
        return ErrorKind.ARITY
    if number in (0, None):
        lost = type(error).__name__ in ("InterfaceError", "OperationalError")
        return ErrorKind.CONNECTION if lost else ErrorKind.OTHER
    return _BY_NUMBER.get(number or 0, ErrorKind.OTHER)

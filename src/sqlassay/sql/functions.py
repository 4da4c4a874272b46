"""Which functions aggregate, rank, read the clock or draw at random, also where the parser does not know them?"""

from __future__ import annotations

from sqlglot import exp


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


RANKING = (
    exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile, exp.Lag, exp.Lead,
    exp.FirstValue, exp.LastValue, exp.NthValue,
)  # fmt: skip
"""Window functions that place a row or fetch another one: no aggregates."""

AGGREGATES = _names(
    "TOTAL JSON_GROUP_ARRAY JSON_GROUP_OBJECT JSONB_GROUP_ARRAY JSONB_GROUP_OBJECT LISTAGG "
    "STRING_AGG GROUP_CONCAT ARRAY_AGG JSON_AGG JSONB_AGG JSON_OBJECT_AGG JSONB_OBJECT_AGG XMLAGG "
    "BIT_AND BIT_OR BIT_XOR BOOL_AND BOOL_OR EVERY ANY_VALUE PRODUCT FAVG FSUM FIRST LAST ARBITRARY "
    "UNIQ UNIQEXACT SUMIF AVGIF COUNTIF ARGMAX ARGMIN MEDIAN MODE STDEV STDEVP VAR VARP GROUPARRAY "
    "GROUPUNIQARRAY ENTROPY HISTOGRAM MAD SKEWNESS KURTOSIS APPROX_TOP_K QUANTILE_CONT QUANTILE_DISC "
    "CHECKSUM_AGG COUNT_BIG STRING_AGG_DISTINCT"
)
RANDOM = _names(
    "RANDOM RAND RANDN RANDOMBLOB NEWID NEWSEQUENTIALID GEN_RANDOM_UUID UUID UUID_GENERATE_V4 "
    "GENERATE_UUID UUIDV4 UUIDV7 SYS_GUID RANDSTR UNIFORM RANDCANONICAL GENERATEUUIDV4 SETSEED"
)
CLOCK = _names(
    "NOW GETDATE GETUTCDATE SYSDATETIME SYSUTCDATETIME SYSDATETIMEOFFSET SYSDATE CLOCK_TIMESTAMP "
    "TRANSACTION_TIMESTAMP STATEMENT_TIMESTAMP TIMEOFDAY CURDATE CURTIME UTC_DATE UTC_TIME "
    "UTC_TIMESTAMP TODAY YESTERDAY GET_CURRENT_TIMESTAMP GET_CURRENT_TIME CURRENT_DATE CURRENT_TIME "
    "CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP CURRENT_DATETIME NOW64"
)
CLOCK_WITHOUT_ARGUMENT = _names("DATE TIME DATETIME JULIANDAY UNIXEPOCH UNIX_TIMESTAMP AGE")

CLOCK_NODES: tuple[type[exp.Expr], ...] = tuple(
    kind
    for name in ("CurrentDate", "CurrentDatetime", "CurrentTime", "CurrentTimestamp", "CurrentTimestampLTZ",
                 "Localtime", "Localtimestamp", "UtcDate", "UtcTime", "UtcTimestamp", "Systimestamp")
    if (kind := getattr(exp, name, None)) is not None
)  # fmt: skip
RANDOM_NODES: tuple[type[exp.Expr], ...] = tuple(
    kind for name in ("Rand", "Randn", "Randstr", "Uuid", "Uniform") if (kind := getattr(exp, name, None)) is not None
)

"""The agent's last two stages: a plan, and the SQL that carries it out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from understanding import Meaning

ROW_CAP = 50


@dataclass
class Plan:
    """What the agent decided to do."""

    operation: str
    sql: str
    capped: bool = False


class PlanTooLong(Exception):
    """More steps than the agent may take."""


def plan(meaning: Meaning) -> Plan:
    """Choose a template and fill it in."""
    if meaning.conditions > 3:
        raise PlanTooLong(f"{meaning.conditions} conditions need more than 8 steps")
    build = {
        "COUNT": _count, "RANKING": _ranking, "BREAKDOWN": _breakdown, "PERSON": _person,
        "AGGREGATE": _aggregate, "MODE": _mode, "FILTER": _filter,
    }[meaning.intent]  # fmt: skip
    return build(meaning)


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _sources(meaning: Meaning) -> tuple[str, list[str]]:
    joins, where = ["films f"], []
    if meaning.genre:
        joins.append("JOIN v_film_genres fg ON fg.film_id = f.film_id JOIN v_genres g ON g.genre_id = fg.genre_id")
        where.append(f"g.genre_label = {_quote(meaning.genre)}")
    if meaning.country:
        where.append(f"f.country = {_quote(meaning.country)}")
    if meaning.since:
        where.append(f"f.release_year >= {meaning.since}")
    if meaning.until:
        where.append(f"f.release_year <= {meaning.until}")
    if meaning.year:
        where.append(f"f.release_year = {meaning.year}")
    if meaning.min_score:
        joins.append("JOIN ratings r ON r.film_id = f.film_id")
        where.append(f"r.score > {meaning.min_score}")
    for name, job in ((meaning.director, "Director"), (meaning.actor, "Actor")):
        if name:
            joins.append("JOIN credits c ON c.film_id = f.film_id JOIN people p ON p.person_id = c.person_id")
            where.append(f"p.name = {_quote(name)} AND c.job = '{job}'")
    return " ".join(joins), where


def _select(columns: str, meaning: Meaning, tail: str = "") -> str:
    source, where = _sources(meaning)
    condition = f" WHERE {' AND '.join(where)}" if where else ""
    return f"SELECT {columns} FROM {source}{condition}{tail}"


def _filter(meaning: Meaning) -> Plan:
    columns = ", ".join(f"f.{column}" for column in ["film_id", *(meaning.columns or ["title"])])
    return Plan(operation="FILTER", sql=_select(columns, meaning), capped=True)


def _count(meaning: Meaning) -> Plan:
    return Plan(operation="COUNT", sql=_select("COUNT(*) AS films", meaning))


def _ranking(meaning: Meaning) -> Plan:
    measure = meaning.measure or "box_office_musd"
    tail = f" ORDER BY f.{measure} DESC" + (f" LIMIT {meaning.limit}" if meaning.limit else "")
    return Plan(operation="RANKING", sql=_select(f"f.film_id, f.title, f.{measure}", meaning, tail))


def _breakdown(meaning: Meaning) -> Plan:
    by_genre = meaning.group == "genre" and not meaning.genre
    key = {"genre": "g.genre_label", "country": "f.country", "director": "p.name"}.get(
        str(meaning.group), "f.release_year"
    )
    source, where = _sources(meaning)
    if by_genre:
        source += " JOIN v_film_genres fg ON fg.film_id = f.film_id JOIN v_genres g ON g.genre_id = fg.genre_id"
    if meaning.group == "director":
        source += " JOIN credits c ON c.film_id = f.film_id JOIN people p ON p.person_id = c.person_id"
        where.append("c.job = 'Director'")
    text = meaning.question.lower()
    if "rating" in text or "score" in text:
        source += " JOIN ratings r ON r.film_id = f.film_id"
        value = "AVG(r.score) AS average_score"
    elif "box office" in text:
        value = "SUM(f.box_office_musd) AS box_office"
        where.append("f.country IS NOT NULL")
    else:
        value = "COUNT(*) AS films"
    condition = f" WHERE {' AND '.join(where)}" if where else ""
    return Plan(operation="BREAKDOWN", sql=f"SELECT {key}, {value} FROM {source}{condition} GROUP BY {key}")


def _person(meaning: Meaning) -> Plan:
    title = re.search(r"(?:directed|wrote|starred in) [\"'“]?(.+?)[\"'”]?\?*$", meaning.question, re.IGNORECASE)
    name = _quote(title[1] if title else "")
    if "wrote" in meaning.question.lower():
        condition = "c.role = 'Writer'"
    else:
        condition = "c.job = '" + ("Actor" if "starred" in meaning.question.lower() else "Director") + "'"
    return Plan(
        operation="LOOKUP",
        sql="SELECT p.name FROM people p JOIN credits c ON c.person_id = p.person_id JOIN films f "
        f"ON f.film_id = c.film_id WHERE f.title = {name} AND {condition}",
    )


def _aggregate(meaning: Meaning) -> Plan:
    text = meaning.question.lower()
    value = (
        "AVG(f.runtime_min)" if "runtime" in text else "AVG(r.score)" if "rating" in text else "SUM(f.box_office_musd)"
    )
    sql = _select(value, meaning)
    if "rating" in text:
        sql = sql.replace("FROM films f", "FROM films f JOIN ratings r ON r.film_id = f.film_id", 1)
    return Plan(operation="AGGREGATE", sql=sql)


def _mode(meaning: Meaning) -> Plan:
    key = "f.language" if "language" in meaning.question.lower() else "f.country"
    inner = _select("COUNT(*) AS films", meaning, f" GROUP BY {key}")
    return Plan(operation="MODE", sql=f"SELECT MAX(films) FROM ({inner})")

"""The agent's first two stages: what is being asked, and which words mean which fields and values.

Written as such agents are: a lexicon that somebody maintains by hand, with the holes that such lexicons have.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

GENRE_WORDS = {
    "documentary": "Documentary", "documentaries": "Documentary", "drama": "Drama", "dramas": "Drama",
    "comedy": "Comedy", "comedies": "Comedy", "sci-fi": "Sci-Fi & Fantasy", "science fiction": "Sci-Fi & Fantasy",
    "crime": "Crime", "animation": "Animation", "animated": "Animation", "horror": "Horror", "scary": "Horror",
    "romance": "Romance", "romances": "Romance", "romantic": "Romance", "music": "Music", "musicals": "Music",
    "wildlife": "Wildlife",
}  # fmt: skip
COUNTRY_WORDS = {
    "spain": "España", "spanish": "España", "españa": "España", "france": "France", "french": "France",
    "italy": "Italia", "italian": "Italia", "mexico": "Mexico", "mexican": "Mexico", "usa": "USA",
    "american": "USA", "germany": "Deutschland", "german": "Deutschland", "japan": "Japan", "japanese": "Japan",
}  # fmt: skip
MEASURES = {
    "box office": "box_office_musd", "revenue": "box_office_musd", "runtime": "runtime_min", "longest": "runtime_min",
    "shortest": "runtime_min", "newest": "release_year", "oldest": "release_year", "most recent": "release_year",
    "release year": "release_year",
}  # fmt: skip
FIELDS = {"title": "title", "year": "release_year", "runtime": "runtime_min", "country": "country"}
VAGUE = ("good", "best", "recent", "interesting")
CHATTER = ("weather", "hotel", "recipe", "stock price")
FINANCE = ("budget", "loan", "mortgage")


@dataclass
class Meaning:
    """What the agent made of a question."""

    question: str
    intent: str = "FILTER"
    genre: str | None = None
    country: str | None = None
    since: int | None = None
    until: int | None = None
    year: int | None = None
    min_score: float | None = None
    director: str | None = None
    actor: str | None = None
    measure: str | None = None
    limit: int | None = None
    group: str | None = None
    columns: list[str] = field(default_factory=list)
    status: str = "RESOLVED"
    trouble: str | None = None

    @property
    def conditions(self) -> int:
        values = (
            self.genre,
            self.country,
            self.since,
            self.until,
            self.year,
            self.min_score,
            self.director,
            self.actor,
        )
        return sum(value is not None for value in values)


def _word(text: str, words: dict[str, str]) -> str | None:
    found = [word for word in words if re.search(rf"\b{re.escape(word)}\b", text)]
    return words[max(found, key=len)] if found else None


def understand(question: str) -> Meaning:
    """Stage one and two: intent and semantic mapping."""
    text = question.lower()
    meaning = Meaning(question=question)
    meaning.genre = _word(text, GENRE_WORDS)
    meaning.country = _word(text, COUNTRY_WORDS)
    meaning.measure = _word(text, MEASURES)
    if since := re.search(r"\b(?:since|from|after) (\d{4})\b", text):
        meaning.since = int(since[1]) + ("after" in since[0])
    if until := re.search(r"\b(?:until|before) (\d{4})\b", text):
        meaning.until = int(until[1]) - ("before" in until[0])
    if year := re.search(r"\bin (\d{4})\b", text):
        meaning.year = int(year[1])
    if score := re.search(r"\b(?:above|over) (\d(?:\.\d)?)\b", text):
        meaning.min_score = float(score[1])
    if name := re.search(r"(?:directed by|did) ([A-ZÁÉÍÓÚ]\S+ [A-ZÁÉÍÓÚ][^\s?,.]+)", question):
        meaning.director = name[1]
    if name := re.search(r"(?:starring|with) ([A-ZÁÉÍÓÚ]\S+ [A-ZÁÉÍÓÚ][^\s?,.]+)", question):
        meaning.actor = name[1]
    if top := re.search(r"\b(?:top|first) (\d+)\b|\bthe (\d+) (?:longest|shortest|newest|oldest)", text):
        meaning.limit = int(top[1] or top[2])
    meaning.columns = [column for word, column in FIELDS.items() if re.search(rf"\b{word}s?\b", text)]
    if group := re.search(r"\b(?:per|by|in each|for each) (genre|country|year|decade|director)\b", text):
        meaning.group = group[1]
    meaning.intent = _intent(text, meaning)
    if any(word in text for word in CHATTER + FINANCE):
        meaning.status, meaning.trouble = "OUT_OF_SCOPE", "that is not about films"
    elif vague := next((word for word in VAGUE if re.search(rf"\b{word}\b", text)), None):
        meaning.status, meaning.trouble = "AMBIGUOUS", f"'{vague}' can mean many things"
    elif "something" in text:
        meaning.status, meaning.trouble = "OUT_OF_SCOPE", "no field fits"
    elif "compare" in text or " versus " in text:
        meaning.status, meaning.trouble = "UNMAPPED", "no template fits"
    return meaning


def _intent(text: str, meaning: Meaning) -> str:
    if meaning.group:
        return "BREAKDOWN"
    if text.startswith("how many") or "number of films" in text:
        return "COUNT"
    if re.match(r"who (directed|wrote|starred)", text):
        return "PERSON"
    if "average" in text or text.startswith("what is the total"):
        return "AGGREGATE"
    if "most common" in text:
        return "MODE"
    if meaning.limit or (meaning.measure and re.search(r"\b(rank|sorted|order)", text)):
        return "RANKING"
    return "FILTER"

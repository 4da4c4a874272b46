"""Writes `films.db`: a made-up film catalogue, the same bytes of content on every machine.

python catalogue.py films.db
"""

from __future__ import annotations

import random
import sqlite3
import sys
from pathlib import Path

GENRES = [
    "Documentary", "Drama", "Comedy", "Sci-Fi & Fantasy", "Crime",
    "Animation", "Wildlife & Nature", "Horror", "Romance", "Music",
]  # fmt: skip
COUNTRIES = ["España", "France", "Italia", "México", "USA", "Deutschland", "Japan", None]
COUNTRY_WEIGHTS = [9, 5, 4, 4, 8, 3, 3, 1]
LANGUAGE = {
    "España": "Spanish", "México": "Spanish", "France": "French", "Italia": "Italian", "USA": "English",
    "Deutschland": "German", "Japan": "Japanese",
}  # fmt: skip
FIRST = ["Lucía", "Marco", "Aiko", "Jean", "Greta", "Pablo", "Nora", "Iván", "Chiara", "Sam", "Rosa", "Kenji"]
LAST = ["Ferrer", "Bianchi", "Tanaka", "Moreau", "Vogel", "Ortega", "Lindqvist", "Navarro", "Conti", "Price"]
OPENING = ["The Last", "A Quiet", "Beyond the", "Under the", "Letters from the", "Return to the", "The Silent", "My"]
MIDDLE = ["Harbour", "Winter", "Orchard", "Signal", "River", "Machine", "Island", "Garden", "Mountain", "Theatre"]
CLOSING = ["", "", "", " of Dreams", " at Dawn", " in Blue", " Again", " II"]

SCHEMA = """
CREATE TABLE films (
  film_id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  release_year INTEGER NOT NULL,
  runtime_min INTEGER NOT NULL,
  country TEXT,
  language TEXT,
  budget_musd REAL,
  box_office_musd REAL
);
CREATE TABLE people (
  person_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  birth_year INTEGER NOT NULL
);
CREATE TABLE credits (
  film_id INTEGER NOT NULL REFERENCES films(film_id),
  person_id INTEGER NOT NULL REFERENCES people(person_id),
  job TEXT NOT NULL
);
CREATE TABLE ratings (
  film_id INTEGER NOT NULL REFERENCES films(film_id),
  source TEXT NOT NULL,
  score REAL NOT NULL,
  votes INTEGER NOT NULL
);
CREATE TABLE genre_codes (code INTEGER PRIMARY KEY, label TEXT NOT NULL);
CREATE TABLE film_genre_links (film_id INTEGER NOT NULL REFERENCES films(film_id), code INTEGER NOT NULL);
CREATE VIEW v_genres AS SELECT code AS genre_id, label AS genre_label FROM genre_codes;
CREATE VIEW v_film_genres AS SELECT film_id, code AS genre_id FROM film_genre_links;
"""


def build(path: Path, *, films: int = 720, seed: int = 7) -> None:
    """Write the catalogue to `path`, replacing what is there."""
    path.unlink(missing_ok=True)
    rng = random.Random(seed)
    database = sqlite3.connect(path)
    database.executescript(SCHEMA)
    database.executemany("INSERT INTO genre_codes VALUES (?, ?)", list(enumerate(GENRES, start=1)))
    names = [f"{first} {last}" for first in FIRST for last in LAST]
    database.executemany(
        "INSERT INTO people VALUES (?, ?, ?)",
        [(number, name, rng.randint(1935, 1995)) for number, name in enumerate(names, start=1)],
    )
    titles: set[str] = set()
    for film_id in range(1, films + 1):
        title = f"{rng.choice(OPENING)} {rng.choice(MIDDLE)}{rng.choice(CLOSING)}"
        while title in titles:
            title = f"{rng.choice(OPENING)} {rng.choice(MIDDLE)}{rng.choice(CLOSING)} {rng.randint(2, 99)}"
        titles.add(title)
        country = rng.choices(COUNTRIES, COUNTRY_WEIGHTS)[0]
        budget = round(rng.uniform(0.4, 90), 2)
        database.execute(
            "INSERT INTO films VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                film_id,
                title,
                rng.randint(1978, 2024),
                rng.randint(62, 201),
                country,
                None if country is None else LANGUAGE[country],
                budget,
                None if rng.random() < 0.06 else round(budget * rng.uniform(0.1, 6), 2),
            ),
        )
        weights = [5, 9, 8, 11, 5, 4, 2, 4, 5, 2]
        chosen = set(rng.choices(range(1, 11), weights, k=rng.choice([1, 1, 2, 2, 3])))
        database.executemany("INSERT INTO film_genre_links VALUES (?, ?)", [(film_id, code) for code in sorted(chosen)])
        jobs = ["Director", "Writer", *["Actor"] * rng.randint(2, 4)]
        cast = rng.sample(range(1, len(names) + 1), len(jobs))
        database.executemany(
            "INSERT INTO credits VALUES (?, ?, ?)",
            [(film_id, person, job) for person, job in zip(cast, jobs, strict=True)],
        )
        for source in rng.sample(["critics", "audience", "festival"], rng.choice([1, 2, 2, 3])):
            database.execute(
                "INSERT INTO ratings VALUES (?, ?, ?, ?)",
                (film_id, source, round(rng.triangular(2.5, 9.8, 6.6), 1), rng.randint(12, 60_000)),
            )
    database.commit()
    database.close()


if __name__ == "__main__":
    build(Path(sys.argv[1] if len(sys.argv) > 1 else "films.db"))

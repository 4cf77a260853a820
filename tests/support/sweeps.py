"""Folders of `tilewright explore`: what stands in them, and how far a sweep has come."""

import sqlite3

FILES = ("results.csv", "results.json", "report.html")


def finished(folder):
    """Points in the database of the folder, which someone else may be writing."""
    database = folder / "results.db"
    if not database.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10) as connection:
            return connection.execute("SELECT count(*) FROM points").fetchone()[0]
    except sqlite3.OperationalError:  # not made yet
        return 0

#!/usr/bin/env python3
"""Tests of tests/docs: which words and figures it finds, and which it leaves alone. Run: .venv/bin/python scripts/lib/docs_test.py"""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("tests/docs", "tests/support", "bench", "models/lib")]
import figures
import unit
import words

TABLE = """
## Retired words

| Retired | Where | Say | Identifiers |
|---|---|---|---|
| `road`, `quiet` | everywhere | pipeline | `roadOf` → `pipelineOf` |
| `sums stand` | everywhere | output-stationary | |
| `Word` | code | decoded instruction | `Word` → `DecodedInstruction` |

## Next
"""


def found(text, is_code=False):
    return [(line, entry.word) for line, entry in words.Search(words.retired(TABLE)).text(text, is_code)]


class Words(unittest.TestCase):
    def test_reads_the_table(self):
        self.assertEqual([entry.word for entry in words.retired(TABLE)], ["road", "quiet", "sums stand", "Word"])
        self.assertEqual(words.retired(TABLE)[0].instead, "pipeline (`roadOf` → `pipelineOf`)")

    def test_refuses_another_scope(self):
        with self.assertRaisesRegex(ValueError, "'everywhere' or in the 'code', not 'here'"):
            words.retired(TABLE.replace("| code |", "| here |"))

    def test_finds_words_whatever_their_case(self):
        self.assertEqual(found("One.\nThe whole Road is quiet."), [(2, "road"), (2, "quiet")])

    def test_finds_words_that_a_line_break_parts(self):
        self.assertEqual(found("where sums\nstand"), [(1, "sums stand")])

    def test_leaves_longer_words_alone(self):
        self.assertEqual(found("Broadcasts, the quietest railroad."), [])

    def test_documents_may_name_code(self):
        self.assertEqual(found("`road.h`, `--road`, [it](road.md)\n```\nroad\n```\n"), [])
        self.assertEqual(found("`the road`"), [(1, "road")])

    def test_splits_identifiers_of_the_code(self):
        self.assertEqual(found("int roadOf, next_road_; SUMS_STAND", is_code=True), [(1, "road"), (1, "road"), (1, "sums stand")])

    def test_takes_whole_identifiers_as_written(self):
        self.assertEqual(found("Word word; WordOf x; // Word\nsay(\"Word\");", is_code=True), [(1, "Word")])
        self.assertEqual(found("Word"), [])

    def test_leaves_whole_identifiers_in_long_texts_alone(self):
        self.assertEqual(found('"""One\nWord."""\nR"(a\nWord)" Word', is_code=True), [(4, "Word")])

    def test_leaves_names_of_others_alone(self):
        self.assertEqual(found("quiet_NaN(); ERROR_QUIET; quiet", is_code=True), [(1, "quiet")])

    def test_exempt_files_have_none(self):
        search = words.Search(words.retired(TABLE))
        self.assertEqual(search.file("rtl/tilewright_top.sv", "road", True), [])
        self.assertEqual(len(search.file("simulator/rtl/lib/engine.cpp", "road", True)), 1)

    def test_every_exemption_is_of_a_file(self):
        for glob, _, _ in words.EXEMPT:
            self.assertTrue(any(words.fnmatch.fnmatch(name, glob) for name in words.files(False) + words.files(True)), glob)


class Figures(unittest.TestCase):
    def test_a_quote_of_other_cycles_is_stale(self):
        self.assertEqual(list(figures.stale_quotes({"p.md": {"net": 1_000_000}}, {"net": 1_000_000})), [])
        self.assertEqual(list(figures.stale_quotes({"p.md": {"net": 999}}, {"net": 1_000_000})),
                         ["p.md says that net takes 999 cycles, bench/baseline.json 1,000,000: run bench/pages"])

    def test_a_page_without_cycles_is_stale(self):
        self.assertEqual(list(figures.stale_quotes({"p.md": {}}, {})), ["p.md has no cycles: run bench/pages"])

    def test_numbers_that_nothing_renews_are_strange(self):
        self.assertEqual(figures.strange_numbers("It takes 1,905,990 or 2 049 078 cycles, not 24 000.", {"net": 1_905_990}), ["2 049 078"])

    def test_tables_of_a_bench_may_have_any_number(self):
        self.assertEqual(figures.strange_numbers("<!-- networks -->\n| 7,000,000 |\n<!-- end -->\n", {}), [])


if __name__ == "__main__":
    unit.main("docs")

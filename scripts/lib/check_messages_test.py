"""Tests of check_messages.py: what a message is, and that one without a test is found."""

import unittest

import check_messages


def untested(source, test):
    told = check_messages.as_told(test)
    return [literal for _, literal in check_messages.messages(source) if not check_messages.is_told(literal, told)]


class Messages(unittest.TestCase):
    def test_without_a_test(self):
        self.assertEqual(untested('throw UserError(place, "the file is empty");', 'EXPECT_EQ(x, "the file is full");'), ["the file is empty"])

    def test_with_a_test(self):
        self.assertEqual(untested('fail("the file is empty");', '"m.onnx: error: the file is empty\\n  fix: none"'), [])

    def test_fix_is_a_message(self):
        self.assertEqual(untested('fail("the file is empty", "fill it up");', '"the file is empty"'), ["fill it up"])

    def test_placeholder(self):
        source = 'fail(fmt::format("strides above {} are not supported", most));'
        self.assertEqual(untested(source, '"strides above 8192 are not supported"'), [])
        self.assertEqual(len(untested(source, '"strides above 8192\nare not supported"')), 1)

    def test_every_part_counts(self):
        self.assertEqual(len(untested('fail(fmt::format("strides above {} are not supported", most));', '"pads above 9 are not supported"')), 1)

    def test_doubled_brackets(self):
        self.assertEqual(untested('fail(fmt::format("set params: {{ rows: {} }}", rows));', '"set params: { rows: 4 }"'), [])

    def test_adjacent_literals(self):
        self.assertEqual(untested('fail("the file "\n     "is empty");', 'f"the file "\n    r"is empty"'), [])

    def test_quotes(self):
        self.assertEqual(untested('fail("the target must be an \\"element\\"");', "'the target must be an \"element\"'"), [])

    def test_streamed(self):
        self.assertEqual(untested('return op.emitOpError() << "shift must be from 0 to " << most << ", not " << shift;', "nothing"),
                         ["shift must be from 0 to "])

    def test_single_words_are_no_message(self):
        self.assertEqual(untested('fail(node.find("constraint"));', "nothing"), [])

    def test_line(self):
        self.assertEqual(list(check_messages.messages('\n\nfail("the file is empty");')), [(3, "the file is empty")])

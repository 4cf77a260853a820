"""TOSA's test generator (same arguments), but a test on which the generator itself fails is named and left out.

It asks its own data library for tensors with a dimension of 0 in some negative concat tests, which the library refuses;
on its own it would stop there and leave the remaining tests unmade.
"""

import sys

import generator.tosa_verif_build_tests as build_tests
from jsonschema import ValidationError

serialize = build_tests.TosaTestGen.serializeTest


def serialize_or_name(self, test):
    try:
        return serialize(self, test)
    except ValidationError as error:
        print(f"not made: {test.testStr}: {error.message}")
        return True


build_tests.TosaTestGen.serializeTest = serialize_or_name
sys.exit(build_tests.main())

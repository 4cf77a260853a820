"""The lit suite of pass tests: every `test/*.mlir` of the compiler's parts, run with this build's tools."""

import os

import lit.formats

config.name = "tilewright"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.join(config.tilewright_source_dir, "compiler")
config.test_exec_root = os.path.join(os.path.dirname(config.tilewright_tools_dir), "lit", "output")
config.environment["PATH"] = os.pathsep.join([config.tilewright_tools_dir, config.llvm_tools_dir, config.environment["PATH"]])

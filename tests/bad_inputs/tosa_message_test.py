"""What the importer of TOSA text says, at the place that the mark § stands at."""

from isa_message_test import marked
from mlir_test import function
from rejection import CaseTable, RejectionTest, named_cases

IDENTITY = "func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> { return %x : tensor<4xi8> }"


class Module(RejectionTest, metaclass=CaseTable):
    @named_cases({
        "another operation": ("module {\n  §module {}\n  " + IDENTITY + "\n}\n", "'builtin.module' is not supported beside the function"),
        "encoding": ('module {\n  §func.func @main(%x: tensor<4xi8, "dense">) -> tensor<4xi8, "dense"> {\n'
                     '    return %x : tensor<4xi8, "dense">\n  }\n}\n', "tensor encodings are not supported"),
        "empty tensor": ("module {\n  §func.func @main(%x: tensor<0xi8>) -> tensor<0xi8> { return %x : tensor<0xi8> }\n}\n",
                         "empty tensors are not supported"),
        "blocks": ("module {\n  §func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {\n    return %x : tensor<4xi8>\n  ^unused:\n"
                   "    return %x : tensor<4xi8>\n  }\n}\n", "the function has more than one block"),
        "second function": ("module {\n  " + IDENTITY + "\n  §" + IDENTITY.replace("@main", "@other") + "\n}\n",
                            "the module has a second function\n  fix: keep the one to compile"),
        "declaration": ("§module {\n  func.func private @main(tensor<4xi8>) -> tensor<4xi8>\n}\n", "the module has no function with a body"),
        "no results": ("module {\n  §func.func @main(%x: tensor<4xi8>) { return }\n}\n", "the function has no results"),
        "control flow": ("module {\n  func.func @main(%c: tensor<i1>, %x: tensor<4xi8>) -> tensor<4xi8> {\n    %0 = §\"tosa.cond_if\"(%c, %x) ({\n"
                         "    ^then(%a: tensor<4xi8>):\n      tosa.yield %a : tensor<4xi8>\n    }, {\n"
                         "    ^else(%b: tensor<4xi8>):\n      tosa.yield %b : tensor<4xi8>\n"
                         "    }) : (tensor<i1>, tensor<4xi8>) -> tensor<4xi8>\n    return %0 : tensor<4xi8>\n  }\n}\n",
                         "'tosa.cond_if' is not supported: control flow depends on data"),
        "name twice": ('module {\n  §func.func @main(%x: tensor<4xi8> {tosa.tensor_name = "a"}, %y: tensor<4xi8> {tosa.tensor_name = "a"})'
                       " -> tensor<4xi8> { return %x : tensor<4xi8> }\n}\n", "the name 'a' of an input or output is empty or stands twice"),
    })
    def test_message(self, case):
        text, message = case
        line, column, text = marked(text)
        self.assert_diagnostic(self.compile(self.write("m.mlir", text)), f"@/m.mlir:{line}:{column}: error: {message}")

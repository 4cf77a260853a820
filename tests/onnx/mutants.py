"""The cases of cases.py with one thing changed, parted by onnx's own checker into models that break a rule of ONNX and models that do not."""

import os

import numpy
import onnx
import onnxruntime
from onnx import AttributeProto, TensorProto, helper, numpy_helper

# A value of each kind of attribute, to stand where another kind belongs.
OTHER_KIND = {AttributeProto.INT: "a", AttributeProto.INTS: 1.5, AttributeProto.FLOAT: [1, 2], AttributeProto.STRING: 3,
              AttributeProto.FLOATS: "a", AttributeProto.TENSOR: 1, AttributeProto.GRAPH: 1}
OTHER_TYPE = {TensorProto.FLOAT: (numpy.float64, numpy.int64), TensorProto.INT64: (numpy.int32, numpy.float32),
              TensorProto.BOOL: (numpy.float32,)}
# The field of each kind of attribute that a writer omits when it is zero.
SCALAR_FIELD = {AttributeProto.INT: "i", AttributeProto.FLOAT: "f", AttributeProto.STRING: "s"}
# Changes that break ONNX's text without a word of its checker: of some operators it knows no attributes, of some inputs no rank.
UNCHECKED = ("unknown-attribute", "as-matrix")


def bound(case):
    """The case's model with the shapes of its inputs in it, and of its outputs as ONNX infers them: its checker wants one."""
    model = case.model()
    for declared in model.graph.input:
        for dim, size in zip(declared.type.tensor_type.shape.dim, case.inputs[declared.name]):
            dim.dim_value = size
    model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    del model.graph.value_info[:]
    for declared in model.graph.output:
        declared.type.tensor_type.shape.dim.extend([])
        declared.type.tensor_type.shape.SetInParent()
    return model


def changes(model):
    """(name, change) of each way to break the model; `change` edits a copy of it."""
    for at, node in enumerate(model.graph.node):
        for index, attribute in enumerate(node.attribute):
            yield f"{at}-without-{attribute.name}", lambda m, at=at, index=index: m.graph.node[at].attribute.pop(index)
            if attribute.type in SCALAR_FIELD and not getattr(attribute, SCALAR_FIELD[attribute.type]):
                yield (f"{at}-unwritten-{attribute.name}", lambda m, at=at, index=index, field=SCALAR_FIELD[attribute.type]:
                       m.graph.node[at].attribute[index].ClearField(field))
            other = helper.make_attribute(attribute.name, OTHER_KIND[attribute.type])
            yield (f"{at}-kind-of-{attribute.name}",
                   lambda m, at=at, index=index, other=other: m.graph.node[at].attribute[index].CopyFrom(other))
        yield f"{at}-unknown-attribute", lambda m, at=at: m.graph.node[at].attribute.append(helper.make_attribute("banana", 1))
        yield f"{at}-input-more", lambda m, at=at: m.graph.node[at].input.append(m.graph.input[0].name)
        yield f"{at}-output-more", lambda m, at=at: m.graph.node[at].output.append("more")
        yield f"{at}-no-outputs", lambda m, at=at: m.graph.node[at].ClearField("output")
        for index in range(len(node.input)):
            yield f"{at}-input-{index}-left-out", lambda m, at=at, index=index: m.graph.node[at].input.__setitem__(index, "")
        if node.input:
            yield f"{at}-input-less", lambda m, at=at: m.graph.node[at].input.pop()
    for at, constant in enumerate(model.graph.initializer):
        array = numpy_helper.to_array(constant)
        forms = {f"as-{numpy.dtype(kind).name}": array.astype(kind) for kind in OTHER_TYPE.get(constant.data_type, ())}
        forms["as-matrix"] = array.reshape(-1, 1)
        forms["doubled"] = numpy.stack([array, array])
        for form, changed in forms.items():
            replaced = numpy_helper.from_array(changed, constant.name)
            yield f"{constant.name}-{form}", lambda m, at=at, replaced=replaced: m.graph.initializer[at].CopyFrom(replaced)
    yield "opset-7", lambda m: setattr(m.opset_import[0], "version", 7)
    yield "opset-22", lambda m: setattr(m.opset_import[0], "version", 22)


def is_valid(model):
    """Whether onnx's own checker takes the model."""
    try:
        onnx.checker.check_model(model, full_check=True)
    except onnx.checker.ValidationError:
        return False
    except onnx.shape_inference.InferenceError as error:
        return "ParseData type mismatch" in str(error)  # of a type that the schema allows
    return True


def is_run(model):
    """Whether onnxruntime runs the model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        session.run(None, {each.name: numpy.ones(each.shape, numpy.float32) for each in session.get_inputs()})
    except Exception:  # it has an exception of its own for each code
        return False
    return True


def verdicts_of(judge, models):
    """What `judge` says of each, or None where it comes to an end itself: it runs in processes of its own."""
    verdicts = []
    while len(verdicts) < len(models):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            for model in models[len(verdicts):]:
                os.write(writer, b"1" if judge(model) else b"0")
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            verdicts += [verdict == ord("1") for verdict in pipe.read()]
        if os.waitpid(child, 0)[1] != 0:
            verdicts.append(None)
    return verdicts


def mutants(cases):
    """(those that are no valid models, those that are), each (name, model); of one operator, operator set and change the first."""
    chosen = {}
    for case in cases:
        model = bound(case)
        for name, change in changes(model):
            kind = (case.name.split("-")[:2 if not case.name.startswith("graph") else None], name)
            if str(kind) in chosen:
                continue
            changed = onnx.ModelProto()
            changed.CopyFrom(model)
            change(changed)
            chosen[str(kind)] = (f"{case.name} {name}", changed)
    named = list(chosen.values())
    verdicts = verdicts_of(is_valid, [model for _, model in named])
    valid = [each for each, verdict in zip(named, verdicts) if verdict and not each[0].endswith(UNCHECKED)]
    for _, model in valid:  # `bound` made them up
        for declared in model.graph.output:
            declared.type.tensor_type.ClearField("shape")
    return [each for each, verdict in zip(named, verdicts) if verdict is False], valid

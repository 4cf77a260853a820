"""The operators of TOSA 1.0 PRO-INT, and which of them must pass."""

# Bit-exact on every engine and target for these types; a rejection counts as a failure.
REQUIRED = """conv2d depthwise_conv2d conv3d transpose_conv2d matmul rescale add sub mul table clamp maximum minimum avg_pool2d
max_pool2d pad concat slice reshape transpose resize argmax identity const""".split()
REQUIRED_TYPES = {"INT8", "INT16", "INT32", "INT48"}

# The rest of the profile: may be rejected with one diagnostic, must not compute a wrong value.
OPTIONAL = """abs arithmetic_right_shift bitwise_and bitwise_not bitwise_or bitwise_xor cast clz equal gather
greater greater_equal intdiv logical_and logical_left_shift logical_not logical_or logical_right_shift logical_xor negate
reduce_all reduce_any reduce_max reduce_min reduce_sum reverse scatter select tile""".split()

# The generator's names hold only the operators above. What it emits besides them even with `--tosa-version 1.0` belongs to
# the 1.1 draft (dim, matmul_t, adaptive pooling, row_gather, shape arithmetic, block-scaled reshape, bool gather and scatter).
DRAFT_ONLY = {("gather", "BOOL"), ("scatter", "BOOL")}

# Which operators an extension of the profile adds to.
EXTENSIONS = {"int16": """conv2d depthwise_conv2d conv3d transpose_conv2d matmul rescale table clamp avg_pool2d max_pool2d concat
resize argmax identity const""".split()}

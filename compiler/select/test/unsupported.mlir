// RUN: tilewright-opt --tosa-to-kernel --split-input-file --verify-diagnostics %s
// Operators that TOSA has and no kernel computes yet: each reason, at the operator.

// rescale from a type that no unit scales
func.func @main(%x: tensor<4xi1>) -> tensor<4xi8> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  %q = "tosa.const"() <{values = dense<false> : tensor<1xi1>}> : () -> tensor<1xi1>
  // expected-error @+1 {{'tosa.rescale' op has no kernel form: rescaling from i1 to i8 is not supported yet}}
  %r = tosa.rescale %x, %m, %s, %q, %z {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<4xi1>, tensor<1xi32>, tensor<1xi8>, tensor<1xi1>, tensor<1xi8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// rescale factors that are data
func.func @main(%x: tensor<4xi8>, %m: tensor<1xi32>) -> tensor<4xi8> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @+1 {{'tosa.rescale' op has no kernel form: its multiplier and shift are not constant}}
  %r = tosa.rescale %x, %m, %s, %z, %z {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// zero points that are data
func.func @main(%x: tensor<4xi8>, %z: tensor<1xi8>) -> tensor<4xi8> {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @+1 {{'tosa.rescale' op has no kernel form: its zero points are not constant}}
  %r = tosa.rescale %x, %m, %s, %z, %z {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// rounding mode
func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @+1 {{'tosa.rescale' op has no kernel form: the only supported rounding mode is SINGLE_ROUND}}
  %r = tosa.rescale %x, %m, %s, %z, %z {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = DOUBLE_ROUND, scale32 = true} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// wide clamp
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @+1 {{'tosa.clamp' op has no kernel form: clamping i32 is not supported yet, only i8 and i16}}
  %r = tosa.clamp %x {min_val = 0 : i32, max_val = 5 : i32} : (tensor<4xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// -----

// narrowing cast
func.func @main(%x: tensor<4xi32>) -> tensor<4xi8> {
  // expected-error @+1 {{'tosa.cast' op has no kernel form: casting i32 to i8 is not supported yet, only signed widening}}
  %r = tosa.cast %x : (tensor<4xi32>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// table of a wide type
func.func @main(%x: tensor<4xi32>, %t: tensor<256xi8>) -> tensor<4xi8> {
  // expected-error @+1 {{'tosa.table' op has no kernel form: tables of i32 are not supported}}
  %r = tosa.table %x, %t : (tensor<4xi32>, tensor<256xi8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// table that is data
func.func @main(%x: tensor<4xi8>, %t: tensor<256xi8>) -> tensor<4xi8> {
  // expected-error @+1 {{'tosa.table' op has no kernel form: its table is not constant}}
  %r = tosa.table %x, %t : (tensor<4xi8>, tensor<256xi8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// product of conditions
func.func @main(%x: tensor<4xi1>) -> tensor<4xi32> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @+1 {{'tosa.mul' op has no kernel form: operands of i1 are not supported yet, only i8, i16 and i32}}
  %r = tosa.mul %x, %x, %z : (tensor<4xi1>, tensor<4xi1>, tensor<1xi8>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// -----

// shift that is data
func.func @main(%x: tensor<4xi32>, %z: tensor<1xi8>) -> tensor<4xi32> {
  // expected-error @+1 {{'tosa.mul' op has no kernel form: its shift is not constant}}
  %r = tosa.mul %x, %x, %z : (tensor<4xi32>, tensor<4xi32>, tensor<1xi8>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// -----

// narrow negation
func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @+1 {{'tosa.negate' op has no kernel form: negation of i8 is not supported yet, only i32}}
  %r = tosa.negate %x, %z, %z : (tensor<4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// negation around a zero point that is data
func.func @main(%x: tensor<4xi32>, %z: tensor<1xi32>) -> tensor<4xi32> {
  // expected-error @+1 {{'tosa.negate' op has no kernel form: its zero points are not constant zeros}}
  %r = tosa.negate %x, %z, %z : (tensor<4xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// -----

// convolution of 16 bits
func.func @main(%x: tensor<1x4x4x8xi16>, %b: tensor<8xi32>) -> tensor<1x4x4x8xi32> {
  %w = "tosa.const"() <{values = dense<1> : tensor<8x3x3x8xi8>}> : () -> tensor<8x3x3x8xi8>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %q = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  // expected-error @+1 {{'tosa.conv2d' op has no kernel form: convolutions of i16 by i8 are not supported yet, only i8 by i8}}
  %r = tosa.conv2d %x, %w, %b, %q, %z {acc_type = i48, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x8xi16>, tensor<8x3x3x8xi8>, tensor<8xi32>, tensor<1xi16>, tensor<1xi8>) -> tensor<1x4x4x8xi32>
  return %r : tensor<1x4x4x8xi32>
}

// -----

// convolution by 16 bits
func.func @main(%x: tensor<1x4x4x8xi8>, %w: tensor<8x3x3x8xi16>, %b: tensor<8xi32>) -> tensor<1x4x4x8xi32> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %q = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  // expected-error @+1 {{'tosa.conv2d' op has no kernel form: convolutions of i8 by i16 are not supported yet, only i8 by i8}}
  %r = tosa.conv2d %x, %w, %b, %z, %q {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x8xi8>, tensor<8x3x3x8xi16>, tensor<8xi32>, tensor<1xi8>, tensor<1xi16>) -> tensor<1x4x4x8xi32>
  return %r : tensor<1x4x4x8xi32>
}

// -----

// narrow bias
func.func @main(%x: tensor<1x4x4x8xi8>, %b: tensor<8xi8>) -> tensor<1x4x4x8xi32> {
  %w = "tosa.const"() <{values = dense<1> : tensor<8x3x3x8xi8>}> : () -> tensor<8x3x3x8xi8>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @+1 {{'tosa.conv2d' op has no kernel form: bias and result must be i32}}
  %r = tosa.conv2d %x, %w, %b, %z, %z {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x8xi8>, tensor<8x3x3x8xi8>, tensor<8xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x8xi32>
  return %r : tensor<1x4x4x8xi32>
}

// -----

// weights that are data
func.func @main(%x: tensor<1x4x4x8xi8>, %w: tensor<8x3x3x8xi8>) -> tensor<1x4x4x8xi32> {
  %b = "tosa.const"() <{values = dense<1> : tensor<8xi32>}> : () -> tensor<8xi32>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @+1 {{'tosa.conv2d' op has no kernel form: its weights are not constant}}
  %r = tosa.conv2d %x, %w, %b, %z, %z {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x8xi8>, tensor<8x3x3x8xi8>, tensor<8xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x8xi32>
  return %r : tensor<1x4x4x8xi32>
}

// -----

// bias that is data
func.func @main(%x: tensor<1x4x4x8xi8>, %b: tensor<8xi32>) -> tensor<1x4x4x8xi32> {
  %w = "tosa.const"() <{values = dense<1> : tensor<8x3x3x8xi8>}> : () -> tensor<8x3x3x8xi8>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @+1 {{'tosa.conv2d' op has no kernel form: its bias is not constant}}
  %r = tosa.conv2d %x, %w, %b, %z, %z {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x8xi8>, tensor<8x3x3x8xi8>, tensor<8xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x8xi32>
  return %r : tensor<1x4x4x8xi32>
}

// -----

// matrix product of 16 bits
func.func @main(%x: tensor<1x4x4xi16>) -> tensor<1x4x4xi32> {
  %q = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  // expected-error @+1 {{'tosa.matmul' op has no kernel form: products of i16 by i16 are not supported yet, only i8 by i8 to i32}}
  %r = tosa.matmul %x, %x, %q, %q : (tensor<1x4x4xi16>, tensor<1x4x4xi16>, tensor<1xi16>, tensor<1xi16>) -> tensor<1x4x4xi32>
  return %r : tensor<1x4x4xi32>
}

// -----

// fill that is data
func.func @main(%x: tensor<4xi8>, %f: tensor<1xi8>) -> tensor<6xi8> {
  %p = tosa.const_shape {values = dense<[1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @+1 {{'tosa.pad' op has no kernel form: its padding or fill value is not constant}}
  %r = tosa.pad %x, %p, %f : (tensor<4xi8>, !tosa.shape<2>, tensor<1xi8>) -> tensor<6xi8>
  return %r : tensor<6xi8>
}

// -----

// pool of 16 bits
func.func @main(%x: tensor<1x4x4x8xi16>) -> tensor<1x2x2x8xi16> {
  // expected-error @+1 {{'tosa.max_pool2d' op has no kernel form: pooling of i16 is not supported yet, only i8}}
  %r = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x8xi16>) -> tensor<1x2x2x8xi16>
  return %r : tensor<1x2x2x8xi16>
}

// -----

// average of 16 bits
func.func @main(%x: tensor<1x4x4x8xi16>) -> tensor<1x2x2x8xi16> {
  %q = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  // expected-error @+1 {{'tosa.avg_pool2d' op has no kernel form: pooling of i16 is not supported yet, only i8}}
  %r = tosa.avg_pool2d %x, %q, %q {acc_type = i32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x8xi16>, tensor<1xi16>, tensor<1xi16>) -> tensor<1x2x2x8xi16>
  return %r : tensor<1x2x2x8xi16>
}

// -----

// reduction of 16 bits
func.func @main(%x: tensor<4x4xi16>) -> tensor<1x4xi16> {
  // expected-error @+1 {{'tosa.reduce_sum' op has no kernel form: reductions of i16 are not supported yet}}
  %r = tosa.reduce_sum %x {axis = 0 : i32} : (tensor<4x4xi16>) -> tensor<1x4xi16>
  return %r : tensor<1x4xi16>
}

// -----

// bilinear
func.func @main(%x: tensor<1x4x4x1xi8>) -> tensor<1x7x7x1xi32> {
  %a = tosa.const_shape {values = dense<[2, 1, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %b = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @+1 {{'tosa.resize' op has no kernel form: the only supported mode is NEAREST_NEIGHBOR}}
  %r = tosa.resize %x, %a, %b, %b {mode = BILINEAR} : (tensor<1x4x4x1xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x7x7x1xi32>
  return %r : tensor<1x7x7x1xi32>
}

// -----

// resize to another type
func.func @main(%x: tensor<1x4x4x1xi8>) -> tensor<1x7x7x1xi32> {
  %a = tosa.const_shape {values = dense<[2, 1, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %b = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @+1 {{'tosa.resize' op has no kernel form: resizing i8 to i32 is not supported}}
  %r = tosa.resize %x, %a, %b, %b {mode = NEAREST_NEIGHBOR} : (tensor<1x4x4x1xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x7x7x1xi32>
  return %r : tensor<1x7x7x1xi32>
}

// -----

// irregular scale
func.func @main(%x: tensor<1x1000x1000x1xi8>) -> tensor<1x617x617x1xi8> {
  %a = tosa.const_shape {values = dense<[987, 1597, 987, 1597]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %b = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %c = tosa.const_shape {values = dense<[-2261, -2261]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @+1 {{'tosa.resize' op has no kernel form: its scale is too irregular}}
  %r = tosa.resize %x, %a, %b, %c {mode = NEAREST_NEIGHBOR} : (tensor<1x1000x1000x1xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x617x617x1xi8>
  return %r : tensor<1x617x617x1xi8>
}

// -----

// positions that are data
func.func @main(%x: tensor<1x4x2xi8>, %i: tensor<1x3xi32>) -> tensor<1x3x2xi8> {
  // expected-error @+1 {{'tosa.gather' op has no kernel form: its indices are not constant}}
  %r = tosa.gather %x, %i : (tensor<1x4x2xi8>, tensor<1x3xi32>) -> tensor<1x3x2xi8>
  return %r : tensor<1x3x2xi8>
}

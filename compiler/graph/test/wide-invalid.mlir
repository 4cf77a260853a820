// RUN: tilewright-opt %s --wide-decompose --split-input-file --verify-diagnostics

func.func @main(%a: tensor<1x1x33026xi16>, %b: tensor<1x33026x1xi16>) -> tensor<1x1x1xi48> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  // expected-error @below {{'tosa.matmul' op has no kernel form: sums of products of 8 bits do not fit 32 bits}}
  %0 = tosa.matmul %a, %b, %z, %z : (tensor<1x1x33026xi16>, tensor<1x33026x1xi16>, tensor<1xi16>, tensor<1xi16>) -> tensor<1x1x1xi48>
  return %0 : tensor<1x1x1xi48>
}

// -----

// 255 * 255 * 33026: one channel fewer fits.
func.func @main(%x: tensor<1x1x1x33026xi16>) -> tensor<1x1x1x1xi48> {
  %w = "tosa.const"() <{values = dense<127> : tensor<1x1x1x33026xi8>}> : () -> tensor<1x1x1x33026xi8>
  %b = "tosa.const"() <{values = dense<0> : tensor<1xi48>}> : () -> tensor<1xi48>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  %y = "tosa.const"() <{values = dense<-128> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @below {{'tosa.conv2d' op has no kernel form: sums of products of 8 bits do not fit 32 bits}}
  %0 = tosa.conv2d %x, %w, %b, %z, %y {acc_type = i48, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x33026xi16>, tensor<1x1x1x33026xi8>, tensor<1xi48>, tensor<1xi16>, tensor<1xi8>) -> tensor<1x1x1x1xi48>
  return %0 : tensor<1x1x1x1xi48>
}

// -----

func.func @main(%x: tensor<1x1x1x33025xi16>) -> tensor<1x1x1x1xi48> {
  %w = "tosa.const"() <{values = dense<127> : tensor<1x1x1x33025xi8>}> : () -> tensor<1x1x1x33025xi8>
  %b = "tosa.const"() <{values = dense<0> : tensor<1xi48>}> : () -> tensor<1xi48>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  %y = "tosa.const"() <{values = dense<-128> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %x, %w, %b, %z, %y {acc_type = i48, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x33025xi16>, tensor<1x1x1x33025xi8>, tensor<1xi48>, tensor<1xi16>, tensor<1xi8>) -> tensor<1x1x1x1xi48>
  return %0 : tensor<1x1x1x1xi48>
}

// -----

func.func @main(%x: tensor<3xi48>, %m: tensor<1xi16>) -> tensor<3xi16> {
  %s = "tosa.const"() <{values = dense<40> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi48>}> : () -> tensor<1xi48>
  %y = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  // expected-error @below {{'tosa.rescale' op has no kernel form: 48-bit integers are rescaled by constants, added to by a constant bias and handed on, no more}}
  %0 = tosa.rescale %x, %m, %s, %z, %y {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = false} : (tensor<3xi48>, tensor<1xi16>, tensor<1xi8>, tensor<1xi48>, tensor<1xi16>) -> tensor<3xi16>
  return %0 : tensor<3xi16>
}

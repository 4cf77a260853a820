"""The slowest path that ends in each block of a machine, by OpenSTA over its netlists of OSU 0.18 um cells. Wires have no delay; a RAM
macro's row is there 20 FO4 after the clock."""

import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "descriptions"))

import netlist
import osu018
import plain_yaml

RAM_READ = 20  # FO4
PIN = re.compile(r"^\s+[\d.]+\s+([\d.]+) [v^] (\S+) \((\S+)\)$", re.M)


def liberty(rams, fo4):
    """Of RAM macros, with all their pins at the clock."""
    widths = sorted({bits for size in rams.values() for _, bits, _ in netlist.ram_ports(*size)})
    types = "".join(f"type (bus_{bits}) {{ base_type : array; data_type : bit; bit_width : {bits}; bit_from : {bits - 1}; bit_to : 0; }}\n"
                    for bits in widths)
    cells = ""
    for name, size in rams.items():
        pins = ""
        for port, bits, direction in netlist.ram_ports(*size):
            kind = f"bus ({port}) {{ bus_type : bus_{bits};" if bits > 1 else f"pin ({port}) {{"
            pins += f"{kind} direction : {direction}; "
            if port == "clk_i":
                pins += "clock : true; capacitance : 0.01; }\n"
            elif direction == "input":
                pins += ("capacitance : 0.01; timing () { related_pin : \"clk_i\"; timing_type : setup_rising; rise_constraint (scalar) "
                         "{ values (\"0.1\"); } fall_constraint (scalar) { values (\"0.1\"); } } }\n")
            else:
                times = "".join(f"{edge} (scalar) {{ values (\"{value}\"); }} " for edge, value in (
                    ("cell_rise", RAM_READ * fo4), ("cell_fall", RAM_READ * fo4), ("rise_transition", fo4), ("fall_transition", fo4)))
                pins += f"timing () {{ related_pin : \"clk_i\"; timing_type : rising_edge; {times}}} }}\n"
        cells += f"cell ({name}) {{ area : 0;\n{pins}}}\n"
    return ("library (rams) {\ndelay_model : table_lookup; time_unit : \"1ns\"; voltage_unit : \"1V\"; current_unit : \"1mA\"; "
            "capacitive_load_unit (1, pf);\nnom_voltage : 1.8; nom_temperature : 25; nom_process : 1;\n" + types + cells + "}\n")


SCRIPT = """read_liberty {liberty}
read_liberty rams.lib
{reads}
link_design top
create_clock -name c -period 100 [get_ports clk_i]
set blocks {{{blocks}}}
foreach block $blocks {{ set ends($block) {{}} }}
foreach pin [all_registers -data_pins] {{
  set name [get_property $pin full_name]
  foreach block $blocks {{
    if {{$block eq "." || [string match "$block/*" $name]}} {{ lappend ends($block) $pin; break }}
  }}
}}
foreach block $blocks {{
  puts "block $block"
  if {{[llength $ends($block)] > 0}} {{ report_checks -from [all_registers -clock_pins] -to $ends($block) -digits 4 }}
}}
exit
"""


def paths(found, rams):
    """{block: text of OpenSTA on the slowest path that ends in it}, and nanoseconds of an FO4."""
    fo4 = float(plain_yaml.read(ROOT / "isa" / "technologies" / "osu018.yaml")["fo4_fs"]) / 1e6
    deepest = sorted((block for block in netlist.BLOCKS if block), key=lambda block: -block.count("."))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "rams.lib").write_text(liberty(rams, fo4))
        (folder / "time.tcl").write_text(SCRIPT.format(
            liberty=osu018.LIBERTY, reads="\n".join(f"read_verilog {each.verilog}" for each in found.values()),
            blocks=" ".join([*(block.replace(".", "/") for block in deepest), "."])))
        text = osu018.run(["sta", "-exit", "time.tcl"], folder)
    parts = re.split(r"^block (\S+)$", text, flags=re.M)
    return {"" if block == "." else block.replace("/", "."): body for block, body in zip(parts[1::2], parts[2::2])}, fo4


def block_of(pin):
    parts = pin.split("/")
    return next(block for depth in range(len(parts), -1, -1) if (block := ".".join(parts[:depth])) in netlist.BLOCKS)

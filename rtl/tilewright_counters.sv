// The counters that the host reads: of cycles, instructions, beats on the bus, and of where the units' cycles went.
// verilator lint_off UNUSEDSIGNAL
// Reason: of what a unit does only its kind is counted.
module tilewright_counters import tilewright_pkg::*; (
  input  logic        clk_i,          // all state changes at its rising edge
  input  logic        rst_ni,         // synchronous reset, active low
  input  logic        clear_i,        // a program starts with the next cycle: all begin anew
  input  logic        running_i,      // this cycle is one of the program
  input  logic        executes_i,     // an instruction is executed or dispatched
  input  activity_t   activity_i [5], // what this cycle goes to in each unit: sequencer, matrix, vector, load, store
  input  logic        fetch_beat_i,   // a beat of instructions comes
  input  logic        load_beat_i,    // a beat of data comes
  input  logic        store_beat_i,   // a beat is taken
  output logic [63:0] cycles_o,       // of the program
  output logic [63:0] instructions_o, // executed or dispatched
  output logic [63:0] fetch_beats_o,  // of instructions
  output logic [63:0] load_beats_o,   // of data read
  output logic [63:0] store_beats_o,  // of data written
  output logic [63:0] busy_o [5],     // cycles in which the unit was busy
  output logic [63:0] stalled_o [5]   // cycles in which it was stalled
);
  localparam int Counters = 15;
  logic [Counters-1:0] counts, counts_q;
  logic [63:0] count_q [Counters];

  // What a unit does shows late in the cycle: it is counted in the next one, before anything can be read of a program that has ended. Beats
  // go on until all that has begun has ended.
  assign counts[0] = running_i;
  assign counts[1] = running_i && executes_i;
  assign counts[2] = fetch_beat_i;
  assign counts[3] = load_beat_i;
  assign counts[4] = store_beat_i;
  for (genvar i = 0; i < 5; i++) begin : gen_units
    assign counts[5 + i] = running_i && activity_i[i].kind == Busy;
    assign counts[10 + i] = running_i && activity_i[i].kind == Stalled;
    assign busy_o[i] = count_q[5 + i];
    assign stalled_o[i] = count_q[10 + i];
  end
  always_ff @(posedge clk_i) counts_q <= rst_ni ? counts : '0;
  for (genvar i = 0; i < Counters; i++) begin : gen_counters
    always_ff @(posedge clk_i) begin
      if (!rst_ni || clear_i) count_q[i] <= '0;
      else count_q[i] <= count_q[i] + 64'(counts_q[i]);
    end
  end
  assign cycles_o = count_q[0];
  assign instructions_o = count_q[1];
  assign fetch_beats_o = count_q[2];
  assign load_beats_o = count_q[3];
  assign store_beats_o = count_q[4];
endmodule
// verilator lint_on UNUSEDSIGNAL

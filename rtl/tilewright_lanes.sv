// The lanes of the vector unit: in each, the pipeline in which the elements of a strip at one position are computed. Stages, registers
// between them and the units that instructions share are generated from the description (tilewright_lanes.svh).
// verilator lint_off UNUSEDSIGNAL
// Reason: not every register, field and bit is used by every instruction.
module tilewright_lanes import tilewright_pkg::*; (
  input  logic                              clk_i,         // all state changes at its rising edge
  input  logic                              enable_i,      // the pipeline moves
  input  logic                              busy_i,        // some stage has an element; else operands are zero, and nothing switches
  input  logic [7:0]                        instruction_i, // that runs
  input  instruction_t                      bits_i,        // of it
  input  vector_state_t                     state_i,       // scalar registers, which stay as they are while it runs
  input  logic [LaneConstantBits-1:0]       constant_i,    // what these alone say
  input  lane_control_t [LaneStages-1:0]    control_i,     // what is in each stage
  // In the first stage:
  input  logic [31:0]                       operand_i [Lanes][VectorStreams], // elements of memory, in their low bits
  input  logic [31:0]                       element_i [Lanes][LaneElements],  // of arrays, at the lane's position
  input  logic [VectorDims-1:0][31:0]       index_i,       // iterators
  input  logic [31:0]                       lane_base_i,   // the one along the lanes, in the first of them
  // What a table is asked for in a cycle is there in the next one that moves.
  output logic [LaneTables-1:0]             table_read_o,
  output logic [31:0]                       table_index_o [Lanes][LaneTables],
  input  logic [31:0]                       table_data_i [Lanes][LaneTables],
  output lane_result_t                      result_o [Lanes] // registered, a cycle after the last stage
);
  `include "tilewright_lanes.svh"
endmodule
// verilator lint_on UNUSEDSIGNAL

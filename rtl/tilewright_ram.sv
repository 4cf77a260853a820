// A RAM macro: one read port, one write port with a mask. What a physical design replaces by a macro of its process, and synthesis
// for area leaves as a black box. The read is not clocked: a memory that is read in the cycle of the grant.
module tilewright_ram #(
  parameter int Depth = 64, // rows
  parameter int Width = 128 // bits of a row
) (
  input  logic                     clk_i,        // all state changes at its rising edge
  input  logic [$clog2(Depth)-1:0] read_row_i,   // read in this cycle
  output logic [Width-1:0]         read_data_o,  // as of the beginning of the cycle
  input  logic                     write_i,      // a row is written at the end of the cycle
  input  logic [$clog2(Depth)-1:0] write_row_i,  // which one
  input  logic [Width-1:0]         write_mask_i, // bits that are written: whole bytes
  input  logic [Width-1:0]         write_data_i  // its bits
);
  logic [Width-1:0] row_q [Depth];
  initial for (int i = 0; i < Depth; i++) row_q[i] = '0;

  assign read_data_o = row_q[read_row_i];
  always_ff @(posedge clk_i)
    if (write_i) row_q[write_row_i] <= (row_q[write_row_i] & ~write_mask_i) | (write_data_i & write_mask_i);
endmodule

// A RAM macro whose reads are clocked: the row is there a cycle after it was asked for, and stays until the next one is. One write port
// with a mask; several read ports are as many macros that are written alike. What a physical design replaces by macros of its process,
// and synthesis for area leaves as black boxes.
module tilewright_ram #(
  parameter int Depth = 64,  // rows
  parameter int Width = 128, // bits of a row
  parameter int Ports = 1,   // rows that are read in a cycle
  parameter logic [Width-1:0] Initial = '0 // of each row, in simulation
) (
  input  logic                     clk_i,                // all state changes at its rising edge
  input  logic [Ports-1:0]         read_i,               // a row is asked for
  input  logic [$clog2(Depth)-1:0] read_row_i [Ports],   // which one
  output logic [Width-1:0]         read_data_q [Ports],  // as of the beginning of the cycle in which it was asked for
  input  logic                     write_i,              // a row is written at the end of the cycle
  input  logic [$clog2(Depth)-1:0] write_row_i,          // which one
  input  logic [Width-1:0]         write_mask_i,         // bits that are written: whole bytes
  input  logic [Width-1:0]         write_data_i          // its bits
);
  logic [Width-1:0] row_q [Depth];
  initial for (int i = 0; i < Depth; i++) row_q[i] = Initial;

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    always_ff @(posedge clk_i) if (read_i[p]) read_data_q[p] <= row_q[read_row_i[p]];
  end
`ifdef TILEWRIGHT_FPGA
  // Block RAM of an FPGA writes bytes one by one.
  for (genvar i = 0; i < Width; i += 8) begin : gen_byte
    localparam int Bits = Width - i < 8 ? Width - i : 8;
    always_ff @(posedge clk_i) if (write_i && write_mask_i[i]) row_q[write_row_i][i +: Bits] <= write_data_i[i +: Bits];
  end
`else
  always_ff @(posedge clk_i)
    if (write_i) row_q[write_row_i] <= (row_q[write_row_i] & ~write_mask_i) | (write_data_i & write_mask_i);
`endif
endmodule

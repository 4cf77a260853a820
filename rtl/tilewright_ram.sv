// A RAM macro whose reads are clocked: the row is there a cycle after it was asked for, and stays until the next one is. One write port
// with a mask; several read ports are as many macros that are written alike. What a physical design replaces by macros of its process,
// and synthesis for area leaves as black boxes.
// verilator lint_off UNUSEDPARAM
// Reason: simulators read what stands in the row at the beginning of the cycle, whether that is of use or not.
module tilewright_ram #(
  parameter int Depth = 64,  // rows
  parameter int Width = 128, // bits of a row
  parameter int Ports = 1,   // rows that are read in a cycle
  parameter bit Meets = 1'b1, // bits may be written in the cycle in which their row is asked for, and the old ones are of use
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
`ifdef TILEWRIGHT_FPGA
  // Block RAM of an FPGA writes bytes one by one, and does not say what a row gives that is written meanwhile.
  (* no_rw_check *) logic [Width-1:0] row_q [Depth];
  initial for (int r = 0; r < Depth; r++) row_q[r] = Initial;
  logic [$clog2(Depth)-1:0] write_row;
  logic [(Width+7)/8-1:0] writes; // by bytes
  logic [Width-1:0] write_data;
  logic [Ports-1:0][Width-1:0] read_q;
  for (genvar i = 0; i < Width; i += 8) begin : gen_byte
    localparam int Bits = Width - i < 8 ? Width - i : 8;
    always_ff @(posedge clk_i) if (writes[i/8]) row_q[write_row][i +: Bits] <= write_data[i +: Bits];
  end
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    always_ff @(posedge clk_i)
      if (read_i[p]) read_q[p] <= row_q[read_row_i[p]];
  end
  logic [(Width+7)/8-1:0] asked; // bytes to write
  always_comb for (int i = 0; i < (Width + 7) / 8; i++) asked[i] = write_i && write_mask_i[8*i];
  if (Meets) begin : gen_meets
    // A write waits for a cycle. What was asked for meanwhile takes its bytes from there.
    initial writes = '0;
    always_ff @(posedge clk_i) begin
      writes <= asked;
      write_row <= write_row_i;
      write_data <= write_data_i;
    end
    for (genvar p = 0; p < Ports; p++) begin : gen_port
      logic [$clog2(Depth)-1:0] read_row_q, written_row_q;
      logic [(Width+7)/8-1:0] written_q;
      logic [Width-1:0] written_data_q;
      always_ff @(posedge clk_i) begin
        if (read_i[p]) begin
          read_row_q <= read_row_i[p];
          written_row_q <= write_row;
          written_q <= writes;
          written_data_q <= write_data;
        end
      end
      always_comb begin
        read_data_q[p] = read_q[p];
        for (int i = 0; i < Width; i++)
          if (written_q[i/8] && written_row_q == read_row_q) read_data_q[p][i] = written_data_q[i];
      end
    end
  end else begin : gen_meets_not
    assign writes = asked;
    assign write_row = write_row_i;
    assign write_data = write_data_i;
    for (genvar p = 0; p < Ports; p++) begin : gen_port
      assign read_data_q[p] = read_q[p];
    end
  end
`else
  logic [Width-1:0] row_q [Depth];
  initial for (int i = 0; i < Depth; i++) row_q[i] = Initial;
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    always_ff @(posedge clk_i) if (read_i[p]) read_data_q[p] <= row_q[read_row_i[p]];
  end
  always_ff @(posedge clk_i)
    if (write_i) row_q[write_row_i] <= (row_q[write_row_i] & ~write_mask_i) | (write_data_i & write_mask_i);
`endif
endmodule
// verilator lint_on UNUSEDPARAM

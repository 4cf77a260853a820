// Words that come as many cycles later: in RAM where that is worth it, else in registers. Who reads it knows whether there was one.
module tilewright_delay #(
  parameter int Cycles = 16, // from a word's cycle to the one in which it is shown
  parameter int Width = 32   // bits of a word
) (
  input  logic             clk_i,   // all state changes at its rising edge
  input  logic             rst_ni,  // synchronous reset, active low
  input  logic             write_i, // there is a word
  input  logic [Width-1:0] data_i,  // that word
  output logic             valid_q, // there was one so many cycles ago
  output logic [Width-1:0] data_q   // that one; of no meaning where there was none
);
  // A row of RAM is read in the cycle in which it is written anew, and shown in the next.
  localparam int Rows = Cycles - 1;
  localparam bit InRam = Rows >= 4;

  logic [Cycles-1:0] comes_q; // whether there was a word, the last cycle's lowest
  always_ff @(posedge clk_i) begin
    if (!rst_ni) comes_q <= '0;
    else comes_q <= Cycles'({comes_q, write_i});
  end
  assign valid_q = comes_q[Cycles-1];

  if (InRam) begin : gen_ram
    localparam int RowWidth = $clog2(Rows);
    logic [RowWidth-1:0] row_q;
    logic [Width-1:0] read [1];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) row_q <= '0;
      else row_q <= row_q == RowWidth'(Rows - 1) ? '0 : row_q + 1'b1;
    end
    tilewright_ram #(.Depth(Rows), .Width(Width)) u_words (
      .clk_i, .read_i(comes_q[Rows-1]), .read_row_i('{row_q}), .read_data_q(read), .write_i, .write_row_i(row_q), .write_mask_i('1),
      .write_data_i(data_i)
    );
    assign data_q = read[0];
  end else begin : gen_registers
    logic [Cycles-1:0][Width-1:0] words_q;
    always_ff @(posedge clk_i) words_q <= (Cycles*Width)'({words_q, data_i});
    assign data_q = words_q[Cycles-1];
  end
endmodule

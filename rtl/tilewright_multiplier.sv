// The product of two signed numbers, a new one each cycle. It is a sum of rows, each of them the left operand times a digit of two bits of
// the right one, -2 to 2 (Booth, "A Signed Binary Multiplication Technique", 1951). With more than one stage the first sums the rows of
// as many parts of the digits, and every later one adds a part. Simulators multiply words.
// verilator lint_off UNUSEDSIGNAL
// Reason: with one stage nothing is registered, and simulators use no digits.
module tilewright_multiplier #(
  parameter int Left = 8,  // bits of the left operand
  parameter int Right = 8, // of the right one
  parameter int Stages = 1 // the product comes Stages - 1 cycles after its operands
) (
  input  logic                         clk_i,    // all state changes at its rising edge
  input  logic                         enable_i, // the pipeline moves
  input  logic signed [Left-1:0]       left_i,
  input  logic signed [Right-1:0]      right_i,
  output logic signed [Left+Right-1:0] product_o
);
  localparam int Width = Left + Right;
`ifdef SYNTHESIS
  localparam int Digits = (Right + 1) / 2;
  localparam int Part = (Digits + Stages - 1) / Stages; // digits of a part
  localparam int PartWidth = Left + 2 * Part;
  logic signed [2*Digits:0] digits; // each with the bit below it
  assign digits = (2 * Digits + 1)'($signed({right_i, 1'b0}));
  logic signed [Width-1:0] sum [Stages]; // of the parts up to that one
  for (genvar i = 0; i < Stages; i++) begin : gen_part
    localparam int First = Part * i, Last = Part * (i + 1) < Digits ? Part * (i + 1) : Digits;
    logic [PartWidth-1:0] rows;
    always_comb begin : sum_of_rows
      automatic logic [Left:0] row;
      automatic logic [PartWidth-1:0] signs = '0;
      rows = '0;
      for (int d = First; d < Last; d++) begin
        row = digits[2*d] ^ digits[2*d+1] ? {left_i[Left-1], left_i} : '0;
        row = row | (digits[2*d] == digits[2*d+1] && digits[2*d+1] != digits[2*d+2] ? {left_i, 1'b0} : '0);
        row = row ^ {(Left + 1){digits[2*d+2]}};
        // The sign is added inverted, and a constant for all of them.
        rows = rows + (PartWidth'({~row[Left], row[Left-1:0]}) << (2 * (d - First))) + (PartWidth'(digits[2*d+2]) << (2 * (d - First)));
        signs = signs - (PartWidth'(1) << (Left + 2 * (d - First)));
      end
      rows = rows + signs;
    end
    if (i == 0) begin : gen_first
      assign sum[0] = Width'($signed(rows));
    end else begin : gen_later
      logic signed [PartWidth-1:0] rows_q [i]; // wait for the sum
      logic signed [Width-1:0] sum_q;
      always_ff @(posedge clk_i) begin
        if (enable_i) begin
          rows_q[0] <= $signed(rows);
          for (int j = 1; j < i; j++) rows_q[j] <= rows_q[j-1];
          sum_q <= sum[i-1];
        end
      end
      assign sum[i] = sum_q + (Width'(rows_q[i-1]) << (2 * First));
    end
  end
  assign product_o = sum[Stages-1];
`else
  logic signed [Width-1:0] product;
  assign product = Width'(left_i) * Width'(right_i);
  if (Stages == 1) begin : gen_single
    assign product_o = product;
  end else begin : gen_stages
    logic signed [Width-1:0] product_q [Stages-1];
    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        product_q[0] <= product;
        for (int j = 1; j < Stages - 1; j++) product_q[j] <= product_q[j-1];
      end
    end
    assign product_o = product_q[Stages-2];
  end
`endif
endmodule
// verilator lint_on UNUSEDSIGNAL

// In a proof of the lanes: what tilewright_multiplier does, at once and then delayed, so that the product can be cut. That the multiplier
// does this is proved at small widths.
module tilewright_multiplier #(
  parameter int Left = 8,
  parameter int Right = 8,
  parameter int Stages = 1
) (
  input  logic                         clk_i,
  input  logic                         enable_i,
  input  logic signed [Left-1:0]       left_i,
  input  logic signed [Right-1:0]      right_i,
  output logic signed [Left+Right-1:0] product_o
);
  logic signed [Left+Right-1:0] product;
  assign product = (Left + Right)'(left_i) * (Left + Right)'(right_i);
  if (Stages == 1) begin : gen_single
    assign product_o = product;
  end else begin : gen_stages
    logic signed [Left+Right-1:0] product_q [Stages-1];
    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        product_q[0] <= product;
        for (int i = 1; i < Stages - 1; i++) product_q[i] <= product_q[i-1];
      end
    end
    assign product_o = product_q[Stages-2];
  end
endmodule

// The product of two signed numbers, a new one each cycle. With more than one stage the right operand is cut into as many parts: the
// first stage multiplies by each of them, every later one adds one product.
// verilator lint_off UNUSEDSIGNAL
// Reason: with one stage nothing is registered.
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
  if (Stages == 1) begin : gen_single
    assign product_o = Width'(left_i) * Width'(right_i);
  end else begin : gen_stages
    localparam int Part = (Right + Stages - 1) / Stages; // bits of a part
    localparam int Padded = Part * Stages;
    logic [Padded-1:0] right;
    assign right = Padded'(right_i);
    logic signed [Width-1:0] sum [Stages]; // of the parts up to that one
    for (genvar i = 0; i < Stages; i++) begin : gen_part
      // All parts but the last are unsigned.
      logic signed [Part:0] part;
      logic signed [Left+Part:0] product;
      assign part = {i == Stages - 1 ? right[Padded-1] : 1'b0, right[Part*i +: Part]};
      assign product = (Left + Part + 1)'(left_i) * (Left + Part + 1)'(part);
      if (i == 0) begin : gen_first
        assign sum[0] = Width'(product);
      end else begin : gen_later
        logic signed [Left+Part:0] product_q [i]; // waits for the sum
        logic signed [Width-1:0] sum_q;
        always_ff @(posedge clk_i) begin
          if (enable_i) begin
            product_q[0] <= product;
            for (int j = 1; j < i; j++) product_q[j] <= product_q[j-1];
            sum_q <= sum[i-1];
          end
        end
        assign sum[i] = sum_q + (Width'(product_q[i-1]) << (Part * i));
      end
    end
    assign product_o = sum[Stages-1];
  end
endmodule
// verilator lint_on UNUSEDSIGNAL

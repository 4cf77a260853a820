// The sum or the difference of two numbers, a new one each cycle. With more than one stage each adds a part of the bits, the lowest
// first, and passes its carry on.
// verilator lint_off UNUSEDSIGNAL
// Reason: with one stage nothing is registered.
module tilewright_adder #(
  parameter int Width = 32, // bits of the operands and of the result, which wraps
  parameter int Stages = 1  // the result comes Stages - 1 cycles after its operands
) (
  input  logic             clk_i,      // all state changes at its rising edge
  input  logic             enable_i,   // the pipeline moves
  input  logic             subtract_i, // left - right
  input  logic [Width-1:0] left_i,
  input  logic [Width-1:0] right_i,
  output logic [Width-1:0] sum_o
);
  logic [Width-1:0] right;
  assign right = right_i ^ {Width{subtract_i}};
  if (Stages == 1) begin : gen_single
    assign sum_o = left_i + right + Width'(subtract_i);
  end else begin : gen_stages
    localparam int Part = (Width + Stages - 1) / Stages; // bits of a part
    localparam int Padded = Part * Stages;
    // What stage i adds to: operands whose lower parts are summed already, and the carry.
    logic [Padded-1:0] sum [Stages], addend [Stages], done [Stages];
    logic [Padded-1:0] sum_q [Stages-1], addend_q [Stages-1];
    logic [Stages-2:0] carry_q;
    logic [Stages-1:0] carry, out;
    assign sum[0] = Padded'(left_i);
    assign addend[0] = Padded'(right);
    assign carry[0] = subtract_i;
    for (genvar i = 0; i < Stages; i++) begin : gen_stage
      logic [Part:0] part;
      assign part = {1'b0, sum[i][Part*i +: Part]} + {1'b0, addend[i][Part*i +: Part]} + (Part + 1)'(carry[i]);
      assign out[i] = part[Part];
      always_comb begin
        done[i] = sum[i];
        done[i][Part*i +: Part] = part[Part-1:0];
      end
      if (i > 0) begin : gen_register
        assign sum[i] = sum_q[i-1];
        assign addend[i] = addend_q[i-1];
        assign carry[i] = carry_q[i-1];
        always_ff @(posedge clk_i) begin
          if (enable_i) begin
            sum_q[i-1] <= done[i-1];
            addend_q[i-1] <= addend[i-1];
            carry_q[i-1] <= out[i-1];
          end
        end
      end
    end
    assign sum_o = done[Stages-1][Width-1:0];
  end
endmodule
// verilator lint_on UNUSEDSIGNAL

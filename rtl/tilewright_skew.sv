// Delays lane i by i cycles: what enters side by side leaves along a diagonal. Reversed, the last lane is not delayed and the first
// one most, which undoes it.
module tilewright_skew #(
  parameter int Lanes = 4,   // lane i is delayed by i cycles,
  parameter int Width = 8,   // bits of a lane
  parameter bit Reversed = 1'b0 // or by Lanes - 1 - i
) (
  input  logic                        clk_i, // all state changes at its rising edge
  input  logic                        rst_ni, // synchronous reset, active low
  input  logic [Lanes-1:0][Width-1:0] data_i, // all lanes of one cycle
  output logic [Lanes-1:0][Width-1:0] data_o // each as late as it should be
);
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    localparam int Delay = Reversed ? Lanes - 1 - i : i;
    if (Delay == 0) begin : gen_wire
      assign data_o[i] = data_i[i];
    end else begin : gen_delay
      logic [Delay*Width-1:0] stage_q; // the oldest at the top
      assign data_o[i] = stage_q[(Delay-1)*Width +: Width];
      always_ff @(posedge clk_i) begin
        if (!rst_ni) stage_q <= '0;
        else stage_q <= (Delay*Width)'({stage_q, data_i[i]});
      end
    end
  end
endmodule

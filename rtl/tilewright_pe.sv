// A cell of the array: two weights, of which each element that passes names one, and a multiply-accumulate. Elements and what
// happens to weights go on to the right, sums go down, a cell a cycle.
module tilewright_pe import tilewright_pkg::*; (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  element_t           element_i, // from the left
  output element_t           element_o,
  input  weight_event_t      event_i,   // from the left
  output weight_event_t      event_o,
  input  weight_t            weight_i,  // of the column, for `write`
  input  logic signed [31:0] sum_i,     // from above
  output logic signed [31:0] sum_o
);
  `include "tilewright_pe.svh"

  weight_t weight_q [2];
  element_t element_q;
  weight_event_t event_q;
  logic signed [31:0] sum_q;
  assign element_o = element_q;
  assign event_o = event_q;
  assign sum_o = sum_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      element_q <= '0;
      event_q <= '0;
      sum_q <= '0;
      weight_q <= '{default: WeightReset};
    end else begin
      element_q <= element_i;
      event_q <= event_i;
      sum_q <= sum_i;
      if (element_i.valid) sum_q <= sum_i + product(element_i.kind, element_i.operand, weight_q[element_i.tile]);
      if (event_i.write) weight_q[event_i.tile] <= weight_i;
      else if (event_i.clear) weight_q[event_i.tile] <= WeightRest;
    end
  end
endmodule

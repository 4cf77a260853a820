// A cell of the array: two weights, of which each element that passes names one, and a multiply-accumulate. Elements go on to the right,
// sums go down, a cell a cycle.
// verilator lint_off UNUSEDSIGNAL
// Reason: no column has an operand where the description has no windows.
module tilewright_pe import tilewright_pkg::*; (
  input  logic               clk_i,          // all state changes at its rising edge
  input  logic               rst_ni,         // synchronous reset, active low
  input  logic               row_is_busy_i,  // some cell of the row has an element
  input  logic               passes_i,       // this one has: else it stands still
  input  element_t           element_i,      // from the left
  output element_t           element_o,      // to the right
  input  logic [MatrixOperandBits-1:0] column_i, // the operand that all cells of the column get: of windows
  input  logic               row_is_event_i, // some cell of the row has an event
  input  weight_event_t      event_i,        // what happens to this cell's weights
  input  weight_t            weight_i,       // of the column, for `write`
  input  logic signed [31:0] sum_i,          // from above
  output logic signed [31:0] sum_o           // to below
);
  `include "tilewright_pe.svh"

  logic [MatrixOperandBits-1:0] operand;
  if (ColumnBroadcast != 0) begin : gen_column
    assign operand = takes_column(element_i.kind) ? column_i : element_i.operand;
  end else begin : gen_row
    assign operand = element_i.operand;
  end

  weight_t weight_0_q, weight_1_q;
  element_t element_q;
  logic signed [31:0] sum_q;
  assign element_o = element_q;
  assign sum_o = sum_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      element_q <= '0;
      sum_q <= '0;
    end else if (row_is_busy_i && passes_i) begin
      element_q <= element_i;
      sum_q <= sum_i;
      if (element_i.valid) sum_q <= sum_i + product(element_i.kind, operand, element_i.tile ? weight_1_q : weight_0_q);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      weight_0_q <= WeightReset;
      weight_1_q <= WeightReset;
    end else if (row_is_event_i) begin
      if ((event_i.write || event_i.clear) && !event_i.tile) weight_0_q <= event_i.write ? weight_i : WeightRest;
      if ((event_i.write || event_i.clear) && event_i.tile) weight_1_q <= event_i.write ? weight_i : WeightRest;
    end
  end
endmodule
// verilator lint_on UNUSEDSIGNAL

// The systolic array: weights stay, elements of activation rows go right, sums go down. What enters in cycle t as a row leaves
// as a row of sums in t + Rows + Cols - 1: skewed on its way in, and straightened on its way out.
// verilator lint_off UNUSEDSIGNAL
// Reason: what leaves the last column goes nowhere.
module tilewright_array import tilewright_pkg::*; (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  element_t [Rows-1:0] elements_i, // a row of activations
  // Weights: what happens to the rows of cells. The change travels along the elements' diagonal: a row of activations meets the
  // weights that were there when it entered.
  input  weight_event_t [Rows-1:0] events_i, // those of row i stand as the elements of row i would after i cycles
  input  weight_t [Cols-1:0]  weights_i,  // for the row whose event is `write`
  output logic [Cols-1:0][31:0] sums_o
);
  element_t [Rows-1:0] elements;
  weight_t [Cols-1:0] weights;
  logic [Cols-1:0][31:0] sums;
  tilewright_skew #(.Lanes(Rows), .Width($bits(element_t))) u_elements (.clk_i, .rst_ni, .data_i(elements_i), .data_o(elements));
  tilewright_skew #(.Lanes(Cols), .Width($bits(weight_t))) u_weights (.clk_i, .rst_ni, .data_i(weights_i), .data_o(weights));
  tilewright_skew #(.Lanes(Cols), .Width(32), .Reversed(1'b1)) u_sums (.clk_i, .rst_ni, .data_i(sums), .data_o(sums_o));

  for (genvar i = 0; i < Rows; i++) begin : gen_row
    for (genvar j = 0; j < Cols; j++) begin : gen_column
      element_t element, element_next;
      weight_event_t weight_event, event_next;
      logic signed [31:0] sum, sum_next;
      if (j == 0) begin : gen_left
        assign element = elements[i];
        assign weight_event = events_i[i];
      end else begin : gen_inner
        assign element = gen_row[i].gen_column[j-1].element_next;
        assign weight_event = gen_row[i].gen_column[j-1].event_next;
      end
      if (i == 0) begin : gen_top
        assign sum = '0;
      end else begin : gen_below
        assign sum = gen_row[i-1].gen_column[j].sum_next;
      end
      tilewright_pe u_pe (
        .clk_i, .rst_ni, .element_i(element), .element_o(element_next), .event_i(weight_event), .event_o(event_next),
        .weight_i(weights[j]), .sum_i(sum), .sum_o(sum_next)
      );
    end
  end
  for (genvar j = 0; j < Cols; j++) begin : gen_sums
    assign sums[j] = gen_row[Rows-1].gen_column[j].sum_next;
  end
endmodule
// verilator lint_on UNUSEDSIGNAL

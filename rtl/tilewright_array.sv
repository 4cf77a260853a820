// The systolic array: weights stay, elements of activation rows go right, sums go down. What enters in cycle t as a row leaves
// as a row of sums in t + Rows + Cols - 1: skewed on its way in, and straightened on its way out.
// verilator lint_off UNUSEDSIGNAL
// Reason: what leaves the last column goes nowhere.
module tilewright_array import tilewright_pkg::*; (
  input  logic                clk_i,      // all state changes at its rising edge
  input  logic                rst_ni,     // synchronous reset, active low
  input  logic                passes_i,   // a row of activations enters
  input  element_t [Rows-1:0] elements_i, // its elements
  // Of windows: the operand of each column, for the sums that are in the column's cells when it gets there.
  input  logic [Cols-1:0][MatrixOperandBits-1:0] columns_i,
  // Weights: what happens to the rows of cells. The change travels along the elements' diagonal: a row of activations meets the
  // weights that were there when it entered.
  input  weight_event_t [Rows-1:0] events_i, // those of row i stand as the elements of row i would after i cycles
  input  weight_t [Cols-1:0]  weights_i,  // for the row whose event is `write`
  output logic [Cols-1:0][31:0] sums_o    // what leaves at the bottom, a column each
);
  element_t [Rows-1:0] elements;
  weight_t [Cols-1:0] weights;
  logic [Cols-1:0][31:0] sums;
  tilewright_skew #(.Lanes(Rows), .Width($bits(element_t))) u_elements (.clk_i, .rst_ni, .data_i(elements_i), .data_o(elements));
  tilewright_skew #(.Lanes(Cols), .Width($bits(weight_t))) u_weights (.clk_i, .rst_ni, .data_i(weights_i), .data_o(weights));
  tilewright_skew #(.Lanes(Cols), .Width(32), .Reversed(1'b1)) u_sums (.clk_i, .rst_ni, .data_i(sums), .data_o(sums_o));

  // A column's operand comes to its first cell with the row of activations that entered beside it, and to all others at once.
  logic [Cols-1:0][MatrixOperandBits-1:0] columns;
  if (ColumnBroadcast != 0) begin : gen_columns
    tilewright_skew #(.Lanes(Cols), .Width(MatrixOperandBits)) u_columns (.clk_i, .rst_ni, .data_i(columns_i), .data_o(columns));
  end else begin : gen_no_columns
    assign columns = '0;
  end

  logic [Rows-1:0] enters; // the row of activations, those of its elements that go to row i of cells
  if (Rows == 1) begin : gen_one_row
    assign enters = passes_i;
  end else begin : gen_rows
    logic [Rows-2:0] enters_q;
    assign enters = {enters_q, passes_i};
    always_ff @(posedge clk_i) begin
      if (!rst_ni) enters_q <= '0;
      else enters_q <= enters[Rows-2:0];
    end
  end

  for (genvar i = 0; i < Rows; i++) begin : gen_row
    // What happens to the weights of the row's cells, a bit a cell, on its way to the right. A row in which nothing happens to any
    // cell stands still.
    logic [Cols-1:0] write, clear, tile;
    logic [Cols-1:0] passes; // the elements of a row of activations
    logic is_event, is_busy;
    if (Cols == 1) begin : gen_one
      assign write = events_i[i].write;
      assign clear = events_i[i].clear;
      assign tile = events_i[i].tile;
      assign passes = enters[i];
    end else begin : gen_events
      logic [Cols-2:0] write_q, clear_q, tile_q, passes_q;
      assign write = {write_q, events_i[i].write};
      assign clear = {clear_q, events_i[i].clear};
      assign tile = {tile_q, events_i[i].tile};
      assign passes = {passes_q, enters[i]};
      always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
          write_q <= '0;
          clear_q <= '0;
          tile_q <= '0;
          passes_q <= '0;
        end else begin
          write_q <= write[Cols-2:0];
          clear_q <= clear[Cols-2:0];
          tile_q <= tile[Cols-2:0];
          passes_q <= passes[Cols-2:0];
        end
      end
    end
    assign is_event = (write | clear) != '0;
    assign is_busy = passes != '0;

    for (genvar j = 0; j < Cols; j++) begin : gen_column
      element_t element, element_next;
      logic signed [31:0] sum, sum_next;
      if (j == 0) begin : gen_left
        assign element = elements[i];
      end else begin : gen_inner
        assign element = gen_row[i].gen_column[j-1].element_next;
      end
      if (i == 0) begin : gen_top
        assign sum = '0;
      end else begin : gen_below
        assign sum = gen_row[i-1].gen_column[j].sum_next;
      end
      tilewright_pe u_pe (
        .clk_i, .rst_ni, .row_is_busy_i(is_busy), .passes_i(passes[j]), .element_i(element), .element_o(element_next), .column_i(columns[j]),
        .row_is_event_i(is_event), .event_i('{write: write[j], clear: clear[j], tile: tile[j]}), .weight_i(weights[j]), .sum_i(sum), .sum_o(sum_next)
      );
    end
  end
  for (genvar j = 0; j < Cols; j++) begin : gen_sums
    assign sums[j] = gen_row[Rows-1].gen_column[j].sum_next;
  end
endmodule
// verilator lint_on UNUSEDSIGNAL

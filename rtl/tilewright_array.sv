// The systolic array: weights stay, elements of activation rows go right, sums go down. What enters in cycle t as a row leaves
// as a row of sums in t + Rows + Cols: skewed on its way in, and straightened on its way out.
`ifdef SYNTHESIS
`ifndef TILEWRIGHT_FPGA
`define TILEWRIGHT_ROWS
`endif
`endif
// verilator lint_off UNUSEDSIGNAL
// Reason: no column has an operand where the description has no windows.
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
  `include "tilewright_array.svh"

  // Sums need no more bits than so many products can take.
  function automatic int bits_of_sum(int products);
    return $clog2(products * MatrixProductMost) < 31 ? $clog2(products * MatrixProductMost) + 1 : 32;
  endfunction
  localparam int SumBits = bits_of_sum(Rows);

  // What is no element has no operand, so that a product needs no look at `valid`.
  element_t [Rows-1:0] entering, elements;
  always_comb begin
    entering = elements_i;
    for (int i = 0; i < Rows; i++) if (!elements_i[i].valid) entering[i].operand = '0;
  end

  weight_t [Cols-1:0] weights;
  logic [Cols-1:0][SumBits-1:0] sums, sums_out, sums_q;
  tilewright_skew #(.Lanes(Rows), .Width($bits(element_t))) u_elements (.clk_i, .rst_ni, .data_i(entering), .data_o(elements));
  tilewright_skew #(.Lanes(Cols), .Width($bits(weight_t))) u_weights (.clk_i, .rst_ni, .data_i(weights_i), .data_o(weights));
  tilewright_skew #(.Lanes(Cols), .Width(SumBits), .Reversed(1'b1)) u_sums (.clk_i, .rst_ni, .data_i(sums), .data_o(sums_out));
  // A product and its sum are one step of a row through the cells; the register makes up for a second one.
  always_ff @(posedge clk_i) sums_q <= sums_out;
  for (genvar j = 0; j < Cols; j++) begin : gen_out
    assign sums_o[j] = 32'($signed(sums_q[j]));
  end

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

  // A cell has two weights, of which each element that passes names one, and a multiply-accumulate, whose product is the rows of one sum
  // with what is above. Elements go on to the right, sums go down, a cell a cycle. A cell that no element passes stands still, and so
  // does a row in which nothing passes or changes.
  for (genvar i = 0; i < Rows; i++) begin : gen_row
    logic [Cols-1:0] passes; // an element, by cells
    logic [Cols-1:0] write, clear, tile; // what happens to the cells' weights, on its way to the right
    logic is_event;
    assign is_event = (write | clear) != '0;
    if (Cols == 1) begin : gen_one
      assign passes = enters[i];
      assign write = events_i[i].write;
      assign clear = events_i[i].clear;
      assign tile = events_i[i].tile;
    end else begin : gen_events
      logic [Cols-2:0] passes_q, write_q, clear_q, tile_q;
      assign passes = {passes_q, enters[i]};
      assign write = {write_q, events_i[i].write};
      assign clear = {clear_q, events_i[i].clear};
      assign tile = {tile_q, events_i[i].tile};
      always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
          passes_q <= '0;
          write_q <= '0;
          clear_q <= '0;
          tile_q <= '0;
        end else begin
          passes_q <= passes[Cols-2:0];
          write_q <= write[Cols-2:0];
          clear_q <= clear[Cols-2:0];
          tile_q <= tile[Cols-2:0];
        end
      end
    end

    for (genvar j = 0; j < Cols; j++) begin : gen_column
      weight_t weight_0_q, weight_1_q;
      element_t element, element_q;
      localparam int OwnBits = bits_of_sum(i + 1);
      logic [OwnBits-1:0] above;
      logic signed [OwnBits-1:0] sum_q;
      if (j == 0) begin : gen_left
        assign element = elements[i];
      end else begin : gen_inner
        assign element = gen_row[i].gen_column[j-1].element_q;
      end
      if (i == 0) begin : gen_top
        assign above = '0;
      end else begin : gen_below
        assign above = OwnBits'(gen_row[i-1].gen_column[j].sum_q);
      end
      always_ff @(posedge clk_i) begin
        if (passes[j]) begin
          element_q <= element;
          sum_q <= OwnBits'(accumulated(element, columns[j], element.tile ? weight_1_q : weight_0_q, 32'(above)));
        end
      end
      always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
          weight_0_q <= WeightReset;
          weight_1_q <= WeightReset;
        end else if (is_event) begin
          if ((write[j] || clear[j]) && !tile[j]) weight_0_q <= write[j] ? weights[j] : WeightRest;
          if ((write[j] || clear[j]) && tile[j]) weight_1_q <= write[j] ? weights[j] : WeightRest;
        end
      end
    end
  end
  for (genvar j = 0; j < Cols; j++) begin : gen_sums
    assign sums[j] = gen_row[Rows-1].gen_column[j].sum_q;
  end
endmodule
// verilator lint_on UNUSEDSIGNAL

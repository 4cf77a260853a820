// The queue between the sequencer and a unit. What is pushed in a cycle is seen in the next.
module tilewright_queue import tilewright_pkg::*; #(
  parameter int Depth = 16 // entries
) (
  input  logic    clk_i,   // all state changes at its rising edge
  input  logic    rst_ni,  // synchronous reset, active low
  input  logic    stop_i,  // no entry starts any more: to the unit it is empty
  input  logic    push_i,  // the sequencer dispatches an instruction to this unit; only while not full
  input  issued_t data_i,  // that instruction
  input  logic    pop_i,   // the unit takes the head
  output issued_t head_o,  // valid while not empty; registered
  output logic    empty_o, // registered, as is `stop_i`
  output logic    full_o   // registered
);
  localparam int CountWidth = $clog2(Depth + 1);
  logic [CountWidth-1:0] count;
  tilewright_fifo #(.Depth(Depth), .Width($bits(issued_t))) u_fifo (.clk_i, .rst_ni, .push_i, .data_i, .pop_i, .head_q(head_o), .count_q(count));
  logic some_q; // there is an entry
  always_ff @(posedge clk_i) begin
    if (!rst_ni) some_q <= 1'b0;
    else some_q <= push_i || (count != '0 && !(count == CountWidth'(1) && pop_i));
  end
  assign empty_o = !some_q || stop_i;
  assign full_o = count == CountWidth'(Depth);
endmodule

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
  output issued_t head_o,  // valid while not empty
  output logic    empty_o, // registered, as is `stop_i`
  output logic    full_o   // registered
);
  localparam int Width = Depth > 1 ? $clog2(Depth) : 1;
  issued_t entry_q [Depth];
  logic [Width-1:0] read_q, write_q;
  logic [Width:0] count_q;

  assign head_o = entry_q[read_q];
  assign empty_o = count_q == '0 || stop_i;
  assign full_o = count_q == (Width+1)'(Depth);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q <= '0;
      write_q <= '0;
      count_q <= '0;
    end else begin
      if (push_i) begin
        entry_q[write_q] <= data_i;
        write_q <= write_q == Width'(Depth - 1) ? '0 : write_q + 1'b1;
      end
      if (pop_i) read_q <= read_q == Width'(Depth - 1) ? '0 : read_q + 1'b1;
      count_q <= count_q + (Width+1)'(push_i) - (Width+1)'(pop_i);
    end
  end

  push_only_with_room: assert property (@(posedge clk_i) disable iff (!rst_ni) !(push_i && full_o))
    else $error("An instruction was dispatched to a queue that is full.");
endmodule

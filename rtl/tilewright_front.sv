// In front of a DMA unit: its queue, and the start of what is at the head (rows LOAD-start, STORE-start of docs/microarchitecture.md). What
// the head asks for is taken over once, as soon as the unit is done with the one before; it starts in that cycle or later.
module tilewright_front import tilewright_pkg::*; #(
  parameter int Depth = 16 // entries of the queue
) (
  input  logic     clk_i,     // all state changes at its rising edge
  input  logic     rst_ni,    // synchronous reset, active low
  input  logic     stop_i,    // no instruction starts
  input  logic     push_i,    // the sequencer dispatches `issued_i` to this unit; only while not full
  input  issued_t  issued_i,  // a decoded instruction with its registers
  output logic     full_o,    // the queue takes no more; registered
  input  logic     free_i,    // the unit is done with what started two cycles ago or before; registered
  input  logic     accepts_i, // one that moves something may start; registered
  output request_t request_o, // of semaphores: of the head
  input  logic     grant_i,   // it starts
  output issued_t  head_o,    // the head; valid while not empty; registered
  output logic     empty_o,   // registered
  output logic     takes_o,   // the head is taken over; it depends on registers alone
  output logic     sets_o,    // it is a set, and starts
  output logic     starts_o,  // it moves something, and starts
  output logic     started_o  // such a one started in the cycle before; registered
);
  logic known_q, started_q, free;
  tilewright_queue #(.Depth(Depth)) u_queue (
    .clk_i, .rst_ni, .stop_i, .push_i, .data_i(issued_i), .pop_i(grant_i), .head_o, .empty_o, .full_o
  );
  assign free = free_i && !started_q;
  assign request_o = '{valid: !empty_o && free && (head_o.is_set || accepts_i), wait_mask: head_o.wait_mask,
                       signal_mask: head_o.is_set ? head_o.signal_mask : '0};
  assign takes_o = !empty_o && free && !known_q;
  assign sets_o = grant_i && head_o.is_set;
  assign starts_o = grant_i && !head_o.is_set;
  assign started_o = started_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      known_q <= 1'b0;
      started_q <= 1'b0;
    end else begin
      known_q <= !grant_i && (known_q || takes_o);
      started_q <= starts_o;
    end
  end
endmodule

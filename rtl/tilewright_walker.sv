// Walks the runs of a move, cut into bursts: rows LOAD-burst and STORE-gather of docs/microarchitecture.md. One stage walks, the next one
// shows a burst and adds up where its elements are on chip: a burst a cycle, the first one in the second cycle after the move began.
// verilator lint_off UNUSEDSIGNAL
// Reason: a move has members that only the unit around it reads.
module tilewright_walker import tilewright_pkg::*; #(
  parameter bit ByFirstByte = 1'b0 // an element belongs to the burst that holds its first byte, else its last
) (
  input  logic               clk_i,      // all state changes at its rising edge
  input  logic               rst_ni,     // synchronous reset, active low
  input  logic               begin_i,    // `move_i` begins; only while nothing is left
  input  move_t              move_i,     // the move
  input  logic               next_i,     // the unit is done with the burst; only while there is one
  output logic               left_o,     // bursts are left; registered
  output logic               burst_o,    // there is a burst: the following hold; registered
  output logic [47:0]        begin_o,    // of the burst: byte address in DRAM
  output logic [47:0]        end_o,      // the byte behind its last one
  output logic [15:0]        elements_o, // that belong to it
  output local_t             address_o,  // on chip, of the first of them
  output logic signed [15:0] at_o,       // where that begins, in bytes of the burst's window; negative: in the one before
  output logic               last_o      // it is the last burst of the move
);
  localparam logic [47:0] LastByte = 48'(BurstBytes) - 48'd1; // of a burst's window

  // The burst that comes next: the move, where it stands, and the next byte of its run.
  logic walks_q;
  move_t move_q;
  walk_t walk_q;
  logic [47:0] position_q;

  logic [47:0] run_begin, run_end, window_end, end_d, first, round;
  logic [15:0] elements_d, elements_to_run_end, elements_to_window_end;
  logic signed [15:0] at_d;
  logic run_ends;
  walk_t run_next;
  always_comb begin : walk
    run_begin = walk_q.dram[MoveDims-1];
    run_end = run_begin + bytes_of(48'(move_q.elements), move_q.dram_bytes);
    window_end = (position_q | LastByte) + 48'd1;
    run_ends = run_end <= window_end;
    end_d = run_ends ? run_end : window_end;
    round = '0;
    if (ByFirstByte) round = 48'(move_q.dram_bytes) - 48'd1;
    first = (position_q - run_begin + round) >> (move_q.dram_bytes >> 1);
    // Both are there when `run_ends` is.
    elements_to_run_end = 16'(48'(move_q.elements) - first);
    elements_to_window_end = 16'(((window_end - run_begin + round) >> (move_q.dram_bytes >> 1)) - first);
    elements_d = run_ends ? elements_to_run_end : elements_to_window_end;
    at_d = 16'((position_q & LastByte) + run_begin + bytes_of(first, move_q.dram_bytes) - position_q);
    run_next = walk_next(walk_q, move_q);
  end

  // The burst that is shown.
  logic burst_q, last_q, begins_run_q;
  logic [47:0] begin_q, end_q;
  logic [15:0] elements_q;
  logic signed [15:0] at_q;
  local_t run_address_q, address_q; // on chip: of the run's first element; of the first one behind the burst before
  local_t address;
  logic shows;
  assign shows = walks_q && (!burst_q || next_i);
  assign address = begins_run_q ? run_address_q : address_q;
  assign left_o = walks_q || burst_q;
  assign burst_o = burst_q;
  assign begin_o = begin_q;
  assign end_o = end_q;
  assign elements_o = elements_q;
  assign address_o = address;
  assign at_o = at_q;
  assign last_o = last_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      walks_q <= 1'b0;
      burst_q <= 1'b0;
    end else begin
      if (begin_i) begin
        walks_q <= !move_i.empty;
        move_q <= move_i;
        walk_q <= walk_begin(move_i);
        position_q <= move_i.dram;
      end
      if (shows) begin
        walks_q <= !(run_ends && run_next.done);
        if (run_ends) walk_q <= run_next;
        position_q <= run_ends ? run_next.dram[MoveDims-1] : window_end;
        begin_q <= position_q;
        end_q <= end_d;
        elements_q <= elements_d;
        at_q <= at_d;
        begins_run_q <= position_q == run_begin;
        run_address_q <= walk_q.local_address[MoveDims-1];
        last_q <= run_ends && run_next.done;
      end
      if (next_i) address_q <= address + local_t'(elements_q[$clog2(BurstBytes):0]) * move_q.run_stride;
      burst_q <= shows || (burst_q && !next_i);
    end
  end

  begins_when_done: assert property (@(posedge clk_i) disable iff (!rst_ni) !(begin_i && left_o))
    else $error("A move begins while bursts of the one before are left.");
  goes_on_from_a_burst: assert property (@(posedge clk_i) disable iff (!rst_ni) next_i |-> burst_o)
    else $error("A unit is done with a burst that there is not.");
endmodule
// verilator lint_on UNUSEDSIGNAL

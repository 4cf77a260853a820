// Goes through the runs of a move, cut into bursts: rows LOAD-burst and STORE-gather of docs/microarchitecture.md. One stage cuts, the next
// one shows a burst: a burst a cycle, the first one in the second cycle after the move began.
// verilator lint_off UNUSEDSIGNAL
// Reason: a move has members that only the unit around it reads.
module tilewright_address_generator import tilewright_pkg::*; #(
  parameter bit ByFirstByte = 1'b0, // an element belongs to the burst that holds its first byte, else its last
  localparam int WindowBits = $clog2(BurstBytes)
) (
  input  logic       clk_i,                      // all state changes at its rising edge
  input  logic       rst_ni,                     // synchronous reset, active low
  input  logic       take_i,                     // `move_i` takes the place of the move before; only while nothing is left
  input  move_t      move_i,                     // a move
  output move_t      move_o,                     // the one that came last; registered
  input  logic       begin_i,                    // it begins, or the one that comes in this cycle does; only if it has a burst
  input  logic       wants_i,                    // the unit goes on to the next burst if that is granted; only while there is one
  input  logic       granted_i,                  // it is; late, so that one gate behind it says what happens
  output logic       left_o,                     // bursts are left; registered
  output logic       burst_o,                    // there is a burst: the following hold; registered
  output logic [47:0] begin_o,                   // of the burst: byte address in DRAM
  output logic [WindowBits-1:0] last_byte_o,     // of its last byte, in its window
  output logic [WindowBits:0] elements_o,        // that belong to it
  output logic       begins_run_o,               // it is the first one of its run
  output local_t     address_o,                  // on chip, of the run's first element
  output logic signed [WindowBits+1:0] at_o,     // byte of its window at which its first own element begins; may be outside of it
  output logic       last_o                      // it is the last burst of the move
);
  localparam int BytesBits = MoveCountBits + 2 > WindowBits + 1 ? MoveCountBits + 2 : WindowBits + 1;
  typedef logic [BytesBits-1:0] bytes_t; // of a run

  // The burst that comes next begins at a position in DRAM: its run, what is left of that, and the bytes before it of an element that it
  // cuts.
  logic cuts_q, begins_run_q;
  move_t move_q;
  walk_t walk_q;
  logic [47:0] position_q;
  bytes_t left_q, run_bytes_q;
  logic [1:0] cut_q;

  logic [1:0] part, rest, skipped; // bytes of an element, less 1; of one that begins before: those in this burst, and those that count not
  logic [WindowBits-1:0] in_window, run_last_byte;
  logic [WindowBits:0] space; // bytes to the end of the window
  logic [WindowBits:0] elements_to_run_end, elements_to_window_end;
  logic signed [WindowBits+1:0] at_d;
  logic run_ends, last_run;
  walk_t run_next;
  always_comb begin : cut
    part = {move_q.dram_bytes[2], move_q.dram_bytes[2] | move_q.dram_bytes[1]};
    rest = (2'd0 - cut_q) & part;
    in_window = position_q[WindowBits-1:0];
    space = (WindowBits+1)'(BurstBytes) - (WindowBits+1)'(in_window);
    run_ends = left_q <= bytes_t'(space);
    run_last_byte = in_window + WindowBits'(left_q) - WindowBits'(1);
    skipped = ByFirstByte ? (cut_q - 2'd1) & part : cut_q;
    // The first one is right where the run ends in this window.
    elements_to_run_end = ((WindowBits+1)'(left_q) + (WindowBits+1)'(skipped)) >> (move_q.dram_bytes >> 1);
    elements_to_window_end = (space + (WindowBits+1)'(skipped)) >> (move_q.dram_bytes >> 1);
    if (ByFirstByte) at_d = (WindowBits+2)'(in_window) + (WindowBits+2)'(rest);
    else at_d = (WindowBits+2)'(in_window) - (WindowBits+2)'(cut_q);
    last_run = walk_q.more == '0;
    run_next = walk_next(walk_q, move_q);
  end

  // The burst that is shown.
  logic burst_q, last_q, shown_begins_run_q;
  logic [47:0] begin_q;
  logic [WindowBits-1:0] last_byte_q;
  logic [WindowBits:0] elements_q;
  logic signed [WindowBits+1:0] at_q;
  local_t address_q;
  logic first, next, shows, ends_run;
  assign first = cuts_q && !burst_q;
  assign next = cuts_q && wants_i;
  assign shows = first || (next && granted_i);
  assign ends_run = (first && run_ends) || (next && run_ends && granted_i);
  assign move_o = move_q;
  assign left_o = cuts_q || burst_q;
  assign burst_o = burst_q;
  assign begin_o = begin_q;
  assign last_byte_o = last_byte_q;
  assign elements_o = elements_q;
  assign begins_run_o = shown_begins_run_q;
  assign address_o = address_q;
  assign at_o = at_q;
  assign last_o = last_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cuts_q <= 1'b0;
      burst_q <= 1'b0;
    end else begin
      if (begin_i) cuts_q <= 1'b1;
      if (ends_run && last_run) cuts_q <= 1'b0;
      burst_q <= shows || (burst_q && !(wants_i && granted_i));
    end
  end
  always_ff @(posedge clk_i) begin
    if (take_i) begin
      move_q <= move_i;
      run_bytes_q <= bytes_t'(move_i.elements) << (move_i.dram_bytes >> 1);
    end
    // A move comes only while nothing is shown. Whether something is shown is late: it decides of no value.
    if (take_i || ends_run) walk_q <= take_i ? walk_begin(move_i) : run_next;
    if (take_i) begin
      position_q <= move_i.dram;
      left_q <= bytes_t'(move_i.elements) << (move_i.dram_bytes >> 1);
      cut_q <= '0;
      begins_run_q <= 1'b1;
    end else if (shows) begin
      position_q <= run_ends ? run_next.dram[MoveLoops-1] : {position_q[47:WindowBits] + (48-WindowBits)'(1), WindowBits'(0)};
      left_q <= run_ends ? run_bytes_q : left_q - bytes_t'(space);
      cut_q <= run_ends ? '0 : (cut_q + 2'(space)) & part;
      begins_run_q <= run_ends;
    end
    if (shows) begin
      begin_q <= position_q;
      last_byte_q <= run_ends ? run_last_byte : '1;
      elements_q <= run_ends ? elements_to_run_end : elements_to_window_end;
      at_q <= at_d;
      shown_begins_run_q <= begins_run_q;
      address_q <= walk_q.local_address[MoveLoops-1];
      last_q <= run_ends && last_run;
    end
  end

  comes_when_done: assert property (@(posedge clk_i) disable iff (!rst_ni) !(take_i && left_o))
    else $error("A move comes while bursts of the one before are left.");
  goes_on_from_a_burst: assert property (@(posedge clk_i) disable iff (!rst_ni) wants_i |-> burst_o)
    else $error("A unit goes on from a burst that there is not.");
endmodule
// verilator lint_on UNUSEDSIGNAL

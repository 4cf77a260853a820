// Walks the runs of a move, cut into bursts: rows LOAD-burst and STORE-gather of docs/microarchitecture.md. What it shows is the burst
// at which the move stands, from the cycle in which the move begins.
// verilator lint_off UNUSEDSIGNAL
// Reason: a move has members that only the unit around it reads.
module tilewright_walker import tilewright_pkg::*; #(
  parameter bit ByFirstByte = 1'b0 // an element belongs to the burst that holds its first byte, else its last
) (
  input  logic               clk_i,      // all state changes at its rising edge
  input  logic               rst_ni,     // synchronous reset, active low
  input  logic               begin_i,    // `move_i` begins in this cycle; only while not active
  input  move_t              move_i,     // the move, as long as there is a burst of it
  input  logic               next_i,     // the unit is done with the burst; only while there is one
  output logic               active_o,   // bursts are left of a move that began before; registered
  output logic               burst_o,    // there is a burst: the following hold
  output logic [47:0]        begin_o,    // of the burst: byte address in DRAM
  output logic [47:0]        end_o,      // the byte behind its last one
  output logic [15:0]        elements_o, // that belong to it
  output local_t             address_o,  // on chip, of the first of them
  output logic signed [15:0] at_o,       // where that begins, in bytes of the burst's window; negative: in the one before
  output logic               last_o      // the unit is done with the last burst of the move
);
  localparam logic [47:0] LastByte = 48'(BurstBytes) - 48'd1; // of a burst's window

  logic active_q;
  walk_t walk_q;
  logic [47:0] position_q; // next byte of the current run
  local_t address_q;  // on chip, of the first element that no burst before has

  walk_t walk;
  local_t address;
  logic [47:0] position, run_begin, run_end, first, round;
  logic run_ends;
  always_comb begin
    burst_o = active_q || (begin_i && !move_i.empty);
    walk = walk_q;
    position = position_q;
    address = address_q;
    if (begin_i) begin
      walk = walk_begin(move_i);
      position = move_i.dram;
      address = move_i.local_address;
    end
    run_begin = walk.dram[MoveDims-1];
    run_end = '0;
    end_o = '0;
    run_ends = 1'b0;
    round = '0;
    first = '0;
    elements_o = '0;
    if (burst_o) begin
      run_end = run_begin + bytes_of(48'(move_i.elements), move_i.dram_bytes);
      end_o = (position | LastByte) + 48'd1;
      run_ends = run_end <= end_o;
      if (run_ends) end_o = run_end;
      if (ByFirstByte) round = 48'(move_i.dram_bytes) - 48'd1;
      first = (position - run_begin + round) >> (move_i.dram_bytes >> 1);
      elements_o = 16'(((end_o - run_begin + round) >> (move_i.dram_bytes >> 1)) - first);
    end
  end
  assign active_o = active_q;
  assign begin_o = position;
  assign address_o = address;
  assign at_o = 16'((position & LastByte) + run_begin + bytes_of(first, move_i.dram_bytes) - position);

  walk_t run_next;
  always_comb begin
    run_next = '0;
    if (next_i && run_ends) run_next = walk_next(walk, move_i);
  end
  assign last_o = run_next.done;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      walk_q <= '0;
      position_q <= '0;
      address_q <= '0;
    end else begin
      if (begin_i || next_i) begin
        active_q <= burst_o && !last_o;
        walk_q <= next_i && run_ends ? run_next : walk;
        position_q <= !next_i ? position : run_ends ? run_next.dram[MoveDims-1] : end_o;
        address_q <= !next_i ? address : run_ends ? run_next.local_address[MoveDims-1]
                                                  : address + local_t'(elements_o[$clog2(BurstBytes):0]) * move_i.run_stride;
      end
    end
  end

  begins_when_done: assert property (@(posedge clk_i) disable iff (!rst_ni) !(begin_i && active_q))
    else $error("A move begins while bursts of the one before are left.");
  goes_on_from_a_burst: assert property (@(posedge clk_i) disable iff (!rst_ni) next_i |-> burst_o)
    else $error("A unit is done with a burst that there is not.");
endmodule
// verilator lint_on UNUSEDSIGNAL

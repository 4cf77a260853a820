// The load DMA: rows LOAD-* of docs/microarchitecture.md. An issue stage requests bursts; a drain stage moves what has come
// from the landing buffers into the memories on chip.
// verilator lint_off UNUSEDSIGNAL
// Reason: a move has members that only the store unit, or only one stage, reads.
module tilewright_load import tilewright_pkg::*; #(
  parameter bit Checks = 1'b0 // what only a check of the machine needs: off in synthesis
) (
  input  logic             clk_i,           // all state changes at its rising edge
  input  logic             rst_ni,          // synchronous reset, active low
  input  logic             stop_i,          // no instruction starts
  input  logic             quiesce_i,       // no burst begins
  output logic             bus_idle_o,      // no burst of this unit is open; registered
  input  logic             push_i,          // the sequencer dispatches `issued_i` to this unit; only while not full
  input  issued_t          issued_i,        // a decoded instruction with its registers
  output logic             full_o,          // the queue takes no more; registered
  output logic             idle_o,          // queue empty, nothing begun; registered
  output request_t         request_o [2],   // of semaphores: of the load that ends, of the head of the queue
  input  logic [1:0]       grant_i,         // of these
  // AXI read address, when the sequencer does not use it.
  input  logic             ar_busy_i,       // the sequencer uses the channel, or it is not free
  output logic             ar_valid_o,      // a burst is asked for
  output logic [47:0]      ar_address_o,    // of its first byte
  output logic [7:0]       ar_beats_o,      // less 1
  input  logic             r_valid_i,       // a beat for this unit
  input  logic             r_last_i,        // the last of its burst
  input  logic [8*BusBytes-1:0] r_data_i,   // its bytes
  // Write ports; banks that others hold in this cycle.
  input  acc_mask_t        acc_by_matrix_i, // by the matrix unit
  input  spad_mask_t       vector_spad_i, // by the vector unit, if it is granted them
  input  acc_mask_t        vector_acc_i, // likewise
  input  logic             vector_granted_i, // it is; late
  output spad_mask_t       spad_banks_o,    // that this one is granted
  output acc_mask_t        acc_banks_o,     // that this one is granted
  output logic [47:0]      write_address_o, // byte; registered
  output logic [15:0]      write_bytes_o,   // of the piece; registered
  output logic [8*PortBytes-1:0] write_data_o, // the piece, its first byte lowest; of use only with banks
  // Trace.
  output activity_t        activity_o,      // what this cycle goes to: work, a cause of stalling, or nothing
  output event_t           start_o,         // an instruction starts
  output logic             fault_o,         // the instruction that starts may not execute
  output event_t           end_o [2],       // of a set, of a load
  output logic [31:0]      conflicts_o [4]  // lost to matrix, vector, load, store
);
  localparam int BufferWidth = LoadBuffers > 1 ? $clog2(LoadBuffers) : 1;
  localparam int CountWidth = $clog2(LoadBuffers + 1);
  localparam int WindowBits = $clog2(BurstBytes);
  localparam int BeatShift = $clog2(BusBytes);
  localparam int BeatWidth = WindowBits > BeatShift ? WindowBits - BeatShift : 1; // of a beat's number in its window
  localparam int LeftBits = MoveCountBits > WindowBits + 1 ? MoveCountBits : WindowBits + 1;
  typedef logic [BufferWidth-1:0] buffer_t;
  typedef logic [CountWidth-1:0] buffers_t;
  typedef logic signed [WindowBits+1:0] at_t; // a byte of a landing buffer; may be before or behind it

  `include "tilewright_load.svh"

  // What a run is written with, all pieces alike.
  typedef struct packed {
    logic [7:0] instruction;
    local_t     stride;      // on chip
    logic       whole;       // its elements follow each other on chip
    logic       to_acc;
    logic [2:0] local_bytes;
    logic [2:0] dram_bytes;
    logic       from_burst;  // its elements come from a landing buffer
    logic       last;        // no burst, or run of a fill, of the same load comes behind it
  } run_t;
  // A burst that is requested and not drained.
  typedef struct packed {
    run_t                run;
    logic                begins_run;
    local_t              address;  // on chip, of the run's first element
    logic [WindowBits:0] elements;
    at_t                 at;       // where the first of them begins
  } burst_t;
  // A fill that is not done.
  typedef struct packed {
    run_t        run;
    move_count_t [MoveLoops-1:0] again;
    local_t [MoveLoops-1:0] local_stride;
    local_t      address;
    move_count_t elements; // of a run
    logic [31:0] value;
  } fill_t;

  load_state_t state_q;
  issued_t head;
  logic empty, issuing, flights_full, takes, set_starts, load_starts, started;
  tilewright_front #(.Depth(LoadQueue)) u_front (
    .clk_i, .rst_ni, .stop_i, .push_i, .issued_i, .full_o, .free_i(!issuing), .accepts_i(!flights_full), .request_o(request_o[1]),
    .grant_i(grant_i[1]), .head_o(head), .empty_o(empty), .takes_o(takes), .sets_o(set_starts), .starts_o(load_starts), .started_o(started)
  );
  move_t head_move, move; // of the head, where it is taken over; what was taken over last
  assign head_move = move_of(!Checks || takes ? head.instruction : '1, head.bits, state_q, head.address);
  logic [31:0] start_id_q;
  mask_t start_signal_q;
  always_ff @(posedge clk_i) begin : take
    if (takes) begin
      start_id_q <= head.id;
      start_signal_q <= head.signal_mask;
    end
  end

  // LOAD-burst: the burst that is requested in this cycle.
  logic has_burst, asks, request, last_burst, begins_run, space_q;
  logic [47:0] position;
  logic [WindowBits-1:0] last_byte;
  local_t run_address;
  logic [WindowBits:0] burst_elements;
  at_t burst_at;
  tilewright_address_generator u_addresses (
    .clk_i, .rst_ni, .take_i(takes), .move_i(head_move), .move_o(move), .begin_i(started && !move.fill && !move.empty), .wants_i(asks),
    .granted_i(!ar_busy_i),
    .left_o(issuing), .burst_o(has_burst), .begin_o(position), .last_byte_o(last_byte), .elements_o(burst_elements),
    .begins_run_o(begins_run), .address_o(run_address), .at_o(burst_at), .last_o(last_burst)
  );
  assign asks = has_burst && space_q && !quiesce_i;
  assign request = asks && !ar_busy_i;
  assign ar_valid_o = request;
  assign ar_address_o = position;
  logic [BeatWidth-1:0] first_beat, last_beat; // in their window
  assign first_beat = BeatWidth'(position[WindowBits-1:0] >> BeatShift);
  assign last_beat = BeatWidth'(last_byte >> BeatShift);
  assign ar_beats_o = 8'(last_beat) - 8'(first_beat);

  // Bursts, oldest first; the one that drains is no longer among them. Their bytes land in buffers by turns, side by side in RAM.
  burst_t burst;
  logic takes_burst;
  run_t burst_run;
  assign burst_run = '{instruction: move.instruction, stride: move.run_stride, whole: move.whole, to_acc: move.to_acc,
                       local_bytes: move.local_bytes, dram_bytes: move.dram_bytes, from_burst: 1'b1, last: last_burst};
  buffers_t burst_count; // of no use: those that have landed are counted
  tilewright_fifo #(.Depth(LoadBuffers), .Width($bits(burst_t))) u_bursts (
    .clk_i, .rst_ni, .push_i(request), .data_i({burst_run, begins_run, run_address, burst_elements, burst_at}), .pop_i(takes_burst),
    .head_q(burst), .count_q(burst_count)
  );

  // Fills, oldest first, and the run at which the first of them is.
  move_t start;
  fill_t fill;
  run_t start_run, fill_run;
  move_t fill_move;
  logic walking_q, takes_run;
  walk_t walk_q, walk;
  logic [$clog2(LoadInflight+1)-1:0] fill_count; // of no use: there is one where the next load is a fill
  assign start = takes ? head_move : move;
  assign start_run = '{instruction: '0, stride: start.run_stride, whole: start.whole, to_acc: start.to_acc, local_bytes: start.local_bytes,
                       dram_bytes: '0, from_burst: 1'b0, last: 1'b0};
  tilewright_fifo #(.Depth(LoadInflight), .Width($bits(fill_t))) u_fills (
    .clk_i, .rst_ni, .push_i(load_starts && start.fill && !start.empty),
    .data_i({start_run, start.again, start.local_stride, start.local_address, start.elements, start.value}),
    .pop_i(takes_run && fill_run.last), .head_q(fill), .count_q(fill_count)
  );
  always_comb begin : walk_fill
    fill_move = '0;
    fill_move.again = fill.again;
    fill_move.local_stride = fill.local_stride;
    fill_move.local_address = fill.address;
    walk = walking_q ? walk_q : walk_begin(fill_move);
    fill_run = fill.run;
    fill_run.last = walk.more == '0;
  end
  always_ff @(posedge clk_i) begin : walk_on
    if (!rst_ni) walking_q <= 1'b0;
    else if (takes_run) walking_q <= !fill_run.last;
    if (takes_run) walk_q <= walk_next(walk, fill_move);
  end

  // Loads in flight, oldest first. What starts is one of them from two cycles later on; of which kind it is, a piece of it has to be known
  // a cycle ahead.
  logic drained, ending_q, done_q; // done_q: nothing of the oldest is left
  logic [31:0] oldest_id, ending_id_q;
  mask_t oldest_signal, ending_signal_q;
  logic [$clog2(LoadInflight+1)-1:0] in_flight;
  tilewright_fifo #(.Depth(LoadInflight), .Width(32 + Semaphores)) u_flights (
    .clk_i, .rst_ni, .push_i(started), .data_i({start_id_q, start_signal_q}), .pop_i(drained), .head_q({oldest_id, oldest_signal}),
    .count_q(in_flight)
  );
  assign flights_full = 32'(in_flight) == LoadInflight;
  logic [LoadInflight:0] some_q, fills_q, bursts_q; // there is one; a fill; one of bursts. Else it has no elements
  logic [LoadInflight:0] some, fills, bursts;       // with what starts
  always_comb begin
    some = some_q;
    fills = fills_q;
    bursts = bursts_q;
    for (int i = 0; i < LoadInflight; i++) begin
      if (!some_q[i] && (i == 0 || some_q[i > 0 ? i - 1 : 0])) begin
        some[i] = load_starts;
        fills[i] = load_starts && start.fill && !start.empty;
        bursts[i] = load_starts && !start.fill && !start.empty;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      some_q <= '0;
      fills_q <= '0;
      bursts_q <= '0;
    end else begin
      some_q <= drained ? some >> 1 : some;
      fills_q <= drained ? fills >> 1 : fills;
      bursts_q <= drained ? bursts >> 1 : bursts;
    end
  end

  // LOAD-drain, LOAD-fill. In registers: the piece that asks for its banks, the run that it is of, and what is behind the piece.
  logic piece_q, last_q, ends_q; // there is one; the last of its burst or its fill's run; of its load
  run_t run_q;
  local_t address_q, next_address_q;
  logic [LeftBits-1:0] next_left_q;
  at_t next_at_q;
  logic [PortCountBits-1:0] bytes_q;
  spad_mask_t spad_q;
  acc_mask_t acc_q;
  logic [31:0] value_q;
  buffer_t buffer_q, next_buffer_q; // of the burst that drains, and of the next one
  logic [WordShift-1:0] shift_q; // byte of its first word at which the piece begins
  logic carries_q;               // its first bytes are of the burst before
  logic last_word_q;             // its first word is the last one of its buffer

  logic by_matrix, by_vector, granted, frees;
  assign by_matrix = (acc_q & acc_by_matrix_i) != '0;
  assign by_vector = vector_granted_i && ((acc_q & vector_acc_i) != '0 || (spad_q & vector_spad_i) != '0);
  assign granted = piece_q && !by_matrix && !by_vector;
  assign frees = granted && last_q && run_q.from_burst;

  // LOAD-end. `behind`: the next piece is of the next load.
  logic behind, done;
  logic [LoadInflight:0] empties;
  assign empties = some_q & ~fills_q & ~bursts_q;
  assign behind = piece_q ? ends_q : done_q;
  assign done = (granted && ends_q) || done_q;
  assign drained = done && !ending_q;
  assign request_o[0] = '{valid: ending_q, wait_mask: '0, signal_mask: ending_signal_q};
  assign idle_o = empty && !started && in_flight == '0 && !ending_q;

  // The next piece: behind this one in the same burst or run, the first of the next burst if that has landed, or of the fill's next run.
  // Which one it is registers say; whether it comes depends on whether this one is granted.
  buffers_t used_q, landed_q;
  logic some_landed_q, more_landed_q; // at least one burst; at least two
  logic goes_on, from_fill, from_burst, moves;
  always_comb begin : next_piece
    goes_on = piece_q && !last_q;
    from_fill = !goes_on && (behind ? fills_q[1] : fills_q[0]);
    from_burst = !goes_on && (behind ? bursts_q[1] : bursts_q[0]) && (piece_q && run_q.from_burst ? more_landed_q : some_landed_q);
    moves = (granted || !piece_q) && (goes_on || ((from_fill || from_burst) && !(behind && ending_q)));
    takes_run = moves && from_fill;
    takes_burst = moves && from_burst;
  end

  run_t base_run;
  local_t base_address;
  logic [LeftBits-1:0] base_left;
  at_t base_at;
  buffer_t base_buffer;
  always_comb begin : base
    base_run = run_q;
    base_address = next_address_q;
    base_left = next_left_q;
    base_at = next_at_q;
    base_buffer = buffer_q;
    if (from_fill) begin
      base_run = fill_run;
      base_address = walk.local_address[MoveLoops-1];
      base_left = LeftBits'(fill.elements);
    end
    if (from_burst) begin
      base_run = burst.run;
      if (burst.begins_run) base_address = burst.address;
      base_left = LeftBits'(burst.elements);
      base_at = burst.at;
      base_buffer = next_buffer_q;
    end
  end

  spad_mask_t spad_d;
  acc_mask_t acc_d;
  logic [PortCountBits-1:0] most, bytes_d;
  logic last_d;
  local_t next_address_d;
  logic [LeftBits-1:0] next_left_d;
  tilewright_piece #(.LeftBits(LeftBits)) u_piece (
    .address_i(base_address), .left_i(base_left), .stride_i(base_run.stride), .whole_i(base_run.whole), .to_acc_i(base_run.to_acc),
    .local_bytes_i(base_run.local_bytes), .spad_banks_o(spad_d), .acc_banks_o(acc_d), .most_o(most), .bytes_o(bytes_d), .last_o(last_d), .address_o(next_address_d), .left_o(next_left_d)
  );

  // The RAM of the landing buffers: the words that hold the next piece are read as it comes. A piece that begins in the burst before is in
  // the word before its buffer, of which only `carry_q` is of use. Before the first word stands the last one that the number holds, whose
  // next one is the first again: a RAM macro has two rows at least.
  localparam int Words = LoadBuffers * SlotWords > 4 ? LoadBuffers * SlotWords : 4;
  localparam int WordWidth = $clog2(Words);
  localparam int WordAtWidth = WindowBits + 2 - WordShift;
  logic signed [WordAtWidth-1:0] base_word; // of its buffer
  assign base_word = WordAtWidth'(base_at >>> WordShift);

  always_ff @(posedge clk_i) begin : pieces
    if (!rst_ni) begin
      piece_q <= 1'b0;
      next_buffer_q <= '0;
    end else begin
      piece_q <= moves || (piece_q && !granted);
      if (takes_burst) next_buffer_q <= next_buffer_q == buffer_t'(LoadBuffers - 1) ? '0 : next_buffer_q + 1'b1;
    end
    if (moves) begin
      run_q <= base_run;
      last_q <= last_d;
      ends_q <= last_d && base_run.last;
      address_q <= base_address;
      bytes_q <= bytes_d;
      spad_q <= spad_d;
      acc_q <= acc_d;
      next_address_q <= next_address_d;
      next_left_q <= next_left_d;
      next_at_q <= base_at + at_t'(bytes_of(16'(most), base_run.dram_bytes));
      buffer_q <= base_buffer;
      shift_q <= base_at[WordShift-1:0];
      carries_q <= base_at < 0;
      last_word_q <= base_word == WordAtWidth'(SlotWords - 1);
    end
    if (takes_run) value_q <= fill.value;
  end

  buffer_t receive_q; // the one that lands
  buffer_t request_q; // the one that the next burst lands in
  logic [BeatWidth-1:0] first_beat_q [LoadBuffers]; // of a buffer's burst
  logic [BeatWidth-1:0] beat_q, landing_beat; // less the first one's number; of its buffer
  logic [16*Word-1:0] pair, landing_mask;
  always_comb begin : land
    landing_beat = first_beat_q[receive_q] + beat_q;
    landing_mask = '0;
    if (r_valid_i)
      for (int i = 0; i < WordBeats; i++)
        if (32'(landing_beat) % WordBeats == i) landing_mask[8*BusBytes*i +: 8*BusBytes] = '1;
  end
  tilewright_pair #(.Words(Words), .Width(8 * Word)) u_landing (
    .clk_i, .read_i(moves), .read_word_i(WordWidth'(32'(base_buffer) * SlotWords) + WordWidth'(base_word)), .read_pair_o(pair),
    .write_i(r_valid_i), .write_word_i(WordWidth'(32'(receive_q) * SlotWords + 32'(landing_beat) / WordBeats)),
    .write_mask_i(landing_mask), .write_pair_i((16*Word)'({WordBeats{r_data_i}}))
  );

  // The bytes of the piece as they stand in DRAM, shifted down from its words, and what they become on chip. (A simulator computes them
  // only where there is a piece.)
  logic [23:0] carry_q; // the last bytes of the burst that was drained last, as far as its window goes
  logic [16*Word-1:0] carried;
  logic [8*PieceBytes-1:0] landed;
  always_comb begin : align
    carried = '0;
    landed = '0;
    write_data_o = '0;
    if (!Checks || piece_q) begin
      carried = pair;
      if (carries_q) carried[8*Word-1 -: 24] = carry_q;
      landed = (8*PieceBytes)'(carried >> {shift_q, 3'b000});
      write_data_o = moved_piece(run_q.instruction, landed);
      if (!run_q.from_burst) write_data_o = (8*PortBytes)'({(PortBytes + 3) / 4{value_q}});
    end
  end
  always_ff @(posedge clk_i) if (frees) carry_q <= last_word_q ? pair[8*Word-1 -: 24] : pair[16*Word-1 -: 24];

  assign spad_banks_o = granted ? spad_q : '0;
  assign acc_banks_o = granted ? acc_q : '0;
  assign write_address_o = 48'(address_q);
  assign write_bytes_o = 16'(bytes_q);

  logic lands; // the last beat of a burst
  assign lands = r_valid_i && r_last_i;
  assign bus_idle_o = used_q == landed_q;
  always_ff @(posedge clk_i) begin : buffers
    if (request) first_beat_q[request_q] <= first_beat;
    if (!rst_ni) begin
      request_q <= '0;
      receive_q <= '0;
      used_q <= '0;
      space_q <= 1'b1;
      landed_q <= '0;
      some_landed_q <= 1'b0;
      more_landed_q <= 1'b0;
      beat_q <= '0;
    end else begin
      if (request) request_q <= request_q == buffer_t'(LoadBuffers - 1) ? '0 : request_q + 1'b1;
      used_q <= used_q + buffers_t'(request) - buffers_t'(frees);
      if (request != frees) space_q <= frees || used_q != buffers_t'(LoadBuffers - 1);
      landed_q <= landed_q + buffers_t'(lands) - buffers_t'(frees);
      some_landed_q <= frees ? more_landed_q || lands : some_landed_q || lands;
      more_landed_q <= frees ? 32'(landed_q) > 2 || (more_landed_q && lands) : more_landed_q || (some_landed_q && lands);
      if (r_valid_i) begin
        beat_q <= r_last_i ? '0 : beat_q + 1'b1;
        if (r_last_i) receive_q <= receive_q == buffer_t'(LoadBuffers - 1) ? '0 : receive_q + 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin : ends
    if (!rst_ni) begin
      state_q <= load_state_reset();
      done_q <= 1'b0;
      ending_q <= 1'b0;
    end else begin
      if (set_starts) state_q <= load_execute_set(state_q, head.instruction, head.bits);
      done_q <= drained ? empties[1] : done || empties[0];
      ending_q <= drained || (ending_q && !grant_i[0]);
    end
    if (drained) begin
      ending_id_q <= oldest_id;
      ending_signal_q <= oldest_signal;
    end
  end

  // Where the cycle goes.
  always_comb begin
    activity_o = '{id: oldest_id, reserved: '0, cause: StallNone, kind: Busy};
    if (granted || drained || r_valid_i) begin
      activity_o.kind = Busy;
    end else if (piece_q) begin
      activity_o.kind = Stalled;
      activity_o.cause = run_q.to_acc ? StallAccPort : StallSpadPort;
    end else if (ending_q) begin
      activity_o.kind = grant_i[0] ? Busy : Stalled;
      activity_o.cause = StallSemaphore;
      activity_o.id = ending_id_q;
    end else if (in_flight != '0) begin
      activity_o.kind = Stalled;
      activity_o.cause = StallDram;
    end else if (grant_i[1] || started) begin
      activity_o.kind = Busy;
    end else if (!empty) begin
      activity_o.kind = Stalled;
      activity_o.cause = StallSemaphore;
      activity_o.id = head.id;
    end else begin
      activity_o.kind = Idle;
    end
  end
  assign start_o = '{valid: grant_i[1], id: head.id};
  always_comb begin
    fault_o = 1'b0;
    if (Checks && load_starts) fault_o = load_fault(head.instruction, head.bits, state_q, head.address);
  end
  assign end_o[0] = '{valid: set_starts, id: head.id};
  assign end_o[1] = '{valid: grant_i[0], id: ending_id_q};

  assign conflicts_o[2] = '0;
  assign conflicts_o[3] = '0;
  always_ff @(posedge clk_i) begin : conflicts
    if (!rst_ni || !Checks) begin
      conflicts_o[0] <= '0;
      conflicts_o[1] <= '0;
    end else if (piece_q) begin
      if (by_matrix) conflicts_o[0] <= conflicts_o[0] + 32'd1;
      else if (by_vector) conflicts_o[1] <= conflicts_o[1] + 32'd1;
    end
  end

  burst_is_expected: assert property (@(posedge clk_i) disable iff (!rst_ni) r_valid_i |-> (used_q > landed_q))
    else $error("A read beat came that no landing buffer waits for.");
endmodule
// verilator lint_on UNUSEDSIGNAL

// The store DMA: rows STORE-* of docs/microarchitecture.md. A gather stage fills buffers; a send stage writes whole bursts.
// verilator lint_off UNUSEDSIGNAL
// Reason: a move has members that only the load unit, or only one stage, reads; of a semaphore level only the first is asked.
module tilewright_store import tilewright_pkg::*; #(
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
  output request_t         request_o [2],   // of semaphores: of the store that ends, of the head of the queue
  input  logic [1:0]       grant_i,         // of these
  // AXI write channels: the address goes with the first beat.
  input  logic             w_held_i,        // one of the channels is not free; registered
  output logic             w_first_o,       // this beat is the first of its burst
  output logic             w_valid_o,       // there is a beat
  output logic             w_last_o,        // the last of its burst
  output logic [47:0]      w_address_o,     // of the burst
  output logic [7:0]       w_beats_o,       // less 1
  output logic [7:0]       w_id_o,          // the store in flight that it belongs to
  output logic [8*BusBytes-1:0] w_data_o,   // its bytes
  output logic [BusBytes-1:0]   w_strobe_o, // which of them are written
  input  logic             b_valid_i,       // a burst is in the memory
  input  logic [7:0]       b_id_i,          // the store in flight that it belonged to
  // Read ports; banks that others hold in this cycle.
  input  spad_mask_t       spad_by_matrix_i, // by the matrix unit
  input  acc_mask_t        acc_by_matrix_i, // by the matrix unit
  input  spad_mask_t [VectorStreams-1:0] vector_spad_i, // by the vector unit, if it is granted them
  input  acc_mask_t [VectorStreams-1:0]  vector_acc_i,  // likewise
  input  logic [VectorStreams-1:0] vector_granted_i,    // it is; late
  output spad_mask_t       spad_banks_o,    // that this one holds
  output acc_mask_t        acc_banks_o,     // that this one holds
  output logic [47:0]      read_address_o,  // byte
  input  logic [8*SpadPort-1:0] spad_data_i, // a piece of the scratchpad, a cycle later
  input  logic [8*AccPort-1:0]  acc_data_i, // a piece of the accumulators
  // Trace.
  output activity_t        activity_o,      // what this cycle goes to: work, a cause of stalling, or nothing
  output event_t           start_o,         // an instruction starts
  output logic             fault_o,         // the instruction that starts may not execute
  output event_t           end_o [2],       // of a store, of a set
  output logic [31:0]      conflicts_o [4]  // lost to matrix, vector, load, store
);
  localparam int FlightWidth = StoreInflight > 1 ? $clog2(StoreInflight) : 1;
  localparam int BufferWidth = StoreBuffers > 1 ? $clog2(StoreBuffers) : 1;
  localparam int CountWidth = $clog2(StoreBuffers + 1);
  localparam int SentWidth = $clog2(StoreOutstanding + 1);
  localparam int BurstsWidth = $clog2(StoreBuffers + StoreOutstanding + 1);
  localparam int WindowBits = $clog2(BurstBytes);
  localparam int BeatShift = $clog2(BusBytes);
  localparam int BeatWidth = WindowBits > BeatShift ? WindowBits - BeatShift : 1; // of a beat's number in its window
  localparam int OffsetWidth = BeatShift > 0 ? BeatShift : 1; // of a byte in its beat
  typedef logic [FlightWidth-1:0] flight_t;
  typedef logic [BufferWidth-1:0] buffer_t;
  typedef logic [CountWidth-1:0] buffers_t;
  typedef logic [WindowBits:0] at_t; // a byte of a gather buffer; may be behind it
  typedef logic [BeatWidth-1:0] beat_t;
  typedef logic [$clog2(StoreInflight+1)-1:0] flights_t;

  `include "tilewright_store.svh"

  localparam int WordAtWidth = WindowBits > WordShift ? WindowBits - WordShift : 1; // of a word in its buffer

  function automatic beat_t beat_of(logic [WindowBits-1:0] byte_in_window);
    beat_of = beat_t'(byte_in_window >> BeatShift);
  endfunction
  function automatic buffer_t buffer_behind(buffer_t buffer);
    buffer_behind = buffer == buffer_t'(StoreBuffers - 1) ? '0 : buffer + 1'b1;
  endfunction

  store_state_t state_q;
  issued_t head;
  logic empty, gathers, takes, set_starts, store_starts, started;
  logic flights_full;
  tilewright_front #(.Depth(StoreQueue)) u_front (
    .clk_i, .rst_ni, .stop_i, .push_i, .issued_i, .full_o, .free_i(!gathers), .accepts_i(!flights_full), .request_o(request_o[1]),
    .grant_i(grant_i[1]), .head_o(head), .empty_o(empty), .takes_o(takes), .sets_o(set_starts), .starts_o(store_starts), .started_o(started)
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

  // Stores that are issued and not ended, oldest first.
  logic [31:0] flight_id_q [StoreInflight];
  mask_t flight_signal_q [StoreInflight];
  logic [BurstsWidth-1:0] flight_bursts_q [StoreInflight]; // begun and not answered
  logic [StoreInflight-1:0] flight_none_q, flight_one_q; // of these there is none; one
  logic [StoreInflight-1:0] flight_gathered_q;  // no more bursts come
  flight_t oldest_q, newest_q, free_q;
  flights_t flights_q;
  assign flights_full = 32'(flights_q) == StoreInflight;

  // STORE-end.
  logic has_flight, answered, retires, cannot_signal;
  assign has_flight = flights_q != '0;
  always_comb begin
    answered = has_flight && flight_gathered_q[oldest_q] &&
        (flight_none_q[oldest_q] || (flight_one_q[oldest_q] && b_valid_i && b_id_i == 8'(oldest_q)));
  end
  assign request_o[0] = '{valid: answered, wait_mask: '0, signal_mask: flight_signal_q[oldest_q]};
  assign retires = grant_i[0];
  assign cannot_signal = answered && !retires;
  assign idle_o = empty && !started && !has_flight;

  // Gather buffers, oldest first: the first waiting_q of them are complete. Their bytes are in RAM, side by side.
  logic [47:0] burst_begin_q [StoreBuffers];
  logic [WindowBits-1:0] burst_last_byte_q [StoreBuffers]; // in its window
  flight_t burst_flight_q [StoreBuffers];
  buffer_t send_q;
  buffers_t used_q, waiting_q;
  logic [SentWidth-1:0] unanswered_q;

  // STORE-send.
  logic sends, last_beat, frees;
  beat_t beat_q, beat;
  logic sending_q;
  logic [WindowBits-1:0] send_begin, send_last_byte; // in their window
  logic [OffsetWidth-1:0] first_offset, last_offset;
  always_comb begin
    send_begin = burst_begin_q[send_q][WindowBits-1:0];
    send_last_byte = burst_last_byte_q[send_q];
    sends = !w_held_i && (sending_q || (waiting_q != '0 && unanswered_q < SentWidth'(StoreOutstanding) && !quiesce_i));
    beat = sending_q ? beat_q : beat_of(send_begin);
    last_beat = beat == beat_of(send_last_byte);
    frees = sends && last_beat;
    first_offset = OffsetWidth'(32'(send_begin) % BusBytes);
    last_offset = OffsetWidth'(32'(send_last_byte) % BusBytes);
    for (int i = 0; i < BusBytes; i++)
      w_strobe_o[i] = (sending_q || OffsetWidth'(i) >= first_offset) && (!last_beat || OffsetWidth'(i) <= last_offset);
  end
  assign bus_idle_o = !sending_q && unanswered_q == '0;
  assign w_valid_o = sends;
  assign w_first_o = sends && !sending_q;
  assign w_last_o = last_beat;
  assign w_address_o = burst_begin_q[send_q];
  assign w_beats_o = 8'(beat_of(send_last_byte)) - 8'(beat_of(send_begin));
  assign w_id_o = 8'(burst_flight_q[send_q]);

  // STORE-gather. In registers: the piece that asks for its banks, and what is behind it.
  logic piece_q, last_q, ends_q; // there is one; the last of its burst; of its store
  logic asks_q;                  // it is the first of its burst, and was not asked for before
  logic first_q;                 // it is the first of its burst
  local_t address_q, next_address_q;
  logic [WindowBits:0] next_left_q;
  at_t at_q, next_at_q;          // byte of the buffer at which it begins
  spad_mask_t spad_q;
  acc_mask_t acc_q;
  buffer_t buffer_q, next_buffer_q; // that it goes into, and of the next burst
  logic by_matrix, by_vector, granted;
  assign by_matrix = (acc_q & acc_by_matrix_i) != '0 || (spad_q & spad_by_matrix_i) != '0;
  logic [VectorStreams-1:0] meets; // banks of the piece that the vector unit asks for
  for (genvar m = 0; m < VectorStreams; m++) begin : gen_meets
    assign meets[m] = (acc_q & vector_acc_i[m]) != '0 || (spad_q & vector_spad_i[m]) != '0;
  end
  assign by_vector = (meets & vector_granted_i) != '0;
  assign granted = piece_q && !by_matrix && !by_vector;
  assign spad_banks_o = granted ? spad_q : '0;
  assign acc_banks_o = granted ? acc_q : '0;
  assign read_address_o = 48'(address_q);

  // The next piece: behind this one, or the first of the next burst, if a buffer is free in the next cycle.
  logic has_burst, begins_run, last_burst, bursts_left;
  logic [47:0] burst_begin;
  logic [WindowBits-1:0] burst_last_byte;
  logic [WindowBits:0] burst_elements;
  local_t run_address;
  logic signed [WindowBits+1:0] burst_at;
  logic goes_on, next_burst, is_free, moves, takes_burst;
  tilewright_address_generator #(.ByFirstByte(1'b1)) u_addresses (
    .clk_i, .rst_ni, .take_i(takes), .move_i(head_move), .move_o(move),
    .begin_i(store_starts && !(takes ? head_move.empty : move.empty)), .wants_i(next_burst), .granted_i(is_free), .left_o(bursts_left),
    .burst_o(has_burst), .begin_o(burst_begin), .last_byte_o(burst_last_byte), .elements_o(burst_elements), .begins_run_o(begins_run),
    .address_o(run_address), .at_o(burst_at), .last_o(last_burst)
  );
  assign gathers = bursts_left || piece_q;
  buffers_t used_d;
  assign used_d = used_q + buffers_t'(asks_q) - buffers_t'(frees);
  assign goes_on = piece_q && !last_q;
  // What depends on the grant is one gate behind it.
  assign next_burst = !goes_on && has_burst && used_d != buffers_t'(StoreBuffers);
  assign is_free = granted || !piece_q;
  assign moves = is_free && (goes_on || next_burst);
  assign takes_burst = is_free && next_burst;

  local_t base_address, next_address_d;
  logic [WindowBits:0] base_left, next_left_d;
  at_t base_at;
  assign base_address = goes_on || !begins_run ? next_address_q : run_address;
  assign base_left = goes_on ? next_left_q : burst_elements;
  assign base_at = goes_on ? next_at_q : at_t'(burst_at);
  spad_mask_t spad_d;
  acc_mask_t acc_d;
  logic [PortCountBits-1:0] most, bytes_d; // bytes_d: of no use
  logic last_d;
  tilewright_piece #(.LeftBits(WindowBits + 1)) u_piece (
    .address_i(base_address), .left_i(base_left), .stride_i(move.run_stride), .whole_i(move.whole), .to_acc_i(move.to_acc),
    .local_bytes_i(move.local_bytes), .spad_banks_o(spad_d), .acc_banks_o(acc_d), .most_o(most), .bytes_o(bytes_d),
    .last_o(last_d), .address_o(next_address_d), .left_o(next_left_d)
  );
  always_ff @(posedge clk_i) begin : pieces
    if (!rst_ni) begin
      piece_q <= 1'b0;
      asks_q <= 1'b0;
      next_buffer_q <= '0;
    end else begin
      piece_q <= moves || (piece_q && !granted);
      asks_q <= takes_burst;
      if (takes_burst) next_buffer_q <= buffer_behind(next_buffer_q);
    end
    if (moves) begin
      last_q <= last_d;
      first_q <= !goes_on;
      address_q <= base_address;
      at_q <= base_at;
      spad_q <= spad_d;
      acc_q <= acc_d;
      next_address_q <= next_address_d;
      next_left_q <= next_left_d;
      next_at_q <= base_at + at_t'(bytes_of(16'(most), move.dram_bytes));
    end
    if (takes_burst) begin
      buffer_q <= next_buffer_q;
      ends_q <= last_burst;
      burst_begin_q[next_buffer_q] <= burst_begin;
      burst_last_byte_q[next_buffer_q] <= burst_last_byte;
      burst_flight_q[next_buffer_q] <= newest_q;
    end
  end

  // A piece that was granted comes from its memory in the next cycle, and goes into its buffer in the one after.
  typedef struct packed {
    logic [7:0] instruction;
    logic       last;            // of its burst
    logic       first;           // of its burst
    at_t        at;
    buffer_t    buffer;
  } piece_t;
  logic comes_q, comes_from_acc_q, data_valid_q;
  piece_t comes_piece_q, data_piece_q;
  logic [8*PortBytes-1:0] data_q;
  always_ff @(posedge clk_i) begin : comes
    if (!rst_ni) begin
      comes_q <= 1'b0;
      data_valid_q <= 1'b0;
    end else begin
      comes_q <= granted;
      data_valid_q <= comes_q;
    end
    if (granted) begin
      comes_from_acc_q <= move.to_acc;
      comes_piece_q <= '{instruction: move.instruction, last: last_q, first: first_q, at: at_q, buffer: buffer_q};
    end
    data_q <= comes_from_acc_q ? (8*PortBytes)'(acc_data_i) : (8*PortBytes)'(spad_data_i);
    data_piece_q <= comes_piece_q;
  end

  // The RAM of the gather buffers.
  localparam int Words = StoreBuffers * SlotWords > 2 ? StoreBuffers * SlotWords : 2;
  localparam int WordWidth = $clog2(Words);

  // The bytes of the piece as they stand in DRAM, shifted up to where they begin in the word. Before the first of a burst stand the
  // last bytes of an element that the burst before has begun. (A simulator computes them only where there are some.)
  logic [8*PieceBytes-1:0] moved;
  logic [16*Word-1:0] bytes;
  logic [2*Word-1:0] ones, buffered; // from the piece on, which the next one overwrites; what of it goes into this burst's buffer
  logic [16*Word-1:0] buffered_bits;
  logic [WordShift-1:0] shift;
  logic [WordAtWidth-1:0] word; // of its buffer
  logic [23:0] spill_q;     // bytes of an element beyond the burst that holds its first
  logic ends_buffer; // the piece begins in the last word of its buffer
  always_comb begin : align
    shift = data_piece_q.at[WordShift-1:0];
    word = WordAtWidth'(data_piece_q.at >> WordShift);
    ends_buffer = 32'(data_piece_q.at) >> WordShift == SlotWords - 1;
    moved = '0;
    bytes = '0;
    ones = '0;
    if (!Checks || data_valid_q) begin
      moved = moved_piece(data_piece_q.instruction, data_q);
      bytes = (16*Word)'(moved) << {shift, 3'b000};
      ones = ({2*Word{1'b1}} << shift);
    end
    buffered = ones;
    if (data_piece_q.first && data_piece_q.at < at_t'(4)) begin
      buffered[2:0] = '1;
      for (int i = 0; i < 3; i++) if (!ones[i]) bytes[8*i +: 8] = spill_q[8*i +: 8];
    end
    if (ends_buffer) buffered[2*Word-1:Word] = '0;
    buffered_bits = '0;
    if (!Checks || data_valid_q)
      for (int i = 0; i < 2 * Word; i++) buffered_bits[8*i +: 8] = {8{buffered[i]}};
  end
  always_ff @(posedge clk_i) if (data_valid_q && ends_buffer) spill_q <= bytes[8*Word +: 24];

  // The beat that is sent next is read: of this burst, or the first of the one behind it. The first beat of a burst may be sent in the
  // cycle after its last piece went into the buffer: what the piece has of it goes past the RAM.
  buffer_t send_next, read_from;
  beat_t read_beat, first_beat;
  logic [2*WordBeats-1:0][8*BusBytes-1:0] pair;
  logic [WordBeats-1:0][8*BusBytes-1:0] first_word;
  logic [WordBeats-1:0][BusBytes-1:0] first_word_buffered;
  logic [8*BusBytes-1:0] late_data_q;
  logic [BusBytes-1:0] late_q; // which bytes of the beat
  buffer_t late_buffer_q;
  beat_t read_beat_q;
  always_comb begin
    send_next = buffer_behind(send_q);
    read_from = frees ? send_next : send_q;
    read_beat = beat;
    if (frees) read_beat = beat_of(burst_begin_q[send_next][WindowBits-1:0]);
    else if (sends) read_beat = beat + 1'b1;
    first_beat = beat_of(burst_begin_q[data_piece_q.buffer][WindowBits-1:0]);
    first_word = bytes[8*Word-1:0];
    first_word_buffered = buffered[Word-1:0];
    w_data_o = '0;
    if (sends) begin
      w_data_o = pair[32'(read_beat_q) % WordBeats];
      if (!sending_q && late_buffer_q == send_q)
        for (int i = 0; i < BusBytes; i++) if (late_q[i]) w_data_o[8*i +: 8] = late_data_q[8*i +: 8];
    end
  end
  always_ff @(posedge clk_i) begin : late
    read_beat_q <= read_beat;
    if (data_valid_q) begin
      late_data_q <= first_word[32'(first_beat) % WordBeats];
      late_buffer_q <= data_piece_q.buffer;
    end
    late_q <= data_valid_q && 32'(first_beat) / WordBeats == 32'(word) ? first_word_buffered[32'(first_beat) % WordBeats] : '0;
  end
  tilewright_pair #(.Words(Words), .Width(8 * Word)) u_gather (
    .clk_i, .read_i(used_q != '0), .read_word_i(WordWidth'(32'(read_from) * SlotWords + 32'(read_beat) / WordBeats)),
    .read_pair_o(pair), .write_i(data_valid_q), .write_word_i(WordWidth'(32'(data_piece_q.buffer) * SlotWords + 32'(word))),
    .write_mask_i(buffered_bits), .write_pair_i(bytes)
  );

  always_ff @(posedge clk_i) begin : send
    if (!rst_ni) begin
      send_q <= '0;
      used_q <= '0;
      waiting_q <= '0;
      unanswered_q <= '0;
      sending_q <= 1'b0;
    end else begin
      used_q <= used_d;
      waiting_q <= waiting_q + buffers_t'(data_valid_q && data_piece_q.last) - buffers_t'(frees);
      unanswered_q <= unanswered_q + SentWidth'(frees) - SentWidth'(b_valid_i);
      if (sends) sending_q <= !last_beat;
      if (frees) send_q <= send_next;
    end
    if (sends) beat_q <= beat + 1'b1;
  end

  always_ff @(posedge clk_i) begin : flights
    if (!rst_ni) begin
      state_q <= store_state_reset();
      oldest_q <= '0;
      newest_q <= '0;
      free_q <= '0;
      flights_q <= '0;
      flight_gathered_q <= '0;
    end else begin
      if (set_starts) state_q <= store_execute_set(state_q, head.instruction, head.bits);
      if (started) begin
        flight_id_q[free_q] <= start_id_q;
        flight_signal_q[free_q] <= start_signal_q;
        flight_gathered_q[free_q] <= move.empty;
        newest_q <= free_q;
        free_q <= free_q == flight_t'(StoreInflight - 1) ? '0 : free_q + 1'b1;
      end
      if (granted && last_q && ends_q) flight_gathered_q[newest_q] <= 1'b1;
      if (retires) oldest_q <= oldest_q == flight_t'(StoreInflight - 1) ? '0 : oldest_q + 1'b1;
      flights_q <= flights_q + flights_t'(started) - flights_t'(retires);
    end
  end
  for (genvar i = 0; i < StoreInflight; i++) begin : gen_bursts
    logic more, less;
    assign more = asks_q && newest_q == flight_t'(i);
    assign less = b_valid_i && b_id_i == 8'(i);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        flight_bursts_q[i] <= '0;
        flight_none_q[i] <= 1'b1;
        flight_one_q[i] <= 1'b0;
      end else begin
        flight_bursts_q[i] <= flight_bursts_q[i] + BurstsWidth'(more) - BurstsWidth'(less);
        if (more != less) begin
          flight_none_q[i] <= less && flight_one_q[i];
          flight_one_q[i] <= more ? flight_none_q[i] : flight_bursts_q[i] == BurstsWidth'(2);
        end
      end
    end
  end

  // Where the cycle goes.
  always_comb begin
    activity_o = '{id: flight_id_q[oldest_q], reserved: '0, cause: StallNone, kind: Busy};
    if (sends || granted) begin
      activity_o.kind = Busy;
    end else if (piece_q) begin
      activity_o.kind = Stalled;
      activity_o.cause = move.to_acc ? StallAccPort : StallSpadPort;
      activity_o.id = flight_id_q[newest_q];
    end else if (has_flight) begin
      activity_o.kind = Stalled;
      activity_o.cause = cannot_signal ? StallSemaphore : StallDram;
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
    if (Checks && store_starts) fault_o = store_fault(head.instruction, head.bits, state_q, head.address);
  end
  assign end_o[0] = '{valid: retires, id: flight_id_q[oldest_q]};
  assign end_o[1] = '{valid: set_starts, id: head.id};

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

  answer_is_expected: assert property (@(posedge clk_i) disable iff (!rst_ni) b_valid_i |-> (unanswered_q != '0))
    else $error("A write response came that no burst waits for.");
endmodule
// verilator lint_on UNUSEDSIGNAL

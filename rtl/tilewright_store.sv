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
  input  spad_mask_t       spad_by_vector_i, // by the vector unit
  input  acc_mask_t        acc_by_matrix_i, // by the matrix unit
  input  acc_mask_t        acc_by_vector_i, // by the vector unit
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
  localparam int BeatShift = $clog2(BusBytes);
  localparam logic [47:0] LastByte = 48'(BurstBytes) - 48'd1; // of a burst's window
  localparam int ReadBits = 8 * (SpadPort > AccPort ? SpadPort : AccPort);

  `include "tilewright_store.svh"

  issued_t head;
  logic empty, pop;
  tilewright_queue #(.Depth(StoreQueue)) u_queue (.clk_i, .rst_ni, .stop_i, .push_i, .data_i(issued_i), .pop_i(pop), .head_o(head),
                                                  .empty_o(empty), .full_o);

  store_state_t state_q;

  // What started, for the cycle in which its move is made. Its registers are those of `state_q`.
  logic started_q;
  issued_t started;

  // Stores that are issued and not ended, oldest first.
  logic [31:0] flight_id_q [StoreInflight];
  mask_t flight_signal_q [StoreInflight];
  logic [15:0] flight_bursts_q [StoreInflight]; // begun and not answered
  logic [StoreInflight-1:0] flight_gathered_q;  // no more bursts come
  logic [FlightWidth-1:0] oldest_q, newest_q, free_q;
  logic [7:0] flights_q;

  // Gather buffers, oldest first: the first waiting_q of them are complete. Their bytes are in RAM, side by side.
  logic [47:0] burst_begin_q [StoreBuffers], burst_end_q [StoreBuffers];
  logic [FlightWidth-1:0] burst_flight_q [StoreBuffers];
  logic [BufferWidth-1:0] fill_q, send_q;
  logic [7:0] used_q, waiting_q, unanswered_q;

  // The gather stage.
  logic in_burst_q;
  logic fresh_q;            // nothing of the burst was read yet
  logic [7:0] instruction_q;
  move_t move_q;
  local_t address_q;        // on chip, of the next element
  logic [31:0] left_q;      // elements of the burst
  logic [15:0] at_q;        // byte of the buffer at which the next element begins
  // The piece that was granted in the cycle before, and comes in this one.
  logic comes_q, comes_last_q, comes_fresh_q; // the last of its burst; the first of it
  logic written_q;          // the last piece of a burst was written into the buffer in the cycle before
  logic [15:0] comes_count_q, comes_at_q;
  logic [BufferWidth-1:0] comes_fill_q;
  logic [23:0] spill_q;     // bytes of an element beyond the burst that holds its first

  // STORE-end.
  logic has_flight, answered, retires, cannot_signal;
  assign has_flight = flights_q != '0;
  always_comb begin
    answered = has_flight && flight_gathered_q[oldest_q] &&
        (flight_bursts_q[oldest_q] == '0 ||
         (flight_bursts_q[oldest_q] == 16'd1 && b_valid_i && b_id_i == 8'(oldest_q)));
  end
  assign request_o[0] = '{valid: answered, wait_mask: '0, signal_mask: flight_signal_q[oldest_q]};
  assign retires = grant_i[0];
  assign cannot_signal = answered && !retires;
  assign idle_o = empty && !started_q && !has_flight;

  // STORE-send.
  logic sends, last_beat;
  logic [7:0] beat_q;
  logic sending_q;
  logic [47:0] send_begin, send_end, beat_address;
  always_comb begin
    send_begin = burst_begin_q[send_q];
    send_end = burst_end_q[send_q];
    sends = !w_held_i && (sending_q || (waiting_q != '0 && unanswered_q < 8'(StoreOutstanding) && !quiesce_i));
    beat_address = ((send_begin >> BeatShift) + 48'(beat_q)) << BeatShift;
    last_beat = beat_address + 48'(BusBytes) >= send_end;
    w_strobe_o = '0;
    for (int i = 0; i < BusBytes; i++)
      w_strobe_o[i] = beat_address + 48'(i) >= send_begin && beat_address + 48'(i) < send_end;
  end
  assign bus_idle_o = !sending_q && unanswered_q == '0;
  assign w_valid_o = sends;
  assign w_first_o = sends && !sending_q;
  assign w_last_o = last_beat;
  assign w_address_o = send_begin;
  assign w_beats_o = 8'(((send_end - 48'd1) >> BeatShift) - (send_begin >> BeatShift));
  assign w_id_o = 8'(burst_flight_q[send_q]);

  // STORE-start.
  logic set_starts, store_starts;
  move_t move; // of what started
  logic gathering, has_burst; // bursts of the newest store are left; one is shown
  assign request_o[1] = '{valid: !empty && !started_q && !gathering && (head.is_set || flights_q < 8'(StoreInflight)),
                          wait_mask: head.wait_mask, signal_mask: head.is_set ? head.signal_mask : '0};
  assign pop = grant_i[1];
  assign set_starts = pop && head.is_set;
  assign store_starts = pop && !head.is_set;
  always_comb begin
    move = '0;
    if (started_q) move = move_of(started.instruction, started.bits, state_q, started.address);
  end
  always_ff @(posedge clk_i) begin : start
    if (pop) started <= head;
    if (!rst_ni) started_q <= 1'b0;
    else started_q <= store_starts;
  end

  // STORE-gather.
  logic piece, granted, last_piece, begins, last_burst;
  local_t address, burst_address;
  logic [47:0] burst_begin, burst_end;
  logic [15:0] burst_elements;
  logic signed [15:0] burst_at;
  logic [31:0] left;
  logic [15:0] at;
  logic [15:0] count;
  spad_mask_t spad_mask;
  acc_mask_t acc_mask;
  logic by_matrix, by_vector;
  tilewright_walker #(.ByFirstByte(1'b1)) u_walker (
    .clk_i, .rst_ni, .begin_i(started_q), .move_i(move), .next_i(last_piece), .left_o(gathering), .burst_o(has_burst),
    .begin_o(burst_begin), .end_o(burst_end), .elements_o(burst_elements), .address_o(burst_address), .at_o(burst_at), .last_o(last_burst)
  );
  always_comb begin
    begins = has_burst && !in_burst_q;
    piece = has_burst && (!begins || used_q < 8'(StoreBuffers));
    address = begins ? burst_address : address_q;
    left = begins ? 32'(burst_elements) : left_q;
    at = begins ? burst_at : at_q;
    count = '0;
    spad_mask = '0;
    acc_mask = '0;
    if (piece && left != '0) begin
      count = piece_elements(move_q.to_acc, move_q.run_stride, move_q.local_bytes);
      if (32'(count) > left) count = 16'(left);
      if (move_q.to_acc) acc_mask = acc_banks(address, int'(bytes_of(48'(count), move_q.local_bytes)));
      else spad_mask = spad_banks(address, int'(bytes_of(48'(count), move_q.local_bytes)));
    end
    by_matrix = (acc_mask & acc_by_matrix_i) != '0 || (spad_mask & spad_by_matrix_i) != '0;
    by_vector = (acc_mask & acc_by_vector_i) != '0 || (spad_mask & spad_by_vector_i) != '0;
    granted = piece && !by_matrix && !by_vector;
    last_piece = granted && 32'(count) == left;
  end
  assign spad_banks_o = granted ? spad_mask : '0;
  assign acc_banks_o = granted ? acc_mask : '0;
  assign read_address_o = 48'(address);

  // The RAM of the gather buffers.
  localparam int Words = StoreBuffers * SlotWords > 2 ? StoreBuffers * SlotWords : 2;
  localparam int WordWidth = $clog2(Words);

  // The bytes of the piece as they stand in DRAM, shifted up to where they begin in the word. Before the first of a burst stand the
  // last bytes of an element that the burst before has begun.
  logic [ReadBits-1:0] data;
  logic [8*PieceBytes-1:0] piece_data;
  logic [8*Word-1:0] piece_ones;
  logic [16*Word-1:0] bytes, ones, buffered; // ones: of the piece; buffered: what of it goes into this burst's buffer
  logic [15:0] comes_word;
  logic ends_buffer; // the piece begins in the last word of its buffer
  logic [31:0] raw, value;
  always_comb begin : align
    data = move_q.to_acc ? ReadBits'(acc_data_i) : ReadBits'(spad_data_i);
    piece_data = '0;
    piece_ones = '0;
    buffered = '0;
    comes_word = comes_at_q >> WordShift;
    ends_buffer = comes_word == 16'(SlotWords - 1);
    raw = '0;
    value = '0;
    bytes = '0;
    ones = '0;
    if (comes_q) begin
      for (int i = 0; i < ReadBits / 8; i++) begin
        if (16'(i) < comes_count_q) begin
          raw = 32'(data[8 * i +: 8]);
          if (move_q.local_bytes == 3'd2) raw = 32'(data[(16 * i) % ReadBits +: 16]);
          if (move_q.local_bytes == 3'd4) raw = data[(32 * i) % ReadBits +: 32];
          value = moved_value(instruction_q, raw);
          if (move_q.dram_bytes == 3'd1) piece_data[8 * (i % PieceBytes) +: 8] = value[7:0];
          if (move_q.dram_bytes == 3'd2 && 2 * i < PieceBytes) piece_data[16 * (i % (PieceBytes / 2)) +: 16] = value[15:0];
          if (move_q.dram_bytes == 3'd4 && 4 * i < PieceBytes) piece_data[32 * (i % (PieceBytes / 4)) +: 32] = value;
        end
      end
      piece_ones = {8*Word{1'b1}} >> {16'(Word) - 16'(bytes_of(48'(comes_count_q), move_q.dram_bytes)), 3'b000};
      ones = (16*Word)'(piece_ones) << {comes_at_q[WordShift-1:0], 3'b000};
      bytes = (16*Word)'(piece_data) << {comes_at_q[WordShift-1:0], 3'b000};
      buffered = ones;
      if (comes_fresh_q && comes_at_q < 16'd4) begin
        buffered[23:0] = '1;
        bytes[23:0] = (bytes[23:0] & ones[23:0]) | (spill_q & ~ones[23:0]);
      end
      if (ends_buffer) buffered[16*Word-1:8*Word] = '0;
    end
  end

  // The beat that is sent next: of this burst, or the first of the one behind it.
  logic [BufferWidth-1:0] send_next, read_from;
  logic [47:0] read_at;
  logic [2*WordBeats-1:0][8*BusBytes-1:0] pair;
  logic [WordShift-1:0] place_q; // of the beat in its word
  always_comb begin
    send_next = send_q == BufferWidth'(StoreBuffers - 1) ? '0 : send_q + 1'b1;
    read_from = sends && last_beat ? send_next : send_q;
    read_at = sends && last_beat ? burst_begin_q[send_next] : sends ? beat_address + 48'(BusBytes) : beat_address;
    w_data_o = '0;
    if (sends) w_data_o = pair[32'(place_q) >> BeatShift];
  end
  tilewright_pair #(.Words(Words), .Width(8 * Word)) u_gather (
    .clk_i, .read_i(used_q != '0), .read_word_i(WordWidth'(32'(read_from) * SlotWords + 32'((read_at & LastByte) >> WordShift))),
    .read_pair_o(pair), .write_i(comes_q), .write_word_i(WordWidth'(32'(comes_fill_q) * SlotWords + 32'(comes_word))),
    .write_mask_i(buffered), .write_pair_i(bytes)
  );
  always_ff @(posedge clk_i) place_q <= read_at[WordShift-1:0];

  always_ff @(posedge clk_i) begin : gather
    if (!rst_ni) begin
      state_q <= store_state_reset();
      in_burst_q <= 1'b0;
      fresh_q <= 1'b0;
      fill_q <= '0;
      move_q <= '0;
      instruction_q <= '0;
      address_q <= '0;
      left_q <= '0;
      at_q <= '0;
      spill_q <= '0;
      comes_q <= 1'b0;
      comes_last_q <= 1'b0;
      written_q <= 1'b0;
    end else begin
      if (set_starts) state_q <= store_execute_set(state_q, head.instruction, head.bits);
      if (started_q) begin
        move_q <= move;
        instruction_q <= started.instruction;
        in_burst_q <= 1'b0;
      end
      if (piece && begins) begin
        in_burst_q <= 1'b1;
        address_q <= address;
        left_q <= left;
        at_q <= at;
      end
      if (piece) fresh_q <= !granted && (begins || fresh_q);
      comes_q <= granted;
      comes_last_q <= last_piece;
      comes_fresh_q <= begins || fresh_q;
      comes_count_q <= count;
      comes_at_q <= at;
      comes_fill_q <= fill_q;
      written_q <= comes_last_q;
      if (comes_q && ends_buffer) spill_q <= bytes[8*Word +: 24];
      if (granted) begin
        address_q <= behind_piece(address, count, move_q.run_stride, move_q.local_bytes);
        left_q <= left - 32'(count);
        at_q <= at + 16'(bytes_of(48'(count), move_q.dram_bytes));
        if (last_piece) begin
          in_burst_q <= 1'b0;
          fill_q <= fill_q == BufferWidth'(StoreBuffers - 1) ? '0 : fill_q + 1'b1;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin : flights
    if (!rst_ni) begin
      oldest_q <= '0;
      newest_q <= '0;
      free_q <= '0;
      flights_q <= '0;
      flight_gathered_q <= '0;
      send_q <= '0;
      used_q <= '0;
      waiting_q <= '0;
      unanswered_q <= '0;
      beat_q <= '0;
      sending_q <= 1'b0;
    end else begin
      if (started_q) begin
        flight_id_q[free_q] <= started.id;
        flight_signal_q[free_q] <= started.signal_mask;
        flight_gathered_q[free_q] <= move.empty;
        newest_q <= free_q;
        free_q <= free_q == FlightWidth'(StoreInflight - 1) ? '0 : free_q + 1'b1;
      end
      if (last_piece && last_burst) flight_gathered_q[newest_q] <= 1'b1;
      if (piece && begins) begin
        burst_begin_q[fill_q] <= burst_begin;
        burst_end_q[fill_q] <= burst_end;
        burst_flight_q[fill_q] <= newest_q;
      end
      if (retires) oldest_q <= oldest_q == FlightWidth'(StoreInflight - 1) ? '0 : oldest_q + 1'b1;
      flights_q <= flights_q + 8'(started_q) - 8'(retires);
      used_q <= used_q + 8'(piece && begins) - 8'(sends && last_beat);
      waiting_q <= waiting_q + 8'(written_q) - 8'(sends && last_beat);
      unanswered_q <= unanswered_q + 8'(sends && last_beat) - 8'(b_valid_i);
      if (sends) begin
        sending_q <= !last_beat;
        beat_q <= last_beat ? '0 : beat_q + 8'd1;
        if (last_beat) send_q <= send_next;
      end
    end
  end

  for (genvar i = 0; i < StoreInflight; i++) begin : gen_bursts
    always_ff @(posedge clk_i) begin
      if (!rst_ni) flight_bursts_q[i] <= '0;
      else flight_bursts_q[i] <= flight_bursts_q[i] +
          16'(piece && begins && newest_q == FlightWidth'(i)) - 16'(b_valid_i && b_id_i == 8'(i));
    end
  end

  // Where the cycle goes.
  always_comb begin
    activity_o = '{id: flight_id_q[oldest_q], reserved: '0, cause: StallNone, kind: Busy};
    if (sends || granted) begin
      activity_o.kind = Busy;
    end else if (piece) begin
      activity_o.kind = Stalled;
      activity_o.cause = move_q.to_acc ? StallAccPort : StallSpadPort;
      activity_o.id = flight_id_q[newest_q];
    end else if (has_flight) begin
      activity_o.kind = Stalled;
      activity_o.cause = cannot_signal ? StallSemaphore : StallDram;
    end else if (pop || started_q) begin
      activity_o.kind = Busy;
    end else if (!empty) begin
      activity_o.kind = Stalled;
      activity_o.cause = StallSemaphore;
      activity_o.id = head.id;
    end else begin
      activity_o.kind = Idle;
    end
  end
  assign start_o = '{valid: pop, id: head.id};
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
    end else if (piece) begin
      if (by_matrix) conflicts_o[0] <= conflicts_o[0] + 32'd1;
      else if (by_vector) conflicts_o[1] <= conflicts_o[1] + 32'd1;
    end
  end

  answer_is_expected: assert property (@(posedge clk_i) disable iff (!rst_ni) b_valid_i |-> (unanswered_q != '0))
    else $error("A write response came that no burst waits for.");
endmodule
// verilator lint_on UNUSEDSIGNAL

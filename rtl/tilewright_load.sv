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
  input  spad_mask_t       spad_by_vector_i, // by the vector unit
  input  acc_mask_t        acc_by_matrix_i, // by the matrix unit
  input  acc_mask_t        acc_by_vector_i, // by the vector unit
  output spad_mask_t       spad_banks_o,    // that this one holds
  output acc_mask_t        acc_banks_o,     // that this one holds
  output logic [47:0]      write_address_o, // byte
  output logic [15:0]      write_bytes_o,   // of the piece
  output logic [8*(SpadPort > AccPort ? SpadPort : AccPort)-1:0] write_data_o, // the piece, its first byte lowest
  // Trace.
  output activity_t        activity_o,      // what this cycle goes to: work, a cause of stalling, or nothing
  output event_t           start_o,         // an instruction starts
  output logic             fault_o,         // the instruction that starts may not execute
  output event_t           end_o [2],       // of a set, of a load
  output logic [31:0]      conflicts_o [4]  // lost to matrix, vector, load, store
);
  localparam int FlightWidth = LoadInflight > 1 ? $clog2(LoadInflight) : 1;
  localparam int BufferWidth = LoadBuffers > 1 ? $clog2(LoadBuffers) : 1;
  localparam int BeatShift = $clog2(BusBytes);
  localparam logic [47:0] LastByte = 48'(BurstBytes) - 48'd1; // of a burst's window
  localparam int WriteBits = 8 * (SpadPort > AccPort ? SpadPort : AccPort);

  `include "tilewright_load.svh"

  issued_t head;
  logic empty, pop;
  tilewright_queue #(.Depth(LoadQueue)) u_queue (.clk_i, .rst_ni, .stop_i, .push_i, .data_i(issued_i), .pop_i(pop), .head_o(head),
                                                 .empty_o(empty), .full_o);

  load_state_t state_q;

  // What started, for the cycle in which its move is made. Its registers are those of `state_q`.
  logic started_q;
  issued_t started;

  // What is drained, and ends when its semaphores can be released.
  logic ending_q;
  logic [31:0] ending_id_q;
  mask_t ending_signal_q;

  // Loads that are issued and not drained, oldest first.
  typedef struct packed {
    logic [31:0] id;
    mask_t       signal_mask;
    logic [7:0]  instruction;
    move_t       move;
  } flight_t;
  flight_t oldest;
  local_t run_stride_q; // of the newest
  logic [LoadInflight-1:0] flight_issued_q;  // no more bursts come
  logic [7:0] flight_bursts_q [LoadInflight]; // requested and not drained
  logic [FlightWidth-1:0] oldest_q, newest_q, free_q; // newest_q: the last one that began
  logic [$clog2(LoadInflight+1)-1:0] in_flight;
  // Of the oldest, if it is a fill of which a piece is written.
  logic filling_q;
  walk_t fill_q;       // where it stands
  logic [31:0] fill_left_q; // elements of its run that are left
  local_t fill_at_q;   // byte address of the next of them

  // Landing buffers: bursts on the way or landed, oldest first. Their bytes are in RAM, side by side.
  local_t burst_address_q [LoadBuffers]; // on chip, of the next element
  local_t burst_stride_q [LoadBuffers];
  logic [15:0] burst_left_q [LoadBuffers];    // elements
  logic signed [15:0] burst_at_q [LoadBuffers]; // byte of the landing buffer at which the next element begins; may be before it
  logic [7:0] burst_beat_q [LoadBuffers];     // beat of the landing buffer that its first beat goes to
  logic [BufferWidth-1:0] drain_q, request_q, receive_q;
  logic [7:0] used_q, landed_q, beat_q;
  logic fetched_q;      // the next piece of the burst that drains has come from the RAM
  logic [23:0] tail_q [LoadBuffers]; // the last three bytes that came
  logic [23:0] carry_q; // those of the burst that was drained last

  // LOAD-end, LOAD-start.
  logic issuing; // bursts of the newest load are left
  logic ended, set_starts, load_starts;
  move_t move; // of what started
  assign request_o[0] = '{valid: ending_q, wait_mask: '0, signal_mask: ending_signal_q};
  assign ended = grant_i[0];
  assign request_o[1] = '{valid: !empty && !started_q && !issuing && (head.is_set || 32'(in_flight) < LoadInflight),
                          wait_mask: head.wait_mask, signal_mask: head.is_set ? head.signal_mask : '0};
  assign pop = grant_i[1];
  assign set_starts = pop && head.is_set;
  assign load_starts = pop && !head.is_set;
  always_comb begin
    move = '0;
    if (started_q) move = move_of(started.instruction, started.bits, state_q, started.address);
  end
  always_ff @(posedge clk_i) begin : start
    if (pop) started <= head;
    if (!rst_ni) started_q <= 1'b0;
    else started_q <= load_starts;
  end

  // LOAD-burst: the burst that is requested in this cycle.
  logic has_burst, request, last_burst;
  logic [47:0] position, burst_end;
  local_t burst_address;
  logic [15:0] burst_elements;
  logic signed [15:0] burst_at;
  tilewright_walker u_walker (
    .clk_i, .rst_ni, .begin_i(started_q && !move.fill), .move_i(move), .next_i(request), .left_o(issuing), .burst_o(has_burst),
    .begin_o(position), .end_o(burst_end), .elements_o(burst_elements), .address_o(burst_address), .at_o(burst_at), .last_o(last_burst)
  );
  assign request = has_burst && !ar_busy_i && used_q < 8'(LoadBuffers) && !quiesce_i;
  assign ar_valid_o = request;
  assign ar_address_o = position;
  assign ar_beats_o = 8'(((burst_end - 48'd1) >> BeatShift) - (position >> BeatShift));

  // LOAD-drain.
  logic has_flight, has_piece, granted, drained, flight_done, last_piece, from_burst, run_done;
  assign has_flight = in_flight != '0;
  tilewright_fifo #(.Depth(LoadInflight), .Width($bits(flight_t))) u_flights (
    .clk_i, .rst_ni, .push_i(started_q), .data_i({started.id, started.signal_mask, started.instruction, move}), .pop_i(drained), .head_q(oldest),
    .count_q(in_flight)
  );
  local_t address, stride;
  logic [31:0] left;
  logic [15:0] count;
  spad_mask_t spad_mask;
  acc_mask_t acc_mask;
  logic by_matrix, by_vector;
  walk_t fill, fill_next;
  always_comb begin
    from_burst = flight_bursts_q[oldest_q] != '0;
    fill = filling_q ? fill_q : walk_begin(oldest.move);
    address = from_burst ? burst_address_q[drain_q] : filling_q ? fill_at_q : oldest.move.local_address;
    stride = from_burst ? burst_stride_q[drain_q] : oldest.move.run_stride;
    left = from_burst ? 32'(burst_left_q[drain_q]) : filling_q ? fill_left_q : oldest.move.elements;
    has_piece = has_flight && (from_burst ? fetched_q : oldest.move.fill && !fill.done);
    count = '0;
    spad_mask = '0;
    acc_mask = '0;
    if (has_piece && left != '0) begin
      count = piece_elements(oldest.move.to_acc, stride, oldest.move.local_bytes);
      if (32'(count) > left) count = 16'(left);
      if (oldest.move.to_acc) acc_mask = acc_banks(address, int'(bytes_of(48'(count), oldest.move.local_bytes)));
      else spad_mask = spad_banks(address, int'(bytes_of(48'(count), oldest.move.local_bytes)));
    end
    by_matrix = (acc_mask & acc_by_matrix_i) != '0;
    by_vector = (acc_mask & acc_by_vector_i) != '0 || (spad_mask & spad_by_vector_i) != '0;
    granted = has_piece && !by_matrix && !by_vector;
    last_piece = granted && 32'(count) == left;
    fill_next = fill;
    if (last_piece && !from_burst) fill_next = walk_next(fill, oldest.move);
    run_done = last_piece && !from_burst;
    flight_done = has_flight && flight_issued_q[oldest_q] && (!has_piece || granted) &&
        (from_burst ? last_piece && flight_bursts_q[oldest_q] == 8'd1 : !oldest.move.fill || fill_next.done);
    drained = flight_done && !ending_q;
  end
  assign idle_o = empty && !started_q && !has_flight && !ending_q;
  assign bus_idle_o = used_q == landed_q;

  // The RAM of the landing buffers.
  localparam int Words = LoadBuffers * SlotWords > 2 ? LoadBuffers * SlotWords : 2;
  localparam int WordWidth = $clog2(Words);

  // What follows the piece that drains: of its burst, or of the next one.
  logic behind_burst, fetch;
  logic [BufferWidth-1:0] drain_next, fetch_from;
  logic signed [15:0] piece_end, fetch_at;
  always_comb begin : fetch_next
    drain_next = drain_q == BufferWidth'(LoadBuffers - 1) ? '0 : drain_q + 1'b1;
    behind_burst = fetched_q && 32'(count) == left;
    piece_end = burst_at_q[drain_q] + 16'(bytes_of(48'(count), oldest.move.dram_bytes));
    fetch = fetched_q ? granted && from_burst && (!behind_burst || landed_q > 8'd1) : landed_q != '0;
    fetch_from = behind_burst ? drain_next : drain_q;
    fetch_at = behind_burst ? burst_at_q[drain_next] : fetched_q ? piece_end : burst_at_q[drain_q];
    if (fetch_at < 0) fetch_at = '0;
  end

  logic [7:0] landing_beat; // of its buffer
  logic [16*Word-1:0] pair, landing_mask;
  always_comb begin : land
    landing_beat = burst_beat_q[receive_q] + beat_q;
    landing_mask = '0;
    if (r_valid_i)
      for (int i = 0; i < WordBeats; i++)
        if (32'(landing_beat) % WordBeats == i) landing_mask[8*BusBytes*i +: 8*BusBytes] = '1;
  end
  tilewright_pair #(.Words(Words), .Width(8 * Word)) u_landing (
    .clk_i, .read_i(fetch), .read_word_i(WordWidth'(32'(fetch_from) * SlotWords + (32'(fetch_at) >> WordShift))), .read_pair_o(pair),
    .write_i(r_valid_i), .write_word_i(WordWidth'(32'(receive_q) * SlotWords + 32'(landing_beat) / WordBeats)),
    .write_mask_i(landing_mask), .write_pair_i((16*Word)'({WordBeats{r_data_i}}))
  );

  // The bytes of the piece as they stand in DRAM, shifted down from its words; before a burst's begin stand the last bytes of the one
  // before.
  localparam int ShiftWidth = $clog2(Word + 4);
  logic [8*PieceBytes-1:0] landed;
  logic [ShiftWidth-1:0] shift;
  always_comb begin : align
    landed = '0;
    shift = ShiftWidth'(4) + (burst_at_q[drain_q] < 0 ? ShiftWidth'(burst_at_q[drain_q]) : ShiftWidth'(burst_at_q[drain_q][WordShift-1:0]));
    if (granted && from_burst) landed = (8*PieceBytes)'({pair, carry_q, 8'h0} >> {shift, 3'b000});
  end

  logic [31:0] raw, value;
  always_comb begin : data
    write_data_o = '0;
    raw = '0;
    value = oldest.move.value;
    if (granted) begin
      for (int i = 0; i < WriteBits / 8; i++) begin
        if (16'(i) < count) begin
          if (from_burst) begin
            raw = 32'(landed[8 * (i % PieceBytes) +: 8]);
            if (oldest.move.dram_bytes == 3'd2) raw = 32'(landed[16 * (i % (PieceBytes / 2)) +: 16]);
            if (oldest.move.dram_bytes == 3'd4) raw = landed[32 * (i % (PieceBytes / 4)) +: 32];
            value = moved_value(oldest.instruction, raw);
          end
          if (oldest.move.local_bytes == 3'd1) write_data_o[8 * i +: 8] = value[7:0];
          if (oldest.move.local_bytes == 3'd2 && 16 * i < WriteBits) write_data_o[(16 * i) % WriteBits +: 16] = value[15:0];
          if (oldest.move.local_bytes == 3'd4 && 32 * i < WriteBits) write_data_o[(32 * i) % WriteBits +: 32] = value;
        end
      end
    end
  end
  assign spad_banks_o = granted ? spad_mask : '0;
  assign acc_banks_o = granted ? acc_mask : '0;
  assign write_address_o = 48'(address);
  assign write_bytes_o = 16'(bytes_of(48'(count), oldest.move.local_bytes));

  always_ff @(posedge clk_i) begin : flights
    if (!rst_ni) begin
      state_q <= load_state_reset();
      ending_q <= 1'b0;
      oldest_q <= '0;
      newest_q <= '0;
      free_q <= '0;
      filling_q <= 1'b0;
      flight_issued_q <= '0;
      flight_bursts_q <= '{default: '0};
      drain_q <= '0;
      request_q <= '0;
      receive_q <= '0;
      used_q <= '0;
      landed_q <= '0;
      fetched_q <= 1'b0;
      beat_q <= '0;
    end else begin
      if (set_starts) state_q <= load_execute_set(state_q, head.instruction, head.bits);
      if (started_q) begin
        run_stride_q <= move.run_stride;
        flight_issued_q[free_q] <= move.fill || move.empty;
        flight_bursts_q[free_q] <= '0;
        newest_q <= free_q;
        free_q <= free_q == FlightWidth'(LoadInflight - 1) ? '0 : free_q + 1'b1;
      end
      if (request) begin
        burst_address_q[request_q] <= burst_address;
        burst_stride_q[request_q] <= run_stride_q;
        burst_left_q[request_q] <= burst_elements;
        burst_at_q[request_q] <= burst_at;
        burst_beat_q[request_q] <= 8'((position & LastByte) >> BeatShift);
        request_q <= request_q == BufferWidth'(LoadBuffers - 1) ? '0 : request_q + 1'b1;
        if (last_burst) flight_issued_q[newest_q] <= 1'b1;
      end
      // Bursts of the newest and of the oldest load, which may be one.
      if (request && last_piece && from_burst && newest_q == oldest_q) begin
      end else begin
        if (request) flight_bursts_q[newest_q] <= flight_bursts_q[newest_q] + 8'd1;
        if (last_piece && from_burst) flight_bursts_q[oldest_q] <= flight_bursts_q[oldest_q] - 8'd1;
      end
      used_q <= used_q + 8'(request) - 8'(last_piece && from_burst);
      landed_q <= landed_q + 8'(r_valid_i && r_last_i) - 8'(last_piece && from_burst);
      if (r_valid_i) begin
        tail_q[receive_q] <= 24'({r_data_i, tail_q[receive_q]} >> (8 * BusBytes));
        beat_q <= r_last_i ? '0 : beat_q + 8'd1;
        if (r_last_i) receive_q <= receive_q == BufferWidth'(LoadBuffers - 1) ? '0 : receive_q + 1'b1;
      end
      if (fetch) fetched_q <= 1'b1;
      else if (granted && from_burst) fetched_q <= 1'b0;
      if (granted && from_burst) begin
        burst_address_q[drain_q] <= behind_piece(address, count, stride, oldest.move.local_bytes);
        burst_left_q[drain_q] <= burst_left_q[drain_q] - count;
        burst_at_q[drain_q] <= piece_end;
        if (last_piece) begin
          carry_q <= tail_q[drain_q];
          drain_q <= drain_next;
        end
      end
      if (granted && !from_burst) begin
        filling_q <= 1'b1;
        fill_q <= fill_next;
        fill_at_q <= run_done ? fill_next.local_address[MoveDims-1] : behind_piece(address, count, stride, oldest.move.local_bytes);
        fill_left_q <= run_done ? oldest.move.elements : left - 32'(count);
      end
      ending_q <= drained || (ending_q && !ended);
      if (drained) begin
        ending_id_q <= oldest.id;
        ending_signal_q <= oldest.signal_mask;
        oldest_q <= oldest_q == FlightWidth'(LoadInflight - 1) ? '0 : oldest_q + 1'b1;
        filling_q <= 1'b0;
      end
    end
  end

  // Where the cycle goes.
  always_comb begin
    activity_o = '{id: oldest.id, reserved: '0, cause: StallNone, kind: Busy};
    if (granted || drained || r_valid_i) begin
      activity_o.kind = Busy;
    end else if (has_piece) begin
      activity_o.kind = Stalled;
      activity_o.cause = oldest.move.to_acc ? StallAccPort : StallSpadPort;
    end else if (ending_q) begin
      activity_o.kind = ended ? Busy : Stalled;
      activity_o.cause = StallSemaphore;
      activity_o.id = ending_id_q;
    end else if (has_flight) begin
      activity_o.kind = Stalled;
      activity_o.cause = StallDram;
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
    if (Checks && load_starts) fault_o = load_fault(head.instruction, head.bits, state_q, head.address);
  end
  assign end_o[0] = '{valid: set_starts, id: head.id};
  assign end_o[1] = '{valid: ended, id: ending_id_q};

  assign conflicts_o[2] = '0;
  assign conflicts_o[3] = '0;
  always_ff @(posedge clk_i) begin : conflicts
    if (!rst_ni || !Checks) begin
      conflicts_o[0] <= '0;
      conflicts_o[1] <= '0;
    end else if (has_piece) begin
      if (by_matrix) conflicts_o[0] <= conflicts_o[0] + 32'd1;
      else if (by_vector) conflicts_o[1] <= conflicts_o[1] + 32'd1;
    end
  end

  burst_is_expected: assert property (@(posedge clk_i) disable iff (!rst_ni) r_valid_i |-> (used_q > landed_q))
    else $error("A read beat came that no landing buffer waits for.");
endmodule
// verilator lint_on UNUSEDSIGNAL

// The vector unit: rows VEC-* of docs/microarchitecture.md. It walks the steps of an instruction as their iterators say. What a tap asks
// for comes a cycle later and is put side by side; then its elements are aligned to the lanes (tilewright_lanes.sv), whose results are put
// side by side in the cycle before they are written.
// verilator lint_off UNUSEDSIGNAL
// Reason: not every register, field and bit of a lane is used by every instruction.
module tilewright_vector import tilewright_pkg::*; #(
  parameter bit Checks = 1'b0 // what only a check of the machine needs: off in synthesis
) (
  input  logic             clk_i,           // all state changes at its rising edge
  input  logic             rst_ni,          // synchronous reset, active low
  input  logic             stop_i,          // no instruction starts
  input  logic             push_i,          // the sequencer dispatches `issued_i` to this unit; only while not full
  input  issued_t          issued_i,        // a decoded instruction with its registers
  output logic             full_o,          // the queue takes no more; registered
  output logic             idle_o,          // queue empty, nothing begun; registered
  output request_t         request_o [2],   // of semaphores: of the instruction that ends, of the head of the queue
  input  logic [1:0]       grant_i,         // of these
  // Banks that the matrix unit holds, and that this one holds, in this cycle. Writes take their banks in the next one (PORT-write).
  input  spad_mask_t       spad_read_by_matrix_i, // read by the matrix unit
  input  acc_mask_t        acc_read_by_matrix_i,         // read by the matrix unit
  input  acc_mask_t        acc_write_by_matrix_i,        // written by the matrix unit in the next cycle
  output spad_mask_t       spad_write_held_o,            // this unit is granted a write
  output acc_mask_t        acc_write_held_o,             // this unit is granted a write
  // A read port for each stream.
  output spad_mask_t [VectorStreams-1:0] spad_piece_o,   // banks of the piece that the stream may ask for; registered
  output acc_mask_t [VectorStreams-1:0]  acc_piece_o,    // likewise
  output logic [VectorStreams-1:0]       granted_o,      // it asks for it, and holds them
  output spad_mask_t [VectorStreams-1:0] spad_banks_o,   // that the stream holds
  output acc_mask_t [VectorStreams-1:0]  acc_banks_o,    // that the stream holds
  output logic [VectorStreams-1:0][47:0] read_address_o, // byte; registered
  input  logic [VectorStreams-1:0][8*SpadPort-1:0] spad_data_i, // a piece of the scratchpad each, a cycle later
  input  logic [VectorStreams-1:0][8*AccPort-1:0]  acc_data_i,  // a piece of the accumulators each
  // The write that is granted.
  output spad_mask_t       spad_write_o,                 // banks of the piece that may be written; registered
  output acc_mask_t        acc_write_o,                  // likewise
  output logic             write_granted_o,              // it is
  output logic [47:0]      write_address_o,              // byte; registered
  output logic [15:0]      write_bytes_o,                // of the piece; registered
  output logic [32*Lanes-1:0] write_data_o, // the piece, its first byte lowest
  // Trace.
  output activity_t        activity_o,      // what this cycle goes to: work, a cause of stalling, or nothing
  output event_t           start_o,         // an instruction starts
  output logic             fault_o,         // the instruction that starts may not execute
  output event_t           end_o [2],       // of a set, of any other instruction
  output logic [31:0]      conflicts_o [4]  // lost to matrix, vector, load, store
);
  typedef logic [VectorCountBits-1:0] count_t; // of iterations along one dimension
  typedef logic [VectorDims-1:0] dims_t;
  typedef logic [$clog2(Lanes+1)-1:0] lanes_t;
  typedef logic [$clog2(4*Lanes+1)-1:0] left_t; // bytes, or elements that take a piece each
  localparam int ElementBits = 32 * Lanes;
  localparam int SpadPieces = (4 * Lanes + SpadPort - 1) / SpadPort; // in which elements that stand side by side come, at most
  localparam int AccPieces = (4 * Lanes + AccPort - 1) / AccPort;
  localparam int WholePieces = SpadPieces > AccPieces ? SpadPieces : AccPieces;
  localparam int PieceBits = SpadPort < 4 * Lanes ? 8 * SpadPort : ElementBits; // of a piece of the scratchpad
  typedef logic [$clog2((WholePieces > Lanes ? WholePieces : Lanes)+1)-1:0] pieces_t;

  // Of so many elements that are left along the lanes, those of one strip.
  function automatic lanes_t lanes_of(count_t left);
    lanes_of = left < count_t'(Lanes) ? lanes_t'(left) : lanes_t'(Lanes);
  endfunction

  // A memory operand of a step: where it begins, bytes from iteration to iteration. From lane to lane it is contiguous, stays
  // (broadcast), or goes one element a piece.
  typedef struct packed {
    local_t [VectorDims-1:0] stride;
    local_t      address;
    local_t      lane_stride;
    logic        valid;
    logic        once;      // of a strip, whether it has taps or not
    logic        to_acc;    // stands in the accumulators
    logic        broadcast;
    logic        contiguous;
    logic [2:0]  bytes;     // of an element
  } stream_t;
  typedef struct packed {
    stream_t [VectorStreams-1:0] stream;
    stream_t write;
    count_t [VectorDims-1:0] extent; // along the lanes: of elements, not of strips
    dims_t       taps;               // loops of the reduction; with the one along the lanes, these are joined
    logic        has_taps;
  } step_t;

  function automatic stream_t normal(stream_t stream);
    normal = stream;
    normal.broadcast = stream.lane_stride == '0;
    normal.contiguous = stream.lane_stride == local_t'(stream.bytes);
    normal.stride[VectorSpatial-1] = stream.stride[VectorSpatial-1] * local_t'(Lanes);
  endfunction

  // What is written of a strip that is computed.
  typedef struct packed {
    local_t      address;
    local_t      stride; // from element to element, where they do not stand side by side
    left_t       left;
    logic        writes; // memory, not an array
    logic        to_acc;
    logic        whole;  // elements stand side by side, or it is one
    logic [2:0]  bytes;  // of an element
  } strip_t;

  // What the elements of one tap take of a stream, or those of one strip of a write.
  function automatic left_t left_of(stream_t stream, lanes_t lanes);
    left_of = left_t'(lanes);
    if (stream.broadcast) left_of = left_t'(stream.bytes);
    else if (stream.contiguous && stream.bytes[2]) left_of = left_t'({lanes, 2'b00});
    else if (stream.contiguous && stream.bytes[1]) left_of = left_t'({lanes, 1'b0});
  endfunction

  // Bytes of a port; of the piece that is next; whether it is the last one.
  function automatic logic [15:0] port_of(logic to_acc);
    port_of = to_acc ? 16'(AccPort) : 16'(SpadPort);
  endfunction
  function automatic logic [15:0] piece_of(logic to_acc, logic whole, logic [2:0] bytes, left_t left);
    piece_of = !whole ? 16'(bytes) : 16'(left) < port_of(to_acc) ? 16'(left) : port_of(to_acc);
  endfunction
  function automatic logic is_last(logic to_acc, logic whole, left_t left);
    is_last = 16'(left) <= (whole ? port_of(to_acc) : 16'd1);
  endfunction

  // The piece of a strip that so many pieces are before, its first byte lowest.
  function automatic logic [ElementBits-1:0] piece_in(logic [ElementBits-1:0] data, strip_t strip, pieces_t behind);
    piece_in = data;
    if (strip.whole && strip.to_acc) begin
      for (int i = 1; i < AccPieces; i++) if (behind == pieces_t'(i)) piece_in = data >> (8 * AccPort * i);
    end else if (strip.whole) begin
      for (int i = 1; i < SpadPieces; i++)
        if (behind == pieces_t'(i)) piece_in[PieceBits-1:0] = PieceBits'(data >> (8 * SpadPort * i));
    end else begin
      piece_in[31:0] = '0;
      for (int l = 0; l < Lanes; l++) begin
        if (behind == pieces_t'(l) && strip.bytes[0]) piece_in[7:0] = piece_in[7:0] | data[8*l +: 8];
        if (behind == pieces_t'(l) && strip.bytes[1]) piece_in[15:0] = piece_in[15:0] | data[16*l +: 16];
        if (behind == pieces_t'(l) && strip.bytes[2]) piece_in[31:0] = piece_in[31:0] | data[32*l +: 32];
      end
    end
  endfunction

  // Whether a + b is c, in a time that does not grow with their bits: of each bit, the carry in that it wants against the carry out that
  // the one below it then makes.
  function automatic logic is_sum(local_t a, local_t b, local_t c);
    is_sum = (a ^ b ^ c) == local_t'({(a & b) | ((a | b) & ~c), 1'b0});
  endfunction

  // Loops of which the first iteration is the last one, too.
  function automatic dims_t short_of(step_t step);
    for (int d = 0; d < VectorDims; d++) short_of[d] = step.extent[d] <= (d == VectorSpatial - 1 ? count_t'(Lanes) : count_t'(1));
  endfunction
  // The loop that steps next: the innermost one that is not in its last iteration.
  function automatic dims_t steps_of(dims_t last);
    steps_of = '0;
    for (int d = 0; d < VectorDims; d++) begin
      if (!last[d]) begin
        steps_of = '0;
        steps_of[d] = 1'b1;
      end
    end
  endfunction

  typedef enum logic [1:0] {Free, Startup, Taps, Drain} phase_e;
  phase_e phase_q;
  // What is done, and ends when its semaphores can be released.
  logic ending_q;
  logic [31:0] ending_id_q;
  mask_t ending_signal_q;
  // The instruction that runs; while none does, one that is or was at the head of the queue.
  logic [7:0] instruction_q;
  logic [31:0] id_q;
  mask_t signal_q;
  instruction_t bits_q;
  logic [MemoryOperands-1:0][47:0] operands_q; // where they begin
  logic [VectorSteps-1:0] has_strips_q;        // by steps
  logic [7:0] stages_q;                        // of the lanes, in which it computes
  logic [15:0] wait_q;                         // cycles from a strip's last read to its write, less two
  localparam int StartWidth = $clog2(VectorStart + 1);
  logic [StartWidth-1:0] startup_q;
  vector_state_t state_q;

  // The tap ahead: the one behind the tap that reads. Its step, its position in the nest, and for each stream the address at which each
  // loop stands.
  step_t ahead_q;
  logic [2:0] ahead_number_q; // of its step
  count_t [VectorDims-1:0] ahead_index_q;
  local_t [VectorStreams-1:0][VectorDims-1:0] ahead_place_q;
  local_t [VectorSpatial-1:0] ahead_write_q;
  dims_t ahead_last_q;    // loops that are in their last iteration
  dims_t ahead_steps_q;   // the loop that steps next; none behind the last tap of the step
  count_t ahead_left_q;   // elements along the lanes, from its strip on
  lanes_t ahead_lanes_q;  // of these, its strip's
  logic [VectorStreams-1:0] ahead_held_q; // streams that stand where they stood in the tap before: their elements are there

  // A tap on its way to and through the lanes.
  typedef struct packed {
    logic        valid;
    logic [2:0]  number;          // of its step
    logic        first_tap;       // of its strip
    logic        last_tap;
    logic        has_taps;
    lanes_t      lanes;           // that have an element
    logic [2:0]  write_bytes;     // of an element of the result
    logic        write_broadcast; // the last lane's element alone is written
    logic        joins;           // lanes: the first one has the result
  } tap_t;

  // The tap that reads, and the piece that each stream asks for. Arbitration finds all that it needs in registers.
  tap_t tap_q;
  strip_t tap_strip_q;
  logic tap_ends_q;       // it is the last one of the instruction
  count_t [VectorDims-1:0] tap_index_q;
  count_t tap_base_q;     // the index along the lanes, of the first of them
  logic [VectorStreams-1:0] wants_q;
  logic [VectorStreams-1:0] last_q; // no piece of this tap follows
  logic [VectorStreams-1:0] to_acc_q, whole_q, broadcast_q;
  logic [VectorStreams-1:0][2:0] bytes_q;
  local_t [VectorStreams-1:0] address_q, stride_q;
  left_t [VectorStreams-1:0] left_q; // of this tap, with this piece
  pieces_t [VectorStreams-1:0] behind_q; // pieces of this tap before this one
  spad_mask_t [VectorStreams-1:0] spad_mask_q;
  acc_mask_t [VectorStreams-1:0] acc_mask_q;

  // What was granted in the cycle before, and comes in this one.
  logic [VectorStreams-1:0] comes_q, comes_to_acc_q, comes_whole_q;
  logic [VectorStreams-1:0][2:0] comes_bytes_q;
  pieces_t [VectorStreams-1:0] comes_behind_q;
  // The elements of a tap, which stay for the next one where a stream is held. A tap that is aligned keeps them while the pipeline is
  // frozen: what comes meanwhile waits.
  logic [VectorStreams-1:0][ElementBits-1:0] elements_q, late_elements_q;
  logic [VectorStreams-1:0] late_q;
  logic holds;

  // Taps whose elements are there. fetch_q: the last pieces come; align_q: elements are aligned to the lanes; pack_q: results are put
  // side by side.
  tap_t fetch_q, align_q, finishing, pack_q;
  tap_t [LaneStages-1:0] stage_q;
  lane_control_t [LaneStages-1:0] lane_control;
  lane_step_t align_step;
  logic [7:0] pack_array; // that is written, counted from 1
  logic lanes_busy;
  count_t [VectorDims-1:0] fetch_index_q, align_index_q, index_0_q;
  logic [VectorDims-1:0][31:0] index_0;
  count_t fetch_base_q, align_base_q, base_0_q;
  logic [VectorStreams-1:0] fetch_broadcast_q, align_broadcast_q;
  logic [VectorStreams-1:0][2:0] fetch_bytes_q, align_bytes_q;
  logic [31:0] operand_q [Lanes][VectorStreams];
  logic [31:0] element_q [Lanes][LaneElements];
  logic [LaneTables-1:0] table_read;
  logic [31:0] table_index [Lanes][LaneTables], table_data [Lanes][LaneTables];
  lane_result_t result [Lanes];
  logic [31:0] written [Lanes]; // into an array
  logic moves_on, packs, fetches; // fetches: the last pieces of a tap come

  // Strips on their way to their write, oldest first. The oldest has registers of its own, with the piece that is written next.
  localparam int DataDepth = LaneDelay + 1;
  localparam int DataWidth = DataDepth > 1 ? $clog2(DataDepth) : 1;
  localparam int PipeDepth = VectorLatencyMax;
  localparam int PipeWidth = $clog2(PipeDepth);
  logic [ElementBits-1:0] data_q [DataDepth]; // of those that are through the lanes
  logic [DataWidth-1:0] data_head_q, data_tail_q;
  strip_t pipe_q [PipeDepth]; // behind the oldest
  logic [PipeWidth-1:0] pipe_head_q, pipe_tail_q;
  logic [PipeWidth:0] pipe_count_q; // with the oldest
  logic [VectorLatencyMax-1:0] ended_q; // a strip's last read was so many cycles ago, of those that were not frozen
  logic due_q; // the oldest is due
  strip_t write_q;
  logic write_valid_q; // it is there
  pieces_t write_behind_q; // pieces of the strip before this one
  logic write_last_q; // none follows
  logic [15:0] write_bytes_q; // of the piece
  spad_mask_t write_spad_mask_q;
  acc_mask_t write_acc_mask_q;

  logic tap_done, strip_done;

  `include "tilewright_vector.svh"

  issued_t head;
  logic empty, pop;
  tilewright_queue #(.Depth(VectorQueue)) u_queue (.clk_i, .rst_ni, .stop_i, .push_i, .data_i(issued_i), .pop_i(pop), .head_o(head),
                                                   .empty_o(empty), .full_o);

  // VEC-end, VEC-start.
  logic ended, set_starts, starts;
  assign request_o[0] = '{valid: ending_q, wait_mask: '0, signal_mask: ending_signal_q};
  assign ended = grant_i[0];
  assign request_o[1] = '{valid: phase_q == Free && !empty, wait_mask: head.wait_mask, signal_mask: head.is_set ? head.signal_mask : '0};
  assign pop = grant_i[1];
  assign set_starts = pop && head.is_set;
  assign starts = pop && !head.is_set;

  // VEC-first.
  logic first_cycle, in_taps, in_taps_q, runs; // in_taps_q: from the first cycle on
  logic enters;     // what is at the head may start: it is prepared as if it did, for the grant is late
  logic configures; // the first tap of what started in the cycle before is prepared
  assign enters = phase_q == Free && !empty;
  assign configures = phase_q == Startup && startup_q == StartWidth'(VectorStart);
  assign first_cycle = phase_q == Startup && startup_q == StartWidth'(1);
  assign in_taps = in_taps_q;
  assign runs = in_taps || phase_q == Drain || first_cycle;

  // VEC-write, VEC-freeze.
  logic wants_write, w_denied, w_granted, frozen, pops;
  assign wants_write = due_q && write_q.writes;
  assign w_denied = (write_acc_mask_q & acc_write_by_matrix_i) != '0;
  assign w_granted = wants_write && !w_denied;
  assign spad_write_o = write_spad_mask_q;
  assign acc_write_o = write_acc_mask_q;
  assign write_granted_o = w_granted;
  assign frozen = wants_write && (w_denied || !write_last_q);
  assign pops = due_q && !frozen;
  assign spad_write_held_o = wants_write ? write_spad_mask_q : '0;
  assign acc_write_held_o = w_granted ? write_acc_mask_q : '0;

  // The strip behind the oldest takes its registers, or its next piece does.
  logic takes, same_strip;
  assign takes = (!write_valid_q || pops) && pipe_count_q != (PipeWidth+1)'(write_valid_q);
  assign same_strip = write_valid_q && !write_last_q;

  assign write_address_o = 48'(write_q.address);
  assign write_bytes_o = write_bytes_q;
  assign write_data_o = wants_write ? piece_in(data_q[data_head_q], write_q, write_behind_q) : '0;

  // VEC-strip: a piece for each stream.
  logic [VectorStreams-1:0] asks, by_matrix, by_vector, granted;
  stall_e denied;
  always_comb begin : arbitrate
    spad_banks_o = '0;
    acc_banks_o = '0;
    denied = StallNone;
    tap_done = in_taps && !frozen;
    asks = '0;
    by_matrix = '0;
    by_vector = '0;
    granted = '0;
    if (in_taps) begin
      for (int m = 0; m < VectorStreams; m++) begin
        asks[m] = wants_q[m] && !frozen;
        by_matrix[m] = (spad_mask_q[m] & spad_read_by_matrix_i) != '0 || (acc_mask_q[m] & acc_read_by_matrix_i) != '0;
        for (int k = 0; k < m; k++)
          if (granted[k] && ((spad_mask_q[m] & spad_mask_q[k]) != '0 || (acc_mask_q[m] & acc_mask_q[k]) != '0)) by_vector[m] = 1'b1;
        granted[m] = asks[m] && !by_matrix[m] && !by_vector[m];
        if (granted[m]) begin
          spad_banks_o[m] = spad_mask_q[m];
          acc_banks_o[m] = acc_mask_q[m];
        end else if (asks[m]) begin
          if (denied == StallNone) denied = to_acc_q[m] ? StallAccPort : StallSpadPort;
        end
        if (wants_q[m] && !(granted[m] && last_q[m])) tap_done = 1'b0;
      end
    end
  end
  for (genvar m = 0; m < VectorStreams; m++) begin : gen_ports
    assign read_address_o[m] = 48'(address_q[m]);
  end
  assign spad_piece_o = spad_mask_q;
  assign acc_piece_o = acc_mask_q;
  assign granted_o = granted;
  assign strip_done = tap_done && tap_q.last_tap;

  // The tap ahead becomes the one that reads, and the one behind it is ahead: the loop that steps goes on, those inside it begin anew.
  logic goes_on, ahead_first, ahead_last, more_steps; // ahead_first, ahead_last: tap of its strip
  logic [2:0] next_step;
  dims_t moved; // loops that go on or begin anew
  assign goes_on = configures || tap_done;
  always_comb begin : steps
    ahead_first = 1'b1;
    ahead_last = 1'b1;
    for (int d = 0; d < VectorDims; d++) begin
      if (ahead_q.taps[d] && ahead_index_q[d] != '0) ahead_first = 1'b0;
      if (ahead_q.taps[d] && !ahead_last_q[d]) ahead_last = 1'b0;
    end
    for (int d = 0; d < VectorDims; d++) moved[d] = (ahead_steps_q & ((dims_t'(2) << d) - dims_t'(1))) != '0;
    more_steps = 1'b0;
    next_step = '0;
    for (int s = VectorSteps - 1; s > 0; s--) begin
      if (has_strips_q[s] && s > int'(ahead_number_q)) begin
        more_steps = 1'b1;
        next_step = 3'(s);
      end
    end
  end
  assign holds = align_q.valid && !moves_on;

  // The lanes. All taps that are on their way are of the instruction that runs.
  for (genvar d = 0; d < VectorDims; d++) begin : gen_index
    assign index_0[d] = 32'(index_0_q[d]);
  end
  assign moves_on = runs && !frozen;
  assign fetches = moves_on && fetch_q.valid;
  assign packs = moves_on && pack_q.valid;
  assign align_step = '{valid: align_q.valid, instruction: instruction_q, number: align_q.number};
  assign pack_array = array_of(instruction_q, pack_q.number);
  always_comb begin : finish
    finishing = '0;
    lanes_busy = 1'b0;
    for (int s = 0; s < LaneStages; s++) begin
      lane_control[s] = '{step: '{valid: stage_q[s].valid, instruction: instruction_q, number: stage_q[s].number},
                          first_tap: stage_q[s].first_tap, last_tap: stage_q[s].last_tap, has_taps: stage_q[s].has_taps,
                          lanes: stage_q[s].lanes};
      lanes_busy = lanes_busy || stage_q[s].valid;
      if (stages_q == 8'(s + 1)) begin
        finishing = stage_q[s];
        finishing.valid = stage_q[s].valid && stage_q[s].last_tap;
      end
    end
    if (finishing.joins) finishing.lanes = lanes_t'(1);
  end
  tilewright_lanes u_lanes (
    .clk_i, .enable_i(moves_on && lanes_busy), .busy_i(lanes_busy), .instruction_i(instruction_q), .bits_i(bits_q), .state_i(state_q),
    .constant_i(constant_q), .control_i(lane_control), .operand_i(operand_q), .element_i(element_q), .index_i(index_0),
    .lane_base_i(32'(base_0_q)), .table_read_o(table_read), .table_index_o(table_index), .table_data_i(table_data),
    .result_o(result)
  );
  always_comb for (int l = 0; l < Lanes; l++) written[l] = result[l].value;

  // VEC-end.
  logic drained, leaves; // leaves: the unit is free from the next cycle on
  assign drained = !frozen && (phase_q == Drain || (first_cycle && has_strips_q == '0)) &&
                   (pipe_count_q == '0 || (pipe_count_q == (PipeWidth+1)'(1) && pops));
  assign leaves = drained && !ending_q;
  assign idle_o = empty && phase_q == Free && !ending_q;

  always_ff @(posedge clk_i) begin : control
    if (!rst_ni) begin
      phase_q <= Free;
      ending_q <= 1'b0;
      in_taps_q <= 1'b0;
      startup_q <= '0;
      state_q <= vector_state_reset();
    end else begin
      // Before the grant, which is late: nothing runs that reads it.
      if (enters && head.is_set) state_q <= vector_execute_set(state_q, head.instruction, head.bits);
      if (starts) phase_q <= Startup;
      startup_q <= phase_q == Free ? StartWidth'(VectorStart) : startup_q - StartWidth'(1);
      in_taps_q <= (in_taps_q && !(tap_done && tap_ends_q)) ||
                   (phase_q == Startup && startup_q == StartWidth'(2) && has_strips_q != '0);
      if (first_cycle) phase_q <= has_strips_q != '0 ? Taps : Drain;
      if (tap_done && tap_ends_q) phase_q <= Drain;
      ending_q <= leaves || (ending_q && !ended);
      if (leaves) phase_q <= Free;
    end
  end
  always_ff @(posedge clk_i) begin : instruction
    if (leaves) begin
      ending_id_q <= id_q;
      ending_signal_q <= signal_q;
    end
    if (enters) begin
      instruction_q <= head.instruction;
      bits_q <= head.bits;
      id_q <= head.id;
      signal_q <= head.signal_mask;
      operands_q <= head.address;
      has_strips_q <= strips_of(head.instruction, head.bits, state_q);
      stages_q <= lane_stages_of(head.instruction);
      wait_q <= latency_of(head.instruction) - 16'd2;
    end
  end

  always_ff @(posedge clk_i) begin : ahead
    if (!enters && !goes_on) begin // which is late: what it would be is not
    end else if (phase_q == Free || ahead_steps_q == '0) begin
      // The first tap of a step: of the first one that has strips, or of the next such one.
      automatic step_t step = '0, other = '0;
      automatic dims_t last = '1, goes = '0; // of each before it is known which one it is
      automatic logic [2:0] number = next_step;
      if (phase_q == Free) begin
        automatic logic [VectorSteps-1:0] has_strips = strips_of(head.instruction, head.bits, state_q);
        step = step_of(head.instruction, 3'd0, head.bits, state_q, head.address);
        last = short_of(step);
        goes = steps_of(last);
        number = '0;
        for (int s = VectorSteps - 1; s > 0; s--) begin
          other = step_of(head.instruction, 3'(s), head.bits, state_q, head.address);
          if (!has_strips[0] && has_strips[s]) begin
            step = other;
            last = short_of(other);
            goes = steps_of(short_of(other));
            number = 3'(s);
          end
        end
      end else if (VectorSteps > 1) begin
        step = step_of(instruction_q, 3'(VectorSteps - 1), bits_q, state_q, operands_q);
        last = short_of(step);
        goes = steps_of(last);
        for (int s = 1; s < VectorSteps - 1; s++) begin
          other = step_of(instruction_q, 3'(s), bits_q, state_q, operands_q);
          if (next_step == 3'(s)) begin
            step = other;
            last = short_of(other);
            goes = steps_of(short_of(other));
          end
        end
      end
      ahead_q <= step;
      ahead_number_q <= number;
      ahead_index_q <= '0;
      ahead_last_q <= last;
      ahead_steps_q <= goes;
      ahead_left_q <= step.extent[VectorSpatial-1];
      ahead_lanes_q <= lanes_of(step.extent[VectorSpatial-1]);
      ahead_held_q <= '0;
      for (int d = 0; d < VectorDims; d++)
        for (int m = 0; m < VectorStreams; m++) ahead_place_q[m][d] <= step.stream[m].address;
      for (int d = 0; d < VectorSpatial; d++) ahead_write_q[d] <= step.write.address;
    end else begin
      automatic count_t index = '0, extent = '0, left = ahead_left_q; // of the loop that steps; of elements along the lanes
      automatic dims_t last = ahead_last_q;
      automatic lanes_t lanes = ahead_lanes_q;
      automatic local_t place = '0, stride = '0;
      for (int d = 0; d < VectorDims; d++) begin
        index = index | (ahead_steps_q[d] ? ahead_index_q[d] : '0);
        extent = extent | (ahead_steps_q[d] ? ahead_q.extent[d] : '0);
      end
      for (int d = 0; d < VectorDims; d++) begin
        if (moved[d]) begin
          last[d] = ahead_steps_q[d] ? index + count_t'(2) == extent : ahead_q.extent[d] <= count_t'(1);
          ahead_index_q[d] <= ahead_steps_q[d] ? index + count_t'(1) : '0;
        end
      end
      if (moved[VectorSpatial-1]) begin
        left = ahead_steps_q[VectorSpatial-1] ? ahead_left_q - count_t'(Lanes) : ahead_q.extent[VectorSpatial-1];
        last[VectorSpatial-1] = ahead_steps_q[VectorSpatial-1] ? 32'(ahead_left_q) <= 2 * Lanes
                                                               : ahead_q.extent[VectorSpatial-1] <= count_t'(Lanes);
        lanes = lanes_of(left);
        ahead_left_q <= left;
        ahead_lanes_q <= lanes;
      end
      ahead_last_q <= last;
      ahead_steps_q <= steps_of(last);
      for (int m = 0; m < VectorStreams; m++) begin
        place = '0;
        stride = '0;
        for (int d = 0; d < VectorDims; d++) begin
          place = place | (ahead_steps_q[d] ? ahead_place_q[m][d] : '0);
          stride = stride | (ahead_steps_q[d] ? ahead_q.stream[m].stride[d] : '0);
        end
        for (int d = 0; d < VectorDims; d++) if (moved[d]) ahead_place_q[m][d] <= place + stride;
        ahead_held_q[m] <= is_sum(place, stride, ahead_place_q[m][VectorDims-1]) &&
                           (ahead_q.stream[m].broadcast || lanes == ahead_lanes_q);
      end
      place = '0;
      stride = '0;
      for (int d = 0; d < VectorSpatial; d++) begin
        place = place | (ahead_steps_q[d] ? ahead_write_q[d] : '0);
        stride = stride | (ahead_steps_q[d] ? ahead_q.write.stride[d] : '0);
      end
      for (int d = 0; d < VectorSpatial; d++) if (moved[d]) ahead_write_q[d] <= place + stride;
    end
  end

  always_ff @(posedge clk_i) begin : tap
    if (goes_on) begin
      tap_q <= '{valid: 1'b1, number: ahead_number_q, first_tap: ahead_first, last_tap: ahead_last,
                 has_taps: ahead_q.has_taps, lanes: ahead_lanes_q, write_bytes: ahead_q.write.bytes,
                 write_broadcast: ahead_q.write.broadcast, joins: ahead_q.taps[VectorSpatial-1]};
      tap_strip_q <= '{address: ahead_write_q[VectorSpatial-1], stride: ahead_q.write.lane_stride,
                       left: left_of(ahead_q.write, ahead_lanes_q), writes: ahead_q.write.valid, to_acc: ahead_q.write.to_acc,
                       whole: ahead_q.write.contiguous || ahead_q.write.broadcast, bytes: ahead_q.write.bytes};
      tap_ends_q <= ahead_steps_q == '0 && !more_steps;
      tap_index_q <= ReadsIndices ? ahead_index_q : '0;
      tap_base_q <= ahead_index_q[VectorSpatial-1] * count_t'(Lanes);
    end
    for (int m = 0; m < VectorStreams; m++) begin
      if (last_q[m] ? goes_on : granted[m]) begin
        // The piece that is asked for next: of the same tap, or the first one of the tap ahead.
        automatic logic wants = 1'b1, to_acc = to_acc_q[m], whole = whole_q[m];
        automatic logic [2:0] bytes = bytes_q[m];
        automatic local_t address = address_q[m] + (whole_q[m] ? local_t'(port_of(to_acc)) : stride_q[m]);
        automatic left_t left = left_q[m] - (whole_q[m] ? left_t'(port_of(to_acc)) : left_t'(1));
        if (last_q[m]) begin
          wants = ahead_q.stream[m].valid && !ahead_held_q[m];
          to_acc = ahead_q.stream[m].to_acc;
          whole = ahead_q.stream[m].contiguous || ahead_q.stream[m].broadcast;
          bytes = ahead_q.stream[m].bytes;
          address = ahead_place_q[m][VectorDims-1];
          left = left_of(ahead_q.stream[m], ahead_lanes_q);
        end
        wants_q[m] <= wants;
        last_q[m] <= !wants || is_last(to_acc, whole, left);
        to_acc_q[m] <= to_acc;
        whole_q[m] <= whole;
        bytes_q[m] <= bytes;
        address_q[m] <= address;
        left_q[m] <= left;
        behind_q[m] <= last_q[m] ? '0 : behind_q[m] + pieces_t'(1);
        spad_mask_q[m] <= to_acc ? '0 : spad_banks(address, int'(piece_of(to_acc, whole, bytes, left)));
        acc_mask_q[m] <= to_acc ? acc_banks(address, int'(piece_of(to_acc, whole, bytes, left))) : '0;
      end else if (granted[m]) begin
        wants_q[m] <= 1'b0;
      end
      if (last_q[m] && goes_on) begin
        broadcast_q[m] <= ahead_q.stream[m].broadcast;
        stride_q[m] <= ahead_q.stream[m].lane_stride;
      end
    end
    if (phase_q == Free) last_q <= '1; // the first tap of an instruction takes its pieces from the tap ahead
  end

  always_ff @(posedge clk_i) begin : elements
    comes_q <= granted;
    comes_to_acc_q <= to_acc_q;
    comes_whole_q <= whole_q;
    comes_bytes_q <= bytes_q;
    comes_behind_q <= behind_q;
    for (int m = 0; m < VectorStreams; m++) begin
      if (comes_q[m]) begin
        // The piece, at each position at which it might stand, and from where on it is put. What is behind it does not matter: the next
        // one is put there, or no lane has it. The memory that was not asked gives zeros.
        automatic logic [ElementBits-1:0] pieces, from = '0;
        automatic logic [31:0] one = 32'(acc_data_i[m]) | 32'(spad_data_i[m]);
        if (comes_whole_q[m]) pieces = ElementBits'({AccPieces{acc_data_i[m]}}) | ElementBits'({SpadPieces{spad_data_i[m]}});
        if (comes_whole_q[m] && comes_to_acc_q[m]) begin
          for (int i = 0; i < AccPieces; i++) if (comes_behind_q[m] == pieces_t'(i)) from = {ElementBits{1'b1}} << (8 * AccPort * i);
        end else if (comes_whole_q[m]) begin
          for (int i = 0; i < SpadPieces; i++) if (comes_behind_q[m] == pieces_t'(i)) from = {ElementBits{1'b1}} << (8 * SpadPort * i);
        end else if (comes_bytes_q[m][0]) begin
          pieces = {4*Lanes{one[7:0]}};
          for (int l = 0; l < Lanes; l++) if (comes_behind_q[m] == pieces_t'(l)) from = {ElementBits{1'b1}} << (8 * l);
        end else if (comes_bytes_q[m][1]) begin
          pieces = {2*Lanes{one[15:0]}};
          for (int l = 0; l < Lanes; l++) if (comes_behind_q[m] == pieces_t'(l)) from = {ElementBits{1'b1}} << (16 * l);
        end else begin
          pieces = {Lanes{one}};
          for (int l = 0; l < Lanes; l++) if (comes_behind_q[m] == pieces_t'(l)) from = {ElementBits{1'b1}} << (32 * l);
        end
        if (holds) late_elements_q[m] <= pieces;
        else elements_q[m] <= (pieces & from) | (elements_q[m] & ~from);
      end else if (late_q[m] && !holds) begin
        elements_q[m] <= late_elements_q[m];
      end
      late_q[m] <= holds && (comes_q[m] || late_q[m]);
    end
    if (!rst_ni) begin
      comes_q <= '0;
      late_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin : pipeline
    if (moves_on) begin
      fetch_q <= tap_q;
      fetch_q.valid <= tap_done;
      fetch_index_q <= tap_index_q;
      fetch_base_q <= tap_base_q;
      fetch_broadcast_q <= broadcast_q;
      fetch_bytes_q <= bytes_q;
      align_q <= fetch_q;
      align_index_q <= fetch_index_q;
      align_base_q <= fetch_base_q;
      align_broadcast_q <= fetch_broadcast_q;
      align_bytes_q <= fetch_bytes_q;
      stage_q[0] <= align_q;
      for (int s = 1; s < LaneStages; s++) begin
        stage_q[s] <= stage_q[s-1];
        stage_q[s].valid <= stage_q[s-1].valid && stages_q != 8'(s); // none is left when the next instruction runs
      end
      if (align_q.valid) begin
        automatic logic [31:0] operand [Lanes][VectorStreams];
        for (int l = 0; l < Lanes; l++) begin
          for (int m = 0; m < VectorStreams; m++) begin
            unique case (align_bytes_q[m])
              3'd1: operand[l][m] = 32'(elements_q[m][(align_broadcast_q[m] ? 0 : 8 * l) +: 8]);
              3'd2: operand[l][m] = 32'(elements_q[m][(align_broadcast_q[m] ? 0 : 16 * l) +: 16]);
              default: operand[l][m] = elements_q[m][(align_broadcast_q[m] ? 0 : 32 * l) +: 32];
            endcase
          end
        end
        index_0_q <= align_index_q;
        base_0_q <= align_base_q;
        operand_q <= operand;
        element_q <= element_d;
      end
      pack_q <= finishing;
    end
    if (packs) begin
      // The bytes of the strip as they are written: elements side by side, or the last lane's alone. Those behind them are not written.
      automatic logic [ElementBits-1:0] packed_data;
      automatic logic [31:0] last = '0;
      for (int l = 0; l < Lanes; l++) begin
        if (pack_q.lanes == lanes_t'(l + 1)) last = last | result[l].value;
        packed_data[32*l +: 32] = result[l].value;
      end
      if (pack_q.write_bytes[0]) for (int l = 0; l < Lanes; l++) packed_data[8*l +: 8] = result[l].value[7:0];
      if (pack_q.write_bytes[1]) for (int l = 0; l < Lanes; l++) packed_data[16*l +: 16] = result[l].value[15:0];
      if (pack_q.write_broadcast) packed_data[31:0] = last;
      data_q[data_tail_q] <= packed_data;
      data_tail_q <= data_tail_q == DataWidth'(DataDepth - 1) ? '0 : data_tail_q + 1'b1;
    end
    if (!rst_ni) begin
      fetch_q.valid <= 1'b0;
      align_q.valid <= 1'b0;
      for (int s = 0; s < LaneStages; s++) stage_q[s].valid <= 1'b0;
      pack_q.valid <= 1'b0;
      data_tail_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin : strips
    if (moves_on) begin
      ended_q <= VectorLatencyMax'({ended_q, strip_done});
      due_q <= ended_q[wait_q[PipeWidth-1:0]];
    end
    // The entry behind the last one is free: it has the strip of the tap that reads, should that end.
    if (in_taps) pipe_q[pipe_tail_q] <= tap_strip_q;
    if (strip_done) pipe_tail_q <= pipe_tail_q == PipeWidth'(PipeDepth - 1) ? '0 : pipe_tail_q + 1'b1;
    if (takes) pipe_head_q <= pipe_head_q == PipeWidth'(PipeDepth - 1) ? '0 : pipe_head_q + 1'b1;
    pipe_count_q <= pipe_count_q + (PipeWidth+1)'(strip_done) - (PipeWidth+1)'(pops);
    if (pops) data_head_q <= data_head_q == DataWidth'(DataDepth - 1) ? '0 : data_head_q + 1'b1;
    write_valid_q <= takes || (write_valid_q && !pops);
    if (takes || (w_granted && same_strip)) begin
      // The piece that is written next: of the same strip, or the first one of the strip behind.
      automatic strip_t strip = same_strip ? write_q : pipe_q[pipe_head_q];
      automatic logic [15:0] bytes;
      if (same_strip) begin
        strip.address = write_q.address + (write_q.whole ? local_t'(port_of(write_q.to_acc)) : write_q.stride);
        strip.left = write_q.left - (write_q.whole ? left_t'(port_of(write_q.to_acc)) : left_t'(1));
      end
      bytes = piece_of(strip.to_acc, strip.whole, strip.bytes, strip.left);
      write_q <= strip;
      write_bytes_q <= bytes;
      write_behind_q <= same_strip ? write_behind_q + pieces_t'(1) : '0;
      write_last_q <= !strip.writes || is_last(strip.to_acc, strip.whole, strip.left);
      write_spad_mask_q <= strip.to_acc ? '0 : spad_banks(strip.address, int'(bytes));
      write_acc_mask_q <= strip.to_acc ? acc_banks(strip.address, int'(bytes)) : '0;
    end
    if (!rst_ni || phase_q == Free) begin
      ended_q <= '0; // of an instruction that is through before
      due_q <= 1'b0;
    end
    if (!rst_ni) begin
      pipe_head_q <= '0;
      pipe_tail_q <= '0;
      pipe_count_q <= '0;
      data_head_q <= '0;
      write_valid_q <= 1'b0;
    end
  end

  // Where the cycle goes.
  always_comb begin
    activity_o = '{id: id_q, reserved: '0, cause: StallNone, kind: Busy};
    if (phase_q == Free && !pop && !ended) begin
      if (ending_q) begin
        activity_o.kind = Stalled;
        activity_o.cause = StallSemaphore;
        activity_o.id = ending_id_q;
      end else if (!empty) begin
        activity_o.kind = Stalled;
        activity_o.cause = StallSemaphore;
        activity_o.id = head.id;
      end else begin
        activity_o.kind = Idle;
      end
    end else if (phase_q == Free) begin
      activity_o.kind = Busy;
    end else if (frozen) begin
      if (!w_granted) begin
        activity_o.kind = Stalled;
        activity_o.cause = write_q.to_acc ? StallAccPort : StallSpadPort;
      end
    end else if (drained && !leaves) begin
      activity_o.kind = Stalled;
      activity_o.cause = StallSemaphore;
    end else if (in_taps && granted == '0 && !tap_done) begin
      activity_o.kind = Stalled;
      activity_o.cause = denied;
    end
  end
  assign start_o = '{valid: pop, id: head.id};
  always_comb begin
    fault_o = 1'b0;
    if (Checks && starts) fault_o = vector_fault(head.instruction, head.bits, state_q, head.address);
  end
  assign end_o[0] = '{valid: set_starts, id: head.id};
  assign end_o[1] = '{valid: ended, id: ending_id_q};

  assign conflicts_o[2] = '0;
  assign conflicts_o[3] = '0;
  always_ff @(posedge clk_i) begin : conflicts
    if (!rst_ni || !Checks) begin
      conflicts_o[0] <= '0;
      conflicts_o[1] <= '0;
    end else begin
      automatic logic [7:0] lost_to_matrix = '0, lost_to_vector = '0;
      for (int m = 0; m < VectorStreams; m++) begin
        if (asks[m] && by_matrix[m]) lost_to_matrix = lost_to_matrix + 8'd1;
        else if (asks[m] && by_vector[m]) lost_to_vector = lost_to_vector + 8'd1;
      end
      conflicts_o[0] <= conflicts_o[0] + 32'(lost_to_matrix) + 32'(wants_write && !w_granted);
      conflicts_o[1] <= conflicts_o[1] + 32'(lost_to_vector);
    end
  end

  pipeline_has_room: assert property (@(posedge clk_i) disable iff (!rst_ni)
                                      in_taps |-> (int'(pipe_count_q) - int'(write_valid_q) < PipeDepth))
    else $error("A strip that may end has no entry in the pipeline.");
  what_is_due_is_prepared: assert property (@(posedge clk_i) disable iff (!rst_ni) due_q |-> write_valid_q)
    else $error("A strip is due before its write is prepared.");
  late_elements_are_first: assert property (@(posedge clk_i) disable iff (!rst_ni) (holds && comes_q != '0) |-> late_q == '0)
    else $error("Elements come while others wait.");
endmodule
// verilator lint_on UNUSEDSIGNAL

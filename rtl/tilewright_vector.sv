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
  // A read port for each stream; banks that the matrix unit holds, and that this one holds, in this cycle.
  input  spad_mask_t       spad_read_by_matrix_i, // read by the matrix unit
  input  acc_mask_t        acc_read_by_matrix_i,         // read by the matrix unit
  input  acc_mask_t        acc_write_by_matrix_i,        // written by the matrix unit
  output spad_mask_t       spad_read_held_o,             // read by this unit
  output acc_mask_t        acc_read_held_o,              // read by this unit
  output spad_mask_t       spad_write_held_o,            // written by this unit
  output acc_mask_t        acc_write_held_o,             // written by this unit
  output spad_mask_t [VectorStreams-1:0] spad_banks_o,   // that the stream holds
  output acc_mask_t [VectorStreams-1:0]  acc_banks_o,    // that the stream holds
  output logic [VectorStreams-1:0][47:0] read_address_o, // byte
  input  logic [VectorStreams-1:0][8*SpadPort-1:0] spad_data_i, // a piece of the scratchpad each, a cycle later
  input  logic [VectorStreams-1:0][8*AccPort-1:0]  acc_data_i,  // a piece of the accumulators each
  output logic [47:0]      write_address_o,              // byte
  output logic [15:0]      write_bytes_o,                // of the piece
  output logic [32*Lanes-1:0] write_data_o, // the piece, its first byte lowest
  // Trace.
  output activity_t        activity_o,      // what this cycle goes to: work, a cause of stalling, or nothing
  output event_t           start_o,         // an instruction starts
  output logic             fault_o,         // the instruction that starts may not execute
  output event_t           end_o [2],       // of a set, of any other instruction
  output logic [31:0]      conflicts_o [4]  // lost to matrix, vector, load, store
);
  typedef logic [VectorCountBits-1:0] count_t; // of iterations along one dimension
  typedef logic [$clog2(Lanes+1)-1:0] lanes_t;

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
    logic        once;      // with the first tap only
    logic        to_acc;    // stands in the accumulators
    logic        broadcast;
    logic        contiguous;
    logic [2:0]  bytes;     // of an element
  } stream_t;
  typedef struct packed {
    stream_t [VectorStreams-1:0] stream;
    stream_t write;
    count_t [VectorDims-1:0] extent; // strips, not elements, along the lanes
    count_t      lane_extent;
    logic        any_beats;
    logic        has_taps;
  } step_t;

  function automatic stream_t normal(stream_t stream);
    normal = stream;
    normal.broadcast = stream.lane_stride == '0;
    normal.contiguous = stream.lane_stride == local_t'(stream.bytes);
    normal.stride[VectorSpatial-1] = stream.stride[VectorSpatial-1] * local_t'(Lanes);
  endfunction

  localparam int ElementBits = 32 * Lanes;
  localparam int ByteWidth = $clog2(4 * Lanes); // of a byte among the elements
  localparam int PipeDepth = VectorLatencyMax + 1;
  localparam int PipeWidth = $clog2(PipeDepth);

  typedef enum logic [1:0] {Free, Startup, Taps, Drain} phase_e;
  phase_e phase_q;
  // What is done, and ends when its semaphores can be released.
  logic ending_q;
  logic [31:0] ending_id_q;
  mask_t ending_signal_q;
  logic [7:0] instruction_q;
  logic [31:0] id_q;
  mask_t signal_q;
  logic [15:0] startup_q, latency_q;
  step_t cur_q;
  logic [2:0] step_q;
  logic [VectorSteps-1:0] has_beats_q; // by steps
  instruction_t bits_q;
  logic [MemoryOperands-1:0][47:0] operands_q; // where they begin
  vector_state_t state_q;

  // The current tap: its place in the nest, and for each stream the address at which each loop stands and what is left.
  count_t [VectorDims-1:0] index_q;
  local_t [VectorStreams:0][VectorDims-1:0] place_q; // the last one is the write's
  local_t [VectorStreams-1:0] address_q;
  logic [VectorStreams-1:0][15:0] left_q; // bytes, or elements that take a piece each
  logic [VectorStreams-1:0][15:0] done_q; // bytes of the tap's elements that were asked for
  // What was granted in the cycle before, and comes in this one.
  logic [VectorStreams-1:0] comes_q, comes_to_acc_q, comes_whole_q;
  logic [VectorStreams-1:0][2:0] comes_bytes_q;
  logic [VectorStreams-1:0][ByteWidth-1:0] comes_behind_q; // bytes of the elements that came before
  // The elements of a tap. One that is aligned keeps them while the pipeline is frozen: what comes meanwhile waits.
  logic [VectorStreams-1:0][ElementBits-1:0] elements_q, elements, late_elements_q;
  logic late_q, holds;

  // A tap whose elements are all there, on its way through the lanes.
  typedef struct packed {
    lane_control_t control;
    lanes_t        lanes;           // that have an element
    logic [2:0]    write_bytes;     // of an element of the result
    logic          write_broadcast; // the last lane's element alone is written
    logic [7:0]    array;           // that is written, counted from 1
  } tap_t;
  tap_t fetch_q, align_q, finishing, pack_q; // fetch_q: its last pieces come
  tap_t [LaneStages-1:0] stage_q;
  lane_control_t [LaneStages-1:0] lane_control;
  logic lanes_busy;
  count_t [VectorDims-1:0] fetch_index_q, align_index_q, index_0_q;
  logic [VectorDims-1:0][31:0] index_0;
  count_t fetch_base_q, align_base_q, base_0_q;
  logic [VectorStreams-1:0] fetch_broadcast_q, align_broadcast_q;
  logic [VectorStreams-1:0][2:0] fetch_bytes_q, align_bytes_q;
  logic [31:0] operand_d [Lanes][VectorStreams], operand_q [Lanes][VectorStreams];
  logic [31:0] element_q [Lanes][LaneElements];
  logic [LaneTables-1:0] table_read;
  logic [31:0] table_index [Lanes][LaneTables], table_data [Lanes][LaneTables];
  lane_result_t result [Lanes];
  logic [31:0] written [Lanes]; // into an array
  logic moves_on, packs, fetches; // fetches: the last pieces of a tap come

  // Beats on their way to their write, oldest first.
  localparam int DataDepth = LaneDelay + 1;
  localparam int DataWidth = DataDepth > 1 ? $clog2(DataDepth) : 1;
  localparam int DueWidth = $clog2(VectorLatencyMax + 2);
  logic [DueWidth-1:0] now_q; // cycles that were not frozen, modulo more than a latency
  logic [DueWidth-1:0] pipe_due_q [PipeDepth];
  logic [ElementBits-1:0] data_q [DataDepth]; // of those that are through the lanes
  logic [DataWidth-1:0] data_head_q, data_tail_q;
  local_t pipe_address_q [PipeDepth], pipe_stride_q [PipeDepth];
  logic [15:0] pipe_left_q [PipeDepth]; // bytes, or elements that take a piece each
  logic [PipeDepth-1:0] pipe_writes_q, pipe_to_acc_q, pipe_whole_q;
  logic [2:0] pipe_bytes_q [PipeDepth];
  logic [PipeWidth-1:0] pipe_head_q, pipe_tail_q;
  logic [15:0] pipe_count_q;
  logic writing_q; // the oldest beat is partly written
  local_t w_address_q;
  logic [15:0] w_left_q, w_done_q;

  logic tap_done, beat_done, first_tap, last_tap, last_beat, has_taps;
  lanes_t lanes_now;
  count_t lane_base;

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
  logic first_cycle, in_taps, runs;
  logic configures; // the steps of what started in the cycle before
  assign configures = phase_q == Startup && startup_q == 16'(VectorStart);
  assign first_cycle = phase_q == Startup && startup_q == 16'd1;
  assign in_taps = phase_q == Taps || (first_cycle && has_beats_q != '0);
  assign runs = in_taps || phase_q == Drain || first_cycle;

  // VEC-write, VEC-freeze.
  logic due, wants_write, w_granted, w_last, frozen, pops;
  local_t w_address;
  logic [15:0] w_left, w_done, w_bytes, w_port;
  acc_mask_t w_acc_mask;
  logic w_to_acc, w_whole;
  always_comb begin
    due = runs && pipe_count_q != '0 && pipe_due_q[pipe_head_q] == now_q + DueWidth'(1);
    wants_write = due && pipe_writes_q[pipe_head_q];
    w_to_acc = pipe_to_acc_q[pipe_head_q];
    w_whole = pipe_whole_q[pipe_head_q];
    w_address = writing_q ? w_address_q : pipe_address_q[pipe_head_q];
    w_left = writing_q ? w_left_q : pipe_left_q[pipe_head_q];
    w_done = writing_q ? w_done_q : '0;
    w_port = w_to_acc ? 16'(AccPort) : 16'(SpadPort);
    w_bytes = w_whole ? (w_left < w_port ? w_left : w_port) : 16'(pipe_bytes_q[pipe_head_q]);
    w_acc_mask = '0;
    spad_write_held_o = '0;
    if (wants_write && w_to_acc) w_acc_mask = acc_banks(w_address, int'(w_bytes));
    if (wants_write && !w_to_acc) spad_write_held_o = spad_banks(w_address, int'(w_bytes));
    w_granted = wants_write && (w_acc_mask & acc_write_by_matrix_i) == '0;
    w_last = w_whole ? w_left == w_bytes : w_left == 16'd1;
    acc_write_held_o = w_granted ? w_acc_mask : '0;
    frozen = wants_write && !(w_granted && w_last);
    pops = due && !frozen;
    write_data_o = '0;
    if (w_granted) write_data_o = w_done == '0 ? data_q[data_head_q] : data_q[data_head_q] >> {w_done[ByteWidth-1:0], 3'b000};
  end
  assign write_address_o = 48'(w_address);
  assign write_bytes_o = w_bytes;

  // VEC-strip: a piece for each stream.
  logic [VectorStreams-1:0] wants, granted;
  logic [VectorStreams-1:0][15:0] piece, left_d;
  logic progress;
  stall_e denied;
  logic [7:0] lost_to_matrix, lost_to_vector;
  logic whole, by_matrix, by_vector;
  logic [15:0] port;
  spad_mask_t spad_mask;
  acc_mask_t acc_mask;
  always_comb begin
    whole = 1'b0;
    by_matrix = 1'b0;
    by_vector = 1'b0;
    port = '0;
    spad_mask = '0;
    acc_mask = '0;
    spad_read_held_o = '0;
    acc_read_held_o = '0;
    spad_banks_o = '0;
    acc_banks_o = '0;
    progress = 1'b1;
    denied = StallNone;
    tap_done = in_taps && !frozen;
    lost_to_matrix = '0;
    lost_to_vector = '0;
    wants = '0;
    granted = '0;
    piece = '0;
    left_d = left_q;
    if (in_taps && !frozen) begin
      for (int m = 0; m < VectorStreams; m++) if (cur_q.stream[m].valid) progress = 1'b0;
      for (int m = 0; m < VectorStreams; m++) begin
        whole = cur_q.stream[m].contiguous || cur_q.stream[m].broadcast;
        port = cur_q.stream[m].to_acc ? 16'(AccPort) : 16'(SpadPort);
        wants[m] = cur_q.stream[m].valid && left_q[m] != '0;
        piece[m] = whole ? (left_q[m] < port ? left_q[m] : port) : 16'(cur_q.stream[m].bytes);
        if (wants[m]) begin
          spad_mask = '0;
          acc_mask = '0;
          if (cur_q.stream[m].to_acc) acc_mask = acc_banks(address_q[m], int'(piece[m]));
          else spad_mask = spad_banks(address_q[m], int'(piece[m]));
          by_matrix = (spad_mask & spad_read_by_matrix_i) != '0 || (acc_mask & acc_read_by_matrix_i) != '0;
          by_vector = (spad_mask & spad_read_held_o) != '0 || (acc_mask & acc_read_held_o) != '0;
          granted[m] = !by_matrix && !by_vector;
          if (granted[m]) begin
            spad_read_held_o = spad_read_held_o | spad_mask;
            acc_read_held_o = acc_read_held_o | acc_mask;
            spad_banks_o[m] = spad_mask;
            acc_banks_o[m] = acc_mask;
            progress = 1'b1;
            left_d[m] = left_q[m] - (whole ? piece[m] : 16'd1);
          end else begin
            if (by_matrix) lost_to_matrix = lost_to_matrix + 8'd1;
            else lost_to_vector = lost_to_vector + 8'd1;
            if (denied == StallNone) denied = cur_q.stream[m].to_acc ? StallAccPort : StallSpadPort;
          end
          if (left_d[m] != '0) tap_done = 1'b0;
        end
      end
    end
  end
  for (genvar m = 0; m < VectorStreams; m++) begin : gen_ports
    assign read_address_o[m] = 48'(address_q[m]);
  end

  // The elements of the tap as far as they are there.
  logic [ElementBits-1:0] data;
  always_comb begin
    data = '0;
    elements = elements_q;
    for (int m = 0; m < VectorStreams; m++) begin
      if (comes_q[m]) begin
        data = comes_to_acc_q[m] ? ElementBits'(acc_data_i[m]) : ElementBits'(spad_data_i[m]);
        if (!comes_whole_q[m]) data = data & ~({ElementBits{1'b1}} << {comes_bytes_q[m], 3'b000});
        if (comes_behind_q[m] == '0) elements[m] = data;
        else elements[m] = elements_q[m] | (data << {comes_behind_q[m], 3'b000});
      end
    end
  end
  assign holds = align_q.control.step.valid && !moves_on;

  always_comb begin
    has_taps = cur_q.has_taps;
    lane_base = index_q[VectorSpatial-1] * count_t'(Lanes);
    lanes_now = lanes_of(cur_q.lane_extent - lane_base);
    first_tap = 1'b1;
    last_tap = 1'b1;
    for (int d = VectorSpatial; d < VectorDims; d++) begin
      if (index_q[d] != '0) first_tap = 1'b0;
      if (index_q[d] + count_t'(1) < cur_q.extent[d]) last_tap = 1'b0;
    end
    last_beat = 1'b1;
    for (int d = 0; d < VectorSpatial; d++) if (index_q[d] + count_t'(1) < cur_q.extent[d]) last_beat = 1'b0;
    beat_done = tap_done && last_tap;
  end

  // The lanes.
  for (genvar d = 0; d < VectorDims; d++) begin : gen_index
    assign index_0[d] = 32'(index_0_q[d]);
  end
  assign moves_on = runs && !frozen;
  assign fetches = moves_on && fetch_q.control.step.valid;
  assign packs = moves_on && pack_q.control.step.valid;
  always_comb begin : align
    for (int l = 0; l < Lanes; l++) for (int m = 0; m < VectorStreams; m++) operand_d[l][m] = '0;
    if (align_q.control.step.valid) begin
      for (int l = 0; l < Lanes; l++) begin
        for (int m = 0; m < VectorStreams; m++) begin
          unique case (align_bytes_q[m])
            3'd1: operand_d[l][m] = 32'(elements_q[m][(align_broadcast_q[m] ? 0 : 8 * l) +: 8]);
            3'd2: operand_d[l][m] = 32'(elements_q[m][(align_broadcast_q[m] ? 0 : 16 * l) +: 16]);
            default: operand_d[l][m] = elements_q[m][(align_broadcast_q[m] ? 0 : 32 * l) +: 32];
          endcase
        end
      end
    end
  end
  always_comb begin : finish
    finishing = '0;
    lanes_busy = 1'b0;
    for (int s = 0; s < LaneStages; s++) begin
      lane_control[s] = stage_q[s].control;
      lanes_busy = lanes_busy || stage_q[s].control.step.valid;
      if (stage_q[s].control.step.valid && stage_q[s].control.last_tap &&
          lane_stages_of(stage_q[s].control.step.instruction) == 8'(s + 1))
        finishing = stage_q[s];
    end
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
  logic more_steps;
  logic [2:0] next_step;
  always_comb begin
    more_steps = 1'b0;
    next_step = '0;
    for (int s = VectorSteps - 1; s >= 0; s--)
      if (s > int'(step_q) && has_beats_q[s]) begin
        more_steps = 1'b1;
        next_step = 3'(s);
      end
    drained = !frozen && (phase_q == Drain || (first_cycle && has_beats_q == '0)) && (pipe_count_q == '0 || (pipe_count_q == 16'd1 && pops));
    leaves = drained && !ending_q;
  end
  assign idle_o = empty && phase_q == Free && !ending_q;

  always_ff @(posedge clk_i) begin : control
    if (!rst_ni) begin
      phase_q <= Free;
      ending_q <= 1'b0;
      state_q <= vector_state_reset();
      startup_q <= '0;
      latency_q <= '0;
      instruction_q <= '0;
      bits_q <= '0;
      id_q <= '0;
      signal_q <= '0;
      step_q <= '0;
      has_beats_q <= '0;
      operands_q <= '0;
      cur_q <= '0;
      index_q <= '0;
      place_q <= '0;
      address_q <= '0;
      left_q <= '0;
      done_q <= '0;
      now_q <= '0;
    end else begin
      automatic logic enters = 1'b0;             // a step begins in the next cycle
      automatic logic [2:0] number = '0;         // which one
      automatic step_t entered = '0;
      automatic logic moves = tap_done && !(last_tap && last_beat);
      automatic count_t [VectorDims-1:0] index = index_q;
      automatic local_t [VectorStreams:0][VectorDims-1:0] place = place_q;
      if (set_starts) state_q <= vector_execute_set(state_q, head.instruction, head.bits);
      if (runs && !frozen) now_q <= now_q + DueWidth'(1);
      if (configures) begin
        automatic logic [VectorSteps-1:0] has_beats = '0;
        for (int s = VectorSteps - 1; s >= 0; s--) begin
          automatic step_t step = step_of(instruction_q, 3'(s), bits_q, state_q, operands_q);
          has_beats[s] = s < int'(step_count(instruction_q)) && step.any_beats;
          if (has_beats[s]) begin
            enters = 1'b1;
            number = 3'(s);
          end
        end
        has_beats_q <= has_beats;
      end
      if (starts) begin
        phase_q <= Startup;
        startup_q <= 16'(VectorStart);
        latency_q <= latency_of(head.instruction);
        instruction_q <= head.instruction;
        bits_q <= head.bits;
        id_q <= head.id;
        signal_q <= head.signal_mask;
        operands_q <= head.address;
      end
      if (phase_q == Startup) begin
        startup_q <= startup_q - 16'd1;
        if (first_cycle) phase_q <= has_beats_q != '0 ? Taps : Drain;
      end
      if (tap_done && last_tap && last_beat) begin
        if (more_steps) begin
          enters = 1'b1;
          number = next_step;
        end else begin
          phase_q <= Drain;
        end
      end
      ending_q <= leaves || (ending_q && !ended);
      if (leaves) begin
        phase_q <= Free;
        ending_id_q <= id_q;
        ending_signal_q <= signal_q;
      end

      // The next tap, or the first one of a step.
      if (moves) begin
        for (int at = 0; at < VectorDims; at++) begin
          if (at == 0 || index_q[at] + count_t'(1) < cur_q.extent[at]) begin
            index = index_q;
            index[at] = index_q[at] + count_t'(1);
            place = place_q;
            for (int d = at; d < VectorDims; d++) begin
              if (d > at) index[d] = '0;
              for (int m = 0; m <= VectorStreams; m++)
                place[m][d] = place_q[m][at] +
                    (m == VectorStreams ? cur_q.write.stride[at] : cur_q.stream[m % VectorStreams].stride[at]);
            end
          end
        end
      end
      if (enters) begin
        entered = step_of(instruction_q, number, bits_q, state_q, operands_q);
        step_q <= number;
        index = '0;
        for (int m = 0; m <= VectorStreams; m++)
          for (int d = 0; d < VectorDims; d++)
            place[m][d] = m == VectorStreams ? entered.write.address : entered.stream[m % VectorStreams].address;
        cur_q <= entered;
      end
      if (moves || enters) begin
        automatic step_t own = enters ? entered : cur_q;
        automatic lanes_t lanes = lanes_of(own.lane_extent - index[VectorSpatial-1] * count_t'(Lanes));
        automatic logic first = 1'b1;
        for (int d = VectorSpatial; d < VectorDims; d++) if (index[d] != '0) first = 1'b0;
        index_q <= index;
        place_q <= place;
        for (int m = 0; m < VectorStreams; m++) begin
          address_q[m] <= place[m][VectorDims-1];
          done_q[m] <= '0;
          if (!own.stream[m].valid || (own.stream[m].once && !first)) left_q[m] <= '0;
          else if (own.stream[m].contiguous) left_q[m] <= 16'(lanes) * 16'(own.stream[m].bytes);
          else if (own.stream[m].broadcast) left_q[m] <= 16'(own.stream[m].bytes);
          else left_q[m] <= 16'(lanes);
        end
      end else begin
        left_q <= left_d;
        for (int m = 0; m < VectorStreams; m++) begin
          if (granted[m]) begin
            done_q[m] <= done_q[m] + piece[m];
            address_q[m] <= address_q[m] +
                (cur_q.stream[m].contiguous || cur_q.stream[m].broadcast ? local_t'(piece[m]) : cur_q.stream[m].lane_stride);
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin : pipeline
    if (!rst_ni) begin
      comes_q <= '0;
      comes_to_acc_q <= '0;
      comes_whole_q <= '0;
      comes_bytes_q <= '0;
      comes_behind_q <= '0;
      elements_q <= '0;
      late_q <= 1'b0;
      fetch_q <= '0;
      align_q <= '0;
      stage_q <= '0;
      pack_q <= '0;
      data_head_q <= '0;
      data_tail_q <= '0;
      pipe_head_q <= '0;
      pipe_tail_q <= '0;
      pipe_count_q <= '0;
      pipe_writes_q <= '0;
      pipe_to_acc_q <= '0;
      pipe_whole_q <= '0;
      writing_q <= 1'b0;
      w_address_q <= '0;
      w_left_q <= '0;
      w_done_q <= '0;
    end else begin
      comes_q <= granted;
      for (int m = 0; m < VectorStreams; m++) begin
        if (granted[m]) begin
          comes_to_acc_q[m] <= cur_q.stream[m].to_acc;
          comes_whole_q[m] <= cur_q.stream[m].contiguous || cur_q.stream[m].broadcast;
          comes_bytes_q[m] <= cur_q.stream[m].bytes;
          comes_behind_q[m] <= done_q[m][ByteWidth-1:0];
        end
      end
      if (comes_q != '0 && holds) begin
        late_elements_q <= elements;
        late_q <= 1'b1;
      end else if (comes_q != '0) begin
        elements_q <= elements;
      end else if (late_q && !holds) begin
        elements_q <= late_elements_q;
        late_q <= 1'b0;
      end
      if (moves_on) begin
        fetch_q <= '0;
        if (tap_done) begin
          fetch_q.control <= '{step: '{valid: 1'b1, instruction: instruction_q, number: step_q}, first_tap: first_tap,
                               last_tap: last_tap, has_taps: has_taps};
          fetch_q.lanes <= lanes_now;
          fetch_q.write_bytes <= cur_q.write.bytes;
          fetch_q.write_broadcast <= cur_q.write.broadcast;
          fetch_q.array <= array_of(instruction_q, step_q);
          fetch_index_q <= index_q;
          fetch_base_q <= lane_base;
          for (int m = 0; m < VectorStreams; m++) begin
            fetch_broadcast_q[m] <= cur_q.stream[m].broadcast;
            fetch_bytes_q[m] <= cur_q.stream[m].bytes;
          end
        end
        align_q <= fetch_q;
        if (fetch_q.control.step.valid) begin
          align_index_q <= fetch_index_q;
          align_base_q <= fetch_base_q;
          align_broadcast_q <= fetch_broadcast_q;
          align_bytes_q <= fetch_bytes_q;
        end
        stage_q[0] <= align_q;
        for (int s = 1; s < LaneStages; s++) stage_q[s] <= stage_q[s-1];
        if (align_q.control.step.valid) begin
          index_0_q <= align_index_q;
          base_0_q <= align_base_q;
          operand_q <= operand_d;
          element_q <= element_d;
        end
        pack_q <= finishing;
      end
      if (packs) begin
        // The bytes of the beat as they are written: elements side by side, or the last lane's alone.
        automatic logic [ElementBits-1:0] packed_data = '0;
        automatic logic [31:0] last = '0;
        for (int l = 0; l < Lanes; l++) begin
          if (l < int'(pack_q.lanes)) begin
            last = result[l].value;
            if (pack_q.write_bytes == 3'd1) packed_data[8*l +: 8] = result[l].value[7:0];
            else if (pack_q.write_bytes == 3'd2) packed_data[16*l +: 16] = result[l].value[15:0];
            else packed_data[32*l +: 32] = result[l].value;
          end
        end
        if (pack_q.write_broadcast) packed_data = ElementBits'(last);
        data_q[data_tail_q] <= packed_data;
        data_tail_q <= data_tail_q == DataWidth'(DataDepth - 1) ? '0 : data_tail_q + 1'b1;
      end
      if (pops) data_head_q <= data_head_q == DataWidth'(DataDepth - 1) ? '0 : data_head_q + 1'b1;
      if (beat_done) begin
        pipe_due_q[pipe_tail_q] <= now_q + DueWidth'(1) + DueWidth'(latency_q);
        pipe_address_q[pipe_tail_q] <= place_q[VectorStreams][VectorDims-1];
        pipe_stride_q[pipe_tail_q] <= cur_q.write.lane_stride;
        pipe_bytes_q[pipe_tail_q] <= cur_q.write.bytes;
        pipe_writes_q[pipe_tail_q] <= cur_q.write.valid;
        pipe_to_acc_q[pipe_tail_q] <= cur_q.write.to_acc;
        pipe_whole_q[pipe_tail_q] <= cur_q.write.contiguous || cur_q.write.broadcast;
        pipe_left_q[pipe_tail_q] <= cur_q.write.contiguous ? 16'(lanes_now) * 16'(cur_q.write.bytes)
                                    : cur_q.write.broadcast ? 16'(cur_q.write.bytes) : 16'(lanes_now);
        pipe_tail_q <= pipe_tail_q == PipeWidth'(PipeDepth - 1) ? '0 : pipe_tail_q + 1'b1;
      end
      if (pops) pipe_head_q <= pipe_head_q == PipeWidth'(PipeDepth - 1) ? '0 : pipe_head_q + 1'b1;
      pipe_count_q <= pipe_count_q + 16'(beat_done) - 16'(pops);
      if (w_granted) begin
        writing_q <= !w_last;
        w_address_q <= w_address + (w_whole ? local_t'(w_bytes) : pipe_stride_q[pipe_head_q]);
        w_left_q <= w_left - (w_whole ? w_bytes : 16'd1);
        w_done_q <= w_done + w_bytes;
      end
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
        activity_o.cause = w_to_acc ? StallAccPort : StallSpadPort;
      end
    end else if (drained && !leaves) begin
      activity_o.kind = Stalled;
      activity_o.cause = StallSemaphore;
    end else if (in_taps && !progress && !tap_done) begin
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
      conflicts_o[0] <= conflicts_o[0] + 32'(lost_to_matrix) + 32'(wants_write && !w_granted);
      conflicts_o[1] <= conflicts_o[1] + 32'(lost_to_vector);
    end
  end

  pipeline_has_room: assert property (@(posedge clk_i) disable iff (!rst_ni) beat_done |-> (pipe_count_q < 16'(PipeDepth)))
    else $error("A beat entered a pipeline that is full.");
endmodule
// verilator lint_on UNUSEDSIGNAL

// The sequencer: rows SEQ-* of docs/microarchitecture.md. A fetch buffer filled by bursts, control flow, dispatch.
// verilator lint_off UNUSEDSIGNAL
// Reason: a decoded instruction has fields that only units read, and addresses are as wide as DRAM's.
module tilewright_sequencer import tilewright_pkg::*; import tilewright_registers_pkg::*; (
  input  logic             clk_i,           // all state changes at its rising edge
  input  logic             rst_ni,          // synchronous reset, active low
  input  logic             stop_i,          // nothing is fetched, executed or dispatched; until reset
  output logic             fetch_idle_o,    // no line is on the way; registered
  input  logic [47:0]      code_address_i,  // DRAM byte address of instruction 0: a multiple of InstructionBytes
  input  logic [31:0]      code_count_i,    // instructions in the code
  input  logic [31:0]      entry_i,         // the first one to execute
  // AXI read address; it comes before the load unit's.
  input  logic             ar_held_i,       // the channel is not free; registered
  output logic             ar_valid_o,      // a line of code is asked for
  output logic [47:0]      ar_address_o,    // of its first byte
  // Beats of lines, in order of request.
  input  logic             r_valid_i,       // there is one
  input  logic             r_last_i,        // the last of its line
  input  logic [8*BusBytes-1:0] r_data_i,   // its bytes
  input  logic             bus_error_i,     // the memory has refused something; registered
  // Semaphores: first in the order of priority.
  input  levels_t          avail_i, // tokens that may be taken, after those before this one
  output levels_t          avail_o,         // the same for the next in the order
  input  levels_t          room_i,          // tokens that still fit, after those before this one
  output levels_t          room_o,          // the same for the next in the order
  output mask_t            take_o,          // semaphores from which the starting instruction takes a token
  output mask_t            give_o,          // semaphores to which a control instruction gives a token
  // Dispatch to the unit's queue.
  input  logic [4:0]       full_i,          // by unit_e, registered
  output logic [4:0]       push_o,          // by unit_e
  output issued_t          issued_o,        // the instruction, decoded, with its registers
  input  logic             units_idle_i,    // all queues empty and all units idle, registered
  // Trace.
  output activity_t        activity_o,      // what this cycle goes to: work, a cause of stalling, or nothing
  output event_t           executed_o,      // dispatched, or executed here
  output logic             is_control_o,    // executed_o is a control instruction
  output logic [31:0]      pc_o,            // of what executes, or traps
  output trap_cause_e      trap_o,          // why execution cannot go on
  output logic             halted_o         // `halt` executes in this cycle
);
  localparam int SlotWidth = FetchSlots > 1 ? $clog2(FetchSlots) : 1;
  localparam int Window = FetchAhead * InstructionBytes / FetchBytes + 2; // lines that can be wanted at once
  localparam int LineShift = $clog2(FetchBytes);
  localparam int OrderWidth = FetchOutstanding > 1 ? $clog2(FetchOutstanding) : 1;
  // BufferRows of the fetch buffer's RAM hold a beat and an instruction.
  localparam int RowBytes = BusBytes > InstructionBytes ? BusBytes : InstructionBytes;
  localparam int RowShift = $clog2(RowBytes);
  localparam int LineRows = FetchBytes / RowBytes;
  localparam int BufferRows = FetchSlots * LineRows > 2 ? FetchSlots * LineRows : 2;
  localparam int RowWidth = $clog2(BufferRows);
  localparam int RowBeats = RowBytes / BusBytes;

  logic [31:0] pc_q;
  logic [31:0] id_q;
  logic signed [63:0] base_q [BaseRegisters];
  logic [47:0] tag_q [FetchSlots];
  logic [FetchSlots-1:0] valid_q, pending_q;
  logic [SlotWidth-1:0] order_q [FetchOutstanding]; // slots on the way, oldest first
  logic [7:0] on_way_q, head_q, tail_q;
  localparam int LineBeats = FetchBytes / BusBytes > 0 ? FetchBytes / BusBytes : 1;
  logic [7:0] beat_q;

  // Hardware loops, the first depth_q of them running: bodies [begin, end), runs after this one.
  logic [LoopDepth-1:0][31:0] loop_begin_q, loop_end_q, loop_left_q;
  logic [7:0] depth_q;

  `include "tilewright_sequencer.svh"

  function automatic logic [SlotWidth-1:0] slot_of(logic [47:0] line);
    return SlotWidth'(line % 48'(FetchSlots));
  endfunction

  // SEQ-fetch.
  logic [47:0] first_line, last_line, wanted_line;
  logic [31:0] last_pc;
  logic wanted, past_end, runs;
  logic [SlotWidth-1:0] first_slot, wanted_slot;
  always_comb begin
    past_end = pc_q >= code_count_i;
    runs = rst_ni && !stop_i && !bus_error_i && !past_end;
    last_pc = pc_q + FetchAhead < code_count_i ? pc_q + FetchAhead : code_count_i - 32'd1;
    first_line = (code_address_i + 48'(pc_q) * InstructionBytes) >> LineShift;
    last_line = (code_address_i + 48'(last_pc) * InstructionBytes) >> LineShift;
    first_slot = slot_of(first_line);
    wanted = 1'b0;
    wanted_line = first_line;
    for (int i = Window - 1; i >= 0; i--) begin
      automatic logic [47:0] line = first_line + 48'(i);
      if (line <= last_line && !(valid_q[slot_of(line)] && tag_q[slot_of(line)] == line)) begin
        wanted = 1'b1;
        wanted_line = line;
      end
    end
    wanted_slot = slot_of(wanted_line);
  end
  assign ar_valid_o = runs && !ar_held_i && wanted && on_way_q < 8'(FetchOutstanding) && !pending_q[wanted_slot];
  assign ar_address_o = wanted_line << LineShift;
  assign fetch_idle_o = on_way_q == '0;

  // SEQ-decode. A line is valid from the cycle after its last beat.
  logic line_ready;
  instruction_t bits;
  decoded_t decoded;
  assign line_ready = valid_q[first_slot] && tag_q[first_slot] == first_line && !pending_q[first_slot];
  logic [8*RowBytes-1:0] row;     // of the fetch buffer
  logic [RowShift-1:0] place_q; // of the instruction in its row
  always_comb begin
    bits = row[8 * 32'(place_q) +: 8 * InstructionBytes];
    decoded = '0;
    if (line_ready) decoded = decode(bits);
  end

  // What the instruction at pc does in this cycle.
  logic execute, dispatch, control, can_take, can_give, must_wait;
  logic branches, skips;
  logic signed [63:0] value;
  logic [31:0] length, count;
  logic signed [33:0] target;
  logic [31:0] loop_end;
  always_comb begin
    can_take = (decoded.wait_mask & ~avail_i[0]) == '0;
    can_give = (decoded.signal_mask & ~room_i[0]) == '0;
    must_wait = (decoded.control == ControlHalt || decoded.control == ControlFence) && !units_idle_i;
    dispatch = runs && line_ready && decoded.legal && decoded.control == ControlNone && !full_i[decoded.unit];
    control = runs && line_ready && decoded.legal && decoded.control != ControlNone && can_take && can_give && !must_wait;
    value = '0;
    length = '0;
    count = '0;
    target = '0;
    if (control) begin
      value = control_value(decoded.instruction, bits);
      length = control_length(decoded.instruction, bits);
      count = control_count(decoded.instruction, bits);
      target = $signed({2'b0, pc_q}) + 34'(control_offset(decoded.instruction, bits));
    end
    loop_end = pc_q + 32'd1 + length;
    branches = decoded.control == ControlBranch && value != '0;
    skips = decoded.control == ControlLoop && count == '0;

    trap_o = TrapCauseNone;
    if (!rst_ni || stop_i) trap_o = TrapCauseNone;
    else if (bus_error_i) trap_o = TrapCauseBus;
    else if (past_end) trap_o = TrapCausePastEnd;
    else if (line_ready && !decoded.legal) trap_o = TrapCauseIllegal;
    else if (control && decoded.control == ControlLoop && loop_end > code_count_i) trap_o = TrapCauseLoopPastEnd;
    else if (control && decoded.control == ControlLoop && count != '0 && depth_q == 8'(LoopDepth)) trap_o = TrapCauseLoopDepth;
    else if (control && branches && (target < 0 || target >= $signed({2'b0, code_count_i}))) trap_o = TrapCauseBranch;
    execute = (dispatch || control) && trap_o == TrapCauseNone;
  end

  assign take_o = control ? decoded.wait_mask : '0;
  assign give_o = control ? decoded.signal_mask : '0;
  assign avail_o = after(avail_i, take_o);
  assign room_o = after(room_i, give_o);
  assign halted_o = control && decoded.control == ControlHalt;
  assign is_control_o = control;
  assign pc_o = pc_q;
  assign executed_o = '{valid: execute, id: id_q};

  always_comb begin
    push_o = '0;
    push_o[decoded.unit] = dispatch;
    issued_o = '0;
    if (dispatch) begin
      issued_o.bits = bits;
      issued_o.instruction = decoded.instruction;
      issued_o.is_set = decoded.is_set;
      issued_o.wait_mask = decoded.wait_mask;
      issued_o.signal_mask = decoded.signal_mask;
      for (int i = 0; i < MemoryOperands; i++)
        issued_o.address[i] = decoded.field[i] + base_q[decoded.base[i][$clog2(BaseRegisters)-1:0]][47:0];
      issued_o.id = id_q;
    end
  end

  always_comb begin
    activity_o = '{id: id_q, reserved: '0, cause: StallNone, kind: Busy};
    if (!line_ready) begin
      activity_o.kind = Stalled;
      activity_o.cause = StallFetch;
    end else if (decoded.control == ControlNone && !dispatch) begin
      activity_o.kind = Stalled;
      activity_o.cause = StallQueueFull;
    end else if (decoded.control != ControlNone && !control) begin
      activity_o.kind = Stalled;
      activity_o.cause = can_take && can_give ? StallDependence : StallSemaphore;
    end
  end

  // SEQ-loop: where the flow goes on.
  logic [31:0] pc_d;
  logic [7:0] depth_d;
  logic [LoopDepth-1:0][31:0] loop_left_d;
  logic enters, settled;
  always_comb begin : flow
    pc_d = pc_q;
    depth_d = depth_q;
    loop_left_d = loop_left_q;
    settled = 1'b0;
    enters = execute && control && decoded.control == ControlLoop && !skips;
    if (execute) begin
      pc_d = pc_q + 32'd1;
      if (enters) begin
        loop_left_d[depth_q[$clog2(LoopDepth+1)-1:0]] = count - 32'd1;
        depth_d = depth_q + 8'd1;
      end else begin
        if (control && branches) begin
          pc_d = target[31:0];
        end else begin
          if (control && skips) pc_d = loop_end;
          // Reaching the end of a body starts its next run, or leaves it; several loops may end together.
          for (int i = LoopDepth - 1; i >= 0; i--) begin
            if (!settled && 8'(i) < depth_d && 8'(i) + 8'd1 == depth_d) begin
              if (loop_end_q[i] == pc_d) begin
                if (loop_left_d[i] != '0) begin
                  loop_left_d[i] = loop_left_d[i] - 32'd1;
                  pc_d = loop_begin_q[i];
                  settled = 1'b1;
                end else begin
                  depth_d = depth_d - 8'd1;
                end
              end else begin
                settled = 1'b1;
              end
            end
          end
        end
        // Whatever loop the target is outside of is left.
        for (int i = LoopDepth - 1; i >= 0; i--)
          if (8'(i) + 8'd1 == depth_d && (pc_d < loop_begin_q[i] || pc_d >= loop_end_q[i])) depth_d = depth_d - 8'd1;
      end
    end
    if (!rst_ni) pc_d = entry_i;
  end
  always_ff @(posedge clk_i) begin
    pc_q <= pc_d;
    if (!rst_ni) begin
      id_q <= '0;
      depth_q <= '0;
      loop_begin_q <= '0;
      loop_end_q <= '0;
      loop_left_q <= '0;
    end else begin
      depth_q <= depth_d;
      loop_left_q <= loop_left_d;
      if (execute) id_q <= id_q + 32'd1;
      if (enters) begin
        loop_begin_q[depth_q[$clog2(LoopDepth+1)-1:0]] <= pc_q + 32'd1;
        loop_end_q[depth_q[$clog2(LoopDepth+1)-1:0]] <= loop_end;
      end
    end
  end

  // The fetch buffer, in RAM: the row of the next instruction is read. A beat that comes meanwhile is put into what was read.
  logic [47:0] next_address;
  logic [RowWidth-1:0] read_row, write_row;
  logic [8*RowBytes-1:0] read_data [1], write_mask;
  logic late_q;                 // a beat of the row came as it was read
  logic [8*BusBytes-1:0] beat_data_q;
  logic [7:0] row_beat, row_beat_q; // of the row: which of its beats
  always_comb begin : buffer
    next_address = code_address_i + 48'(pc_d) * InstructionBytes;
    read_row = RowWidth'(32'(slot_of(next_address >> LineShift)) * LineRows + (32'(next_address[LineShift-1:0]) >> RowShift));
    write_row = RowWidth'(32'(order_q[head_q[OrderWidth-1:0]]) * LineRows + 32'(beat_q) / RowBeats);
    row_beat = 8'(32'(beat_q) % RowBeats);
    write_mask = '0;
    row = read_data[0];
    for (int i = 0; i < RowBeats; i++) begin
      if (8'(i) == row_beat) write_mask[8*BusBytes*i +: 8*BusBytes] = '1;
      if (late_q && 8'(i) == row_beat_q) row[8*BusBytes*i +: 8*BusBytes] = beat_data_q;
    end
  end
  tilewright_ram #(.Depth(BufferRows), .Width(8 * RowBytes)) u_lines (
    .clk_i, .read_i(1'b1), .read_row_i('{read_row}), .read_data_q(read_data), .write_i(r_valid_i), .write_row_i(write_row),
    .write_mask_i(write_mask), .write_data_i({RowBeats{r_data_i}})
  );
  always_ff @(posedge clk_i) begin
    place_q <= next_address[RowShift-1:0];
    late_q <= r_valid_i && write_row == read_row;
    if (r_valid_i) begin
      beat_data_q <= r_data_i;
      row_beat_q <= row_beat;
    end
  end

  for (genvar i = 0; i < BaseRegisters; i++) begin : gen_base
    always_ff @(posedge clk_i) begin
      if (!rst_ni) base_q[i] <= '0;
      else if (i != 0 && execute && control && decoded.control == ControlSetBase &&
               control_rd(decoded.instruction, bits) == i)
        base_q[i] <= value;
    end
  end

  // SEQ-line.
  always_ff @(posedge clk_i) begin : fetch
    if (!rst_ni) begin
      valid_q <= '0;
      pending_q <= '0;
      on_way_q <= '0;
      head_q <= '0;
      tail_q <= '0;
      beat_q <= '0;
    end else begin
      on_way_q <= on_way_q + 8'(ar_valid_o) - 8'(r_valid_i && r_last_i);
      if (r_valid_i) begin
        beat_q <= r_last_i ? '0 : beat_q + 8'd1;
        if (r_last_i) begin
          pending_q[order_q[head_q[OrderWidth-1:0]]] <= 1'b0;
          head_q <= head_q == 8'(FetchOutstanding - 1) ? '0 : head_q + 8'd1;
        end
      end
      if (ar_valid_o) begin
        valid_q[wanted_slot] <= 1'b1;
        pending_q[wanted_slot] <= 1'b1;
        tag_q[wanted_slot] <= wanted_line;
        order_q[tail_q[OrderWidth-1:0]] <= wanted_slot;
        tail_q <= tail_q == 8'(FetchOutstanding - 1) ? '0 : tail_q + 8'd1;
      end
    end
  end

  line_has_all_beats: assert property (@(posedge clk_i) disable iff (!rst_ni)
      (r_valid_i && r_last_i) |-> (beat_q == 8'(LineBeats - 1)))
    else $error("A line of instructions came with the wrong number of beats.");
endmodule
// verilator lint_on UNUSEDSIGNAL

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
  output request_t         request_o,       // of semaphores: of the control instruction that is decoded
  input  logic             grant_i,         // of that
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
  localparam int LineShift = $clog2(FetchBytes);
  localparam int LineBits = 48 - LineShift;
  localparam int CountWidth = $clog2(FetchSlots + 1);
  localparam int WayWidth = $clog2(FetchOutstanding + 1);
  localparam int LineInstructions = FetchBytes / InstructionBytes;
  // BufferRows of the fetch buffer's RAM hold a beat and an instruction.
  localparam int RowBytes = BusBytes > InstructionBytes ? BusBytes : InstructionBytes;
  localparam int RowShift = $clog2(RowBytes);
  localparam int LineRows = FetchBytes / RowBytes;
  localparam int BufferRows = FetchSlots * LineRows > 2 ? FetchSlots * LineRows : 2;
  localparam int RowWidth = $clog2(BufferRows);
  localparam int RowBeats = RowBytes / BusBytes;

  logic [31:0] fetch_pc_q; // of the instruction that is decoded next
  logic [31:0] id_q;
  // The instruction that is decoded, and executes next.
  logic decoded_valid_q;
  decoded_t decoded_q;
  instruction_t bits_q;
  logic [31:0] pc_q;
  logic signed [63:0] base_q [BaseRegisters];
  // The fetch buffer holds `lines_q` lines before `next_q`, the last `on_way_q` of them on the way. Before these come `stale_q` lines that
  // it holds no more.
  logic [LineBits-1:0] next_q;
  logic signed [32:0] reach_q; // the prefetch reaches the next line from this instruction on
  logic [CountWidth-1:0] lines_q;
  logic [WayWidth-1:0] on_way_q, stale_q;
  logic [SlotWidth-1:0] receive_q; // slot of the line that comes
  localparam int LineBeats = FetchBytes / BusBytes > 0 ? FetchBytes / BusBytes : 1;
  logic [7:0] beat_q;

  // Hardware loops, the first depth_q of them running: bodies [begin, end), runs after this one.
  logic [LoopDepth-1:0][31:0] loop_begin_q, loop_end_q, loop_left_q;
  logic [7:0] depth_q;

  `include "tilewright_sequencer.svh"

  function automatic logic [SlotWidth-1:0] slot_of(logic [LineBits-1:0] of);
    return SlotWidth'(of % LineBits'(FetchSlots));
  endfunction

  // SEQ-fetch. The distance of the next line from that of the instruction which is decoded next says whether the buffer holds it.
  logic [47:0] fetch_address_q; // of that instruction
  logic [LineBits-1:0] line, distance, wanted_line;
  logic wanted, holds, fits, past_end, runs, fetches;
  logic signed [32:0] fetch_pc;
  always_comb begin : want
    past_end = fetch_pc_q >= code_count_i;
    runs = rst_ni && !stop_i && !bus_error_i;
    fetches = runs && !past_end;
    line = fetch_address_q[47:LineShift];
    distance = next_q - line;
    holds = lines_q != '0 && distance <= LineBits'(lines_q); // or is about to: the next one
    fits = distance < LineBits'(FetchSlots);
    fetch_pc = $signed({1'b0, fetch_pc_q});
    wanted = !holds || (fits && reach_q <= fetch_pc && reach_q + 33'(FetchAhead) < $signed({1'b0, code_count_i}));
    wanted_line = holds ? next_q : line;
  end
  assign ar_valid_o = fetches && !ar_held_i && wanted && 32'(on_way_q) + 32'(stale_q) < FetchOutstanding;
  assign ar_address_o = {wanted_line, LineShift'(0)};
  assign fetch_idle_o = on_way_q == '0 && stale_q == '0;

  // SEQ-decode. A line is valid from the cycle after its last beat. What is decoded executes from the next cycle on; meanwhile the one
  // behind it is decoded.
  logic line_ready, decodes;
  instruction_t bits;
  assign line_ready = fetches && holds && distance > LineBits'(on_way_q);
  logic [8*RowBytes-1:0] row;     // of the fetch buffer
  assign bits = row[8 * 32'(fetch_address_q[RowShift-1:0]) +: 8 * InstructionBytes];

  // What the decoded instruction does in this cycle.
  logic valid, execute, dispatch, control, must_wait;
  logic branches, skips;
  logic signed [63:0] value;
  logic [31:0] length, count;
  logic signed [33:0] target;
  logic [31:0] loop_end;
  assign valid = runs && decoded_valid_q && decoded_q.legal;
  assign must_wait = (decoded_q.control == ControlHalt || decoded_q.control == ControlFence) && !units_idle_i;
  assign request_o = '{valid: valid && decoded_q.control != ControlNone && !must_wait, wait_mask: decoded_q.wait_mask,
                       signal_mask: decoded_q.signal_mask};
  assign control = grant_i;
  assign dispatch = valid && decoded_q.control == ControlNone && !full_i[decoded_q.unit];
  always_comb begin
    value = '0;
    length = '0;
    count = '0;
    target = '0;
    if (decoded_valid_q && decoded_q.control != ControlNone) begin
      value = control_value(decoded_q.instruction, bits_q);
      length = control_length(decoded_q.instruction, bits_q);
      count = control_count(decoded_q.instruction, bits_q);
      target = $signed({2'b0, pc_q}) + 34'(control_offset(decoded_q.instruction, bits_q));
    end
    loop_end = pc_q + 32'd1 + length;
    branches = decoded_q.control == ControlBranch && value != '0;
    skips = decoded_q.control == ControlLoop && count == '0;

    trap_o = TrapCauseNone;
    if (!rst_ni || stop_i) trap_o = TrapCauseNone;
    else if (bus_error_i) trap_o = TrapCauseBus;
    else if (!decoded_valid_q && past_end) trap_o = TrapCausePastEnd;
    else if (decoded_valid_q && !decoded_q.legal) trap_o = TrapCauseIllegal;
    else if (control && decoded_q.control == ControlLoop && loop_end > code_count_i) trap_o = TrapCauseLoopPastEnd;
    else if (control && decoded_q.control == ControlLoop && count != '0 && depth_q == 8'(LoopDepth)) trap_o = TrapCauseLoopDepth;
    else if (control && branches && (target < 0 || target >= $signed({2'b0, code_count_i}))) trap_o = TrapCauseBranch;
    execute = (dispatch || control) && trap_o == TrapCauseNone;
  end

  assign halted_o = control && decoded_q.control == ControlHalt;
  assign is_control_o = control;
  assign pc_o = decoded_valid_q ? pc_q : fetch_pc_q;
  assign executed_o = '{valid: execute, id: id_q};

  always_comb begin
    push_o = '0;
    push_o[decoded_q.unit] = dispatch;
    issued_o = '0;
    if (decoded_valid_q) begin
      issued_o.bits = bits_q;
      issued_o.instruction = decoded_q.instruction;
      issued_o.is_set = decoded_q.is_set;
      issued_o.wait_mask = decoded_q.wait_mask;
      issued_o.signal_mask = decoded_q.signal_mask;
      for (int i = 0; i < MemoryOperands; i++)
        issued_o.address[i] = decoded_q.field[i] + base_q[decoded_q.base[i][$clog2(BaseRegisters)-1:0]][47:0];
      issued_o.id = id_q;
    end
  end

  always_comb begin
    activity_o = '{id: id_q, reserved: '0, cause: StallNone, kind: Busy};
    if (!decoded_valid_q) begin
      activity_o.kind = Stalled;
      activity_o.cause = StallFetch;
    end else if (decoded_q.control == ControlNone && !dispatch) begin
      activity_o.kind = Stalled;
      activity_o.cause = StallQueueFull;
    end else if (decoded_q.control != ControlNone && !control) begin
      activity_o.kind = Stalled;
      activity_o.cause = must_wait ? StallDependence : StallSemaphore;
    end
  end

  // SEQ-loop: where the flow goes on.
  logic [31:0] pc_d; // behind the decoded instruction
  logic [7:0] depth_d;
  logic [LoopDepth-1:0][31:0] loop_left_d;
  logic enters, settled;
  always_comb begin : flow
    pc_d = pc_q;
    depth_d = depth_q;
    loop_left_d = loop_left_q;
    settled = 1'b0;
    enters = execute && control && decoded_q.control == ControlLoop && !skips;
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
  end

  // What follows the instruction that is decoded now, if the one before it changes no loop: else it is decoded anew.
  logic redirects;
  logic [31:0] predicted, fetch_pc_d;
  always_comb begin : predict
    predicted = fetch_pc_q + 32'd1;
    for (int i = 0; i < LoopDepth; i++)
      if (8'(i) + 8'd1 == depth_q && loop_end_q[i] == fetch_pc_q + 32'd1 && loop_left_q[i] != '0) predicted = loop_begin_q[i];
    redirects = execute && pc_d != fetch_pc_q;
    decodes = line_ready && (!decoded_valid_q || execute) && !redirects;
    fetch_pc_d = fetch_pc_q;
    if (decodes) fetch_pc_d = predicted;
    if (redirects) fetch_pc_d = pc_d;
    if (!rst_ni) fetch_pc_d = entry_i;
  end
  always_ff @(posedge clk_i) begin : decode_next
    fetch_pc_q <= fetch_pc_d;
    if (decodes) begin
      decoded_q <= decode(bits);
      bits_q <= bits;
      pc_q <= fetch_pc_q;
    end
    if (!rst_ni) decoded_valid_q <= 1'b0;
    else decoded_valid_q <= decodes || (decoded_valid_q && !execute);
  end

  always_ff @(posedge clk_i) begin : loops
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

  // The fetch buffer, in RAM: the row of the instruction that is decoded next is read. A beat that comes meanwhile is put into what was read.
  function automatic logic [47:0] address_of(logic [31:0] pc);
    return code_address_i + 48'(pc) * InstructionBytes;
  endfunction
  logic [47:0] next_address;
  logic [RowWidth-1:0] read_row, write_row;
  logic [8*RowBytes-1:0] read_data [1], write_mask;
  logic comes;                  // a beat of a line that the buffer holds
  logic late_q;                 // a beat of the row came as it was read
  logic [8*BusBytes-1:0] beat_data_q;
  logic [7:0] row_beat, row_beat_q; // of the row: which of its beats
  always_comb begin : buffer
    next_address = address_of(fetch_pc_q);
    if (decodes) next_address = address_of(predicted);
    if (redirects) next_address = address_of(pc_d);
    if (!rst_ni) next_address = address_of(entry_i);
    comes = r_valid_i && stale_q == '0;
    read_row = RowWidth'(32'(slot_of(next_address[47:LineShift])) * LineRows + (32'(next_address[LineShift-1:0]) >> RowShift));
    write_row = RowWidth'(32'(receive_q) * LineRows + 32'(beat_q) / RowBeats);
    row_beat = 8'(32'(beat_q) % RowBeats);
    write_mask = '0;
    row = read_data[0];
    for (int i = 0; i < RowBeats; i++) begin
      if (8'(i) == row_beat) write_mask[8*BusBytes*i +: 8*BusBytes] = '1;
      if (late_q && 8'(i) == row_beat_q) row[8*BusBytes*i +: 8*BusBytes] = beat_data_q;
    end
  end
  tilewright_ram #(.Depth(BufferRows), .Width(8 * RowBytes)) u_lines (
    .clk_i, .read_i(1'b1), .read_row_i('{read_row}), .read_data_q(read_data), .write_i(comes), .write_row_i(write_row),
    .write_mask_i(write_mask), .write_data_i({RowBeats{r_data_i}})
  );
  always_ff @(posedge clk_i) begin
    fetch_address_q <= next_address;
    late_q <= comes && write_row == read_row;
    if (comes) begin
      beat_data_q <= r_data_i;
      row_beat_q <= row_beat;
    end
  end

  for (genvar i = 0; i < BaseRegisters; i++) begin : gen_base
    always_ff @(posedge clk_i) begin
      if (!rst_ni) base_q[i] <= '0;
      else if (i != 0 && execute && control && decoded_q.control == ControlSetBase &&
               control_rd(decoded_q.instruction, bits_q) == i)
        base_q[i] <= value;
    end
  end

  // SEQ-line.
  logic [WayWidth-1:0] on_way, stale; // behind the line that ends in this cycle
  always_comb begin
    on_way = on_way_q - WayWidth'(comes && r_last_i);
    stale = stale_q - WayWidth'(r_valid_i && r_last_i && stale_q != '0);
  end
  always_ff @(posedge clk_i) begin : fetch
    if (!rst_ni) begin
      next_q <= '0;
      lines_q <= '0;
      on_way_q <= '0;
      stale_q <= '0;
      receive_q <= '0;
      beat_q <= '0;
    end else begin
      on_way_q <= on_way;
      stale_q <= stale;
      if (r_valid_i) beat_q <= r_last_i ? '0 : beat_q + 8'd1;
      if (comes && r_last_i) receive_q <= receive_q == SlotWidth'(FetchSlots - 1) ? '0 : receive_q + 1'b1;
      if (ar_valid_o) begin
        next_q <= wanted_line + 1'b1;
        if (holds) begin
          on_way_q <= on_way + 1'b1;
          reach_q <= reach_q + 33'(LineInstructions);
          if (lines_q != CountWidth'(FetchSlots)) lines_q <= lines_q + 1'b1;
        end else begin
          on_way_q <= WayWidth'(1);
          stale_q <= stale + on_way;
          reach_q <= fetch_pc - (33'(fetch_address_q[LineShift-1:0]) >> $clog2(InstructionBytes)) + 33'(LineInstructions) - 33'(FetchAhead);
          lines_q <= CountWidth'(1);
          receive_q <= slot_of(line);
        end
      end
    end
  end

  line_has_all_beats: assert property (@(posedge clk_i) disable iff (!rst_ni)
      (r_valid_i && r_last_i) |-> (beat_q == 8'(LineBeats - 1)))
    else $error("A line of instructions came with the wrong number of beats.");
endmodule
// verilator lint_on UNUSEDSIGNAL

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
  localparam int CountWidth = $clog2(FetchSlots + 1);
  localparam int WayWidth = $clog2(FetchOutstanding + 1);
  localparam int LineInstructions = FetchBytes / InstructionBytes;
  // BufferRows of the fetch buffer's RAM hold a beat and an instruction.
  localparam int RowBytes = BusBytes > InstructionBytes ? BusBytes : InstructionBytes;
  localparam int RowInstructions = RowBytes / InstructionBytes;
  localparam int LineRows = FetchBytes / RowBytes;
  localparam int BufferRows = FetchSlots * LineRows > 2 ? FetchSlots * LineRows : 2;
  localparam int RowWidth = $clog2(BufferRows);
  localparam int RowBeats = RowBytes / BusBytes;

  // Instructions have positions, which count from the first one of the line in which instruction 0 stands: lines and rows of the buffer are
  // bits of a position, and nothing has to be added to find them.
  localparam int PositionBits = 33;
  localparam int IndexBits = $clog2(LineInstructions);
  localparam int LineBits = PositionBits - IndexBits;
  typedef logic [PositionBits-1:0] position_t;
  typedef logic [LineBits-1:0] line_t;
  position_t origin; // of instruction 0
  position_t end_q;  // behind the last one; the host changes neither while a program runs
  assign origin = position_t'(code_address_i[LineShift-1:0]) >> $clog2(InstructionBytes);
  always_ff @(posedge clk_i) end_q <= origin + position_t'(code_count_i);

  position_t fetch_q; // of the instruction that is decoded next
  logic [31:0] id_q;
  // The instruction that is decoded, and executes next.
  logic decoded_valid_q;
  decoded_t decoded_q;
  instruction_t bits_q;
  position_t behind_q;         // the one behind it
  logic signed [34:0] target_q; // of a branch; of a loop the end of its body
  logic is_short_q;            // its body is one instruction
  logic signed [63:0] base_q [BaseRegisters];
  // The fetch buffer holds `lines_q` lines before `next_q`, the last `on_way_q` of them on the way. Before these come `stale_q` lines that
  // it holds no more.
  line_t next_q;
  logic [CountWidth-1:0] lines_q;
  logic [CountWidth:0] most_q; // lines_q + 1, or 0 where there are none
  logic [WayWidth-1:0] on_way_q, stale_q;
  logic [SlotWidth-1:0] receive_q; // slot of the line that comes
  localparam int LineBeats = FetchBytes / BusBytes > 0 ? FetchBytes / BusBytes : 1;
  logic [7:0] beat_q;

  // A simulator leaves out what nobody takes; a netlist would only have more gates.
`ifdef SYNTHESIS
  localparam bit Saves = 1'b0;
`else
  localparam bit Saves = 1'b1;
`endif

  `include "tilewright_sequencer.svh"

  // Hardware loops, from the outermost to the innermost, of those that run: bodies [begin, end), and runs, this one among them.
  typedef logic [LoopDepth-1:0] loops_t;
  loops_t running_q;
  logic [LoopDepth-1:0][PositionBits-1:0] loop_begin_q, loop_end_q;
  logic [LoopDepth-1:0][LoopCountBits-1:0] loop_left_q;
  base_step_t [LoopDepth-1:0][LoopSteps-1:0] loop_steps_q; // what the end of a run adds to base registers
  // The decoded instruction is the last of their bodies; and the one at which another run begins, as the prediction has it.
  loops_t ends_q, predicted_q;
  logic settles_q; // the instruction that is decoded next is not where the prediction saw it: loops that it is outside of are left

  function automatic logic [RowWidth-1:0] row_of(position_t position);
    return RowWidth'(position / position_t'(RowInstructions) % position_t'(FetchSlots * LineRows));
  endfunction

  // SEQ-fetch. The distance of the next line from that of the instruction which is decoded next says whether the buffer holds it.
  line_t line, distance;
  logic [CountWidth-1:0] near;
  logic asks, requests, is_near, holds, fits, reaches, is_code, past_end, runs, fetches;
  always_comb begin : want
    past_end = fetch_q >= end_q;
    runs = !stop_i && !bus_error_i; // in reset the machine is stopped, too
    fetches = runs && !past_end;
    line = line_t'(fetch_q >> IndexBits);
    distance = next_q - line;
    near = distance[CountWidth-1:0];
    is_near = distance >> CountWidth == '0;
    holds = lines_q != '0 && is_near && near <= lines_q; // or is about to: the next one
    fits = 32'(near) < FetchSlots;
    reaches = (32'(near) << IndexBits) <= FetchAhead + (32'(fetch_q) & (LineInstructions - 1));
    is_code = position_t'(next_q) << IndexBits < end_q;
    asks = fetches && !ar_held_i && 32'(on_way_q) + 32'(stale_q) < FetchOutstanding;
    // Said twice, by most_q and by lines_q: the load unit waits for the one, and on the other hang many bits.
    ar_valid_o = asks && (!is_near || (CountWidth+1)'(near) >= most_q || (fits && reaches && is_code));
    requests = asks && (!holds || (fits && reaches && is_code));
  end
  always_comb begin : address // both at once, since it shows late which line is wanted
    automatic logic [47-LineShift:0] first = code_address_i[47:LineShift];
    automatic logic [47-LineShift:0] next = first + (48-LineShift)'(next_q);
    automatic logic [47-LineShift:0] other = first + (48-LineShift)'(line);
    ar_address_o = {holds ? next : other, LineShift'(0)};
  end
  assign fetch_idle_o = on_way_q == '0 && stale_q == '0;

  // SEQ-decode. A line is valid from the cycle after its last beat. What is decoded executes from the next cycle on; meanwhile the one
  // behind it is decoded.
  logic line_ready;
  instruction_t bits;
  assign line_ready = fetches && holds && near > CountWidth'(on_way_q);
  logic [8*RowBytes-1:0] row;     // of the fetch buffer
  assign bits = row[8 * InstructionBytes * (32'(fetch_q) & (RowInstructions - 1)) +: 8 * InstructionBytes];

  // What the decoded instruction does in this cycle. Where it goes was added up as it was decoded.
  logic valid, advances, dispatch, control, must_wait;
  logic is_loop, skips, enters, taken, is_before, is_beyond;
  logic [LoopCountBits-1:0] count;
  assign valid = runs && decoded_valid_q && decoded_q.legal;
  assign must_wait = (decoded_q.control == ControlHalt || decoded_q.control == ControlFence) && !units_idle_i;
  assign request_o = '{valid: valid && decoded_q.control != ControlNone && !must_wait, wait_mask: decoded_q.wait_mask,
                       signal_mask: decoded_q.signal_mask};
  assign control = grant_i;
  assign dispatch = valid && decoded_q.control == ControlNone && !full_i[decoded_q.unit];
  // What traps goes on, too: the machine stops before the next cycle.
  assign advances = dispatch || control;
  always_comb begin : kind
    count = control_count(decoded_q.instruction, bits_q);
    is_loop = decoded_q.control == ControlLoop;
    skips = is_loop && count == '0;
    enters = is_loop && count != '0;
    taken = decoded_q.control == ControlBranch && control_taken(decoded_q.instruction, bits_q);
    is_before = target_q < $signed({2'b00, origin});
    is_beyond = $signed({target_q, !is_loop}) >= $signed({2'b00, end_q, 1'b1}); // a body may end where the code does

    trap_o = TrapCauseNone;
    if (stop_i) trap_o = TrapCauseNone;
    else if (bus_error_i) trap_o = TrapCauseBus;
    else if (!decoded_valid_q && past_end) trap_o = TrapCausePastEnd;
    else if (decoded_valid_q && !decoded_q.legal) trap_o = TrapCauseIllegal;
    else if (control && is_loop && is_beyond) trap_o = TrapCauseLoopPastEnd;
    else if (control && enters && running_q[LoopDepth-1]) trap_o = TrapCauseLoopDepth;
    else if (control && taken && (is_before || is_beyond)) trap_o = TrapCauseBranch;
  end

  assign halted_o = control && decoded_q.control == ControlHalt;
  assign is_control_o = control;
  assign pc_o = 32'((decoded_valid_q ? behind_q : fetch_q) - (origin + position_t'(decoded_valid_q)));
  assign executed_o = '{valid: advances && trap_o == TrapCauseNone, id: id_q};

  always_comb begin
    push_o = '0;
    push_o[decoded_q.unit] = dispatch;
    issued_o = '0;
    if (!Saves || decoded_valid_q) begin
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

  // SEQ-loop: where the flow goes on. Reaching the end of a body starts its next run, or leaves it; several loops may end together. Then
  // whatever loop the flow is outside of is left: at once behind an instruction that goes straight on, else in the next cycle, in which
  // nothing executes.
  loops_t more, ends, outside, repeats, leaves, pushes, remain;
  logic elsewhere, redirects; // elsewhere: it is not the one that was predicted
  position_t at, goes_on;
  always_comb begin : flow
    automatic logic falls = 1'b1, ending = !settles_q, leaving = 1'b1; // all loops further in do
    at = settles_q ? fetch_q : behind_q;
    repeats = '0;
    leaves = '0;
    for (int i = LoopDepth - 1; i >= 0; i--) begin
      more[i] = loop_left_q[i] >> 1 != '0;
      ends[i] = is_loop ? loop_end_q[i] == target_q[PositionBits-1:0] : ends_q[i];
      outside[i] = (at < loop_begin_q[i] || at >= loop_end_q[i]) && (settles_q || !is_loop);
      repeats[i] = falls && running_q[i] && ends[i] && more[i] && !enters && !taken;
      leaves[i] = leaving && running_q[i] && (ending && ends[i] ? !more[i] : outside[i]);
      falls = falls && (!running_q[i] || (ends[i] && !more[i]));
      ending = ending && (!running_q[i] || ends[i]);
      leaving = leaving && (!running_q[i] || leaves[i]);
      pushes[i] = !running_q[i] && (i == 0 || running_q[i > 0 ? i - 1 : 0]);
    end
    remain = settles_q || (advances && !enters && !taken) ? running_q & ~leaves : running_q;
    elsewhere = skips || taken || repeats != predicted_q;
    redirects = advances && elsewhere;
    goes_on = taken || (skips && repeats == '0) ? target_q[PositionBits-1:0] : repeats == '0 ? behind_q : '0;
    for (int i = 0; i < LoopDepth; i++)
      if (repeats[i]) goes_on |= loop_begin_q[i];
  end

  // SEQ-predict: what follows the instruction that is decoded now, if the one before it changes no loop: else it is decoded anew.
  loops_t is_last, predicted;
  logic decodes, takes;
  position_t fetch_next, predicted_next, fetch_d, fetch_if, fetch_else; // fetch_if: if the decoded instruction advances
  always_comb begin : predict
    automatic loops_t now = settles_q ? running_q & ~leaves : running_q;
    fetch_next = fetch_q + position_t'(1);
    predicted_next = '0;
    for (int i = 0; i < LoopDepth; i++) begin
      is_last[i] = loop_end_q[i] == fetch_next;
      predicted[i] = is_last[i] && more[i] && now[i] && (i == LoopDepth - 1 || !now[i < LoopDepth - 1 ? i + 1 : 0]);
      if (predicted[i]) predicted_next |= loop_begin_q[i];
    end
    if (predicted == '0) predicted_next = fetch_next;
    takes = line_ready && (!decoded_valid_q || advances);
    decodes = takes && !redirects;
    // Whether something advances is late; where the flow goes on then is not.
    fetch_if = line_ready ? predicted_next : fetch_q;
    if (elsewhere) fetch_if = goes_on;
    fetch_else = line_ready && !decoded_valid_q ? predicted_next : fetch_q;
    if (!rst_ni) begin
      fetch_if = origin + position_t'(entry_i);
      fetch_else = fetch_if;
    end
    fetch_d = advances ? fetch_if : fetch_else;
  end
  always_ff @(posedge clk_i) begin : decode_next
    fetch_q <= fetch_d;
    if (takes) begin // of no use where the flow goes elsewhere
      decoded_q <= decode(bits);
      bits_q <= bits;
      behind_q <= fetch_next;
      target_q <= is_branch(bits) ? $signed({2'b00, fetch_q}) + 35'(code_offset(bits))
                                  : $signed({2'b00, fetch_next}) + $signed(35'(code_length(bits)));
      is_short_q <= code_length(bits) == 32'd1;
      predicted_q <= predicted;
      for (int i = 0; i < LoopDepth; i++) ends_q[i] <= enters && control && pushes[i] ? is_short_q : is_last[i];
    end
    if (!rst_ni) begin
      decoded_valid_q <= 1'b0;
      settles_q <= 1'b0;
    end else begin
      decoded_valid_q <= decodes || (decoded_valid_q && !advances);
      settles_q <= redirects;
    end
  end

  always_ff @(posedge clk_i) begin : loops
    if (!rst_ni) begin
      id_q <= '0;
      running_q <= '0;
    end else begin
      if (advances) id_q <= id_q + 32'd1;
      running_q <= control && enters ? running_q | pushes : remain;
    end
    for (int i = 0; i < LoopDepth; i++) begin
      if (control && enters && pushes[i]) begin
        loop_begin_q[i] <= behind_q;
        loop_end_q[i] <= target_q[PositionBits-1:0];
        loop_left_q[i] <= count;
        loop_steps_q[i] <= control_steps(decoded_q.instruction, bits_q);
      end
      if (advances && repeats[i]) loop_left_q[i] <= loop_left_q[i] - LoopCountBits'(1);
    end
  end

  // The fetch buffer, in RAM: the row of the instruction that is decoded next is read. A beat that comes meanwhile is put into what was
  // read.
  logic [RowWidth-1:0] write_row;
  logic [8*RowBytes-1:0] read_data [1], write_mask;
  logic comes;          // a beat of a line that the buffer holds
  logic came_q;         // one came, of the row that was read meanwhile
  logic [8*BusBytes-1:0] beat_data_q;
  logic [7:0] row_beat, row_beat_q; // of the row: which of its beats
  always_comb begin : buffer
    comes = r_valid_i && stale_q == '0;
    write_row = RowWidth'(32'(receive_q) * LineRows + 32'(beat_q) / RowBeats);
    row_beat = 8'(32'(beat_q) % RowBeats);
    write_mask = '0;
    row = read_data[0];
    for (int i = 0; i < RowBeats; i++) begin
      if (8'(i) == row_beat) write_mask[8*BusBytes*i +: 8*BusBytes] = '1;
      if (came_q && 8'(i) == row_beat_q) row[8*BusBytes*i +: 8*BusBytes] = beat_data_q;
    end
  end
  tilewright_ram #(.Depth(BufferRows), .Width(8 * RowBytes), .Meets(1'b0)) u_lines (
    .clk_i, .read_i(1'b1), .read_row_i('{row_of(fetch_d)}), .read_data_q(read_data), .write_i(comes), .write_row_i(write_row),
    .write_mask_i(write_mask), .write_data_i({RowBeats{r_data_i}})
  );
  always_ff @(posedge clk_i) begin
    came_q <= comes && (advances ? write_row == row_of(fetch_if) : write_row == row_of(fetch_else));
    if (comes) begin
      beat_data_q <= r_data_i;
      row_beat_q <= row_beat;
    end
  end

  // The end of a run adds the innermost loop's steps, of which the last one of a register counts.
  base_step_t [LoopSteps-1:0] steps;
  logic run_ends; // if the decoded instruction advances
  always_comb begin : run_end
    steps = '0;
    run_ends = 1'b0;
    for (int i = 0; i < LoopDepth; i++) begin
      if (running_q[i]) begin
        steps = loop_steps_q[i];
        run_ends = ends[i] && !enters && !taken;
      end
    end
  end
  logic signed [63:0] value; // that a base register takes
  assign value = decoded_q.control == ControlSetBase ? control_value(decoded_q.instruction, bits_q) : '0;
  for (genvar i = 0; i < BaseRegisters; i++) begin : gen_base
    logic steps_it;
    logic signed [31:0] amount, stepped;
    always_comb begin
      steps_it = 1'b0;
      amount = '0;
      for (int k = 0; k < LoopSteps; k++) begin
        if (32'(steps[k].target) == i) begin
          steps_it = run_ends;
          amount = steps[k].amount;
        end
      end
      stepped = base_q[i][31:0] + amount;
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) base_q[i] <= '0;
      else if (i != 0 && control && decoded_q.control == ControlSetBase && control_rd(decoded_q.instruction, bits_q) == i)
        base_q[i] <= value;
      else if (i != 0 && advances && steps_it) base_q[i] <= 64'(stepped);
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
      most_q <= '0;
      on_way_q <= '0;
      stale_q <= '0;
      receive_q <= '0;
      beat_q <= '0;
    end else begin
      on_way_q <= on_way;
      stale_q <= stale;
      if (r_valid_i) beat_q <= r_last_i ? '0 : beat_q + 8'd1;
      if (comes && r_last_i) receive_q <= receive_q == SlotWidth'(FetchSlots - 1) ? '0 : receive_q + 1'b1;
      if (requests) begin
        next_q <= (holds ? next_q : line) + 1'b1;
        if (holds) begin
          on_way_q <= on_way + 1'b1;
          if (lines_q != CountWidth'(FetchSlots)) begin
            lines_q <= lines_q + 1'b1;
            most_q <= most_q + 1'b1;
          end
        end else begin
          on_way_q <= WayWidth'(1);
          stale_q <= stale + on_way;
          lines_q <= CountWidth'(1);
          most_q <= (CountWidth+1)'(2);
          receive_q <= SlotWidth'(line % line_t'(FetchSlots));
        end
      end
    end
  end

  one_request: assert property (@(posedge clk_i) disable iff (!rst_ni) ar_valid_o == requests)
    else $error("The sequencer asks for a line that it does not count.");
  line_has_all_beats: assert property (@(posedge clk_i) disable iff (!rst_ni)
      (r_valid_i && r_last_i) |-> (beat_q == 8'(LineBeats - 1)))
    else $error("A line of instructions came with the wrong number of beats.");
endmodule
// verilator lint_on UNUSEDSIGNAL

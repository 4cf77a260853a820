// The accelerator: the registers by which a host drives it, behind AXI4-Lite; what it does when; and the core, behind AXI4.
module tilewright_top import tilewright_pkg::*; import tilewright_registers_pkg::*; #(
  // What only a check of the machine needs: the trace, and whether an instruction may execute. Off in synthesis.
  parameter bit Checks = 1'b0
) (
  input  logic        clk_i,           // all state changes at its rising edge
  input  logic        rst_ni,          // synchronous, active low
  output logic        interrupt_o,     // high while an enabled event waits in `isr`
  // AXI4-Lite of the host: write address, write data, write response, read address, read data.
  input  logic        host_aw_valid_i, // there is an address
  output logic        host_aw_ready_o, // it is taken
  input  logic [RegisterAddressBits-1:0] host_aw_addr_i, // of a register, in bytes
  input  logic        host_w_valid_i,  // there are data
  output logic        host_w_ready_o,  // they are taken
  input  logic [31:0] host_w_data_i,   // the word
  input  logic [3:0]  host_w_strb_i,   // which of its bytes are written
  output logic        host_b_valid_o,  // the write is done
  input  logic        host_b_ready_i,  // the host knows
  output logic [1:0]  host_b_resp_o,   // OKAY or SLVERR
  input  logic        host_ar_valid_i, // there is an address
  output logic        host_ar_ready_o, // it is taken
  input  logic [RegisterAddressBits-1:0] host_ar_addr_i, // of a register, in bytes
  output logic        host_r_valid_o,  // there are data
  input  logic        host_r_ready_i,  // the host takes them
  output logic [31:0] host_r_data_o,   // the word
  output logic [1:0]  host_r_resp_o,   // OKAY or SLVERR
  // AXI4 read address and data. Ids: 0 instruction fetch, 1 loads. The master is always ready for data.
  output logic        ar_valid_o,      // a burst is asked for
  input  logic        ar_ready_i,      // the memory takes it
  output logic [47:0] ar_addr_o,       // of its first byte
  output logic [7:0]  ar_len_o,        // beats, less 1
  output logic [2:0]  ar_size_o,       // whole beats
  output logic [1:0]  ar_burst_o,      // INCR
  output logic        ar_id_o,         // who asks
  input  logic        r_valid_i,       // there is a beat
  input  logic        r_last_i,        // the last of its burst
  input  logic        r_id_i,          // of the request that it answers
  input  logic [1:0]  r_resp_i,        // whether the memory has it
  input  logic [8*BusBytes-1:0] r_data_i, // its bytes
  // AXI4 write address, data and response, for which the master is always ready. The address goes with the first beat. Ids: the
  // store in flight.
  output logic        aw_valid_o,      // a burst begins
  input  logic        aw_ready_i,      // the memory takes the address
  output logic [47:0] aw_addr_o,       // of its first byte
  output logic [7:0]  aw_len_o,        // beats, less 1
  output logic [2:0]  aw_size_o,       // whole beats
  output logic [1:0]  aw_burst_o,      // INCR
  output logic [7:0]  aw_id_o,         // that the response names
  output logic        w_valid_o,       // there is a beat
  input  logic        w_ready_i,       // the memory takes it
  output logic        w_last_o,        // the last of its burst
  output logic [8*BusBytes-1:0] w_data_o, // its bytes
  output logic [BusBytes-1:0]   w_strb_o, // which of them are written
  input  logic        b_valid_i,       // a burst is in the memory
  input  logic [7:0]  b_id_i,          // of its request
  input  logic [1:0]  b_resp_i,        // whether the memory took it
  // Trace, for verification: zero without `Checks`. Units in the order sequencer, matrix, vector, load, store.
  output logic        active_o,        // the core is out of reset: from cycle 0 of a program until nothing of it is left
  output logic        halted_o,        // `halt` executes in this cycle
  output logic [2:0]  bus_error_o,     // the memory has refused an instruction fetch [0], a load [1], a store [2]; until the core's reset
  output activity_t   activity_o [5],  // what this cycle goes to in each unit
  output event_t      executed_o,      // the sequencer dispatched an instruction or executed it
  output logic        is_control_o,    // and it was a control instruction
  output logic [31:0] pc_o,            // its number, or that of what traps
  output trap_cause_e trap_o,          // why execution cannot go on
  output event_t      start_o [4],     // matrix, vector, load, store
  output logic [3:0]  fault_o,         // the instruction that starts may not execute
  output event_t      end_o [9],       // matrix: three; vector, load, store: two each
  output logic [31:0] conflicts_o [16], // [4 * loser + winner]
  // Trace of the writes on chip: of vector and load; of matrix, vector and load. Addresses in bytes.
  output logic [1:0]                 spad_write_o, // something is written
  output logic [1:0][47:0]           spad_write_address_o, // where
  output logic [1:0][15:0]           spad_write_bytes_o, // how much
  output logic [1:0][8*SpadPort-1:0] spad_write_data_o, // what
  output logic [2:0]                 acc_write_o, // something is written
  output logic [2:0][47:0]           acc_write_address_o, // where
  output logic [2:0][15:0]           acc_write_bytes_o, // how much
  output logic [2:0][8*AccPort-1:0]  acc_write_data_o // what
);
  localparam int PageBits = 12; // argument_base counts pages

  to_host_t machine;
  from_host_t host;
  logic idle, running, stopping, resetting, starts, ended, trapped, done;
  trap_cause_e cause;
  logic [31:0] trap_pc;
  logic [2:0] bus_refused;

  tilewright_registers u_registers (
    .clk_i, .rst_ni, .aw_valid_i(host_aw_valid_i), .aw_ready_o(host_aw_ready_o), .aw_addr_i(host_aw_addr_i),
    .w_valid_i(host_w_valid_i), .w_ready_o(host_w_ready_o), .w_data_i(host_w_data_i), .w_strb_i(host_w_strb_i),
    .b_valid_o(host_b_valid_o), .b_ready_i(host_b_ready_i), .b_resp_o(host_b_resp_o),
    .ar_valid_i(host_ar_valid_i), .ar_ready_o(host_ar_ready_o), .ar_addr_i(host_ar_addr_i),
    .r_valid_o(host_r_valid_o), .r_ready_i(host_r_ready_i), .r_data_o(host_r_data_o), .r_resp_o(host_r_resp_o),
    .idle_i(idle), .machine_i(machine), .host_o(host)
  );
  assign interrupt_o = host.gie_enable && ((host.isr_done && host.ier_done) || (host.isr_trap && host.ier_trap));

  logic core_rst_n, stop, stop_next, quiesce, at_rest, bus_idle;
  assign active_o = core_rst_n;

  // verilator lint_off UNUSEDSIGNAL
  // Reason: without `Checks` nobody asks for most of them.
  activity_t activity [5];
  event_t executed;
  logic is_control;
  logic [31:0] pc;
  trap_cause_e trap;
  event_t start [4];
  logic [3:0] fault;
  event_t ends [9];
  logic [31:0] conflicts [16];
  logic [2:0] bus_error;
  logic [1:0] spad_write;
  logic [1:0][47:0] spad_write_address;
  logic [1:0][15:0] spad_write_bytes;
  logic [1:0][8*SpadPort-1:0] spad_write_data;
  logic [2:0] acc_write;
  logic [2:0][47:0] acc_write_address;
  logic [2:0][15:0] acc_write_bytes;
  logic [2:0][8*AccPort-1:0] acc_write_data;
  // verilator lint_on UNUSEDSIGNAL
  if (Checks) begin : gen_trace
    assign activity_o = activity;
    assign executed_o = executed;
    assign is_control_o = is_control;
    assign pc_o = pc;
    assign trap_o = trap;
    assign start_o = start;
    assign fault_o = fault;
    assign end_o = ends;
    assign conflicts_o = conflicts;
    assign bus_error_o = bus_error;
    assign spad_write_o = spad_write;
    assign spad_write_address_o = spad_write_address;
    assign spad_write_bytes_o = spad_write_bytes;
    assign spad_write_data_o = spad_write_data;
    assign acc_write_o = acc_write;
    assign acc_write_address_o = acc_write_address;
    assign acc_write_bytes_o = acc_write_bytes;
    assign acc_write_data_o = acc_write_data;
  end else begin : gen_no_trace
    assign activity_o = '{default: activity_t'('0)};
    assign executed_o = '0;
    assign is_control_o = 1'b0;
    assign pc_o = '0;
    assign trap_o = TrapCauseNone;
    assign start_o = '{default: '0};
    assign fault_o = '0;
    assign end_o = '{default: '0};
    assign conflicts_o = '{default: '0};
    assign bus_error_o = '0;
    assign spad_write_o = '0;
    assign spad_write_address_o = '0;
    assign spad_write_bytes_o = '0;
    assign spad_write_data_o = '0;
    assign acc_write_o = '0;
    assign acc_write_address_o = '0;
    assign acc_write_bytes_o = '0;
    assign acc_write_data_o = '0;
  end

  tilewright_control u_control (
    .clk_i, .rst_ni, .start_i(host.ctrl_ap_start), .soft_reset_i(host.reset_soft_reset),
    .core_rst_no(core_rst_n), .stop_o(stop), .stop_next_o(stop_next), .quiesce_o(quiesce), .halted_i(halted_o), .trap_i(trap), .pc_i(pc),
    .bus_error_i(bus_error), .at_rest_i(at_rest), .bus_idle_i(bus_idle),
    .idle_o(idle), .running_o(running), .stopping_o(stopping), .resetting_o(resetting), .starts_o(starts), .ended_o(ended),
    .trapped_o(trapped), .done_o(done), .cause_o(cause), .trap_pc_o(trap_pc), .bus_refused_o(bus_refused)
  );
  logic [47:0] ar_addr, aw_addr;
  tilewright_core #(.Checks(Checks)) u_core (
    .clk_i, .rst_ni(core_rst_n), .stop_i(stop), .stop_next_i(stop_next), .quiesce_i(quiesce), .at_rest_o(at_rest), .bus_idle_o(bus_idle),
    .code_address_i(host.code_address), .code_count_i(host.code_count), .entry_i(host.entry), .halted_o,
    .ar_valid_o, .ar_ready_i, .ar_addr_o(ar_addr), .ar_len_o, .ar_size_o, .ar_burst_o, .ar_id_o,
    .r_valid_i, .r_last_i, .r_id_i, .r_resp_i, .r_data_i,
    .aw_valid_o, .aw_ready_i, .aw_addr_o(aw_addr), .aw_len_o, .aw_size_o, .aw_burst_o, .aw_id_o,
    .w_valid_o, .w_ready_i, .w_last_o, .w_data_o, .w_strb_o, .b_valid_i, .b_id_i, .b_resp_i,
    .bus_error_o(bus_error), .activity_o(activity), .executed_o(executed), .is_control_o(is_control), .pc_o(pc), .trap_o(trap),
    .start_o(start), .fault_o(fault), .end_o(ends), .conflicts_o(conflicts),
    .spad_write_o(spad_write), .spad_write_address_o(spad_write_address), .spad_write_bytes_o(spad_write_bytes),
    .spad_write_data_o(spad_write_data),
    .acc_write_o(acc_write), .acc_write_address_o(acc_write_address), .acc_write_bytes_o(acc_write_bytes),
    .acc_write_data_o(acc_write_data)
  );
  // Whole pages: no burst crosses a boundary that it did not cross before.
  assign ar_addr_o = {ar_addr[47:PageBits] + host.argument_base, ar_addr[PageBits-1:0]};
  assign aw_addr_o = {aw_addr[47:PageBits] + host.argument_base, aw_addr[PageBits-1:0]};

  logic [63:0] cycles, instructions, fetch_beats, load_beats, store_beats;
  logic [63:0] busy [5];
  logic [63:0] stalled [5];
  tilewright_counters u_counters (
    .clk_i, .rst_ni, .clear_i(starts), .running_i(running), .executes_i(executed.valid), .activity_i(activity),
    .fetch_beat_i(r_valid_i && !r_id_i), .load_beat_i(r_valid_i && r_id_i), .store_beat_i(w_valid_o && w_ready_i),
    .cycles_o(cycles), .instructions_o(instructions), .fetch_beats_o(fetch_beats), .load_beats_o(load_beats),
    .store_beats_o(store_beats), .busy_o(busy), .stalled_o(stalled)
  );

  always_comb begin : to_host
    machine = '0;
    machine.ctrl_ap_start = running || stopping;
    machine.ctrl_ap_done_set = ended;
    machine.ctrl_ap_ready_set = ended;
    machine.ctrl_ap_idle = idle;
    machine.ctrl_interrupt = interrupt_o;
    machine.isr_done_set = ended;
    machine.isr_trap_set = ended && cause != TrapCauseNone;
    machine.status_idle = idle;
    machine.status_running = running;
    machine.status_stopping = stopping;
    machine.status_resetting = resetting;
    machine.status_done = done;
    machine.status_trapped = trapped;
    machine.reset_soft_reset = resetting;
    machine.trap_cause = cause;
    machine.trap_bus_fetch = bus_refused[0];
    machine.trap_bus_load = bus_refused[1];
    machine.trap_bus_store = bus_refused[2];
    machine.trap_pc = trap_pc;
    machine.isa_hash = IsaHash;
    machine.cycles = cycles;
    machine.instructions = instructions;
    machine.fetch_beats = fetch_beats;
    machine.load_beats = load_beats;
    machine.store_beats = store_beats;
    machine.sequencer_busy = busy[0];
    machine.matrix_busy = busy[1];
    machine.vector_busy = busy[2];
    machine.load_busy = busy[3];
    machine.store_busy = busy[4];
    machine.sequencer_stalled = stalled[0];
    machine.matrix_stalled = stalled[1];
    machine.vector_stalled = stalled[2];
    machine.load_stalled = stalled[3];
    machine.store_stalled = stalled[4];
  end

`ifndef SYNTHESIS
  tilewright_axi_checker #(
    .BusBytes(BusBytes), .BurstBytes(BurstBytes), .Reads(FetchOutstanding > LoadBuffers ? FetchOutstanding : LoadBuffers),
    .Writes(StoreOutstanding + 1)
  ) u_checker (
    .clk_i, .rst_ni, .ar_valid_i(ar_valid_o), .ar_ready_i, .ar_addr_i(ar_addr_o), .ar_len_i(ar_len_o), .ar_size_i(ar_size_o),
    .ar_burst_i(ar_burst_o), .ar_id_i(ar_id_o), .r_valid_i, .r_last_i, .r_id_i, .r_resp_i, .aw_valid_i(aw_valid_o), .aw_ready_i,
    .aw_addr_i(aw_addr_o), .aw_len_i(aw_len_o), .aw_size_i(aw_size_o), .aw_burst_i(aw_burst_o), .aw_id_i(aw_id_o),
    .w_valid_i(w_valid_o), .w_ready_i, .w_last_i(w_last_o), .w_data_i(w_data_o), .w_strb_i(w_strb_o), .b_valid_i, .b_id_i, .b_resp_i
  );
`endif
endmodule

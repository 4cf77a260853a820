// The accelerator core: units, memories on chip, and one AXI4 master.
// verilator lint_off UNUSEDSIGNAL
// Reason: the sequencer itself has no queue.
module tilewright_core import tilewright_pkg::*; import tilewright_registers_pkg::*; #(
  parameter bit Checks = 1'b0 // what only a check of the machine needs: off in synthesis
) (
  input  logic        clk_i,          // all state changes at its rising edge
  input  logic        rst_ni,         // synchronous, active low; cycle 0 is the first after it
  input  logic        stop_i,         // no instruction starts, semaphores hold nothing back; until reset; registered
  input  logic        stop_next_i,    // so in the next cycle
  input  logic        quiesce_i,      // no burst begins; those that have begun go on
  output logic        at_rest_o,      // nothing that has begun is left, no transfer is open; registered
  output logic        bus_idle_o,     // no transfer is open; registered
  input  logic [47:0] code_address_i, // DRAM byte address of the program's instruction 0
  input  logic [31:0] code_count_i,   // its instructions
  input  logic [31:0] entry_i,        // the first to execute
  output logic        halted_o,       // `halt` executes in this cycle
  // AXI4 read address and data. Ids: 0 instruction fetch, 1 loads. The master is always ready for data.
  output logic        ar_valid_o,     // a burst is asked for
  input  logic        ar_ready_i,     // the memory takes it
  output logic [47:0] ar_addr_o,      // of its first byte
  output logic [7:0]  ar_len_o,       // beats, less 1
  output logic [2:0]  ar_size_o,      // whole beats
  output logic [1:0]  ar_burst_o,     // INCR
  output logic        ar_id_o,        // who asks
  input  logic        r_valid_i,      // there is a beat
  input  logic        r_last_i,       // the last of its burst
  input  logic        r_id_i,         // of the request that it answers
  input  logic [1:0]  r_resp_i,       // whether the memory has it
  input  logic [8*BusBytes-1:0] r_data_i, // its bytes
  // AXI4 write address, data and response, for which the master is always ready. The address goes with the first beat. Ids: the
  // store in flight.
  output logic        aw_valid_o, // a burst begins
  input  logic        aw_ready_i, // the memory takes the address
  output logic [47:0] aw_addr_o, // of its first byte
  output logic [7:0]  aw_len_o, // beats, less 1
  output logic [2:0]  aw_size_o, // whole beats
  output logic [1:0]  aw_burst_o, // INCR
  output logic [7:0]  aw_id_o, // that the response names
  output logic        w_valid_o, // there is a beat
  input  logic        w_ready_i, // the memory takes it
  output logic        w_last_o, // the last of its burst
  output logic [8*BusBytes-1:0] w_data_o, // its bytes
  output logic [BusBytes-1:0]   w_strb_o, // which of them are written
  input  logic        b_valid_i,      // a burst is in the memory
  input  logic [7:0]  b_id_i,         // of its request
  input  logic [1:0]  b_resp_i,       // whether the memory took it
  output logic [2:0]  bus_error_o,    // the memory has refused an instruction fetch [0], a load [1], a store [2]; until reset
  // Trace, for verification. Units in the order sequencer, matrix, vector, load, store.
  output activity_t   activity_o [5], // what this cycle goes to in each unit
  output event_t      executed_o,     // the sequencer dispatched an instruction or executed it
  output logic        is_control_o,   // and it was a control instruction
  output logic [31:0] pc_o,           // its number, or that of what traps
  output trap_cause_e trap_o,         // why execution cannot go on
  output event_t      start_o [4],    // matrix, vector, load, store
  output logic [3:0]  fault_o,        // the instruction that starts may not execute
  output event_t      end_o [9],      // matrix: three; vector, load, store: two each
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
  localparam int WidePort = SpadPort > AccPort ? SpadPort : AccPort;

  logic [4:0] full, push;
  issued_t issued;
  logic matrix_idle, vector_idle, load_idle, store_idle;
  logic fetch_ar, load_ar;
  logic [47:0] fetch_address, load_address;
  logic [7:0] load_beats;
  logic store_aw, store_w, store_last;
  logic [47:0] store_burst;
  logic [7:0] store_beats, store_id;
  logic [8*BusBytes-1:0] store_data;
  logic [BusBytes-1:0] store_strobe;
  logic ar_held, aw_held, w_held;

  // AXI-error: whatever is not OKAY stops the core until reset.
  localparam logic [1:0] Okay = 2'b00;
  logic [2:0] bus_error_q;
  logic bus_error, any_error_q, read_refused, write_refused, stop, stop_q;
  assign read_refused = r_valid_i && r_resp_i != Okay;
  assign write_refused = b_valid_i && b_resp_i != Okay;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      bus_error_q <= '0;
      any_error_q <= 1'b0;
    end else begin
      bus_error_q <= bus_error_q | {write_refused, read_refused && r_id_i, read_refused && !r_id_i};
      any_error_q <= any_error_q || write_refused || read_refused;
    end
    stop_q <= stop_next_i || (rst_ni && (any_error_q || write_refused || read_refused));
  end
  assign bus_error_o = bus_error_q;
  assign bus_error = any_error_q;
  assign stop = stop_q; // as stop_i || bus_error

  // Requests of semaphores, in the order of their priority: sequencer, matrix, vector, load, store; of a unit, ends before starts.
  localparam int Requests = 10;
  request_t request [Requests];
  logic [Requests-1:0] grant;
  request_t matrix_request [3], vector_request [2], load_request [2], store_request [2];
  assign request[1] = matrix_request[0];
  assign request[2] = matrix_request[1];
  assign request[3] = matrix_request[2];
  assign request[4] = vector_request[0];
  assign request[5] = vector_request[1];
  assign request[6] = load_request[0];
  assign request[7] = load_request[1];
  assign request[8] = store_request[0];
  assign request[9] = store_request[1];
  tilewright_semaphores #(.Requests(Requests)) u_semaphores (.clk_i, .rst_ni, .stop_i(stop), .request_i(request), .grant_o(grant));

  logic units_idle, fetch_idle, load_bus_idle, store_bus_idle;
  assign units_idle = matrix_idle && vector_idle && load_idle && store_idle;
  assign at_rest_o = units_idle && fetch_idle;
  assign bus_idle_o = fetch_idle && load_bus_idle && store_bus_idle;

  assign full[UnitSequencer] = 1'b0;
  tilewright_sequencer u_sequencer (
    .clk_i, .rst_ni, .stop_i, .code_address_i, .code_count_i, .entry_i, .fetch_idle_o(fetch_idle),
    .ar_held_i(ar_held), .ar_valid_o(fetch_ar), .ar_address_o(fetch_address),
    .r_valid_i(r_valid_i && !r_id_i), .r_last_i, .r_data_i, .bus_error_i(bus_error),
    .request_o(request[0]), .grant_i(grant[0]),
    .full_i(full), .push_o(push), .issued_o(issued),
    .units_idle_i(units_idle),
    .activity_o(activity_o[0]), .executed_o, .is_control_o, .pc_o, .trap_o, .halted_o
  );

  // Ports of the memories.
  localparam int SpadReaders = VectorStreams + 3; // streams, activations, weights, store
  localparam int AccReaders = VectorStreams + 2;  // streams, matrix, store
  spad_mask_t [SpadReaders-1:0] spad_read_banks;
  logic [SpadReaders-1:0][47:0] spad_read_address;
  logic [SpadReaders-1:0][8*SpadPort-1:0] spad_read_data;
  spad_mask_t [1:0] spad_write_banks;
  logic [1:0][47:0] spad_write_address;
  logic [1:0][15:0] spad_write_bytes;
  logic [1:0][8*SpadPort-1:0] spad_write_data;
  acc_mask_t [AccReaders-1:0] acc_read_banks;
  logic [AccReaders-1:0][47:0] acc_read_address;
  logic [AccReaders-1:0][8*AccPort-1:0] acc_read_data;
  acc_mask_t [2:0] acc_write_banks;
  logic [2:0][47:0] acc_write_address;
  logic [2:0][15:0] acc_write_bytes;
  logic [2:0][8*AccPort-1:0] acc_write_data;
  tilewright_memory #(.Banks(SpadBanks), .BankBytes(SpadBankBytes), .Port(SpadPort), .Readers(SpadReaders), .Writers(2)) u_spad (
    .clk_i, .read_banks_i(spad_read_banks), .read_address_i(spad_read_address), .read_data_o(spad_read_data),
    .write_banks_i(spad_write_banks), .write_address_i(spad_write_address), .write_bytes_i(spad_write_bytes),
    .write_data_i(spad_write_data)
  );
  tilewright_memory #(.Banks(AccBanks), .BankBytes(AccBankBytes), .Port(AccPort), .Unit(AccUnit), .Readers(AccReaders), .Writers(3)) u_acc (
    .clk_i, .read_banks_i(acc_read_banks), .read_address_i(acc_read_address), .read_data_o(acc_read_data),
    .write_banks_i(acc_write_banks), .write_address_i(acc_write_address), .write_bytes_i(acc_write_bytes),
    .write_data_i(acc_write_data)
  );

  // PORT-write: what the vector unit and the load unit write goes to the memories in the cycle after it was granted.
  localparam int VectorWriter = 0, LoadWriter = 1;
  typedef struct packed {
    spad_mask_t             spad_banks;
    acc_mask_t              acc_banks;
    logic [47:0]            address;
    logic [15:0]            bytes;
    logic [8*WidePort-1:0]  data;
  } write_t;
  write_t granted_write [2], write_q [2];
  for (genvar i = 0; i < 2; i++) begin : gen_write
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        write_q[i].spad_banks <= '0;
        write_q[i].acc_banks <= '0;
      end else begin
        write_q[i].spad_banks <= granted_write[i].spad_banks;
        write_q[i].acc_banks <= granted_write[i].acc_banks;
      end
    end
    always_ff @(posedge clk_i) begin
      if (granted_write[i].spad_banks != '0 || granted_write[i].acc_banks != '0) begin
        write_q[i].address <= granted_write[i].address;
        write_q[i].bytes <= granted_write[i].bytes;
        write_q[i].data <= granted_write[i].data;
      end
    end
    assign spad_write_banks[i] = write_q[i].spad_banks;
    assign spad_write_address[i] = write_q[i].address;
    assign spad_write_bytes[i] = write_q[i].bytes;
    assign spad_write_data[i] = write_q[i].data[8*SpadPort-1:0];
    assign acc_write_banks[i+1] = write_q[i].acc_banks;
    assign acc_write_address[i+1] = write_q[i].address;
    assign acc_write_bytes[i+1] = write_q[i].bytes;
    assign acc_write_data[i+1] = write_q[i].data[8*AccPort-1:0];

    assign spad_write_o[i] = granted_write[i].spad_banks != '0;
    assign spad_write_address_o[i] = granted_write[i].address;
    assign spad_write_bytes_o[i] = granted_write[i].bytes;
    assign spad_write_data_o[i] = granted_write[i].data[8*SpadPort-1:0];
    assign acc_write_o[i+1] = granted_write[i].acc_banks != '0;
    assign acc_write_address_o[i+1] = granted_write[i].address;
    assign acc_write_bytes_o[i+1] = granted_write[i].bytes;
    assign acc_write_data_o[i+1] = granted_write[i].data[8*AccPort-1:0];
  end
  assign acc_write_o[0] = acc_write_banks[0] != '0;
  assign acc_write_address_o[0] = acc_write_address[0];
  assign acc_write_bytes_o[0] = acc_write_bytes[0];
  assign acc_write_data_o[0] = acc_write_data[0];

  spad_mask_t spad_read_by_matrix, spad_write_by_vector;
  acc_mask_t acc_read_by_matrix, acc_write_by_matrix, acc_write_by_vector;
  assign acc_read_banks[VectorStreams] = acc_read_by_matrix;
  logic [31:0] matrix_conflicts [4], vector_conflicts [4], load_conflicts [4], store_conflicts [4];
  for (genvar i = 0; i < 4; i++) begin : gen_conflicts
    assign conflicts_o[i] = matrix_conflicts[i];
    assign conflicts_o[4 + i] = vector_conflicts[i];
    assign conflicts_o[8 + i] = load_conflicts[i];
    assign conflicts_o[12 + i] = store_conflicts[i];
  end

  event_t matrix_end [3], vector_end [2], load_end [2], store_end [2];
  assign end_o[0] = matrix_end[0];
  assign end_o[1] = matrix_end[1];
  assign end_o[2] = matrix_end[2];
  assign end_o[3] = vector_end[0];
  assign end_o[4] = vector_end[1];
  assign end_o[5] = load_end[0];
  assign end_o[6] = load_end[1];
  assign end_o[7] = store_end[0];
  assign end_o[8] = store_end[1];

  tilewright_matrix #(.Checks(Checks)) u_matrix (
    .clk_i, .rst_ni, .stop_i(stop), .push_i(push[UnitMatrix]), .issued_i(issued), .full_o(full[UnitMatrix]), .idle_o(matrix_idle),
    .request_o(matrix_request), .grant_i(grant[3:1]),
    .a_banks_o(spad_read_banks[VectorStreams]), .a_address_o(spad_read_address[VectorStreams]), .a_data_i(spad_read_data[VectorStreams]),
    .w_banks_o(spad_read_banks[VectorStreams+1]), .w_address_o(spad_read_address[VectorStreams+1]),
    .w_data_i(spad_read_data[VectorStreams+1]),
    .acc_read_address_o(acc_read_address[VectorStreams]),
    .acc_data_i(acc_read_data[VectorStreams]),
    .acc_write_address_o(acc_write_address[0]), .acc_write_bytes_o(acc_write_bytes[0]),
    .acc_write_data_o(acc_write_data[0]),
    .spad_read_held_o(spad_read_by_matrix), .acc_read_held_o(acc_read_by_matrix), .acc_write_held_o(acc_write_by_matrix),
    .acc_banks_o(acc_write_banks[0]),
    .activity_o(activity_o[1]), .start_o(start_o[0]), .fault_o(fault_o[0]), .end_o(matrix_end), .conflicts_o(matrix_conflicts)
  );

  logic [VectorStreams-1:0][47:0] vector_address;
  logic [32*Lanes-1:0] vector_write_data;
  spad_mask_t vector_spad_write;
  acc_mask_t vector_acc_write;
  logic vector_write_granted;
  spad_mask_t [VectorStreams-1:0] vector_spad;
  acc_mask_t [VectorStreams-1:0] vector_acc;
  logic [VectorStreams-1:0] vector_granted;
  assign spad_read_address[VectorStreams-1:0] = vector_address;
  assign acc_read_address[VectorStreams-1:0] = vector_address;
  assign granted_write[VectorWriter].spad_banks = spad_write_by_vector;
  assign granted_write[VectorWriter].acc_banks = acc_write_by_vector;
  assign granted_write[VectorWriter].data = (8*WidePort)'(vector_write_data);
  tilewright_vector #(.Checks(Checks)) u_vector (
    .clk_i, .rst_ni, .stop_i(stop), .push_i(push[UnitVector]), .issued_i(issued), .full_o(full[UnitVector]), .idle_o(vector_idle),
    .request_o(vector_request), .grant_i(grant[5:4]),
    .spad_read_by_matrix_i(spad_read_by_matrix), .acc_read_by_matrix_i(acc_read_by_matrix),
    .acc_write_by_matrix_i(acc_write_by_matrix),
    .spad_write_held_o(spad_write_by_vector), .acc_write_held_o(acc_write_by_vector),
    .spad_piece_o(vector_spad), .acc_piece_o(vector_acc), .granted_o(vector_granted),
    .spad_write_o(vector_spad_write), .acc_write_o(vector_acc_write), .write_granted_o(vector_write_granted),
    .spad_banks_o(spad_read_banks[VectorStreams-1:0]), .acc_banks_o(acc_read_banks[VectorStreams-1:0]), .read_address_o(vector_address),
    .spad_data_i(spad_read_data[VectorStreams-1:0]), .acc_data_i(acc_read_data[VectorStreams-1:0]),
    .write_address_o(granted_write[VectorWriter].address),
    .write_bytes_o(granted_write[VectorWriter].bytes), .write_data_o(vector_write_data),
    .activity_o(activity_o[2]), .start_o(start_o[1]), .fault_o(fault_o[1]), .end_o(vector_end), .conflicts_o(vector_conflicts)
  );

  tilewright_load #(.Checks(Checks)) u_load (
    .clk_i, .rst_ni, .stop_i(stop), .quiesce_i, .bus_idle_o(load_bus_idle), .push_i(push[UnitLoad]), .issued_i(issued), .full_o(full[UnitLoad]), .idle_o(load_idle),
    .request_o(load_request), .grant_i(grant[7:6]),
    .ar_busy_i(fetch_ar || ar_held), .ar_valid_o(load_ar), .ar_address_o(load_address), .ar_beats_o(load_beats),
    .r_valid_i(r_valid_i && r_id_i), .r_last_i, .r_data_i,
    .acc_by_matrix_i(acc_write_by_matrix), .vector_spad_i(vector_spad_write), .vector_acc_i(vector_acc_write),
    .vector_granted_i(vector_write_granted),
    .spad_banks_o(granted_write[LoadWriter].spad_banks), .acc_banks_o(granted_write[LoadWriter].acc_banks),
    .write_address_o(granted_write[LoadWriter].address), .write_bytes_o(granted_write[LoadWriter].bytes),
    .write_data_o(granted_write[LoadWriter].data),
    .activity_o(activity_o[3]), .start_o(start_o[2]), .fault_o(fault_o[2]), .end_o(load_end), .conflicts_o(load_conflicts)
  );

  logic [47:0] store_address;
  assign spad_read_address[VectorStreams+2] = store_address;
  assign acc_read_address[VectorStreams+1] = store_address;
  tilewright_store #(.Checks(Checks)) u_store (
    .clk_i, .rst_ni, .stop_i(stop), .quiesce_i, .bus_idle_o(store_bus_idle), .push_i(push[UnitStore]), .issued_i(issued), .full_o(full[UnitStore]), .idle_o(store_idle),
    .request_o(store_request), .grant_i(grant[9:8]),
    .w_held_i(aw_held || w_held), .w_first_o(store_aw), .w_valid_o(store_w), .w_last_o(store_last),
    .w_address_o(store_burst), .w_beats_o(store_beats), .w_id_o(store_id), .w_data_o(store_data),
    .w_strobe_o(store_strobe), .b_valid_i, .b_id_i,
    .spad_by_matrix_i(spad_read_by_matrix), .acc_by_matrix_i(acc_read_by_matrix),
    .vector_spad_i(vector_spad), .vector_acc_i(vector_acc), .vector_granted_i(vector_granted),
    .spad_banks_o(spad_read_banks[VectorStreams+2]), .acc_banks_o(acc_read_banks[VectorStreams+1]), .read_address_o(store_address),
    .spad_data_i(spad_read_data[VectorStreams+2]), .acc_data_i(acc_read_data[VectorStreams+1]),
    .activity_o(activity_o[4]), .start_o(start_o[3]), .fault_o(fault_o[3]), .end_o(store_end), .conflicts_o(store_conflicts)
  );

  // AXI read address: the sequencer's comes first.
  tilewright_axi_hold #(.Width(57)) u_ar (
    .clk_i, .rst_ni, .valid_i(fetch_ar || load_ar),
    .data_i(fetch_ar ? {fetch_address, 8'(FetchBytes / BusBytes - 1), 1'b0} : {load_address, load_beats, 1'b1}),
    .held_o(ar_held), .valid_o(ar_valid_o), .data_o({ar_addr_o, ar_len_o, ar_id_o}), .ready_i(ar_ready_i)
  );
  tilewright_axi_hold #(.Width(64)) u_aw (
    .clk_i, .rst_ni, .valid_i(store_aw), .data_i({store_burst, store_beats, store_id}),
    .held_o(aw_held), .valid_o(aw_valid_o), .data_o({aw_addr_o, aw_len_o, aw_id_o}), .ready_i(aw_ready_i)
  );
  tilewright_axi_hold #(.Width(9*BusBytes+1)) u_w (
    .clk_i, .rst_ni, .valid_i(store_w), .data_i({store_last, store_strobe, store_data}),
    .held_o(w_held), .valid_o(w_valid_o), .data_o({w_last_o, w_strb_o, w_data_o}), .ready_i(w_ready_i)
  );
  assign ar_size_o = 3'($clog2(BusBytes));
  assign ar_burst_o = 2'b01;
  assign aw_size_o = ar_size_o;
  assign aw_burst_o = ar_burst_o;

  no_burst_begins_before_a_reset: assert property (@(posedge clk_i) disable iff (!rst_ni) quiesce_i |-> !(fetch_ar || load_ar || store_aw))
    else $error("A burst begins while a reset waits for those that are open.");
endmodule
// verilator lint_on UNUSEDSIGNAL

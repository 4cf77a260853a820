// The matrix unit: rows MAT-* of docs/microarchitecture.md. A streamer of activation rows, a loader of weight rows, and the
// accumulator accesses that follow a row MatrixPipeline cycles later. A row comes in the cycle after it was asked for; the array of cells
// takes Rows + Cols + 2 cycles from then on, the register of the row included; what is left of MatrixPipeline, sums wait.
// verilator lint_off UNUSEDSIGNAL
// Reason: not every register and field is used by every instruction; of a semaphore level only the first is asked.
module tilewright_matrix import tilewright_pkg::*; #(
  parameter bit Checks = 1'b0 // what only a check of the machine needs: off in synthesis
) (
  input  logic             clk_i,           // all state changes at its rising edge
  input  logic             rst_ni,          // synchronous reset, active low
  input  logic             stop_i,          // no instruction starts
  input  logic             push_i,          // the sequencer dispatches `issued_i` to this unit; only while not full
  input  issued_t          issued_i,        // a decoded instruction with its registers
  output logic             full_o,          // the queue takes no more; registered
  output logic             idle_o,          // queue empty, nothing begun; registered
  output request_t         request_o [3],   // of semaphores: of the mmul that ends, of the mload that ends, of the head of the queue
  input  logic [2:0]       grant_i,         // of these
  // Read and write ports, always granted but for the loader's; the banks that are held in this cycle.
  output spad_mask_t       a_banks_o,       // that reading activations holds
  output logic [47:0]      a_address_o,     // byte
  input  logic [8*SpadPort-1:0] a_data_i,   // a row of activations, a cycle later
  output spad_mask_t       w_banks_o,       // that reading weights holds
  output logic [47:0]      w_address_o,     // byte
  input  logic [8*SpadPort-1:0] w_data_i, // a row of weights, a cycle later
  output logic [47:0]      acc_read_address_o, // byte, of the sums to add to
  input  logic [8*AccPort-1:0]  acc_data_i, // those sums, a cycle later
  output logic [47:0]      acc_write_address_o, // byte, of the new sums
  output logic [15:0]      acc_write_bytes_o, // of them
  output logic [8*AccPort-1:0]  acc_write_data_o, // the new sums
  output spad_mask_t       spad_read_held_o, // for both reads
  output acc_mask_t        acc_read_held_o, // for reading sums
  output acc_mask_t        acc_write_held_o, // for writing sums in the next cycle
  output acc_mask_t        acc_banks_o,     // that writing sums holds
  // Trace.
  output activity_t        activity_o,      // what this cycle goes to: work, a cause of stalling, or nothing
  output event_t           start_o,         // an instruction starts
  output logic             fault_o,         // the instruction that starts may not execute
  output event_t           end_o [3],       // of an mmul, a set, an mload
  output logic [31:0]      conflicts_o [4]  // lost to matrix, vector, load, store
);
  // What an instruction walks.
  typedef struct packed {
    logic [MatrixDims-1:0][31:0] extent;
    local_t [MatrixDims-1:0] a_stride; // bytes
    local_t [MatrixDims-1:0] d_stride;
    local_t      a;          // byte address of the first activations, or weights
    local_t      d;          // of the first accumulators
    local_t      row_stride; // from one row of weights to the next
    logic [15:0] k;
    logic [15:0] n;
    logic        accumulate;
    logic        empty;      // no rows
    // Of a window: a sweep (first iterator) of the window's period (second one) reads `span` rows of k = n activations.
    logic        window;
    logic [31:0] span;
    logic [MatrixDims-1:0][31:0] stride; // positions from one output to the next
    logic [MatrixDims-1:0][31:0] outputs;
    logic [Rows-1:0] taps;   // cells of a column that add
  } matrix_t;
  typedef struct packed {
    logic [MatrixDims-1:0][31:0] left;    // iterations behind this one
    local_t [MatrixDims-1:0] a;
    local_t [MatrixDims-1:0] d;
    logic [MatrixDims-1:0][31:0] phase;   // of a window: positions since that of an output
    logic [MatrixDims-1:0][31:0] outputs; // before this one
  } rows_t;

  localparam int FlightWidth = MatrixInflight > 1 ? $clog2(MatrixInflight) : 1;
  typedef logic [$clog2(Cols+1)-1:0] row_count_t; // of accumulators, a row's

  `include "tilewright_matrix.svh"

  issued_t head;
  logic empty, pop;
  tilewright_queue #(.Depth(MatrixQueue)) u_queue (.clk_i, .rst_ni, .stop_i, .push_i, .data_i(issued_i), .pop_i(pop), .head_o(head),
                                                   .empty_o(empty), .full_o);

  matrix_state_t state_q;

  // What started, until it is at work. Its registers are those of `state_q`: nothing starts behind it meanwhile.
  logic started_q;
  issued_t started;
  logic contracts_q, swaps_weights_q; // it is a contraction; it swaps weights

  // Cells hold weights of two tiles: one is active, the other (or the same, before the next load) waits for the swap.
  logic active_q, shadow_q;
  // What was asked for in the cycle before, and comes in this one.
  logic begins_q;          // a row of activations with which sums begin
  logic window_q;          // a row of activations of a window
  logic weights_come_q;
  logic [15:0] weights_row_q;
  logic weights_tile_q;
  logic load_begins_q;     // a load began
  logic passes_q; // a row of activations is there
  logic [Rows-1:0] comes_q; // elements that the row has
  // A row of activations, or of weights, that came in the cycle before, and what its operands depend on.
  logic [7:0] a_instruction_q, w_instruction_q;
  instruction_t a_bits_q, w_bits_q;
  matrix_state_t a_state_q, w_state_q;
  logic a_tile_q;
  logic [Rows-1:0] a_valid_q;
  logic [8*SpadPort-1:0] a_bytes_q;
  logic [8*Cols-1:0] w_bytes_q;
  row_count_t w_n_q;
  element_t [Rows-1:0] elements;
  logic [Cols-1:0][MatrixOperandBits-1:0] columns;
  weight_t [Cols-1:0] weights;
  weight_event_t [Rows-1:0] events;
  logic [Rows-1:0] clear_q, clear_tile_q, write_q; // by rows
  logic write_tile_q;
  logic [Cols-1:0][31:0] sums;

  // mmuls begun and not ended, oldest first.
  logic [31:0] flight_id_q [MatrixInflight];
  mask_t flight_signal_q [MatrixInflight];
  logic [MatrixInflight-1:0] flight_ready_q; // its last row is written
  logic [FlightWidth-1:0] oldest_q, newest_q, free_q;
  logic [7:0] flights_q;

  // Streamer. The instruction whose elements come, and its registers, are those of the cycle before.
  logic streaming_q;
  logic streamer_begins_q, swaps_q; // since the cycle before it is at the first row of an instruction, which swaps weights
  instruction_t s_bits_q;
  logic [7:0] s_instruction_q;
  matrix_state_t s_state_q;
  matrix_t s_matrix_q;
  rows_t s_rows_q;
  logic [31:0] s_rest_q; // of a window: cycles of a sweep behind those that read

  // Loader.
  logic loading_q;
  logic loader_begins_q; // since the cycle before
  logic loaded_q;        // only its end is outstanding
  instruction_t l_bits_q;
  logic [7:0] l_instruction_q;
  matrix_state_t l_state_q;
  logic [31:0] l_id_q;
  mask_t l_signal_q;
  logic [15:0] l_left_q, l_row_q, l_k_q, l_n_q;
  local_t l_address_q, l_stride_q;

  // Rows of sums on their way through the array: when they are written, and read before. The last cycles of each are in registers:
  // `sums_q[2]` reads accumulators, `sums_q[1]` has the port taken from the others' point of view, `sums_q[0]` writes.
  typedef struct packed {
    logic       accumulate;
    logic       last;      // of its instruction
    logic [FlightWidth-1:0] flight;
    local_t     address;   // of accumulators, in bytes
    row_count_t n;
  } sums_t;
  typedef struct packed {
    logic       valid;
    acc_mask_t  banks; // of the row, if there is one
    sums_t      row;
  } sums_stage_t;
  sums_t issued_sums, coming;
  logic comes;
  sums_stage_t [2:0] sums_q;
  logic begins, last_sum;           // the row is the first one of sums, of which there may be fewer than rows; of the last ones
  tilewright_delay #(.Cycles(MatrixPipeline - 3), .Width($bits(sums_t))) u_delay (
    .clk_i, .rst_ni, .write_i(begins), .data_i(issued_sums), .valid_q(comes), .data_q(coming)
  );
  acc_mask_t coming_banks, read_banks_q; // read_banks_q: of what `sums_q[2]` reads
  assign coming_banks = comes ? acc_banks(coming.address, 32'(coming.n) << 2) : '0;
  always_ff @(posedge clk_i) begin : sums_stages
    if (!rst_ni) begin
      for (int i = 0; i < 3; i++) begin
        sums_q[i].valid <= 1'b0;
        sums_q[i].banks <= '0;
      end
      read_banks_q <= '0;
    end else begin
      sums_q[0] <= sums_q[1];
      sums_q[1] <= sums_q[2];
      sums_q[2].valid <= comes;
      if (comes) sums_q[2].row <= coming;
      sums_q[2].banks <= coming_banks;
      read_banks_q <= coming.accumulate ? coming_banks : '0;
    end
  end

  // MAT-accumulate. A row is read two cycles before its sums are written, and comes in the next cycle: what it shares with the two rows that
  // are written meanwhile it takes from there. How far these are apart is known a cycle before.
  logic acc_read, acc_write;
  localparam int SpanWidth = $clog2(2 * Cols);
  typedef struct packed {
    logic shares;                  // some accumulators
    logic [SpanWidth-1:0] by;      // accumulators that it begins behind the other row's first one, and Cols
  } overlap_t;
  function automatic overlap_t overlap_of(sums_t row, logic valid, sums_t other);
    automatic logic signed [LocalBits-1:0] from = $signed(row.address - other.address) >>> 2;
    overlap_of.by = SpanWidth'(from + LocalBits'(Cols));
    overlap_of.shares = valid && from < $signed(LocalBits'(other.n)) && from > -$signed(LocalBits'(row.n));
  endfunction
  function automatic logic [32*Cols-1:0] renewed(logic [32*Cols-1:0] old, overlap_t overlap, row_count_t n,
                                                 logic [32*Cols-1:0] written);
    automatic logic [32*Cols-1:0] words = (32*Cols)'({written, (32*Cols)'(0)} >> {overlap.by, 5'h0});
    automatic logic [Cols-1:0] wrote = ~({Cols{1'b1}} << n);
    wrote = Cols'({wrote, Cols'(0)} >> overlap.by);
    renewed = old;
    if (overlap.shares)
      for (int j = 0; j < Cols; j++) if (wrote[j]) renewed[32*j +: 32] = words[32*j +: 32];
  endfunction
  logic old_comes_q;                   // accumulators were asked for in the cycle before
  overlap_t with_now_q, with_before_q; // of the row that comes: with the one that is written now, and with the one before
  logic [32*Cols-1:0] old_q;           // those that came in the cycle before
  row_count_t wrote_n_q;               // what was written in the cycle before
  logic [32*Cols-1:0] wrote_sum_q;
  logic [32*Cols-1:0] array_sum, sum;  // of the array; with the accumulators
  assign acc_write = sums_q[0].valid;
  assign acc_banks_o = sums_q[0].banks;
  assign acc_write_address_o = 48'(sums_q[0].row.address);
  assign acc_write_bytes_o = 16'(sums_q[0].row.n) << 2;
  assign acc_write_data_o = (8*AccPort)'(sum);
  assign acc_write_held_o = sums_q[1].banks;
  assign acc_read = sums_q[2].valid && sums_q[2].row.accumulate;
  assign acc_read_held_o = read_banks_q;
  assign acc_read_address_o = 48'(sums_q[2].row.address);
  always_comb begin
    sum = array_sum;
    if (acc_write && sums_q[0].row.accumulate)
      for (int j = 0; j < Cols; j++) sum[32*j +: 32] = sum[32*j +: 32] + old_q[32*j +: 32];
  end
  always_ff @(posedge clk_i) begin : accumulate
    if (!rst_ni) old_comes_q <= 1'b0;
    else old_comes_q <= acc_read;
    if (acc_read) begin
      with_now_q <= overlap_of(sums_q[2].row, sums_q[1].valid, sums_q[1].row);
      with_before_q <= overlap_of(sums_q[2].row, sums_q[0].valid, sums_q[0].row);
    end
    if (old_comes_q)
      old_q <= renewed(renewed(acc_data_i[32*Cols-1:0], with_before_q, wrote_n_q, wrote_sum_q), with_now_q, sums_q[0].row.n, sum);
    if (acc_write) begin
      wrote_n_q <= sums_q[0].row.n;
      wrote_sum_q <= sum;
    end
  end

  // MAT-end.
  // The oldest one's request is in registers: for one that ends in this cycle, and for none, it is known what is next.
  logic has_flight, ready, ready_q, retires;
  mask_t ready_signal_q;
  logic [FlightWidth-1:0] second;
  logic mmul_enters;
  matrix_t entering;
  assign has_flight = flights_q != '0;
  assign ready = ready_q;
  assign second = oldest_q == FlightWidth'(MatrixInflight - 1) ? '0 : oldest_q + 1'b1;
  assign request_o[0] = '{valid: ready, wait_mask: '0, signal_mask: ready_signal_q};
  function automatic logic is_ready(logic [FlightWidth-1:0] flight); // in the next cycle, if there is one
    is_ready = (mmul_enters && free_q == flight ? entering.empty : flight_ready_q[flight]) ||
               (acc_write && sums_q[0].row.last && sums_q[0].row.flight == flight) ||
               (sums_q[1].valid && sums_q[1].row.last && sums_q[1].row.flight == flight);
  endfunction
  function automatic mask_t signal_of(logic [FlightWidth-1:0] flight);
    signal_of = mmul_enters && free_q == flight ? started.signal_mask : flight_signal_q[flight];
  endfunction
  assign retires = grant_i[0];
  assign idle_o = empty && !started_q && !has_flight && !loading_q && !loaded_q;

  // MAT-load-end.
  logic l_ends;
  assign request_o[1] = '{valid: loaded_q, wait_mask: '0, signal_mask: l_signal_q};
  assign l_ends = grant_i[1];

  // MAT-set, MAT-start.
  logic set_starts;
  assign request_o[2] = '{valid: !empty && !started_q, wait_mask: head.wait_mask, signal_mask: head.is_set ? head.signal_mask : '0};
  assign pop = grant_i[2];
  assign set_starts = pop && head.is_set;

  // MAT-enter.
  logic last_row; // the streamer is at its last row
  logic mload_enters, enters, swap;
  always_comb begin
    swap = swaps_weights_q;
    mmul_enters = started_q && contracts_q && (!streaming_q || last_row) && flights_q < 8'(MatrixInflight) &&
        (!swap || !loading_q);
    mload_enters = started_q && !contracts_q && !loading_q && !loaded_q;
    enters = mmul_enters || mload_enters;
    entering = '0;
    if (started_q) entering = matrix_of(started.instruction, started.bits, state_q, started.address);
  end
  always_ff @(posedge clk_i) begin : start
    if (pop) begin
      started <= head;
      contracts_q <= is_contraction(head.instruction);
      swaps_weights_q <= swaps(head.instruction, head.bits);
    end
    if (!rst_ni) started_q <= 1'b0;
    else started_q <= (pop && !head.is_set) || (started_q && !enters);
  end

  // MAT-row.
  logic [MatrixDims-1:0] to_output; // the next position along the iterator is that of an output
  always_comb begin
    last_row = 1'b1;
    for (int d = 0; d < MatrixDims; d++) if (s_rows_q.left[d] != '0) last_row = 1'b0;
    begins = streaming_q;
    last_sum = last_row;
    to_output = '1;
    if (ColumnBroadcast != 0 && s_matrix_q.window) begin
      last_row = s_rows_q.left[MatrixDims-1] == s_rest_q;
      for (int d = 0; d < MatrixDims - 1; d++) if (s_rows_q.left[d] != '0) last_row = 1'b0;
      for (int d = 0; d < MatrixDims; d++) begin
        if (s_rows_q.phase[d] != '0 || s_rows_q.outputs[d] >= s_matrix_q.outputs[d]) begins = 1'b0;
        to_output[d] = s_rows_q.phase[d] + 32'd1 == s_matrix_q.stride[d];
      end
      last_sum = 1'b1;
      for (int d = 0; d < MatrixDims; d++) if (s_rows_q.outputs[d] + 32'd1 != s_matrix_q.outputs[d]) last_sum = 1'b0;
    end
    issued_sums = '{accumulate: s_matrix_q.accumulate, last: last_sum, flight: newest_q, address: s_rows_q.d[MatrixDims-1],
                    n: row_count_t'(s_matrix_q.n)};
  end
  rows_t rows_d; // behind this row
  always_comb begin : walk
    rows_d = s_rows_q;
    if (streaming_q) begin
      for (int at = 0; at < MatrixDims; at++) begin
        if (s_rows_q.left[at] != '0) begin
          rows_d = s_rows_q;
          rows_d.left[at] = s_rows_q.left[at] - 32'd1;
          if (ColumnBroadcast != 0) rows_d.phase[at] = to_output[at] ? '0 : s_rows_q.phase[at] + 32'd1;
          if (ColumnBroadcast != 0 && to_output[at]) rows_d.outputs[at] = s_rows_q.outputs[at] + 32'd1;
          for (int d = at; d < MatrixDims; d++) begin
            if (d > at) rows_d.left[d] = s_matrix_q.extent[d] - 32'd1;
            if (d > at) rows_d.phase[d] = '0;
            if (d > at) rows_d.outputs[d] = '0;
            rows_d.a[d] = s_rows_q.a[at] + s_matrix_q.a_stride[at];
            if (to_output[at]) rows_d.d[d] = s_rows_q.d[at] + s_matrix_q.d_stride[at];
            else rows_d.d[d] = s_rows_q.d[at];
          end
        end
      end
    end
  end

  // The banks that a row needs are known in the cycle before: others wait for them.
  spad_mask_t a_banks_q, a_banks_d;
  always_comb begin : next_row
    a_banks_d = '0;
    if (mmul_enters) begin
      if (!entering.empty && entering.k != '0) a_banks_d = spad_banks(entering.a, 32'(entering.k));
    end else if (streaming_q && !last_row && s_matrix_q.k != '0) begin
      if (ColumnBroadcast == 0 || !s_matrix_q.window || rows_d.left[MatrixDims-1] >= s_rest_q)
        a_banks_d = spad_banks(rows_d.a[MatrixDims-1], 32'(s_matrix_q.k));
    end
  end
  assign a_banks_o = a_banks_q;
  assign a_address_o = 48'(s_rows_q.a[MatrixDims-1]);

  // MAT-load-row.
  logic l_granted, l_wants, l_last;
  local_t l_next;
  spad_mask_t w_banks_q, w_banks_d;
  spad_mask_t held_q;   // by activations, and by weights if these do not wait for them
  logic l_waits_q;      // they do
  assign l_wants = loading_q && l_n_q != '0 && l_k_q != '0;
  assign l_granted = loading_q && !l_waits_q;
  assign l_last = l_left_q == 16'd1;
  assign l_next = l_address_q + l_stride_q;
  always_comb begin : next_weights
    w_banks_d = w_banks_q;
    if (mload_enters) w_banks_d = entering.n != '0 && entering.k != '0 ? spad_banks(entering.a, 32'(entering.n)) : '0;
    else if (l_granted) w_banks_d = l_wants && !l_last ? spad_banks(l_next, 32'(l_n_q)) : '0;
  end
  always_ff @(posedge clk_i) begin : banks
    if (!rst_ni) begin
      a_banks_q <= '0;
      w_banks_q <= '0;
      held_q <= '0;
      l_waits_q <= 1'b0;
    end else begin
      a_banks_q <= a_banks_d;
      w_banks_q <= w_banks_d;
      held_q <= (w_banks_d & a_banks_d) == '0 ? a_banks_d | w_banks_d : a_banks_d;
      l_waits_q <= (w_banks_d & a_banks_d) != '0;
    end
  end
  assign w_banks_o = l_waits_q ? '0 : w_banks_q;
  assign w_address_o = 48'(l_address_q);
  assign spad_read_held_o = held_q;

  // The array: rows of activations and of weights enter it in the cycle after they came, from which they are made operands and weights.
  // A load goes to the tile that is not active; what it does not read is cleared by a wave that comes before, or with, the first row
  // that it writes. What is made of a row depends on the registers of its instruction.
  always_ff @(posedge clk_i) begin : edges
    if (!rst_ni) begin
      begins_q <= 1'b0;
      window_q <= 1'b0;
      weights_come_q <= 1'b0;
      load_begins_q <= 1'b0;
      passes_q <= 1'b0;
      write_q <= '0;
      clear_q <= '0;
    end else begin
      begins_q <= begins;
      window_q <= ColumnBroadcast != 0 && streaming_q && s_matrix_q.window;
      weights_come_q <= l_wants && l_granted;
      load_begins_q <= loader_begins_q;
      passes_q <= begins_q;
      clear_q <= Rows'({clear_q, load_begins_q});
      write_q <= weights_come_q ? Rows'(1) << weights_row_q : '0;
    end
  end
  always_ff @(posedge clk_i) begin : rows
    for (int i = 0; i < Rows; i++)
      comes_q[i] <= ColumnBroadcast != 0 && s_matrix_q.window ? s_matrix_q.taps[i] : i < int'(s_matrix_q.k);
    weights_row_q <= l_row_q;
    weights_tile_q <= shadow_q;
    clear_tile_q <= Rows'({clear_tile_q, weights_tile_q});
    write_tile_q <= weights_tile_q;
    if (begins_q || window_q) begin
      a_instruction_q <= s_instruction_q;
      a_bits_q <= s_bits_q;
      a_state_q <= s_state_q;
      a_tile_q <= active_q;
      a_valid_q <= comes_q;
      a_bytes_q <= a_data_i;
    end
    if (weights_come_q) begin
      w_instruction_q <= l_instruction_q;
      w_bits_q <= l_bits_q;
      w_state_q <= l_state_q;
      w_n_q <= row_count_t'(l_n_q);
      w_bytes_q <= w_data_i[8*Cols-1:0];
    end
  end
  always_comb begin : operands
    elements = '0;
    columns = '0;
    weights = '0;
    for (int i = 0; i < Rows; i++) begin
      elements[i].tile = a_tile_q;
      elements[i].kind = kind_of(a_instruction_q);
      elements[i].valid = a_valid_q[i];
      if (passes_q && a_valid_q[i]) elements[i].operand = row_operand(a_instruction_q, a_bits_q, a_state_q, $signed(a_bytes_q[8*i +: 8]));
    end
    for (int j = 0; j < Cols; j++) begin
      if (ColumnBroadcast != 0) columns[j] = row_operand(a_instruction_q, a_bits_q, a_state_q, $signed(a_bytes_q[8*j +: 8]));
      weights[j] = WeightRest;
      if (write_q != '0 && j < int'(w_n_q)) weights[j] = weight_value(w_instruction_q, w_bits_q, w_state_q, $signed(w_bytes_q[8*j +: 8]));
    end
  end
  for (genvar i = 0; i < Rows; i++) begin : gen_events
    assign events[i] = '{write: write_q[i], clear: clear_q[i], tile: write_q[i] ? write_tile_q : clear_tile_q[i]};
  end
  tilewright_array u_array (
    .clk_i, .rst_ni, .passes_i(passes_q), .elements_i(elements), .columns_i(columns), .events_i(events), .weights_i(weights), .sums_o(sums)
  );

  // Sums that the array is done with before they are written.
  if (MatrixPipeline == Rows + Cols + 2) begin : gen_no_wait
    assign array_sum = sums;
  end else begin : gen_wait
    localparam int Wait = MatrixPipeline - Rows - Cols - 2;
    logic [32*Cols-1:0] wait_q [Wait];
    assign array_sum = wait_q[Wait-1];
    for (genvar i = 0; i < Wait; i++) begin : gen_stage
      always_ff @(posedge clk_i) wait_q[i] <= i == 0 ? sums : wait_q[i == 0 ? 0 : i-1];
    end
  end

  always_ff @(posedge clk_i) begin : loader
    if (!rst_ni) begin
      loading_q <= 1'b0;
      loader_begins_q <= 1'b0;
      loaded_q <= 1'b0;
      l_left_q <= '0;
      l_row_q <= '0;
      l_k_q <= '0;
      l_n_q <= '0;
      l_signal_q <= '0;
      l_id_q <= '0;
      l_address_q <= '0;
      l_stride_q <= '0;
      l_instruction_q <= '0;
      l_bits_q <= '0;
      l_state_q <= matrix_state_reset();
      active_q <= 1'b0;
      shadow_q <= 1'b0;
    end else begin
      if (swaps_q) active_q <= shadow_q;
      loader_begins_q <= mload_enters;
      if (mload_enters) begin
        loading_q <= 1'b1;
        l_instruction_q <= started.instruction;
        l_bits_q <= started.bits;
        l_state_q <= state_q;
        l_id_q <= started.id;
        l_signal_q <= started.signal_mask;
        l_k_q <= entering.k;
        l_n_q <= entering.n;
        l_address_q <= entering.a;
        l_stride_q <= entering.row_stride;
        l_left_q <= entering.k == '0 ? 16'd1 : entering.k;
        l_row_q <= '0;
        shadow_q <= !active_q;
      end
      if (l_granted) begin
        loading_q <= !l_last;
        l_address_q <= l_next;
        l_left_q <= l_left_q - 16'd1;
        l_row_q <= l_row_q + 16'd1;
      end
      loaded_q <= (l_granted && l_last) || (loaded_q && !l_ends);
    end
  end

  always_ff @(posedge clk_i) begin : streamer
    if (!rst_ni) begin
      state_q <= matrix_state_reset();
      streaming_q <= 1'b0;
      streamer_begins_q <= 1'b0;
      swaps_q <= 1'b0;
      s_bits_q <= '0;
      s_instruction_q <= '0;
      s_state_q <= matrix_state_reset();
      s_matrix_q <= '0;
      s_rows_q <= '0;
    end else begin
      if (set_starts) state_q <= matrix_execute_set(state_q, head.instruction, head.bits);
      streamer_begins_q <= mmul_enters;
      swaps_q <= mmul_enters && swap;
      if (streamer_begins_q) begin
        s_bits_q <= started.bits;
        s_instruction_q <= started.instruction;
        s_state_q <= state_q;
      end
      if (streaming_q) begin
        s_rows_q <= rows_d;
        streaming_q <= !last_row;
      end
      if (mmul_enters) begin
        streaming_q <= !entering.empty;
        s_matrix_q <= entering;
        s_rest_q <= entering.extent[MatrixDims-1] - entering.span;
        s_rows_q <= '0;
        for (int d = 0; d < MatrixDims; d++) begin
          s_rows_q.left[d] <= entering.extent[d] - 32'd1;
          s_rows_q.a[d] <= entering.a;
          s_rows_q.d[d] <= entering.d;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin : flights
    if (!rst_ni) begin
      flight_ready_q <= '0;
      ready_q <= 1'b0;
      oldest_q <= '0;
      newest_q <= '0;
      free_q <= '0;
      flights_q <= '0;
    end else begin
      if (acc_write && sums_q[0].row.last) flight_ready_q[sums_q[0].row.flight] <= 1'b1;
      if (mmul_enters) begin
        flight_id_q[free_q] <= started.id;
        flight_signal_q[free_q] <= started.signal_mask;
        flight_ready_q[free_q] <= entering.empty;
        newest_q <= free_q;
        free_q <= free_q == FlightWidth'(MatrixInflight - 1) ? '0 : free_q + 1'b1;
      end
      if (retires) oldest_q <= second;
      ready_q <= retires ? (mmul_enters || flights_q > 8'd1) && is_ready(second) : (mmul_enters || has_flight) && is_ready(oldest_q);
      ready_signal_q <= retires ? signal_of(second) : signal_of(oldest_q);
      flights_q <= flights_q + 8'(mmul_enters) - 8'(retires);
    end
  end

  // Where the cycle goes.
  always_comb begin
    activity_o = '{id: flight_id_q[oldest_q], reserved: '0, cause: StallNone, kind: Busy};
    if (streaming_q || pop) begin
      activity_o.kind = Busy;
    end else if (loading_q) begin
      activity_o.kind = Stalled;
      activity_o.id = l_id_q;
      activity_o.cause = l_granted ? StallDependence : StallSpadPort;
    end else if (loaded_q) begin
      activity_o.kind = l_ends ? Busy : Stalled;
      activity_o.id = l_id_q;
      activity_o.cause = StallSemaphore;
    end else if (enters) begin
      activity_o.kind = Busy;
    end else if (ready && !retires) begin
      activity_o.kind = Stalled;
      activity_o.cause = StallSemaphore;
    end else if (started_q) begin
      activity_o.kind = Stalled;
      activity_o.cause = StallDependence;
      activity_o.id = started.id;
    end else if (!empty) begin
      activity_o.kind = Stalled;
      activity_o.cause = StallSemaphore;
      activity_o.id = head.id;
    end else if (!has_flight) begin
      activity_o.kind = Idle;
    end
  end
  assign start_o = '{valid: pop, id: head.id};
  always_comb begin
    fault_o = 1'b0;
    if (Checks && pop && !head.is_set) fault_o = matrix_fault(head.instruction, head.bits, state_q, head.address);
  end
  assign end_o[0] = '{valid: retires, id: flight_id_q[oldest_q]};
  assign end_o[1] = '{valid: set_starts, id: head.id};
  assign end_o[2] = '{valid: l_ends, id: l_id_q};

  assign conflicts_o[1] = '0;
  assign conflicts_o[2] = '0;
  assign conflicts_o[3] = '0;
  always_ff @(posedge clk_i) begin : conflicts
    if (!rst_ni || !Checks) conflicts_o[0] <= '0;
    else if (l_wants && !l_granted) conflicts_o[0] <= conflicts_o[0] + 32'd1;
  end

  rows_are_in_order: assert property (@(posedge clk_i) disable iff (!rst_ni) retires |-> has_flight)
    else $error("An mmul ended that had not begun.");
endmodule
// verilator lint_on UNUSEDSIGNAL

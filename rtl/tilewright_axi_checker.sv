// The rules of AXI4 as far as the core uses it, for both sides of the bus: always on in the model. Bursts are INCR of whole beats;
// beats of an id come in the order of its requests; a write's address is sent no later than its first beat.
module tilewright_axi_checker #(
  parameter int BusBytes = 8,     // bytes of a beat
  parameter int BurstBytes = 256, // bursts do not cross a multiple of it
  parameter int Reads = 16,       // bursts on the way, at most, of an id
  parameter int Writes = 16       // the same of writes, of all ids together
) (
  input logic                  clk_i,      // all channels move at its rising edge
  input logic                  rst_ni,     // active low; nothing is checked while it is
  // Read address: the core asks for a burst.
  input logic                  ar_valid_i, // there is a request
  input logic                  ar_ready_i, // the memory takes it
  input logic [47:0]           ar_addr_i,  // of its first byte
  input logic [7:0]            ar_len_i,   // beats, less one
  input logic [2:0]            ar_size_i,  // log2 of a beat's bytes
  input logic [1:0]            ar_burst_i, // kind of burst
  input logic                  ar_id_i,    // 0: instructions, 1: data
  // Read data, for which the core is always ready.
  input logic                  r_valid_i,  // there is a beat
  input logic                  r_last_i,   // it is the last of its burst
  input logic                  r_id_i,     // of the request that it answers
  input logic [1:0]            r_resp_i,   // whether the memory has it
  // Write address.
  input logic                  aw_valid_i, // there is a request
  input logic                  aw_ready_i, // the memory takes it
  input logic [47:0]           aw_addr_i,  // of its first byte
  input logic [7:0]            aw_len_i,   // beats, less one
  input logic [2:0]            aw_size_i,  // log2 of a beat's bytes
  input logic [1:0]            aw_burst_i, // kind of burst
  input logic [7:0]            aw_id_i,    // that the response names
  // Write data.
  input logic                  w_valid_i,  // there is a beat
  input logic                  w_ready_i,  // the memory takes it
  input logic                  w_last_i,   // it is the last of its burst
  input logic [8*BusBytes-1:0] w_data_i,   // its bytes
  input logic [BusBytes-1:0]   w_strb_i,   // which of them are written
  // Write response, for which the core is always ready.
  input logic                  b_valid_i,  // a burst is in the memory
  input logic [7:0]            b_id_i,     // of its request
  input logic [1:0]            b_resp_i    // whether the memory took it
);
  localparam int Shift = $clog2(BusBytes);
  localparam logic [47:0] BeatMask = (48'd1 << Shift) - 48'd1;
  localparam logic [1:0] Incr = 2'b01;
  localparam logic [1:0] ExOkay = 2'b01; // answers an exclusive access
  localparam int Count = $clog2((Reads > Writes ? Reads : Writes) + 2);

  function automatic logic crosses(logic [47:0] address, logic [7:0] len, logic [47:0] limit);
    automatic logic [47:0] last = (((address >> Shift) + 48'(len)) << Shift) + BeatMask;
    return (address & ~(limit - 48'd1)) != (last & ~(limit - 48'd1));
  endfunction

  // What was on the channels in the cycle before, and not taken.
  logic ar_waits_q, aw_waits_q, w_waits_q;
  logic [61:0] ar_q;
  logic [68:0] aw_q;
  logic [9*BusBytes:0] w_q;

  // Lengths of the reads on the way, the oldest first, for each id; of writes whose beats are not all taken; beats done.
  logic [Reads-1:0][7:0] reads_q [2];
  logic [Count-1:0] reads_left_q [2];
  logic [7:0] beat_q [2];
  logic [Writes-1:0][7:0] lens_q, ids_q, write_ids_q;
  logic [Writes-1:0][47:0] addresses_q;
  logic [Count-1:0] lens_left_q, writes_left_q; // begun; complete and not answered
  logic [7:0] w_beat_q;

  logic ar_taken, aw_begins, w_taken, w_has_address;
  logic [7:0] w_len, w_id;
  logic [47:0] w_address;
  logic [BusBytes-1:0] w_below; // bytes of the first beat that lie below the burst
  logic answers;
  assign ar_taken = ar_valid_i && ar_ready_i;
  assign aw_begins = aw_valid_i && !aw_waits_q; // its beats may be taken before it is
  assign w_taken = w_valid_i && w_ready_i;
  assign w_has_address = lens_left_q != '0 || aw_begins;
  // In a block: inlined into assertions, queues would be sampled whole, and above 32 words verilator's C++ for that does
  // not compile.
  always_comb begin
    w_len = aw_len_i;
    w_id = aw_id_i;
    w_address = aw_addr_i;
    if (lens_left_q != '0) begin
      w_len = lens_q[0];
      w_id = ids_q[0];
      w_address = addresses_q[0];
    end
  end
  assign w_below = w_beat_q == '0 ? ~({BusBytes{1'b1}} << (w_address & BeatMask)) : '0;
  always_comb begin
    answers = 1'b0;
    for (int i = 0; i < Writes; i++) if (Count'(i) < writes_left_q && write_ids_q[i] == b_id_i) answers = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    ar_q <= {ar_addr_i, ar_len_i, ar_size_i, ar_burst_i, ar_id_i};
    aw_q <= {aw_addr_i, aw_len_i, aw_size_i, aw_burst_i, aw_id_i};
    w_q <= {w_last_i, w_strb_i, w_data_i};
    if (!rst_ni) begin
      ar_waits_q <= 1'b0;
      aw_waits_q <= 1'b0;
      w_waits_q <= 1'b0;
      reads_q <= '{default: '0};
      reads_left_q <= '{default: '0};
      beat_q <= '{default: '0};
      lens_q <= '0;
      ids_q <= '0;
      addresses_q <= '0;
      write_ids_q <= '0;
      lens_left_q <= '0;
      writes_left_q <= '0;
      w_beat_q <= '0;
    end else begin
      automatic logic w_ends = w_taken && w_last_i && w_has_address;
      automatic logic found = 1'b0;
      ar_waits_q <= ar_valid_i && !ar_ready_i;
      aw_waits_q <= aw_valid_i && !aw_ready_i;
      w_waits_q <= w_valid_i && !w_ready_i;
      if (w_taken) w_beat_q <= w_last_i ? '0 : w_beat_q + 8'd1;
      // Writes: from their address to their last beat, and from there to their response.
      if (aw_begins || w_ends) begin
        automatic logic [Writes-1:0][7:0] lens = lens_q, ids = ids_q;
        automatic logic [Writes-1:0][47:0] addresses = addresses_q;
        if (aw_begins) begin
          lens[32'(lens_left_q) % Writes] = aw_len_i;
          ids[32'(lens_left_q) % Writes] = aw_id_i;
          addresses[32'(lens_left_q) % Writes] = aw_addr_i;
        end
        lens_q <= w_ends ? lens >> 8 : lens;
        ids_q <= w_ends ? ids >> 8 : ids;
        addresses_q <= w_ends ? addresses >> 48 : addresses;
        lens_left_q <= lens_left_q + Count'(aw_begins) - Count'(w_ends);
      end
      if (w_ends || b_valid_i) begin
        automatic logic [Writes-1:0][7:0] left = write_ids_q;
        for (int i = 0; i < Writes; i++) begin
          if (b_valid_i && Count'(i) < writes_left_q && write_ids_q[i] == b_id_i) found = 1'b1;
          if (found) left[i] = i + 1 < Writes ? write_ids_q[(i + 1) % Writes] : '0;
        end
        if (w_ends) left[(32'(writes_left_q) - 32'(found)) % Writes] = w_id;
        write_ids_q <= left;
        writes_left_q <= writes_left_q + Count'(w_ends) - Count'(found);
      end
    end
  end

  for (genvar id = 0; id < 2; id++) begin : gen_id
    logic asks, comes, ends, waits, full, at_last;
    assign asks = ar_taken && ar_id_i == id[0];
    assign comes = r_valid_i && r_id_i == id[0];
    assign waits = reads_left_q[id] != '0;
    assign full = reads_left_q[id] == Count'(Reads);
    assign at_last = beat_q[id] == reads_q[id][0];
    assign ends = comes && r_last_i && waits;
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        if (comes) beat_q[id] <= r_last_i ? '0 : beat_q[id] + 8'd1;
        if (asks || ends) begin
          automatic logic [Reads-1:0][7:0] reads = ends ? reads_q[id] >> 8 : reads_q[id];
          if (asks) reads[(32'(reads_left_q[id]) - 32'(ends)) % Reads] = ar_len_i;
          reads_q[id] <= reads;
          reads_left_q[id] <= reads_left_q[id] + Count'(asks) - Count'(ends);
        end
      end
    end
    read_is_expected: assert property (@(posedge clk_i) disable iff (!rst_ni) comes |-> waits)
      else $error("AXI4: a read beat came for id %0d, which waits for none.", id);
    read_last: assert property (@(posedge clk_i) disable iff (!rst_ni)
        (comes && waits) |-> (r_last_i == at_last))
      else $error("AXI4: RLAST of id %0d is not at the beat that ARLEN says.", id);
    reads_are_few: assert property (@(posedge clk_i) disable iff (!rst_ni) !(asks && full))
      else $error("AXI4: more reads of id %0d are on the way than the core has credits for.", id);
  end

  quiet_in_reset: assert property (@(posedge clk_i) !(!rst_ni && (ar_valid_i || aw_valid_i || w_valid_i)))
    else $error("AXI4: a VALID is high in reset.");
  ar_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
      ar_waits_q |-> (ar_valid_i && ar_q == {ar_addr_i, ar_len_i, ar_size_i, ar_burst_i, ar_id_i}))
    else $error("AXI4: a read address changed or went before it was taken.");
  aw_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
      aw_waits_q |-> (aw_valid_i && aw_q == {aw_addr_i, aw_len_i, aw_size_i, aw_burst_i, aw_id_i}))
    else $error("AXI4: a write address changed or went before it was taken.");
  w_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
      w_waits_q |-> (w_valid_i && w_q == {w_last_i, w_strb_i, w_data_i}))
    else $error("AXI4: a write beat changed or went before it was taken.");
  ar_kind: assert property (@(posedge clk_i) disable iff (!rst_ni)
      ar_valid_i |-> (ar_burst_i == Incr && ar_size_i == 3'(Shift)))
    else $error("AXI4: a read burst is not INCR of whole beats.");
  aw_kind: assert property (@(posedge clk_i) disable iff (!rst_ni)
      aw_valid_i |-> (aw_burst_i == Incr && aw_size_i == 3'(Shift)))
    else $error("AXI4: a write burst is not INCR of whole beats.");
  ar_page: assert property (@(posedge clk_i) disable iff (!rst_ni) ar_valid_i |-> !crosses(ar_addr_i, ar_len_i, 48'd4096))
    else $error("AXI4: a read burst crosses a 4 KiB boundary.");
  aw_page: assert property (@(posedge clk_i) disable iff (!rst_ni) aw_valid_i |-> !crosses(aw_addr_i, aw_len_i, 48'd4096))
    else $error("AXI4: a write burst crosses a 4 KiB boundary.");
  ar_window: assert property (@(posedge clk_i) disable iff (!rst_ni)
      ar_valid_i |-> !crosses(ar_addr_i, ar_len_i, 48'(BurstBytes)))
    else $error("A read burst crosses a multiple of the longest burst.");
  aw_window: assert property (@(posedge clk_i) disable iff (!rst_ni)
      aw_valid_i |-> !crosses(aw_addr_i, aw_len_i, 48'(BurstBytes)))
    else $error("A write burst crosses a multiple of the longest burst.");
  w_after_aw: assert property (@(posedge clk_i) disable iff (!rst_ni) w_valid_i |-> w_has_address)
    else $error("A write beat comes before its address.");
  w_last: assert property (@(posedge clk_i) disable iff (!rst_ni)
      (w_valid_i && w_has_address) |-> (w_last_i == (w_beat_q == w_len)))
    else $error("AXI4: WLAST is not at the beat that AWLEN says.");
  w_strobes: assert property (@(posedge clk_i) disable iff (!rst_ni)
      (w_valid_i && w_has_address) |-> ((w_strb_i & w_below) == '0 && w_strb_i != '0))
    else $error("AXI4: strobes lie below the write's address, or a beat writes nothing.");
  b_is_expected: assert property (@(posedge clk_i) disable iff (!rst_ni) b_valid_i |-> answers)
    else $error("AXI4: a write response came for an id that waits for none.");
  r_is_not_exclusive: assert property (@(posedge clk_i) disable iff (!rst_ni) r_valid_i |-> r_resp_i != ExOkay)
    else $error("AXI4: a read beat answers EXOKAY, and nothing asked for exclusive access.");
  b_is_not_exclusive: assert property (@(posedge clk_i) disable iff (!rst_ni) b_valid_i |-> b_resp_i != ExOkay)
    else $error("AXI4: a write response is EXOKAY, and nothing asked for exclusive access.");
  writes_are_few: assert property (@(posedge clk_i) disable iff (!rst_ni)
      aw_begins |-> (lens_left_q + writes_left_q < Count'(Writes)))
    else $error("AXI4: more writes are on the way than the core allows itself.");
endmodule

// The registers by which a host drives the machine, behind an AXI4-Lite port: docs/host.md. Of writes and of reads one each is open at a
// time; address and data of a write may come in any order. Every ready and every response comes from a flip-flop: nothing that the
// host does reaches the channels within the cycle.
module tilewright_registers import tilewright_registers_pkg::*; (
  input  logic        clk_i,      // all state changes at its rising edge
  input  logic        rst_ni,     // synchronous reset, active low
  // AXI4-Lite write address.
  input  logic        aw_valid_i, // there is an address
  output logic        aw_ready_o, // it is taken
  input  logic [RegisterAddressBits-1:0] aw_addr_i, // in bytes; the lowest two bits count for nothing
  // Write data.
  input  logic        w_valid_i,  // there are data
  output logic        w_ready_o,  // they are taken
  input  logic [31:0] w_data_i,   // the word
  input  logic [3:0]  w_strb_i,   // which of its bytes are written
  // Write response.
  output logic        b_valid_o,  // the write is done
  input  logic        b_ready_i,  // the host knows
  output logic [1:0]  b_resp_o,   // OKAY, or SLVERR where there is no register
  // Read address.
  input  logic        ar_valid_i, // there is an address
  output logic        ar_ready_o, // it is taken
  input  logic [RegisterAddressBits-1:0] ar_addr_i, // in bytes; the lowest two bits count for nothing
  // Read data.
  output logic        r_valid_o,  // there are data
  input  logic        r_ready_i,  // the host takes them
  output logic [31:0] r_data_o,   // the word
  output logic [1:0]  r_resp_o,   // OKAY, or SLVERR where there is no register
  // The machine.
  input  logic        idle_i,     // no program runs: all registers can be written
  input  to_host_t    machine_i,  // what it shows
  output from_host_t  host_o      // what the host wants of it
);
  localparam logic [1:0] Okay = 2'b00, SlaveError = 2'b10;

  // A write waits for its address and its data, then is done in one cycle, then waits for its response to be taken.
  logic aw_held_d, aw_held_q, w_held_d, w_held_q, b_valid_d, b_valid_q;
  register_word_t write_word_d, write_word_q, write_word;
  logic [31:0] write_data_d, write_data_q, write_data;
  logic [3:0] write_strobe_d, write_strobe_q;
  logic [31:0] write_mask;
  logic [1:0] b_resp_d, b_resp_q;
  logic write;
  assign aw_ready_o = !aw_held_q;
  assign w_ready_o = !w_held_q;
  assign b_valid_o = b_valid_q;
  assign b_resp_o = b_resp_q;
  assign write = aw_held_q && w_held_q && !b_valid_q;
  assign write_word = write_word_q;
  assign write_data = write_data_q;
  for (genvar i = 0; i < 4; i++) begin : gen_mask
    assign write_mask[8*i +: 8] = {8{write_strobe_q[i]}};
  end

  // A read is done in the cycle after its address was taken.
  logic ar_held_d, ar_held_q, r_valid_d, r_valid_q;
  register_word_t read_word_d, read_word_q, read_word;
  logic [31:0] r_data_d, r_data_q;
  logic [1:0] r_resp_d, r_resp_q;
  logic read;
  assign ar_ready_o = !ar_held_q && !r_valid_q;
  assign r_valid_o = r_valid_q;
  assign r_data_o = r_data_q;
  assign r_resp_o = r_resp_q;
  assign read = ar_held_q;
  assign read_word = read_word_q;

  `include "tilewright_registers.svh"

  always_comb begin : write_next
    aw_held_d = aw_held_q;
    w_held_d = w_held_q;
    b_valid_d = b_valid_q && !b_ready_i;
    b_resp_d = b_resp_q;
    write_word_d = write_word_q;
    write_data_d = write_data_q;
    write_strobe_d = write_strobe_q;
    if (aw_valid_i && aw_ready_o) begin
      aw_held_d = 1'b1;
      write_word_d = aw_addr_i[RegisterAddressBits-1:2];
    end
    if (w_valid_i && w_ready_o) begin
      w_held_d = 1'b1;
      write_data_d = w_data_i;
      write_strobe_d = w_strb_i;
    end
    if (write) begin
      aw_held_d = 1'b0;
      w_held_d = 1'b0;
      b_valid_d = 1'b1;
      b_resp_d = write_known ? Okay : SlaveError;
    end
  end
  always_ff @(posedge clk_i) begin : write_state
    if (!rst_ni) begin
      aw_held_q <= 1'b0;
      w_held_q <= 1'b0;
      b_valid_q <= 1'b0;
      b_resp_q <= Okay;
      write_word_q <= '0;
      write_data_q <= '0;
      write_strobe_q <= '0;
    end else begin
      aw_held_q <= aw_held_d;
      w_held_q <= w_held_d;
      b_valid_q <= b_valid_d;
      b_resp_q <= b_resp_d;
      write_word_q <= write_word_d;
      write_data_q <= write_data_d;
      write_strobe_q <= write_strobe_d;
    end
  end

  always_comb begin : read_next
    ar_held_d = 1'b0;
    r_valid_d = r_valid_q && !r_ready_i;
    read_word_d = read_word_q;
    r_data_d = r_data_q;
    r_resp_d = r_resp_q;
    if (ar_valid_i && ar_ready_o) begin
      ar_held_d = 1'b1;
      read_word_d = ar_addr_i[RegisterAddressBits-1:2];
    end
    if (read) begin
      r_valid_d = 1'b1;
      r_data_d = read_data;
      r_resp_d = read_known ? Okay : SlaveError;
    end
  end
  always_ff @(posedge clk_i) begin : read_state
    if (!rst_ni) begin
      ar_held_q <= 1'b0;
      r_valid_q <= 1'b0;
      read_word_q <= '0;
      r_data_q <= '0;
      r_resp_q <= Okay;
    end else begin
      ar_held_q <= ar_held_d;
      r_valid_q <= r_valid_d;
      read_word_q <= read_word_d;
      r_data_q <= r_data_d;
      r_resp_q <= r_resp_d;
    end
  end

  logic unused_address; // a register is a word
  assign unused_address = ^{aw_addr_i[1:0], ar_addr_i[1:0]};

  write_response_waits: assert property (@(posedge clk_i) disable iff (!rst_ni)
      (b_valid_o && !b_ready_i) |=> (b_valid_o && $stable(b_resp_o)))
    else $error("AXI4-Lite: a write response changed or went before it was taken.");
  read_data_wait: assert property (@(posedge clk_i) disable iff (!rst_ni)
      (r_valid_o && !r_ready_i) |=> (r_valid_o && $stable({r_data_o, r_resp_o})))
    else $error("AXI4-Lite: read data changed or went before they were taken.");
  one_read_is_open: assert property (@(posedge clk_i) disable iff (!rst_ni) !(ar_held_q && r_valid_q))
    else $error("AXI4-Lite: a read began before the one before it ended.");
endmodule

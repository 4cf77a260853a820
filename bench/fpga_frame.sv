// What stands around the machine when bench/fpga times it, since a part has fewer pins than it has ports: one serial pin in, one out.
// All ports of the machine have registers, as those of a host's bus and of a memory controller would have.
module tilewright_frame import tilewright_pkg::*; import tilewright_registers_pkg::*; (
  input  logic clk_i,    // all state changes at its rising edge
  input  logic rst_ni,   // synchronous, active low
  input  logic serial_i, // bits of the machine's inputs
  output logic serial_o  // bits of its outputs
);
  typedef struct packed {
    logic host_aw_valid;
    logic [RegisterAddressBits-1:0] host_aw_addr;
    logic host_w_valid;
    logic [31:0] host_w_data;
    logic [3:0] host_w_strb;
    logic host_b_ready;
    logic host_ar_valid;
    logic [RegisterAddressBits-1:0] host_ar_addr;
    logic host_r_ready;
    logic ar_ready;
    logic r_valid;
    logic r_last;
    logic r_id;
    logic [1:0] r_resp;
    logic [8*BusBytes-1:0] r_data;
    logic aw_ready;
    logic w_ready;
    logic b_valid;
    logic [7:0] b_id;
    logic [1:0] b_resp;
  } inputs_t;
  typedef struct packed {
    logic interrupt;
    logic host_aw_ready;
    logic host_w_ready;
    logic host_b_valid;
    logic [1:0] host_b_resp;
    logic host_ar_ready;
    logic host_r_valid;
    logic [31:0] host_r_data;
    logic [1:0] host_r_resp;
    logic ar_valid;
    logic [47:0] ar_addr;
    logic [7:0] ar_len;
    logic [2:0] ar_size;
    logic [1:0] ar_burst;
    logic ar_id;
    logic aw_valid;
    logic [47:0] aw_addr;
    logic [7:0] aw_len;
    logic [2:0] aw_size;
    logic [1:0] aw_burst;
    logic [7:0] aw_id;
    logic w_valid;
    logic w_last;
    logic [8*BusBytes-1:0] w_data;
    logic [BusBytes-1:0] w_strb;
  } outputs_t;
  localparam int Inputs = $bits(inputs_t), Outputs = $bits(outputs_t);

  logic rst_nq;
  logic [Inputs-1:0] in_q;
  logic [Outputs-1:0] out_q, shift_q;
  inputs_t in;
  outputs_t out;
  assign in = in_q;
  always_ff @(posedge clk_i) begin
    rst_nq <= rst_ni;
    in_q <= {in_q[Inputs-2:0], serial_i};
    out_q <= out;
    shift_q <= in_q[0] ? out_q : shift_q >> 1;
  end
  assign serial_o = shift_q[0];

  tilewright_top u_top (
    .clk_i, .rst_ni(rst_nq), .interrupt_o(out.interrupt),
    .host_aw_valid_i(in.host_aw_valid), .host_aw_ready_o(out.host_aw_ready), .host_aw_addr_i(in.host_aw_addr),
    .host_w_valid_i(in.host_w_valid), .host_w_ready_o(out.host_w_ready), .host_w_data_i(in.host_w_data), .host_w_strb_i(in.host_w_strb),
    .host_b_valid_o(out.host_b_valid), .host_b_ready_i(in.host_b_ready), .host_b_resp_o(out.host_b_resp),
    .host_ar_valid_i(in.host_ar_valid), .host_ar_ready_o(out.host_ar_ready), .host_ar_addr_i(in.host_ar_addr),
    .host_r_valid_o(out.host_r_valid), .host_r_ready_i(in.host_r_ready), .host_r_data_o(out.host_r_data), .host_r_resp_o(out.host_r_resp),
    .ar_valid_o(out.ar_valid), .ar_ready_i(in.ar_ready), .ar_addr_o(out.ar_addr), .ar_len_o(out.ar_len), .ar_size_o(out.ar_size),
    .ar_burst_o(out.ar_burst), .ar_id_o(out.ar_id),
    .r_valid_i(in.r_valid), .r_last_i(in.r_last), .r_id_i(in.r_id), .r_resp_i(in.r_resp), .r_data_i(in.r_data),
    .aw_valid_o(out.aw_valid), .aw_ready_i(in.aw_ready), .aw_addr_o(out.aw_addr), .aw_len_o(out.aw_len), .aw_size_o(out.aw_size),
    .aw_burst_o(out.aw_burst), .aw_id_o(out.aw_id), .w_valid_o(out.w_valid), .w_ready_i(in.w_ready), .w_last_o(out.w_last),
    .w_data_o(out.w_data), .w_strb_o(out.w_strb), .b_valid_i(in.b_valid), .b_id_i(in.b_id), .b_resp_i(in.b_resp),
    .active_o(), .halted_o(), .bus_error_o(), .activity_o(), .executed_o(), .is_control_o(), .pc_o(), .trap_o(), .start_o(), .fault_o(),
    .end_o(), .conflicts_o(), .spad_write_o(), .spad_write_address_o(), .spad_write_bytes_o(), .spad_write_data_o(), .acc_write_o(),
    .acc_write_address_o(), .acc_write_bytes_o(), .acc_write_data_o()
  );
endmodule

// What Verilator compiles: the core, and a register at each of its inputs. The engine says what comes from outside in the next cycle,
// and one edge brings both. No logic hangs on a port of the model then, which Verilator would compute again at each change of the
// clock: a cycle is computed once.
module tilewright_model import tilewright_pkg::*; import tilewright_registers_pkg::*; (
  input  logic        clk_i,
  // For the cycle that the next edge begins.
  input  logic        next_rst_ni,
  input  logic        next_host_aw_valid_i,
  input  logic [RegisterAddressBits-1:0] next_host_aw_addr_i,
  input  logic        next_host_w_valid_i,
  input  logic [31:0] next_host_w_data_i,
  input  logic [3:0]  next_host_w_strb_i,
  input  logic        next_host_b_ready_i,
  input  logic        next_host_ar_valid_i,
  input  logic [RegisterAddressBits-1:0] next_host_ar_addr_i,
  input  logic        next_host_r_ready_i,
  input  logic        next_ar_ready_i,
  input  logic        next_r_valid_i,
  input  logic        next_r_last_i,
  input  logic        next_r_id_i,
  input  logic [1:0]  next_r_resp_i,
  input  logic [8*BusBytes-1:0] next_r_data_i,
  input  logic        next_aw_ready_i,
  input  logic        next_w_ready_i,
  input  logic        next_b_valid_i,
  input  logic [7:0]  next_b_id_i,
  input  logic [1:0]  next_b_resp_i,
  // Of the cycle that the last edge began.
  output logic        interrupt_o,
  output logic        host_aw_ready_o,
  output logic        host_w_ready_o,
  output logic        host_b_valid_o,
  output logic [1:0]  host_b_resp_o,
  output logic        host_ar_ready_o,
  output logic        host_r_valid_o,
  output logic [31:0] host_r_data_o,
  output logic [1:0]  host_r_resp_o,
  output logic        active_o,
  output logic        halted_o,
  output logic [2:0]  bus_error_o,
  output logic        ar_valid_o,
  output logic [47:0] ar_addr_o,
  output logic [7:0]  ar_len_o,
  output logic        ar_id_o,
  output logic        aw_valid_o,
  output logic [47:0] aw_addr_o,
  output logic [7:0]  aw_len_o,
  output logic [7:0]  aw_id_o,
  output logic        w_valid_o,
  output logic        w_last_o,
  output logic [8*BusBytes-1:0] w_data_o,
  output logic [BusBytes-1:0]   w_strb_o,
  output activity_t   activity_o [5],
  output event_t      executed_o,
  output logic        is_control_o,
  output logic [31:0] pc_o,
  output trap_cause_e trap_o,
  output event_t      start_o [4],
  output logic [3:0]  fault_o,
  output event_t      end_o [9],
  output logic [31:0] conflicts_o [16],
  output logic [1:0]                 spad_write_o,
  output logic [1:0][47:0]           spad_write_address_o,
  output logic [1:0][15:0]           spad_write_bytes_o,
  output logic [1:0][8*SpadPort-1:0] spad_write_data_o,
  output logic [2:0]                 acc_write_o,
  output logic [2:0][47:0]           acc_write_address_o,
  output logic [2:0][15:0]           acc_write_bytes_o,
  output logic [2:0][8*AccPort-1:0]  acc_write_data_o
);
  logic rst_ni, ar_ready_i, r_valid_i, r_last_i, r_id_i, aw_ready_i, w_ready_i, b_valid_i;
  logic host_aw_valid_i, host_w_valid_i, host_b_ready_i, host_ar_valid_i, host_r_ready_i;
  logic [RegisterAddressBits-1:0] host_aw_addr_i, host_ar_addr_i;
  logic [31:0] host_w_data_i;
  logic [3:0] host_w_strb_i;
  logic [8*BusBytes-1:0] r_data_i;
  logic [7:0] b_id_i;
  logic [1:0] r_resp_i, b_resp_i;
  logic [2:0] ar_size_o, aw_size_o;
  logic [1:0] ar_burst_o, aw_burst_o;

  always_ff @(posedge clk_i) begin
    rst_ni <= next_rst_ni;
    host_aw_valid_i <= next_host_aw_valid_i;
    host_aw_addr_i <= next_host_aw_addr_i;
    host_w_valid_i <= next_host_w_valid_i;
    host_w_data_i <= next_host_w_data_i;
    host_w_strb_i <= next_host_w_strb_i;
    host_b_ready_i <= next_host_b_ready_i;
    host_ar_valid_i <= next_host_ar_valid_i;
    host_ar_addr_i <= next_host_ar_addr_i;
    host_r_ready_i <= next_host_r_ready_i;
    ar_ready_i <= next_ar_ready_i;
    r_valid_i <= next_r_valid_i;
    r_last_i <= next_r_last_i;
    r_id_i <= next_r_id_i;
    r_resp_i <= next_r_resp_i;
    r_data_i <= next_r_data_i;
    aw_ready_i <= next_aw_ready_i;
    w_ready_i <= next_w_ready_i;
    b_valid_i <= next_b_valid_i;
    b_id_i <= next_b_id_i;
    b_resp_i <= next_b_resp_i;
  end

  tilewright_top #(.Checks(1'b1)) u_top (.*);
endmodule

// What the machine does when: idle, running a program, coming to a stop after it, or waiting for open transfers before a soft reset.
// docs/host.md has the states.
module tilewright_control import tilewright_pkg::*; import tilewright_registers_pkg::*; (
  input  logic        clk_i,         // all state changes at its rising edge
  input  logic        rst_ni,        // synchronous reset, active low
  // The host, each for one cycle.
  input  logic        start_i,       // starts a program; while idle only
  input  logic        soft_reset_i,  // asks for a soft reset
  // The core.
  output logic        core_rst_no,   // its synchronous reset, active low; cycle 0 of a program is the first without
  output logic        stop_o,        // no instruction starts; registered
  output logic        stop_next_o,   // so in the next cycle
  output logic        quiesce_o,     // no burst begins
  input  logic        halted_i,      // `halt` executes in this cycle
  input  trap_cause_e trap_i,        // why execution cannot go on
  input  logic [31:0] pc_i,          // the instruction that traps
  input  logic [2:0]  bus_error_i,   // what the memory has refused: instruction fetch, load, store
  input  logic        at_rest_i,     // nothing that has begun is left, no transfer is open; registered
  input  logic        bus_idle_i,    // no transfer is open; registered
  // For the registers.
  output logic        idle_o,        // nothing runs
  output logic        running_o,     // a program runs: its cycles are counted
  output logic        stopping_o,    // it has ended, and what has begun comes to its end
  output logic        resetting_o,   // a soft reset waits
  output logic        starts_o,      // a program starts with the next cycle
  output logic        ended_o,       // a program has come to its end, in this cycle
  output logic        trapped_o,     // the last program trapped
  output logic        done_o,        // the last program has ended
  output trap_cause_e cause_o,       // why it trapped
  output logic [31:0] trap_pc_o,     // at which instruction
  output logic [2:0]  bus_refused_o  // what the memory refused in it
);
  typedef enum logic [1:0] {StateIdle, StateRun, StateStop, StateReset} state_e;
  state_e state_d, state_q;
  logic core_rst_nd, core_rst_nq, stop_q;
  logic done_d, done_q;
  trap_cause_e cause_d, cause_q;
  logic [31:0] trap_pc_d, trap_pc_q;
  logic [2:0] bus_refused_d, bus_refused_q;

  always_comb begin : next
    state_d = state_q;
    unique case (state_q)
      StateIdle: if (start_i) state_d = StateRun;
      StateRun: if (halted_i || trap_i != TrapCauseNone) state_d = StateStop;
      StateStop: if (at_rest_i) state_d = StateIdle;
      StateReset: if (bus_idle_i) state_d = StateIdle;
    endcase
    ended_o = state_q == StateStop && at_rest_i;
    // It comes before whatever else would end the program: that never has ended then.
    if (soft_reset_i && state_q != StateIdle && state_q != StateReset) begin
      state_d = StateReset;
      ended_o = 1'b0;
    end
    core_rst_nd = state_d != StateIdle;
  end
  assign starts_o = state_q == StateIdle && start_i;

  always_comb begin : outcome
    done_d = done_q || ended_o;
    cause_d = cause_q;
    trap_pc_d = trap_pc_q;
    bus_refused_d = bus_refused_q;
    if (state_q == StateRun && trap_i != TrapCauseNone) begin
      cause_d = trap_i;
      trap_pc_d = pc_i;
    end
    if (state_q == StateRun || state_q == StateStop) bus_refused_d = bus_error_i;
    if (starts_o || soft_reset_i || state_q == StateReset) begin
      done_d = 1'b0;
      cause_d = TrapCauseNone;
      trap_pc_d = '0;
      bus_refused_d = '0;
    end
  end

  always_ff @(posedge clk_i) begin : state
    if (!rst_ni) begin
      state_q <= StateIdle;
      core_rst_nq <= 1'b0;
      stop_q <= 1'b1;
      done_q <= 1'b0;
      cause_q <= TrapCauseNone;
      trap_pc_q <= '0;
      bus_refused_q <= '0;
    end else begin
      state_q <= state_d;
      core_rst_nq <= core_rst_nd;
      stop_q <= stop_next_o;
      done_q <= done_d;
      cause_q <= cause_d;
      trap_pc_q <= trap_pc_d;
      bus_refused_q <= bus_refused_d;
    end
  end

  assign core_rst_no = rst_ni && core_rst_nq;
  // In reset, too: flip-flops of the core still show their old state in its first cycle.
  assign stop_o = stop_q;
  assign stop_next_o = !rst_ni || state_d != StateRun;
  assign quiesce_o = state_q == StateReset || state_q == StateIdle;
  assign idle_o = state_q == StateIdle;
  assign running_o = state_q == StateRun;
  assign stopping_o = state_q == StateStop;
  assign resetting_o = state_q == StateReset;
  assign done_o = done_q;
  assign trapped_o = done_q && cause_q != TrapCauseNone;
  assign cause_o = cause_q;
  assign trap_pc_o = trap_pc_q;
  assign bus_refused_o = bus_refused_q;

  ends_at_rest: assert property (@(posedge clk_i) disable iff (!rst_ni) (state_q != StateIdle && state_d == StateIdle) |-> bus_idle_i)
    else $error("The core is reset while transfers are open.");
endmodule

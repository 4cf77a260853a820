// Between the core and a channel of AXI4: what the memory does not take at once waits here, unchanged, until it does. While something
// waits, the core sends nothing more on the channel. A memory that is always ready makes it a wire.
module tilewright_axi_hold #(
  parameter int Width = 8 // bits of the payload
) (
  input  logic             clk_i,    // all state changes at its rising edge
  input  logic             rst_ni,   // synchronous reset, active low
  input  logic             valid_i,  // only while not held
  input  logic [Width-1:0] data_i,   // payload of `valid_i`
  output logic             held_o,   // registered
  output logic             valid_o,  // to the channel
  output logic [Width-1:0] data_o,   // to the channel
  input  logic             ready_i   // of the channel
);
  logic held_q;
  logic [Width-1:0] data_q;
  assign held_o = held_q;
  assign valid_o = rst_ni && (valid_i || held_q);
  assign data_o = held_q ? data_q : data_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) held_q <= 1'b0;
    else held_q <= valid_o && !ready_i;
    if (!held_q) data_q <= data_i; // it counts where something is held
  end

  sends_only_when_free: assert property (@(posedge clk_i) disable iff (!rst_ni) !(valid_i && held_q))
    else $error("The core sends while the channel still holds what it sent before.");
endmodule

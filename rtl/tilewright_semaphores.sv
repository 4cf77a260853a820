// The counting semaphores: rows SEM-* of docs/microarchitecture.md. The units take and give in their order of priority within
// a cycle; here are the registered counts and their change at the end of the cycle.
module tilewright_semaphores import tilewright_pkg::*; #(
  parameter int Takers = 5, // masks that can be taken in a cycle
  parameter int Givers = 9  // masks that can be given in a cycle
) (
  input  logic    clk_i,
  input  logic    rst_ni,
  input  mask_t   take_i [Takers], // one from each semaphore of the mask
  input  mask_t   give_i [Givers],
  output levels_t avail_o,         // level i: the count is at least i + 1
  output levels_t room_o           // level i: i + 1 more fit
);
  localparam int Width = $clog2(SemaphoreMax + 1) + 1;
  logic [Width-1:0] count_q [Semaphores];

  for (genvar s = 0; s < Semaphores; s++) begin : gen_semaphore
    logic [Width-1:0] taken, given;
    always_comb begin
      taken = '0;
      given = '0;
      for (int i = 0; i < Takers; i++) taken = taken + Width'(take_i[i][s]);
      for (int i = 0; i < Givers; i++) given = given + Width'(give_i[i][s]);
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) count_q[s] <= '0;
      else count_q[s] <= count_q[s] + given - taken;
    end
    for (genvar l = 0; l < Levels; l++) begin : gen_level
      assign avail_o[l][s] = count_q[s] > Width'(l);
      assign room_o[l][s] = count_q[s] + Width'(l) < Width'(SemaphoreMax);
    end
    logic in_range;
    assign in_range = count_q[s] <= Width'(SemaphoreMax);
    count_in_range: assert property (@(posedge clk_i) disable iff (!rst_ni) in_range)
      else $error("Semaphore %0d is beyond its greatest count.", s);
  end
endmodule

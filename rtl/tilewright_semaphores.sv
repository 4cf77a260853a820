// The counting semaphores: rows SEM-* of docs/microarchitecture.md. The units take and give in their order of priority within
// a cycle; here are the registered counts, what units ask of them, and their change at the end of the cycle.
module tilewright_semaphores import tilewright_pkg::*; #(
  parameter int Takers = 5, // masks that can be taken in a cycle
  parameter int Givers = 9  // masks that can be given in a cycle
) (
  input  logic    clk_i,           // all state changes at its rising edge
  input  logic    rst_ni,          // synchronous reset, active low
  input  logic    stop_i,          // no token can be taken any more, and any number fits: what has begun can end
  input  mask_t   take_i [Takers], // one from each semaphore of the mask
  input  mask_t   give_i [Givers], // one to each semaphore of the mask
  output levels_t avail_o,         // level i: the count is at least i + 1; registered, as is `stop_i`
  output levels_t room_o           // level i: i + 1 more fit; registered, as is `stop_i`
);
  localparam int Width = $clog2(SemaphoreMax + 1) + 1;
  logic [Width-1:0] count_q [Semaphores];
  levels_t avail_q, room_q;
  assign avail_o = stop_i ? '0 : avail_q;
  assign room_o = stop_i ? '1 : room_q;

  mask_t moves; // semaphores that anyone takes or gives
  always_comb begin
    moves = '0;
    for (int i = 0; i < Takers; i++) moves = moves | take_i[i];
    for (int i = 0; i < Givers; i++) moves = moves | give_i[i];
  end

  for (genvar s = 0; s < Semaphores; s++) begin : gen_semaphore
    logic [Width-1:0] next;
    always_comb begin
      next = count_q[s];
      if (moves[s]) begin
        for (int i = 0; i < Givers; i++) next = next + Width'(give_i[i][s]);
        for (int i = 0; i < Takers; i++) next = next - Width'(take_i[i][s]);
      end
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        count_q[s] <= '0;
        for (int l = 0; l < Levels; l++) begin
          avail_q[l][s] <= 1'b0;
          room_q[l][s] <= Width'(l) < Width'(SemaphoreMax);
        end
      end else if (moves[s]) begin
        count_q[s] <= next;
        for (int l = 0; l < Levels; l++) begin
          avail_q[l][s] <= next > Width'(l);
          room_q[l][s] <= next + Width'(l) < Width'(SemaphoreMax);
        end
      end
    end
    logic in_range;
    assign in_range = count_q[s] <= Width'(SemaphoreMax);
    count_in_range: assert property (@(posedge clk_i) disable iff (!rst_ni || stop_i) in_range)
      else $error("Semaphore %0d is beyond its greatest count.", s);
  end
endmodule

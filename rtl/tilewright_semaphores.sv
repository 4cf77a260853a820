// The counting semaphores: rows SEM-* of docs/microarchitecture.md. Of all that ask in a cycle one is granted: the first that can be. What
// asks for no semaphore can always go on, beside it.
module tilewright_semaphores import tilewright_pkg::*; #(
  parameter int Requests = 10 // of a cycle, in the order of their priority
) (
  input  logic                clk_i,  // all state changes at its rising edge
  input  logic                rst_ni, // synchronous reset, active low
  input  logic                stop_i, // nothing asks for a token any more, and any number fits: what has begun can end
  input  request_t            request_i [Requests], // none depends on a grant of the same cycle
  output logic [Requests-1:0] grant_o               // it has what it asks for
);
  localparam int Width = $clog2(SemaphoreMax + 1) + 1;
  logic [Width-1:0] count_q [Semaphores];
  mask_t available_q, full_q; // of the counts

  mask_t full, acquired, released;
  logic [Requests-1:0] can, asks, counts, takes; // counts: it could have what it asks for; takes: it is the first such one
  assign full = stop_i ? '0 : full_q;
  always_comb begin : grant
    acquired = '0;
    released = '0;
    for (int i = 0; i < Requests; i++) begin
      asks[i] = request_i[i].wait_mask != '0 || request_i[i].signal_mask != '0;
      can[i] = request_i[i].valid && (request_i[i].wait_mask & ~available_q) == '0 && (request_i[i].signal_mask & full) == '0;
      counts[i] = can[i] && asks[i];
    end
    for (int i = 0; i < Requests; i++) begin
      takes[i] = counts[i] && (counts & ~({Requests{1'b1}} << i)) == '0;
      grant_o[i] = takes[i] || (can[i] && !asks[i]);
      acquired = acquired | (takes[i] ? request_i[i].wait_mask : '0);
      released = released | (takes[i] ? request_i[i].signal_mask : '0);
    end
  end

  logic quiet; // nobody asks for a token
  always_comb begin
    quiet = 1'b1;
    for (int i = 0; i < Requests; i++) if (request_i[i].valid && request_i[i].wait_mask != '0) quiet = 1'b0;
  end
  stopped_is_quiet: assert property (@(posedge clk_i) disable iff (!rst_ni) !stop_i || quiet)
    else $error("A stopped machine asks for a token.");

  for (genvar s = 0; s < Semaphores; s++) begin : gen_semaphore
    logic [Width-1:0] count_d;
    always_comb begin
      count_d = count_q[s];
      if (released[s] && !acquired[s]) count_d = count_q[s] + Width'(1);
      if (acquired[s] && !released[s]) count_d = count_q[s] - Width'(1);
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        count_q[s] <= '0;
        available_q[s] <= 1'b0;
        full_q[s] <= 1'b0;
      end else begin
        count_q[s] <= count_d;
        // Of the next count: it is late in the cycle.
        if (acquired[s] != released[s]) begin
          available_q[s] <= released[s] || count_q[s] != Width'(1);
          full_q[s] <= released[s] && count_q[s] >= Width'(SemaphoreMax - 1);
        end
      end
    end
    logic in_range;
    assign in_range = count_q[s] <= Width'(SemaphoreMax);
    count_in_range: assert property (@(posedge clk_i) disable iff (!rst_ni || stop_i) in_range)
      else $error("Semaphore %0d is beyond its greatest count.", s);
  end
endmodule

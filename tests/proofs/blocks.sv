// What is proved of the small blocks: each module's `bad_o` is never high. The environment keeps the blocks' contracts (an entry comes
// only while not full); all else is free, a reset at any time included. Yosys has no initial state but what is written here: a reset
// comes first.

module proof_reset (
  input  logic clk_i,
  input  logic rst_ni, // free
  output logic rst_no
);
  logic began_q = 1'b0;
  always_ff @(posedge clk_i) began_q <= 1'b1;
  assign rst_no = rst_ni && began_q;
endmodule

// Entries come out in the order in which they came, each once: one of them, whichever, is marked, and how many are before it is counted.
// What stands in entries decides nothing, so that one bit shows it.
module proof_order #(
  parameter int Depth = 16
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic mark_i, // the entry that comes is the one
  input  logic push_i, data_i, pop_i, head_i,
  output logic [$clog2(Depth+1)-1:0] count_q,
  output logic bad_o
);
  localparam int Width = $clog2(Depth + 1);
  logic marked_q, value_q;
  logic [Width-1:0] before_q; // entries that are before it
  assign bad_o = rst_ni && marked_q && before_q == '0 && head_i != value_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      marked_q <= 1'b0;
      value_q <= 1'b0;
      before_q <= '0;
      count_q <= '0;
    end else begin
      count_q <= count_q + Width'(push_i) - Width'(pop_i);
      if (marked_q) begin
        if (pop_i) begin
          before_q <= before_q - Width'(1);
          if (before_q == '0) marked_q <= 1'b0;
        end
      end else if (push_i && mark_i) begin
        marked_q <= 1'b1;
        value_q <= data_i;
        before_q <= count_q - Width'(pop_i);
      end
    end
  end
endmodule

module proof_fifo #(
  parameter int Depth = 16
) (
  input  logic clk_i, rst_ni, push_i, data_i, pop_i, mark_i,
  output logic bad_o
);
  localparam int Width = $clog2(Depth + 1);
  logic rst_n, push, pop, head, disorder;
  logic [Width-1:0] count, known;
  proof_reset u_reset (.clk_i, .rst_ni, .rst_no(rst_n));
  assign push = push_i && known != Width'(Depth);
  assign pop = pop_i && known != '0;
  tilewright_fifo #(.Depth(Depth), .Width(1)) u_fifo (
    .clk_i, .rst_ni(rst_n), .push_i(push), .data_i, .pop_i(pop), .head_q(head), .count_q(count)
  );
  proof_order #(.Depth(Depth)) u_order (
    .clk_i, .rst_ni(rst_n), .mark_i, .push_i(push), .data_i, .pop_i(pop), .head_i(head), .count_q(known), .bad_o(disorder)
  );
  assign bad_o = disorder || (rst_n && count != known);
endmodule

module proof_queue import tilewright_pkg::*; #(
  parameter int Depth = 16
) (
  input  logic clk_i, rst_ni, stop_i, push_i, data_i, pop_i, mark_i,
  output logic bad_o
);
  localparam int Width = $clog2(Depth + 1);
  logic rst_n, push, pop, empty, full, disorder;
  logic [Width-1:0] known;
  issued_t data, head;
  proof_reset u_reset (.clk_i, .rst_ni, .rst_no(rst_n));
  // By what the queue tells.
  assign push = push_i && !full;
  assign pop = pop_i && !empty;
  assign data = issued_t'(data_i);
  tilewright_queue #(.Depth(Depth)) u_queue (
    .clk_i, .rst_ni(rst_n), .stop_i, .push_i(push), .data_i(data), .pop_i(pop), .head_o(head), .empty_o(empty), .full_o(full)
  );
  proof_order #(.Depth(Depth)) u_order (
    .clk_i, .rst_ni(rst_n), .mark_i, .push_i(push), .data_i, .pop_i(pop), .head_i(head[0]), .count_q(known), .bad_o(disorder)
  );
  assign bad_o = disorder || (rst_n && (empty != (stop_i || known == '0) || full != (known == Width'(Depth))));
endmodule

// A payload is taken by the channel once, as it was given, and stands still until it is.
module proof_axi_hold #(
  parameter int Width = 4
) (
  input  logic clk_i, rst_ni, valid_i, ready_i,
  input  logic [Width-1:0] data_i,
  output logic bad_o
);
  logic rst_n, sends, held, valid, waits_q, pending_q, ends_q;
  logic [Width-1:0] data, waiting_q, pending_data_q, expected;
  proof_reset u_reset (.clk_i, .rst_ni, .rst_no(rst_n));
  assign sends = rst_n && valid_i && !held;
  tilewright_axi_hold #(.Width(Width)) u_hold (
    .clk_i, .rst_ni(rst_n), .valid_i(sends), .data_i, .held_o(held), .valid_o(valid), .data_o(data), .ready_i
  );
  assign expected = pending_q ? pending_data_q : data_i;
  always_ff @(posedge clk_i) begin
    if (!rst_n) begin
      waits_q <= 1'b0;
      waiting_q <= '0;
      pending_q <= 1'b0;
      pending_data_q <= '0;
    end else begin
      waits_q <= valid && !ready_i;
      waiting_q <= data;
      // One that is given and not taken is owed to the channel.
      pending_q <= (pending_q || sends) && !(valid && ready_i);
      if (sends) pending_data_q <= data_i;
    end
  end
  assign bad_o = rst_n ? (waits_q && (!valid || data != waiting_q)) // not stable
                         || valid != (pending_q || sends)           // lost, or made of nothing
                         || (pending_q && sends)                    // two at once
                         || (valid && data != expected)             // another one
                       : valid;                                     // in reset
endmodule

// Tokens: none is lost or made, and no request is granted that takes one that is not there or gives one beyond its greatest count.
module proof_semaphores import tilewright_pkg::*; #(
  parameter int Requests = 10
) (
  input  logic clk_i, rst_ni, stop_i,
  input  logic [Requests-1:0] valid_i,
  input  mask_t [Requests-1:0] wait_i, signal_i,
  output logic bad_o
);
  localparam int Width = $clog2(SemaphoreMax + 1) + 1;
  logic rst_n, stop, stopped_q;
  proof_reset u_reset (.clk_i, .rst_ni, .rst_no(rst_n));
  assign stop = stop_i || stopped_q; // until the next reset
  request_t request [Requests];
  logic [Requests-1:0] grant;
  // What is stopped asks for no token: an assertion of the semaphores, which simulations check.
  logic [Requests-1:0] valid;
  always_comb for (int i = 0; i < Requests; i++) begin
    valid[i] = valid_i[i] && !(stop && wait_i[i] != '0);
    request[i] = '{valid: valid[i], wait_mask: wait_i[i], signal_mask: signal_i[i]};
  end
  tilewright_semaphores #(.Requests(Requests)) u_semaphores (.clk_i, .rst_ni(rst_n), .stop_i(stop), .request_i(request), .grant_o(grant));

  logic [Semaphores-1:0][Width-1:0] known_q;
  mask_t taken, given;
  logic [Requests-1:0] can, asks;
  logic wrong, first;
  always_comb begin
    taken = '0;
    given = '0;
    wrong = 1'b0;
    first = 1'b1; // none that asks is before it
    for (int i = 0; i < Requests; i++) begin
      asks[i] = wait_i[i] != '0 || signal_i[i] != '0;
      can[i] = valid[i];
      for (int s = 0; s < Semaphores; s++) begin
        if (wait_i[i][s] && known_q[s] == '0) can[i] = 1'b0;
        if (signal_i[i][s] && !stop && known_q[s] == Width'(SemaphoreMax)) can[i] = 1'b0;
      end
      // What can be granted is, unless one before it is; nothing else.
      if (grant[i] != (can[i] && (!asks[i] || first))) wrong = 1'b1;
      if (can[i] && asks[i]) first = 1'b0;
      if (grant[i]) begin
        if ((taken & wait_i[i]) != '0 || (given & signal_i[i]) != '0) wrong = 1'b1;
        taken = taken | wait_i[i];
        given = given | signal_i[i];
      end
    end
  end
  logic out_of_range;
  always_comb begin
    out_of_range = 1'b0;
    for (int s = 0; s < Semaphores; s++) if (known_q[s] > Width'(SemaphoreMax)) out_of_range = 1'b1;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_n) begin
      known_q <= '0;
      stopped_q <= 1'b0;
    end else begin
      stopped_q <= stop;
      for (int s = 0; s < Semaphores; s++) known_q[s] <= known_q[s] + Width'(given[s]) - Width'(taken[s]);
    end
  end
  assign bad_o = rst_n && (wrong || (out_of_range && !stop));
endmodule

// Units of a lane of so many stages, beside what they compute, at once.
module proof_multiplier #(
  parameter int Left = 8, Right = 8, Stages = 2
) (
  input  logic clk_i, enable_i,
  input  logic signed [Left-1:0] left_i,
  input  logic signed [Right-1:0] right_i,
  output logic [Left+Right-1:0] result_o, said_o
);
  tilewright_multiplier #(.Left(Left), .Right(Right), .Stages(Stages)) u_unit (.clk_i, .enable_i, .left_i, .right_i, .product_o(result_o));
  assign said_o = (Left + Right)'(left_i) * (Left + Right)'(right_i);
endmodule

module proof_adder #(
  parameter int Width = 33, Stages = 2
) (
  input  logic clk_i, enable_i, subtract_i,
  input  logic [Width-1:0] left_i, right_i,
  output logic [Width-1:0] result_o, said_o
);
  tilewright_adder #(.Width(Width), .Stages(Stages)) u_unit (.clk_i, .enable_i, .subtract_i, .left_i, .right_i, .sum_o(result_o));
  assign said_o = subtract_i ? left_i - right_i : left_i + right_i;
endmodule

module proof_shifter #(
  parameter int Width = 33, Stages = 2,
  parameter bit IsLeft = 1'b0
) (
  input  logic clk_i, enable_i,
  input  logic signed [Width-1:0] value_i,
  input  logic [7:0] amount_i,
  output logic [Width-1:0] result_o, said_o
);
  tilewright_shifter #(.Width(Width), .IsLeft(IsLeft), .Stages(Stages)) u_unit (
    .clk_i, .enable_i, .value_i, .amount_i, .result_o(result_o)
  );
  assign said_o = IsLeft ? value_i << amount_i : value_i >>> amount_i;
endmodule

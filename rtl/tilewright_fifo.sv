// Entries in the order in which they came. They are in RAM; the oldest is in a register, and so is the one behind it where it came after
// its row was asked for. What is pushed in a cycle is seen in the next.
module tilewright_fifo #(
  parameter int Depth = 16, // entries
  parameter int Width = 32  // bits of one
) (
  input  logic             clk_i,   // all state changes at its rising edge
  input  logic             rst_ni,  // synchronous reset, active low
  input  logic             push_i,  // an entry comes; only while not full
  input  logic [Width-1:0] data_i,  // that entry
  input  logic             pop_i,   // the oldest goes; only while not empty
  output logic [Width-1:0] head_q,  // the oldest; valid while not empty
  output logic [$clog2(Depth+1)-1:0] count_q // how many there are
);
  localparam int Rows = Depth > 1 ? Depth : 2;
  localparam int RowWidth = $clog2(Rows);
  localparam int CountWidth = $clog2(Depth + 1);

  function automatic logic [RowWidth-1:0] behind(logic [RowWidth-1:0] row);
    return row == RowWidth'(Rows - 1) ? '0 : row + 1'b1;
  endfunction

  logic [RowWidth-1:0] write_q, second_q, third; // rows of the entry that comes next, and of those behind the oldest
  assign third = behind(second_q);
  logic [Width-1:0] read [1];
  tilewright_ram #(.Depth(Rows), .Width(Width), .Meets(1'b0)) u_entries (
    .clk_i, .read_i(pop_i), .read_row_i('{third}), .read_data_q(read), .write_i(push_i), .write_row_i(write_q), .write_mask_i('1),
    .write_data_i(data_i)
  );

  // An entry that comes stands at the head if none is before it, and is late if its row has been asked for. What `data_i` shows is put
  // where an entry would be put; `push_i`, which counts it, may then be late in the cycle, and so may `pop_i`.
  logic [Width-1:0] late_q;
  logic is_late_q, late_next; // late_next: an entry that comes is late
  assign late_next = pop_i ? write_q == third : write_q == second_q;
  always_ff @(posedge clk_i) begin
    if (pop_i) head_q <= count_q == CountWidth'(1) ? data_i : is_late_q ? late_q : read[0];
    else if (count_q == '0) head_q <= data_i;
    if (late_next) late_q <= data_i;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      is_late_q <= 1'b0;
      write_q <= '0;
      second_q <= RowWidth'(1);
      count_q <= '0;
    end else begin
      if (push_i) write_q <= behind(write_q);
      if (pop_i) second_q <= third;
      is_late_q <= (push_i && late_next) || (is_late_q && !pop_i);
      count_q <= count_q + CountWidth'(push_i) - CountWidth'(pop_i);
    end
  end

  push_only_with_room: assert property (@(posedge clk_i) disable iff (!rst_ni) !(push_i && count_q == CountWidth'(Depth)))
    else $error("An entry came to a queue that is full.");
  pop_only_what_is_there: assert property (@(posedge clk_i) disable iff (!rst_ni) !(pop_i && count_q == '0))
    else $error("An entry was taken from a queue that is empty.");
endmodule

// Words that stand in two RAM macros, the even and the odd ones: two that follow each other are read, and written, in a cycle.
module tilewright_pair #(
  parameter int Words = 64,  // in both macros
  parameter int Width = 128  // bits of a word
) (
  input  logic               clk_i,         // all state changes at its rising edge
  input  logic               read_i,        // a word, and the next one, are asked for
  input  logic [$clog2(Words)-1:0] read_word_i, // which one; what is beyond the last one is of no use
  output logic [2*Width-1:0] read_pair_o,   // the words that were asked for last, the first one lowest
  input  logic               write_i,       // a word, and the next one, are written at the end of the cycle
  input  logic [$clog2(Words)-1:0] write_word_i, // which one
  input  logic [2*Width-1:0] write_mask_i,  // bits that are written: whole bytes
  input  logic [2*Width-1:0] write_pair_i   // their bits, those of the first word lowest
);
  localparam int Depth = (Words + 1) / 2 > 1 ? (Words + 1) / 2 : 2;
  localparam int RowWidth = $clog2(Depth);

  // Word w stands in row w / 2 of its macro: the odd one of a pair in the first word's row, the even one in that or the next.
  logic [RowWidth-1:0] read_row, write_row;
  assign read_row = RowWidth'(read_word_i >> 1);
  assign write_row = RowWidth'(write_word_i >> 1);

  logic swapped_q; // the first word that was asked for is an odd one
  logic [Width-1:0] even_read [1], odd_read [1];
  always_ff @(posedge clk_i) if (read_i) swapped_q <= read_word_i[0];
  assign read_pair_o = swapped_q ? {even_read[0], odd_read[0]} : {odd_read[0], even_read[0]};

  logic [Width-1:0] even, odd, even_mask, odd_mask;
  assign {odd, even} = write_word_i[0] ? {write_pair_i[Width-1:0], write_pair_i[2*Width-1:Width]} : write_pair_i;
  assign {odd_mask, even_mask} = write_word_i[0] ? {write_mask_i[Width-1:0], write_mask_i[2*Width-1:Width]} : write_mask_i;

  tilewright_ram #(.Depth(Depth), .Width(Width), .Meets(1'b0)) u_even (
    .clk_i, .read_i, .read_row_i('{read_row + RowWidth'(read_word_i[0])}), .read_data_q(even_read), .write_i(write_i && even_mask != '0),
    .write_row_i(write_row + RowWidth'(write_word_i[0])), .write_mask_i(even_mask), .write_data_i(even)
  );
  tilewright_ram #(.Depth(Depth), .Width(Width), .Meets(1'b0)) u_odd (
    .clk_i, .read_i, .read_row_i('{read_row}), .read_data_q(odd_read), .write_i(write_i && odd_mask != '0), .write_row_i(write_row),
    .write_mask_i(odd_mask), .write_data_i(odd)
  );
endmodule

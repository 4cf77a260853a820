// A memory on chip: banks of two RAM macros each, one for even and one for odd words, so that a piece may begin at any byte. A piece that
// is read comes in the cycle after its reader held the banks. Arbitration is the units' (rows PORT-*): in a cycle at most one reader and
// one writer hold a bank.
// verilator lint_off UNUSEDSIGNAL
// Reason: a row is a part of an address; of two words beside each other that are turned, one is used.
module tilewright_memory #(
  parameter int Banks = 2,         // contiguous ranges of addresses
  parameter int BankBytes = 1024,  // of each
  parameter int Port = 16,         // bytes that a port moves
  parameter int Unit = 1,          // bytes of which all addresses are multiples: a power of two
  parameter int Readers = 2,                              // read ports
  parameter int Writers = 2                               // write ports; two never hold one bank
) (
  input  logic                           clk_i,           // all state changes at its rising edge
  input  logic [Readers-1:0][Banks-1:0]  read_banks_i,    // the banks that the reader holds: those of its piece, or none
  input  logic [Readers-1:0][47:0]       read_address_i,  // first byte of the piece
  output logic [Readers-1:0][8*Port-1:0] read_data_o,     // the piece of the cycle before, as of its beginning; zeros if there was none
  input  logic [Writers-1:0][Banks-1:0]  write_banks_i,   // the banks that the writer holds
  input  logic [Writers-1:0][47:0]       write_address_i, // first byte of the piece
  input  logic [Writers-1:0][15:0]       write_bytes_i,   // of the piece: at most Port
  input  logic [Writers-1:0][8*Port-1:0] write_data_i     // the piece, its first byte lowest
);
  localparam int Shift = Port > 1 ? $clog2(Port) : 1;
  localparam int UnitShift = $clog2(Unit);
  localparam int Word = 1 << Shift; // bytes: the power of two that holds a port
  localparam int Depth = (BankBytes + 2 * Word - 1) / (2 * Word) > 1 ? (BankBytes + 2 * Word - 1) / (2 * Word) : 2;
  localparam int RowWidth = $clog2(Depth);
  localparam int Last = (BankBytes + Word - 1) / Word - 1; // word of a bank
  // A byte relative to its bank. A piece that comes from the bank below begins at a negative one, less than a word away.
  localparam int LocalWidth = RowWidth + Shift + 2;
  typedef logic signed [LocalWidth-1:0] at_t;
  typedef logic [8*Word-1:0] word_t;

  function automatic logic [Shift+3:0] shift_of(logic [Shift:0] bytes); // in bits
    return ((Shift+4)'(bytes) >> UnitShift) << (UnitShift + 3);
  endfunction
  // Word w of a bank stands in row w / 2 of its macro. Of two that follow each other, the even one may stand in the next row.
  function automatic logic [RowWidth-1:0] odd_row(at_t at);
    return at[Shift + 1 +: RowWidth];
  endfunction
  function automatic logic [RowWidth-1:0] even_row(at_t at);
    return at[Shift + 1 +: RowWidth] + RowWidth'(at[Shift]);
  endfunction
  // No word of the bank is behind the one there.
  function automatic logic is_last(at_t at);
    return at >= 0 && at[Shift +: RowWidth+1] == (RowWidth+1)'(Last);
  endfunction

  // The banks that any one holds, and those that two hold.
  logic [Banks-1:0] reads, writes, reads_twice, writes_twice;
  always_comb begin
    reads = '0;
    writes = '0;
    reads_twice = '0;
    writes_twice = '0;
    for (int r = 0; r < Readers; r++) begin
      reads_twice = reads_twice | (reads & read_banks_i[r]);
      reads = reads | read_banks_i[r];
    end
    for (int w = 0; w < Writers; w++) begin
      writes_twice = writes_twice | (writes & write_banks_i[w]);
      writes = writes | write_banks_i[w];
    end
  end

  logic [Banks-1:0] reads_q;
  logic [Readers-1:0][Banks-1:0] read_banks_q;
  always_ff @(posedge clk_i) begin
    reads_q <= reads;
    read_banks_q <= read_banks_i;
  end

  logic [8*Port-1:0] bank_data [Banks];
  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    localparam int Base = b * BankBytes;

    at_t r_local, r_at, r_at_q, w_local, w_at;
    logic [RowWidth-1:0] r_even, w_even;
    logic r_below, r_below_q, r_last, r_last_q; // the piece begins in the bank below; in the last word
    always_comb begin : read_port
      r_local = 'x;
      r_at = 'x;
      r_even = 'x;
      r_below = 'x;
      r_last = 'x;
      if (reads[b]) begin // which is late, as is by whom: what each needs is not
        r_at = '0;
        r_even = '0;
        r_below = 1'b0;
        r_last = 1'b0;
        for (int r = 0; r < Readers; r++) begin
          r_local = LocalWidth'(read_address_i[r] - 48'(Base));
          r_at = r_at | (read_banks_i[r][b] ? r_local : '0);
          r_even = r_even | (read_banks_i[r][b] ? even_row(r_local) : '0);
          r_below = r_below | (read_banks_i[r][b] && r_local < 0);
          r_last = r_last | (read_banks_i[r][b] && is_last(r_local));
        end
      end
    end
    always_ff @(posedge clk_i) begin
      if (reads[b]) begin
        r_at_q <= r_at;
        r_below_q <= r_below;
        r_last_q <= r_last;
      end
    end

    // Of each word the bytes that the piece has, side by side, turned to where it begins. Beyond the bank there are none.
    word_t even_read [1], odd_read [1], r_first, r_second, r_from;
    always_comb begin : read_data
      bank_data[b] = 'x;
      r_first = 'x;
      r_second = 'x;
      r_from = 'x;
      if (reads_q[b]) begin
        r_from = {8*Word{1'b1}} << shift_of({1'b0, r_at_q[Shift-1:0]});
        r_first = r_below_q ? '0 : r_from;
        r_second = r_last_q ? '0 : ~r_from;
        r_first = (even_read[0] & (r_at_q[Shift] ? r_second : r_first)) | (odd_read[0] & (r_at_q[Shift] ? r_first : r_second));
        bank_data[b] = (8*Port)'({r_first, r_first} >> shift_of({1'b0, r_at_q[Shift-1:0]}));
        if (BankBytes % Word != 0 && r_at_q > at_t'(BankBytes - Port))
          bank_data[b] = bank_data[b] & ({8*Port{1'b1}} >> {r_at_q - at_t'(BankBytes - Port), 3'b000});
      end
    end

    // A piece is turned to where it begins in its words, and stands alike in both.
    logic [15:0] w_bytes;
    logic [Shift:0] w_end; // behind its last byte, from its first word on
    logic [8*Port-1:0] w_data;
    logic [16*Word-1:0] w_turned;
    word_t w_first, w_second;
    logic w_in_first, w_in_second;
    always_comb begin : write_port
      w_local = 'x;
      w_at = 'x;
      w_even = 'x;
      w_bytes = 'x;
      w_end = 'x;
      w_data = 'x;
      w_turned = 'x;
      w_first = 'x;
      w_second = 'x;
      w_in_first = 1'b0;
      w_in_second = 1'b0;
      if (writes[b]) begin
        w_at = '0;
        w_even = '0;
        w_bytes = '0;
        w_data = '0;
        for (int w = 0; w < Writers; w++) begin
          w_local = LocalWidth'(write_address_i[w] - 48'(Base));
          w_at = w_at | (write_banks_i[w][b] ? w_local : '0);
          w_even = w_even | (write_banks_i[w][b] ? even_row(w_local) : '0);
          w_bytes = w_bytes | (write_banks_i[w][b] ? write_bytes_i[w] : '0);
          w_data = w_data | (write_banks_i[w][b] ? write_data_i[w] : '0);
        end
        w_end = (Shift+1)'(w_at[Shift-1:0]) + (Shift+1)'(w_bytes);
        w_turned = {2{word_t'(w_data)}} << shift_of({1'b0, w_at[Shift-1:0]});
        w_first = ({8*Word{1'b1}} << shift_of({1'b0, w_at[Shift-1:0]})) & ~({8*Word{1'b1}} << shift_of(w_end));
        w_second = ~({8*Word{1'b1}} << shift_of({1'b0, w_end[Shift-1:0]}));
        w_in_first = w_at >= 0;
        w_in_second = w_end[Shift] && w_end[Shift-1:0] != '0 && !is_last(w_at);
      end
    end

    tilewright_ram #(.Depth(Depth), .Width(8 * Word)) u_even (
      .clk_i, .read_i(reads[b]), .read_row_i('{r_even}), .read_data_q(even_read), .write_i(w_at[Shift] ? w_in_second : w_in_first),
      .write_row_i(w_even), .write_mask_i(w_at[Shift] ? w_second : w_first), .write_data_i(w_turned[8*Word +: 8*Word])
    );
    tilewright_ram #(.Depth(Depth), .Width(8 * Word)) u_odd (
      .clk_i, .read_i(reads[b]), .read_row_i('{odd_row(r_at)}), .read_data_q(odd_read), .write_i(w_at[Shift] ? w_in_first : w_in_second),
      .write_row_i(odd_row(w_at)), .write_mask_i(w_at[Shift] ? w_first : w_second), .write_data_i(w_turned[8*Word +: 8*Word])
    );
  end

  for (genvar r = 0; r < Readers; r++) begin : gen_reader
    always_comb begin
      read_data_o[r] = '0;
      if (read_banks_q[r] != '0)
        for (int b = 0; b < Banks; b++) if (read_banks_q[r][b]) read_data_o[r] = read_data_o[r] | bank_data[b];
    end
  end

  one_reader_a_bank: assert property (@(posedge clk_i) reads_twice == '0)
    else $error("Two readers hold the same bank.");
  one_writer_a_bank: assert property (@(posedge clk_i) writes_twice == '0)
    else $error("Two writers hold the same bank.");
endmodule
// verilator lint_on UNUSEDSIGNAL

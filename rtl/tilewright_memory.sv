// A memory on chip: banks of two RAM macros each, one for even and one for odd words, so that a piece may begin at any byte. A piece that
// is read comes in the cycle after its reader held the banks. Arbitration is the units' (rows PORT-*): in a cycle at most one reader and
// one writer hold a bank.
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
  output logic [Readers-1:0][8*Port-1:0] read_data_o,     // the piece of the cycle before, as of the beginning of that one
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
  // A byte relative to its bank. A piece that comes from the bank below begins at a negative one, less than a word away.
  localparam int LocalWidth = RowWidth + Shift + 2;

  function automatic logic [Shift+2:0] shift_of(logic [Shift-1:0] at); // in bits
    return ((Shift+3)'(at) >> UnitShift) << (UnitShift + 3);
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

    logic signed [LocalWidth-1:0] r_at, r_at_q, r_more, w_at, w_more;
    logic [8*Port-1:0] w_data, w_ones;
    logic [16*Word-1:0] r_pair, w_pair, w_pair_mask;
    logic [15:0] w_bytes;

    always_comb begin : read_port
      r_at = '0;
      if (reads[b])
        for (int r = 0; r < Readers; r++) if (read_banks_i[r][b]) r_at = LocalWidth'(read_address_i[r] - 48'(Base));
    end
    always_ff @(posedge clk_i) if (reads[b]) r_at_q <= r_at;
    always_comb begin : read_data
      bank_data[b] = '0;
      r_more = r_at_q + LocalWidth'(Port) - LocalWidth'(BankBytes); // bytes beyond the bank
      if (reads_q[b]) begin
        bank_data[b] = (8*Port)'(r_pair >> shift_of(r_at_q[Shift-1:0]));
        if (r_at_q < 0) bank_data[b] = bank_data[b] & ({8*Port{1'b1}} << {-r_at_q, 3'b000});
        if (r_more > 0) bank_data[b] = bank_data[b] & ({8*Port{1'b1}} >> {r_more, 3'b000});
      end
    end

    always_comb begin : write_port
      w_at = '0;
      w_bytes = '0;
      w_data = '0;
      if (writes[b]) begin
        for (int w = 0; w < Writers; w++) begin
          if (write_banks_i[w][b]) begin
            w_at = LocalWidth'(write_address_i[w] - 48'(Base));
            w_bytes = write_bytes_i[w];
            w_data = write_data_i[w];
          end
        end
      end
      w_more = w_at + LocalWidth'(Port) - LocalWidth'(BankBytes);
      w_ones = '0;
      w_pair = '0;
      w_pair_mask = '0;
      if (writes[b]) begin
        w_ones = {8*Port{1'b1}} >> {16'(Port) - w_bytes, 3'b000};
        if (w_at < 0) w_ones = w_ones & ({8*Port{1'b1}} << {-w_at, 3'b000});
        if (w_more > 0) w_ones = w_ones & ({8*Port{1'b1}} >> {w_more, 3'b000});
        w_pair = (16*Word)'(w_data) << shift_of(w_at[Shift-1:0]);
        w_pair_mask = (16*Word)'(w_ones) << shift_of(w_at[Shift-1:0]);
      end
    end

    tilewright_pair #(.Words(2 * Depth), .Width(8 * Word)) u_pair (
      .clk_i, .read_i(reads[b]), .read_word_i(r_at[Shift +: RowWidth+1]), .read_pair_o(r_pair), .write_i(writes[b]),
      .write_word_i(w_at[Shift +: RowWidth+1]), .write_mask_i(w_pair_mask), .write_pair_i(w_pair)
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

// An array of the vector unit, in RAM. What a strip writes stands side by side. It is read in two ways: a strip side by side, and each
// lane's elements at indices of its own, for which each port of each lane has a copy. What is read is there a cycle later.
// verilator lint_off UNUSEDSIGNAL
// Reason: bits of elements beyond Width, elements of a word beyond Lanes, inputs of readers that are not there.
module tilewright_table #(
  parameter int Elements = 256, // of the array
  parameter int Width = 8,      // bits of an element
  parameter int Lanes = 4,      // elements of a strip
  parameter bit Strips = 1'b0,  // strips are read
  parameter int Ports = 1,      // elements that a lane reads in a cycle; they need not be there
  parameter bit Aligned = 1'b0, // strips begin at multiples of Lanes, a power of two
  parameter logic [Width-1:0] Initial = '0 // of each element, in simulation
) (
  input  logic              clk_i,                  // all state changes at its rising edge
  input  logic              write_i,                // a strip is written at the end of the cycle
  input  logic [31:0]       write_at_i,             // its first element
  input  logic [31:0]       write_count_i,          // its elements: at most Lanes
  input  logic [31:0]       write_data_i [Lanes],   // in their low bits
  input  logic              strip_i,                // a strip is asked for
  input  logic [31:0]       strip_at_i,             // its first element
  output logic [Width-1:0]  strip_o [Lanes],        // the strip that was asked for last
  input  logic [Ports > 0 ? Ports-1 : 0:0] read_i,  // each lane asks for an element
  input  logic [31:0]       index_i [Lanes][Ports > 0 ? Ports : 1], // which one
  input  logic              selects_i,              // elements are looked at
  output logic [Width-1:0]  data_o [Lanes][Ports > 0 ? Ports : 1] // those that were asked for last
);
  // Word w of as many elements as a power of two holds stands in row w / Banks of bank w % Banks: a strip that may begin anywhere
  // touches two of them.
  localparam int Shift = Lanes > 1 ? $clog2(Lanes) : 1;
  localparam int Word = 1 << Shift;
  localparam int Banks = Aligned ? 1 : 2;
  localparam int BankShift = Aligned ? Shift : Shift + 1;
  localparam int Rows = ((Elements - 1) >> BankShift) + 1;
  localparam int Depth = Rows > 1 ? Rows : 2;
  localparam int RowWidth = $clog2(Depth);
  localparam int Cell = (Width + 7) / 8 * 8; // bits that an element takes: whole bytes
  localparam int Readers = (Strips ? 1 : 0) + Lanes * Ports;
  localparam int First = Strips ? 1 : 0;     // of the lanes' readers

  function automatic logic [RowWidth-1:0] row_of(logic [31:0] at, logic bank); // of the first word of a strip, or the one after it
    if (Aligned) return RowWidth'(at >> BankShift);
    return RowWidth'((at >> BankShift) + 32'(at[Shift] && !bank));
  endfunction

  logic [Word*Cell-1:0] written, ones;
  always_comb begin : side_by_side
    written = '0;
    ones = '0;
    if (write_i) begin
      for (int l = 0; l < Lanes; l++) begin
        written[Cell * l +: Cell] = Cell'(write_data_i[l][Width-1:0]);
        if (32'(l) < write_count_i) ones[Cell * l +: Cell] = '1;
      end
    end
  end

  logic [Word*Cell-1:0] found [Banks][Readers];
  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    logic [Word*Cell-1:0] data, mask;
    logic [Readers-1:0] reads;
    logic [RowWidth-1:0] rows [Readers];
    if (Aligned) begin : gen_aligned
      assign data = written;
      assign mask = ones;
    end else begin : gen_shifted
      logic [2*Word*Cell-1:0] pair, pair_ones;
      always_comb begin
        pair = (2*Word*Cell)'(written) << (Cell * 32'(write_at_i[Shift-1:0]));
        pair_ones = (2*Word*Cell)'(ones) << (Cell * 32'(write_at_i[Shift-1:0]));
        data = write_at_i[Shift] == 1'(b) ? pair[Word*Cell-1:0] : pair[2*Word*Cell-1:Word*Cell];
        mask = write_at_i[Shift] == 1'(b) ? pair_ones[Word*Cell-1:0] : pair_ones[2*Word*Cell-1:Word*Cell];
      end
    end
    always_comb begin : readers
      reads = '0;
      for (int r = 0; r < Readers; r++) rows[r] = '0;
      if (Strips && strip_i) begin
        reads[0] = 1'b1;
        rows[0] = row_of(strip_at_i, 1'(b));
      end
      if (Ports > 0 && read_i != '0) begin
        for (int l = 0; l < Lanes; l++) begin
          for (int p = 0; p < Ports; p++) begin
            reads[First + l * Ports + p] = read_i[p] && (Aligned || index_i[l][p][Shift] == 1'(b));
            rows[First + l * Ports + p] = RowWidth'(index_i[l][p] >> BankShift);
          end
        end
      end
    end
    tilewright_ram #(.Depth(Depth), .Width(Word*Cell), .Ports(Readers), .Initial({Word{Cell'(Initial)}})) u_ram (
      .clk_i, .read_i(reads), .read_row_i(rows), .read_data_q(found[b]), .write_i(write_i && mask != '0),
      .write_row_i(row_of(write_at_i, 1'(b))), .write_mask_i(mask), .write_data_i(data)
    );
  end

  if (Strips) begin : gen_strip
    logic [Word*Cell-1:0] strip;
    if (Aligned) begin : gen_aligned
      assign strip = found[0][0];
    end else begin : gen_shifted
      logic [Shift:0] at_q;
      always_ff @(posedge clk_i) if (strip_i) at_q <= strip_at_i[Shift:0];
      assign strip = (Word*Cell)'((at_q[Shift] ? {found[0][0], found[Banks-1][0]} : {found[Banks-1][0], found[0][0]})
                                  >> (Cell * 32'(at_q[Shift-1:0])));
    end
    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      assign strip_o[l] = strip[Cell * l +: Width];
    end
  end else begin : gen_no_strip
    assign strip_o = '{default: '0};
  end

  if (Ports > 0) begin : gen_ports
    logic [Lanes-1:0][Ports-1:0][Shift:0] at_q;
    always_ff @(posedge clk_i)
      if (read_i != '0)
        for (int l = 0; l < Lanes; l++)
          for (int p = 0; p < Ports; p++) if (read_i[p]) at_q[l][p] <= index_i[l][p][Shift:0];
    always_comb begin : select
      for (int l = 0; l < Lanes; l++) begin
        for (int p = 0; p < Ports; p++) begin
          data_o[l][p] = '0;
          if (selects_i)
            data_o[l][p] = found[Aligned || !at_q[l][p][Shift] ? 0 : Banks-1][First + l * Ports + p][Cell * 32'(at_q[l][p][Shift-1:0]) +: Width];
        end
      end
    end
  end else begin : gen_no_ports
    assign data_o = '{default: '{default: '0}};
  end
endmodule

// A memory on chip: words as wide as a port, read and written at any byte. Arbitration is the units' (rows PORT-*): in a cycle
// at most one reader and one writer touch a bank, so each bank needs one read and one write port.
// verilator lint_off UNUSEDSIGNAL
// Reason: addresses are as wide as DRAM's, and few of their bits address a memory on chip.
module tilewright_memory #(
  parameter int Bytes = 1024,  // of the memory
  parameter int Port = 16,     // bytes that a port moves
  parameter int Readers = 2,
  parameter int Writers = 2
) (
  input  logic                              clk_i,
  input  logic [Readers-1:0]                read_i,          // the reader's piece is granted
  input  logic [Readers-1:0][47:0]          read_address_i,  // its first byte
  output logic [Readers-1:0][8*Port-1:0]    read_data_o,     // as of the beginning of the cycle
  input  logic [Writers-1:0]                write_i,
  input  logic [Writers-1:0][47:0]          write_address_i,
  input  logic [Writers-1:0][15:0]          write_bytes_i,   // at most Port
  input  logic [Writers-1:0][8*Port-1:0]    write_data_i
);
  localparam int Words = (Bytes + Port - 1) / Port + 1;
  logic [8*Port-1:0] word_q [Words];
  initial for (int i = 0; i < Words; i++) word_q[i] = '0;

  for (genvar r = 0; r < Readers; r++) begin : gen_read
    always_comb begin
      automatic int unsigned word = read_address_i[r][31:0] / Port;
      automatic int unsigned offset = read_address_i[r][31:0] % Port;
      read_data_o[r] = '0;
      if (read_i[r]) begin
        if (offset == 0) read_data_o[r] = word_q[word];
        else read_data_o[r] = (8*Port)'({word_q[word+1], word_q[word]} >> (8 * offset));
      end
    end
  end

  for (genvar w = 0; w < Writers; w++) begin : gen_write
    always_ff @(posedge clk_i) begin
      if (write_i[w]) begin
        automatic int unsigned word = write_address_i[w][31:0] / Port;
        automatic int unsigned offset = write_address_i[w][31:0] % Port;
        if (offset == 0 && write_bytes_i[w] == 16'(Port)) begin
          word_q[word] <= write_data_i[w];
        end else begin
          automatic logic [8*Port-1:0] ones = {8*Port{1'b1}} >> (8 * (Port - 32'(write_bytes_i[w])));
          automatic logic [16*Port-1:0] mask = {{8*Port{1'b0}}, ones} << (8 * offset);
          automatic logic [16*Port-1:0] data = ({{8*Port{1'b0}}, write_data_i[w]} << (8 * offset)) & mask;
          word_q[word] <= (word_q[word] & ~mask[8*Port-1:0]) | data[8*Port-1:0];
          if (mask[8*Port]) word_q[word+1] <= (word_q[word+1] & ~mask[16*Port-1:8*Port]) | data[16*Port-1:8*Port];
        end
      end
    end
  end
endmodule
// verilator lint_on UNUSEDSIGNAL

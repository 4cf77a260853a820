// The next piece of what a DMA unit moves on chip: row PORT-piece of docs/microarchitecture.md. As many elements as the port holds when
// they follow each other, else one.
module tilewright_piece import tilewright_pkg::*; #(
  parameter int LeftBits = 16 // of a count of elements
) (
  input  local_t              address_i,     // of the first element
  input  logic [LeftBits-1:0] left_i,        // elements
  input  local_t              stride_i,      // from each to the next one
  input  logic                whole_i,       // they follow each other
  input  logic                to_acc_i,      // they are in the accumulators, else in the scratchpad
  input  logic [2:0]          local_bytes_i, // of an element
  output spad_mask_t          spad_banks_o,  // that the piece touches
  output acc_mask_t           acc_banks_o,   // that the piece touches
  output logic [PortCountBits-1:0] most_o,       // elements that it has when it is not the last one
  output logic [PortCountBits-1:0] bytes_o,      // that it has
  output logic                last_o,        // nothing is left behind it
  output local_t              address_o,     // of the element behind it
  output logic [LeftBits-1:0] left_o         // elements behind it, if it is not the last one
);
  localparam int Bits = LeftBits > PortCountBits ? LeftBits : PortCountBits;

  // Both ends are added up before it is known which one it is.
  logic [PortCountBits-1:0] most, most_bytes, left_bytes;
  logic [LocalBits:0] end_of_most, end_of_left, behind;
  always_comb begin
    most = PortCountBits'(piece_elements(to_acc_i, whole_i, local_bytes_i));
    most_bytes = PortCountBits'(bytes_of(16'(most), local_bytes_i));
    left_bytes = PortCountBits'(bytes_of(16'(PortCountBits'(left_i)), local_bytes_i));
    end_of_most = (LocalBits+1)'(address_i) + (LocalBits+1)'(most_bytes);
    end_of_left = (LocalBits+1)'(address_i) + (LocalBits+1)'(left_bytes);
    last_o = Bits'(left_i) <= Bits'(most);
    behind = last_o ? end_of_left : end_of_most;
    spad_banks_o = '0;
    acc_banks_o = '0;
    if (left_i != '0) begin
      if (to_acc_i) acc_banks_o = acc_span(address_i, behind);
      else spad_banks_o = spad_span(address_i, behind);
    end
    most_o = most;
    bytes_o = last_o ? left_bytes : most_bytes;
    address_o = whole_i || left_i == '0 ? local_t'(behind) : address_i + stride_i;
    left_o = left_i - LeftBits'(most);
  end
endmodule

// A selection of values of which at most one is chosen, and zero if none is: the conjunctions' disjunction. Yosys' own map asks whether any
// is chosen, and selects once more.
(* techmap_celltype = "$pmux" *)
module one_hot (A, B, S, Y);
  parameter WIDTH = 1;
  parameter S_WIDTH = 1;
  parameter [WIDTH-1:0] _TECHMAP_CONSTMSK_A_ = 0;
  parameter [WIDTH-1:0] _TECHMAP_CONSTVAL_A_ = 0;
  input [WIDTH-1:0] A;
  input [WIDTH*S_WIDTH-1:0] B;
  input [S_WIDTH-1:0] S;
  output [WIDTH-1:0] Y;
  wire _TECHMAP_FAIL_ = ~&_TECHMAP_CONSTMSK_A_ || |_TECHMAP_CONSTVAL_A_;
  genvar i, j;
  generate for (i = 0; i < WIDTH; i = i + 1) begin : bits
    wire [S_WIDTH-1:0] term;
    for (j = 0; j < S_WIDTH; j = j + 1) begin : terms
      assign term[j] = B[WIDTH*j+i] & S[j];
    end
    assign Y[i] = |term;
  end endgenerate
endmodule

// The product of two signed numbers, a new one each cycle. It is a sum of rows, each of them the left operand times a digit of two bits of
// the right one, -2 to 2 (Booth, "A Signed Binary Multiplication Technique", 1951). Adders that carry nothing along make two numbers of
// them (Wallace, "A Suggestion for a Fast Multiplier", 1964), whose sum is the product. With two stages the second one takes that sum;
// with more, the rows come in parts, a stage each. Simulators multiply words.
`ifdef SYNTHESIS
`ifndef TILEWRIGHT_FPGA
`define TILEWRIGHT_ROWS
`endif
`endif
// verilator lint_off UNUSEDSIGNAL
// Reason: with one stage nothing is registered, and simulators use no digits.
module tilewright_multiplier #(
  parameter int Left = 8,  // bits of the left operand
  parameter int Right = 8, // of the right one, which is no wider
  parameter int Stages = 1 // the product comes Stages - 1 cycles after its operands
) (
  input  logic                         clk_i,    // all state changes at its rising edge
  input  logic                         enable_i, // the pipeline moves
  input  logic signed [Left-1:0]       left_i,
  input  logic signed [Right-1:0]      right_i,
  output logic signed [Left+Right-1:0] product_o
);
  localparam int Width = Left + Right;
`ifdef TILEWRIGHT_ROWS
  localparam int Digits = (Right + 1) / 2;
  localparam int SumStages = Stages < 4 ? 1 : 2;
  localparam int Parts = Stages > SumStages ? Stages - SumStages : 1;
  localparam int Part = (Digits + Parts - 1) / Parts; // digits of a part

  // Each row is Left + 1 bits with its sign inverted; this makes it good for all of them.
  function automatic logic [Width-1:0] sign_constant();
    sign_constant = '0;
    for (int d = 0; d < Digits; d++) sign_constant = sign_constant - (Width'(1) << (Left + 2 * d));
  endfunction

  logic signed [Left-1:0] left [Parts];
  logic [2*Digits:0] digits [Parts]; // each with the bit below it
  logic [Width-1:0] sum [Parts], carry [Parts]; // of the parts up to that one
  assign left[0] = left_i;
  assign digits[0] = (2 * Digits + 1)'($signed({right_i, 1'b0}));
  for (genvar i = 0; i < Parts; i++) begin : gen_part
    localparam int First = Part * i < Digits ? Part * i : Digits;
    localparam int Last = Part * (i + 1) < Digits ? Part * (i + 1) : Digits;
    // What is added: a row for each digit, one with what their complements lack, and the sum before.
    localparam int Rows = Last - First + (i == 0 ? 1 : 3);
    localparam int Words = Rows > 2 ? 3 * Rows - 4 : 2; // each adder makes two of three
    logic [Width-1:0] word [Words];
    logic [Width-1:0] complements;
    always_comb begin : ones
      complements = i == 0 ? sign_constant() : '0;
      for (int d = First; d < Last; d++) complements[2*d] = digits[i][2*d+2];
    end
    assign word[0] = complements;
    for (genvar d = First; d < Last; d++) begin : gen_row
      logic [Left:0] row;
      always_comb begin : row_of_digit
        row = digits[i][2*d] ^ digits[i][2*d+1] ? {left[i][Left-1], left[i]} : '0;
        row = row | (digits[i][2*d] == digits[i][2*d+1] && digits[i][2*d+1] != digits[i][2*d+2] ? {left[i], 1'b0} : '0);
        row = row ^ {(Left + 1){digits[i][2*d+2]}};
      end
      assign word[d-First+1] = Width'({~row[Left], row[Left-1:0]}) << (2 * d);
    end
    if (i > 0) begin : gen_later
      logic signed [Left-1:0] left_q;
      logic [2*Digits:0] digits_q;
      logic [Width-1:0] sum_q, carry_q;
      always_ff @(posedge clk_i) begin
        if (enable_i) begin
          left_q <= left[i-1];
          digits_q <= digits[i-1];
          sum_q <= sum[i-1];
          carry_q <= carry[i-1];
        end
      end
      assign left[i] = left_q;
      assign digits[i] = digits_q;
      assign word[Rows-2] = sum_q;
      assign word[Rows-1] = carry_q;
    end
    for (genvar a = 0; a < Rows - 2; a++) begin : gen_adder
      assign word[Rows+2*a] = word[3*a] ^ word[3*a+1] ^ word[3*a+2];
      assign word[Rows+2*a+1] = ((word[3*a] & word[3*a+1]) | (word[3*a+2] & (word[3*a] | word[3*a+1]))) << 1;
    end
    assign sum[i] = word[Words-2];
    assign carry[i] = word[Words-1];
  end
  if (Stages == 1) begin : gen_single
    assign product_o = sum[0] + carry[0];
  end else begin : gen_stages
    logic [Width-1:0] sum_q, carry_q;
    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        sum_q <= sum[Parts-1];
        carry_q <= carry[Parts-1];
      end
    end
    tilewright_adder #(.Width(Width), .Stages(SumStages)) u_sum (
      .clk_i, .enable_i, .subtract_i(1'b0), .left_i(sum_q), .right_i(carry_q), .sum_o(product_o)
    );
  end
`elsif TILEWRIGHT_FPGA
  // Multipliers of 18 x 18 bits, signed. Operands are cut into digits of 17 bits, the highest with its sign. Products along a diagonal
  // stand side by side, each of 34 bits; the sum of these words is the product. With two stages the second one takes that sum.
  localparam int Digit = 17;
  localparam int Lefts = Left > 1 ? (Left + Digit - 2) / Digit : 1, Rights = Right > 1 ? (Right + Digit - 2) / Digit : 1;
  localparam int Words = Lefts + Rights - 1;

  function automatic logic signed [Digit:0] digit_of(logic signed [Left-1:0] number, int at, int digits);
    digit_of = (Digit+1)'(number >>> (Digit * at));
    if (at < digits - 1) digit_of[Digit] = 1'b0;
  endfunction

  logic [Width-1:0] word [Words], last [Words]; // last: in the last stage
  for (genvar w = 0; w < Words; w++) begin : gen_word
    localparam int FirstLeft = w < Rights ? 0 : w - Rights + 1;
    localparam int FirstRight = w < Rights ? Rights - 1 - w : 0;
    localparam int Digits = Lefts - FirstLeft < Rights - FirstRight ? Lefts - FirstLeft : Rights - FirstRight;
    logic signed [2*Digit+1:0] products [Digits];
    for (genvar i = 0; i < Digits; i++) begin : gen_product
      logic signed [Digit:0] left, right;
      assign left = digit_of(left_i, FirstLeft + i, Lefts);
      assign right = digit_of(Left'(right_i), FirstRight + i, Rights);
      assign products[i] = left * right;
    end
    always_comb begin : side_by_side
      word[w] = Width'(products[Digits-1]) << (2 * Digit * (Digits - 1));
      for (int i = 0; i < Digits - 1; i++) word[w] = word[w] | (Width'(products[i][2*Digit-1:0]) << (2 * Digit * i));
      word[w] = word[w] << (Digit * (FirstLeft + FirstRight));
    end
  end
  logic signed [Width-1:0] sum;
  always_comb begin : add
    sum = '0;
    for (int w = 0; w < Words; w++) sum = sum + last[w];
  end
  if (Stages == 1) begin : gen_single
    assign last = word;
    assign product_o = sum;
  end else begin : gen_stages
    logic [Width-1:0] word_q [Words];
    always_ff @(posedge clk_i) if (enable_i) word_q <= word;
    assign last = word_q;
    if (Stages == 2) begin : gen_two
      assign product_o = sum;
    end else begin : gen_more
      logic signed [Width-1:0] sum_q [Stages-2];
      always_ff @(posedge clk_i) begin
        if (enable_i) begin
          sum_q[0] <= sum;
          for (int j = 1; j < Stages - 2; j++) sum_q[j] <= sum_q[j-1];
        end
      end
      assign product_o = sum_q[Stages-3];
    end
  end
`else
  logic signed [Width-1:0] product;
  assign product = Width'(left_i) * Width'(right_i);
  if (Stages == 1) begin : gen_single
    assign product_o = product;
  end else begin : gen_stages
    logic signed [Width-1:0] product_q [Stages-1];
    always_ff @(posedge clk_i) begin
      if (enable_i) begin
        product_q[0] <= product;
        for (int j = 1; j < Stages - 1; j++) product_q[j] <= product_q[j-1];
      end
    end
    assign product_o = product_q[Stages-2];
  end
`endif
endmodule
// verilator lint_on UNUSEDSIGNAL

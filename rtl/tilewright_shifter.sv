// Shifts a signed number by an amount, a new one each cycle. With more than one stage each shifts by a part of the amount's bits, the
// highest first.
// verilator lint_off UNUSEDSIGNAL
// Reason: with one stage nothing is registered.
module tilewright_shifter #(
  parameter int Width = 32,      // bits of the number and of the result
  parameter bit IsLeft = 1'b0,   // else to the right, arithmetically
  parameter int Stages = 1       // the result comes Stages - 1 cycles after its operands
) (
  input  logic                    clk_i,    // all state changes at its rising edge
  input  logic                    enable_i, // the pipeline moves
  input  logic signed [Width-1:0] value_i,
  input  logic [7:0]              amount_i,
  output logic signed [Width-1:0] result_o
);
  localparam int Part = (8 + Stages - 1) / Stages; // bits of the amount that a stage shifts by
  logic signed [Width-1:0] shifted [Stages];
  for (genvar i = 0; i < Stages; i++) begin : gen_stage
    localparam int High = 8 - Part * i, Low = High > Part ? High - Part : 0; // its bits are Low .. High - 1
    logic signed [Width-1:0] value;
    logic [7:0] amount, own;
    if (i == 0) begin : gen_first
      assign value = value_i;
      assign amount = amount_i;
    end else begin : gen_later
      logic signed [Width-1:0] value_q;
      logic [7:0] amount_q;
      assign value = value_q;
      assign amount = amount_q;
      always_ff @(posedge clk_i) begin
        if (enable_i) begin
          value_q <= shifted[i-1];
          amount_q <= gen_stage[i-1].amount;
        end
      end
    end
    if (High <= 0) begin : gen_none
      assign own = '0;
    end else begin : gen_some
      assign own = amount & 8'(((1 << High) - 1) & ~((1 << Low) - 1));
    end
    assign shifted[i] = IsLeft ? value << own : value >>> own;
  end
  assign result_o = shifted[Stages-1];
endmodule
// verilator lint_on UNUSEDSIGNAL

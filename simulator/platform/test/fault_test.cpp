// platform-test --gtest_filter='Fault.*': what ends a program before its halt, and what an
// accelerator needs of its memory.
#include "bench.h"

namespace tilewright::platform {
namespace {

constexpr uint32_t trapEvents = TILEWRIGHT_ISR_DONE_MASK | TILEWRIGHT_ISR_TRAP_MASK;

// Runs the program to its trap, and a sound one after it.
tilewright_trap trapOf(const Program &program) {
  const isa::Isa &isa = target("tiny4");
  const Program sound = moves(isa);
  const Expected expected(isa, sound);
  Bench bench(isa, program);
  tilewright_trap trap = {};
  bench.run([&] {
    bench.enableAll();
    EXPECT_EQ(bench.runProgram(), trapEvents);
    EXPECT_EQ(tilewright_poll(bench.device()), TILEWRIGHT_TRAPPED);
    trap = tilewright_read_trap(bench.device());
    bench.contents.assign(bench.contents.size(), 0);
    bench.load(sound);
    EXPECT_EQ(bench.runProgram(), TILEWRIGHT_ISR_DONE_MASK);
    EXPECT_EQ(tilewright_read_trap(bench.device()).cause, TILEWRIGHT_TRAP_CAUSE_NONE);
    bench.expectAs(expected);
  });
  return trap;
}
tilewright_trap trapOf(const std::string &text) { return trapOf(programOf(target("tiny4"), text)); }

TEST(Fault, PastTheEnd) {
  const tilewright_trap trap = trapOf("fence\nfence\n");
  EXPECT_EQ(trap.cause, TILEWRIGHT_TRAP_CAUSE_PAST_END);
  EXPECT_EQ(trap.pc, 2u);
}

TEST(Fault, IllegalInstruction) {
  const isa::Isa &isa = target("tiny4");
  Program program = programOf(isa, "fence\nfence\nhalt\n");
  program.code.replace(static_cast<size_t>(isa.instructionBytes()),
                       static_cast<size_t>(isa.instructionBytes()),
                       static_cast<size_t>(isa.instructionBytes()), '\xff');
  const tilewright_trap trap = trapOf(program);
  EXPECT_EQ(trap.cause, TILEWRIGHT_TRAP_CAUSE_ILLEGAL);
  EXPECT_EQ(trap.pc, 1u);
  EXPECT_FALSE(trap.fetch_refused || trap.load_refused || trap.store_refused);
}

TEST(Fault, BranchOutOfTheCode) {
  const tilewright_trap trap = trapOf("fence\nbranch rs=x0, negate=0, offset=100\nhalt\n");
  EXPECT_EQ(trap.cause, TILEWRIGHT_TRAP_CAUSE_BRANCH);
  EXPECT_EQ(trap.pc, 1u);
}

TEST(Fault, Loops) {
  const tilewright_trap past = trapOf("loop count=2, length=9\nhalt\n");
  EXPECT_EQ(past.cause, TILEWRIGHT_TRAP_CAUSE_LOOP_PAST_END);
  EXPECT_EQ(past.pc, 0u);
  const int64_t depth = target("tiny4").param("loop_depth");
  std::string text;
  for (int64_t i = 0; i <= depth; ++i)
    text += fmt::format("loop count=2, length={}\n", depth + 1 - i);
  const tilewright_trap deep = trapOf(text + "fence\nhalt\n");
  EXPECT_EQ(deep.cause, TILEWRIGHT_TRAP_CAUSE_LOOP_DEPTH);
  EXPECT_EQ(deep.pc, static_cast<uint32_t>(depth));
}

// The machine itself wraps there: of the causes that there are, it is a field out of range.
TEST(Fault, BeyondAMemoryOnChip) {
  const isa::Isa &isa = target("tiny4");
  const tilewright_trap trap = trapOf(fmt::format(
      "fence\nload s=0, d={}, n1=1, n0=16\nfence\nhalt\n", isa.memory(isa::Space::Spad).bytes - 8));
  EXPECT_EQ(trap.cause, TILEWRIGHT_TRAP_CAUSE_ILLEGAL);
  EXPECT_EQ(trap.pc, 1u);
}

TEST(Fault, BeyondTheMemory) {
  const tilewright_trap load = trapOf("load s=0x20000, d=0, n1=1, n0=16\nfence\nhalt\n");
  EXPECT_EQ(load.cause, TILEWRIGHT_TRAP_CAUSE_BUS);
  EXPECT_TRUE(load.load_refused);
  EXPECT_FALSE(load.fetch_refused || load.store_refused);
  const tilewright_trap store = trapOf("store s=0, d=0x20000, n1=1, n0=16\nfence\nhalt\n");
  EXPECT_EQ(store.cause, TILEWRIGHT_TRAP_CAUSE_BUS);
  EXPECT_TRUE(store.store_refused);
  EXPECT_FALSE(store.fetch_refused || store.load_refused);
}

TEST(Fault, CodeThatIsNotInMemory) {
  Program program = programOf(target("tiny4"), "halt\n");
  const isa::Isa &isa = target("tiny4");
  Bench bench(isa, program);
  bench.task.code_address = 0x20000;
  bench.run([&] {
    bench.enableAll();
    EXPECT_EQ(bench.runProgram(), trapEvents);
    const tilewright_trap trap = tilewright_read_trap(bench.device());
    EXPECT_EQ(trap.cause, TILEWRIGHT_TRAP_CAUSE_BUS);
    EXPECT_TRUE(trap.fetch_refused);
  });
}

// A memory of a user's: it waits, and refuses some addresses.
class OwnMemory : public sc_core::sc_module {
public:
  tlm_utils::simple_target_socket<OwnMemory> socket;
  std::vector<uint8_t> bytes = std::vector<uint8_t>(0x10000);
  uint64_t refusedBegin = 0, refusedEnd = 0;
  bool isGranting = true;
  sc_core::sc_time latency;

  explicit OwnMemory(const sc_core::sc_module_name &name) : sc_module(name), socket("socket") {
    socket.register_b_transport(this, &OwnMemory::transport);
    socket.register_get_direct_mem_ptr(this, &OwnMemory::grant);
  }

private:
  void transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay) {
    wait(delay + latency);
    delay = sc_core::SC_ZERO_TIME;
    const uint64_t address = payload.get_address(), length = payload.get_data_length();
    if (address < refusedEnd && address + length > refusedBegin) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    ASSERT_LE(address + length, bytes.size());
    if (payload.is_read())
      std::memcpy(payload.get_data_ptr(), &bytes[address], length);
    else
      std::memcpy(&bytes[address], payload.get_data_ptr(), length);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  bool grant(tlm::tlm_generic_payload &, tlm::tlm_dmi &access) {
    access.set_dmi_ptr(bytes.data());
    access.set_start_address(0);
    access.set_end_address(bytes.size() - 1);
    access.allow_read_write();
    return isGranting;
  }
};

class OwnMemoryTest : public testing::Test {
protected:
  OwnMemoryTest() {
    sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_DO_NOTHING);
    accelerator.memory.bind(memory.socket);
    accelerator.interrupt.bind(interrupt);
    host.port.registers.bind(accelerator.registers);
    load(program);
    memory.latency = 20 * cycle::cycleTime(isa);
  }
  ~OwnMemoryTest() override {
    sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_DISPLAY);
  }
  void load(const Program &given) {
    const DramImage image(given);
    std::memcpy(memory.bytes.data(), image.data(), image.size());
    task = inMemory(isa, given);
  }
  // Starts the program, and waits until it ends.
  tilewright_result run() {
    tilewright_result result = TILEWRIGHT_BUSY;
    host.script = [&] {
      const tilewright_device *device = host.port.device();
      ASSERT_EQ(tilewright_start(device, &task), TILEWRIGHT_OK);
      result = tilewright_wait(device, nullptr, nullptr);
      trap = tilewright_read_trap(device);
    };
    context.run();
    return result;
  }

  const isa::Isa &isa = target("tiny4");
  const Program program = moves(isa);
  cycle::SimulationContext context;
  OwnMemory memory{"memory"};
  Accelerator accelerator{"accelerator", isa};
  sc_core::sc_signal<bool> interrupt;
  Script host{"host"};
  tilewright_program task = {};
  tilewright_trap trap = {};
};

TEST_F(OwnMemoryTest, MayWaitAndMoveTheBytes) {
  const Expected expected(isa, program);
  EXPECT_EQ(run(), TILEWRIGHT_OK);
  EXPECT_EQ(std::memcmp(memory.bytes.data(), expected.dram.data(), expected.dram.size()), 0);
}

TEST_F(OwnMemoryTest, MayRefuseAFetch) {
  memory.refusedBegin = task.code_address;
  memory.refusedEnd = task.code_address + 1;
  EXPECT_EQ(run(), TILEWRIGHT_TRAPPED);
  EXPECT_EQ(trap.cause, TILEWRIGHT_TRAP_CAUSE_BUS);
  EXPECT_EQ(trap.pc, 0u);
  EXPECT_TRUE(trap.fetch_refused);
  EXPECT_FALSE(trap.load_refused || trap.store_refused);
}

TEST_F(OwnMemoryTest, MayRefuseALoad) {
  memory.refusedEnd = 1;
  EXPECT_EQ(run(), TILEWRIGHT_TRAPPED);
  EXPECT_EQ(trap.cause, TILEWRIGHT_TRAP_CAUSE_BUS);
  EXPECT_TRUE(trap.load_refused);
  EXPECT_FALSE(trap.fetch_refused || trap.store_refused);
}

TEST_F(OwnMemoryTest, MayRefuseAStore) {
  memory.refusedBegin = 0x4000;
  memory.refusedEnd = 0x5000;
  EXPECT_EQ(run(), TILEWRIGHT_TRAPPED);
  EXPECT_EQ(trap.cause, TILEWRIGHT_TRAP_CAUSE_BUS);
  EXPECT_TRUE(trap.store_refused);
  EXPECT_FALSE(trap.fetch_refused || trap.load_refused);
}

// What SystemC reports of a run, which it ends.
std::string errorOf(const std::function<void()> &run) {
  try {
    run();
  } catch (const sc_core::sc_report &report) {
    return report.get_msg();
  }
  return "";
}

TEST_F(OwnMemoryTest, HasToGrantDirectAccess) {
  memory.isGranting = false;
  EXPECT_EQ(errorOf([this] { run(); }),
            "accelerator: the memory at address 0x0 grants no direct access (DMI) for reading and "
            "writing, which the accelerator needs for values");
}

TEST_F(OwnMemoryTest, HasToGrantItUntilTheProgramEnds) {
  EXPECT_EQ(errorOf([this] {
              host.script = [this] {
                ASSERT_EQ(tilewright_start(host.port.device(), &task), TILEWRIGHT_OK);
                sc_core::wait(100 * cycle::cycleTime(isa));
                memory.socket->invalidate_direct_mem_ptr(0x8000, 0x8fff);
              };
              context.run();
            }),
            "accelerator: the memory takes back direct access (DMI) while a program runs");
}

TEST_F(OwnMemoryTest, MayTakeItBackAfterwards) {
  EXPECT_EQ(run(), TILEWRIGHT_OK);
  memory.socket->invalidate_direct_mem_ptr(0, 0xffff);
}

} // namespace
} // namespace tilewright::platform

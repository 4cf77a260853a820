// The Chrome trace event format, which Perfetto reads:
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
//
// Process 1 has a track a unit and one of layers. Slices of one track must not overlap, so a unit
// that executes two instructions at once (a weight load under a matrix product) gets further
// tracks. Times are microseconds of the target's clock.
#include "tilewright/report/report.h"
#include "tilewright/simulator/engine/attribution.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

namespace tilewright::report {

static constexpr int layerTrack = 1;
static constexpr int tracksPerUnit = 16;
static constexpr int64_t counterWindows = 1000;

static std::string jsonString(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

namespace {
class Writer {
public:
  Writer(const Program &program, const RunRecord &record, const isa::Isa &isa)
      : program_(program), record_(record), isa_(isa), layers_(layerOfInstruction(program, isa)) {
    for (const LayerInfo &layer : program.layers)
      layerNames_.push_back(jsonString(layer.name));
    decode();
  }

  std::string run() {
    out_ =
        "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"schema\":\"tilewright/trace/1\",\"target\":" +
        jsonString(isa_.target()) + ",\"isa_hash\":" + jsonString(isa_.hash()) +
        "},\"traceEvents\":[\n";
    metadata("process_name", 0, jsonString("tilewright " + isa_.target()));
    writeLayers();
    writeInstructions();
    writeCounters();
    out_ += "\n]}\n";
    return std::move(out_);
  }

private:
  struct Decoded {
    std::string name; // JSON string
    int unit = 0;
  };

  void decode() {
    auto size = static_cast<size_t>(isa_.instructionBytes());
    const auto *code = reinterpret_cast<const uint8_t *>(program_.code.data());
    for (size_t pc = 0; pc < layers_.size(); ++pc) {
      isa::DecodedInstruction decoded;
      std::string reason;
      if (isa_.decode(code + pc * size, decoded, reason)) {
        const isa::Instruction &instruction =
            isa_.instructions()[static_cast<size_t>(decoded.instruction)];
        decoded_.push_back({jsonString(instruction.name), instruction.unit});
      } else {
        decoded_.push_back({"\"reserved\"", 0});
      }
    }
  }

  double microseconds(int64_t cycle) const {
    return static_cast<double>(cycle) * 1e6 /
           static_cast<double>(std::max<int64_t>(isa_.clockHz(), 1));
  }

  // Starts an event; the caller closes the brace.
  void event(const char *phase, int track) {
    out_ += first_ ? "" : ",\n";
    first_ = false;
    fmt::format_to(std::back_inserter(out_), "{{\"ph\":\"{}\",\"pid\":1,\"tid\":{}", phase, track);
  }

  void metadata(const char *kind, int track, const std::string &name) {
    event("M", track);
    fmt::format_to(std::back_inserter(out_), ",\"name\":\"{}\",\"args\":{{\"name\":{}}}}}", kind,
                   name);
  }

  void slice(int track, const std::string &name, int64_t begin, int64_t end) {
    event("X", track);
    fmt::format_to(std::back_inserter(out_), ",\"name\":{},\"ts\":{:.4f},\"dur\":{:.4f}", name,
                   microseconds(begin), microseconds(end) - microseconds(begin));
  }

  void writeLayers() {
    metadata("thread_name", layerTrack, "\"layers\"");
    for (const LayerStretch &interval : layerStretches()) {
      slice(layerTrack, layerNames_[static_cast<size_t>(interval.layer)], interval.begin,
            interval.end);
      out_ += "}";
    }
  }

  struct LayerStretch {
    int64_t begin, end;
    int layer;
  };
  std::vector<LayerStretch> layerStretches() const {
    std::vector<LayerStretch> result;
    for (const LayerInterval &interval : attributeCycles(program_, record_, isa_)) {
      bool joins = !result.empty() && result.back().layer == interval.layer &&
                   result.back().end == interval.begin;
      if (joins)
        result.back().end = interval.end;
      else if (interval.layer >= 0)
        result.push_back({interval.begin, interval.end, interval.layer});
    }
    return result;
  }

  // The track on which an instruction that starts at `begin` disturbs no other.
  int trackFor(int unit, int64_t begin, int64_t end) {
    std::vector<int64_t> &ends = trackEnds_[unit];
    size_t at = 0;
    while (at < ends.size() && ends[at] > begin)
      ++at;
    at = std::min<size_t>(at, tracksPerUnit - 1);
    if (at == ends.size()) {
      ends.push_back(0);
      const std::string &name = isa_.units()[static_cast<size_t>(unit)].name;
      metadata("thread_name", (unit + 1) * tracksPerUnit + static_cast<int>(at),
               jsonString(at == 0 ? name : fmt::format("{} ({})", name, at + 1)));
    }
    ends[at] = end;
    return (unit + 1) * tracksPerUnit + static_cast<int>(at);
  }

  void writeInstructions() {
    for (const InstructionRecord &instruction : record_.trace) {
      if (instruction.pc >= decoded_.size() || instruction.end <= instruction.start)
        continue;
      const Decoded &decoded = decoded_[instruction.pc];
      int track = trackFor(decoded.unit, instruction.start, instruction.end);
      slice(track, decoded.name, instruction.start, instruction.end);
      fmt::format_to(std::back_inserter(out_),
                     ",\"args\":{{\"pc\":{},\"dispatch\":{},\"start\":{},\"end\":{}",
                     instruction.pc, instruction.dispatch, instruction.start, instruction.end);
      if (int layer = layers_[instruction.pc]; layer >= 0)
        out_ += ",\"layer\":" + layerNames_[static_cast<size_t>(layer)];
      if (uint64_t bytes = instruction.dramReadBytes + instruction.dramWriteBytes)
        fmt::format_to(std::back_inserter(out_), ",\"dram_bytes\":{}", bytes);
      for (int cause = 1; cause < stallCount; ++cause)
        if (instruction.stalls[cause] > 0)
          fmt::format_to(std::back_inserter(out_), ",\"stall_{}\":{}",
                         tilewright::name(static_cast<Stall>(cause)), instruction.stalls[cause]);
      out_ += "}}";
    }
  }

  // Bytes moved in each of at most `counterWindows` windows of the run, counted where an
  // instruction ends.
  void writeCounters() {
    int64_t window = std::max<int64_t>(1, (record_.cycles + counterWindows - 1) / counterWindows);
    std::map<int64_t, std::pair<uint64_t, uint64_t>> bytes;
    for (const InstructionRecord &instruction : record_.trace) {
      if (instruction.dramReadBytes + instruction.dramWriteBytes == 0)
        continue;
      int64_t index = instruction.end / window;
      bytes[index].first += instruction.dramReadBytes;
      bytes[index].second += instruction.dramWriteBytes;
      bytes.try_emplace(index + 1); // the counter falls back where nothing moves
    }
    for (const auto &[index, moved] : bytes) {
      event("C", 0);
      fmt::format_to(std::back_inserter(out_),
                     ",\"name\":\"DRAM bytes in {} "
                     "cycles\",\"ts\":{:.4f},\"args\":{{\"read\":{},\"write\":{}}}}}",
                     window, microseconds(index * window), moved.first, moved.second);
    }
  }

  const Program &program_;
  const RunRecord &record_;
  const isa::Isa &isa_;
  std::vector<int> layers_;
  std::vector<std::string> layerNames_; // JSON strings
  std::vector<Decoded> decoded_;
  std::map<int, std::vector<int64_t>> trackEnds_; // by unit: when each of its tracks is free
  std::string out_;
  bool first_ = true;
};
} // namespace

std::string toTrace(const Program &program, const RunRecord &record, const isa::Isa &isa) {
  return Writer(program, record, isa).run();
}

} // namespace tilewright::report

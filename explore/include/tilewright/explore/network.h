// A network as the analytical tier sees it: the operators of an integer TOSA module, what each
// computes and moves.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::explore {

struct NetworkLayer {
  enum class Kind { Product, Depthwise, Elementwise };
  std::string name, op; // the user's
  Kind kind = Kind::Elementwise;
  // Product: rows that stream past a weight tile, taps in both directions, channels.
  int64_t pixels = 0, tapsY = 1, tapsX = 1, inChannels = 0, outChannels = 0;
  int64_t macs = 0;           // padding taps included
  int64_t vectorElements = 0; // results of the vector unit, taps each
  int64_t inputBytes = 0, weightBytes = 0, outputBytes = 0;
  int64_t passedBytes = 0; // of the output, what nothing but the next layer reads
};

// What has to be computed and moved at least, whatever the schedule: multiply-accumulates that meet
// a tensor and not its padding, and each byte once of what comes from DRAM or goes there in any.
struct NetworkNeeds {
  int64_t productMacs = 0, depthwiseMacs = 0;
  int64_t filterBytes = 0;
  int64_t endBytes = 0; // of the network's inputs and outputs
};

struct Network {
  std::string hash; // of the module
  std::vector<NetworkLayer> layers;
  NetworkNeeds needs = {};
};

// `module`: integer TOSA, text or bytecode. Throws UserError whose place is `path`.
Network networkOfTosa(const std::string &path, const std::string &module);

nlohmann::ordered_json toJson(const Network &network);
Network networkFrom(const nlohmann::ordered_json &json);

} // namespace tilewright::explore

#include "tilewright/explore/network.h"

#include <nlohmann/json.hpp>

namespace tilewright::explore {

using Json = nlohmann::ordered_json;

Json toJson(const Network &network) {
  Json layers = Json::array();
  for (const NetworkLayer &layer : network.layers)
    layers.push_back({{"name", layer.name},
                      {"op", layer.op},
                      {"kind", static_cast<int>(layer.kind)},
                      {"pixels", layer.pixels},
                      {"taps", {layer.tapsY, layer.tapsX}},
                      {"channels", {layer.inChannels, layer.outChannels}},
                      {"macs", layer.macs},
                      {"vector_elements", layer.vectorElements},
                      {"bytes", {layer.inputBytes, layer.weightBytes, layer.outputBytes}},
                      {"passed_bytes", layer.passedBytes}});
  const NetworkNeeds &needs = network.needs;
  return {{"hash", network.hash},
          {"needs", {needs.productMacs, needs.depthwiseMacs, needs.filterBytes, needs.endBytes}},
          {"layers", layers}};
}

Network networkFrom(const Json &json) {
  Network network;
  json.at("hash").get_to(network.hash);
  const Json &needs = json.at("needs");
  network.needs = {needs.at(0), needs.at(1), needs.at(2), needs.at(3)};
  for (const Json &each : json.at("layers")) {
    NetworkLayer layer;
    each.at("name").get_to(layer.name);
    each.at("op").get_to(layer.op);
    layer.kind = static_cast<NetworkLayer::Kind>(each.at("kind").get<int>());
    each.at("pixels").get_to(layer.pixels);
    layer.tapsY = each.at("taps").at(0);
    layer.tapsX = each.at("taps").at(1);
    layer.inChannels = each.at("channels").at(0);
    layer.outChannels = each.at("channels").at(1);
    each.at("macs").get_to(layer.macs);
    each.at("vector_elements").get_to(layer.vectorElements);
    layer.inputBytes = each.at("bytes").at(0);
    layer.weightBytes = each.at("bytes").at(1);
    layer.outputBytes = each.at("bytes").at(2);
    each.at("passed_bytes").get_to(layer.passedBytes);
    network.layers.push_back(std::move(layer));
  }
  return network;
}

} // namespace tilewright::explore

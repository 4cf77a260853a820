#include "info.h"

#include "elf_format.h"
#include "json_object.h"

#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

namespace tilewright {

static OrderedJson tensorJson(const TensorInfo &tensor) {
  OrderedJson json;
  json["name"] = tensor.name;
  json["dtype"] = name(tensor.dtype);
  json["shape"] = tensor.shape;
  json["address"] = tensor.address;
  if (tensor.scale) {
    if (!std::isfinite(*tensor.scale))
      throw std::invalid_argument("the scale of a program's tensor is not finite");
    json["scale"] = *tensor.scale;
  }
  json["zero_point"] = tensor.zeroPoint;
  if (tensor.given)
    json["given"] = name(*tensor.given);
  return json;
}

static TensorInfo readTensor(const Object &object) {
  TensorInfo tensor;
  tensor.name = object.text("name");
  tensor.dtype = object.type("dtype");
  tensor.shape = object.shape("shape", 1);
  tensor.address = static_cast<uint64_t>(object.integer("address", 0));
  if (const Json *scale = object.find("scale")) {
    if (!scale->is_number() || !std::isfinite(scale->get<double>()) || scale->get<double>() <= 0)
      object.failKey("scale", "is not a positive number");
    tensor.scale = scale->get<double>();
  }
  tensor.zeroPoint = object.integer("zero_point", INT64_MIN);
  if (object.find("given"))
    tensor.given = object.type("given");
  return tensor;
}

static std::vector<TensorInfo> readTensors(const Object &object, const char *key) {
  const Json &array = object.array(key);
  std::vector<TensorInfo> tensors;
  for (size_t i = 0; i < array.size(); ++i)
    tensors.push_back(readTensor(object.element(key, array, i)));
  return tensors;
}

std::string writeInfo(const Program &program) {
  OrderedJson json;
  json["target"] = program.target;
  json["overlays"] = program.overlays;
  json["isa_hash"] = program.isaHash;
  json["timing_hash"] = program.timingHash;
  json["dram_bytes"] = program.dramBytes;
  json["scratchpad_peak_bytes"] = program.scratchpadPeakBytes;
  json["accumulator_peak_bytes"] = program.accumulatorPeakBytes;
  json["inputs"] = OrderedJson::array();
  for (const TensorInfo &tensor : program.inputs)
    json["inputs"].push_back(tensorJson(tensor));
  json["outputs"] = OrderedJson::array();
  for (const TensorInfo &tensor : program.outputs)
    json["outputs"].push_back(tensorJson(tensor));
  return dump(json);
}

void readInfo(const std::string &path, std::string_view text, Program &program) {
  Json json = parseSection(path, elf::infoSection, text);
  Object object(path, elf::infoSection, json, "");
  program.target = object.text("target");
  for (const Json &overlay : object.array("overlays")) {
    if (!overlay.is_string())
      object.failKey("overlays", "holds what is no string");
    program.overlays.push_back(overlay.get<std::string>());
  }
  program.isaHash = object.text("isa_hash");
  program.timingHash = object.text("timing_hash");
  program.dramBytes = static_cast<uint64_t>(object.integer("dram_bytes", 1));
  program.scratchpadPeakBytes = object.integer("scratchpad_peak_bytes", 0);
  program.accumulatorPeakBytes = object.integer("accumulator_peak_bytes", 0);
  program.inputs = readTensors(object, "inputs");
  program.outputs = readTensors(object, "outputs");
}

std::string writeDebug(const Program &program) {
  OrderedJson json;
  json["layers"] = OrderedJson::array();
  for (const LayerInfo &layer : program.layers) {
    OrderedJson each;
    each["name"] = layer.name;
    each["op"] = layer.op;
    each["macs"] = layer.macs;
    if (layer.depthwiseMacs > 0)
      each["depthwise_macs"] = layer.depthwiseMacs;
    each["estimate_cycles"] = layer.estimateCycles;
    each["input_bytes"] = layer.inputBytes;
    each["weight_bytes"] = layer.weightBytes;
    each["output_bytes"] = layer.outputBytes;
    each["plan"] = layer.plan;
    if (layer.runnerUp)
      each["runner_up"] = {{"plan", layer.runnerUp->plan},
                           {"cycles", layer.runnerUp->cycles},
                           {"chosen_cycles", layer.runnerUp->chosenCycles}};
    json["layers"].push_back(std::move(each));
  }
  // [first instruction, layer]
  json["runs"] = OrderedJson::array();
  for (const LayerRun &run : program.runs)
    json["runs"].push_back(OrderedJson::array({run.firstInstruction, run.layer}));
  return dump(json);
}

void readDebug(const std::string &path, std::string_view text, Program &program) {
  Json json = parseSection(path, elf::debugSection, text);
  Object object(path, elf::debugSection, json, "");
  const Json &layers = object.array("layers");
  for (size_t i = 0; i < layers.size(); ++i) {
    Object each = object.element("layers", layers, i);
    LayerInfo layer;
    layer.name = each.text("name");
    layer.op = each.text("op");
    layer.macs = each.integer("macs", 0);
    if (each.find("depthwise_macs"))
      layer.depthwiseMacs = each.integer("depthwise_macs", 0);
    layer.estimateCycles = each.integer("estimate_cycles", 0);
    layer.inputBytes = each.integer("input_bytes", 0);
    layer.weightBytes = each.integer("weight_bytes", 0);
    layer.outputBytes = each.integer("output_bytes", 0);
    layer.plan = each.text("plan");
    if (each.find("runner_up")) {
      Object other = each.member("runner_up");
      layer.runnerUp = RunnerUp{other.text("plan"), other.integer("cycles", 0),
                                other.integer("chosen_cycles", 0)};
    }
    program.layers.push_back(std::move(layer));
  }
  const auto layerCount = static_cast<int64_t>(layers.size());
  for (const Json &run : object.array("runs")) {
    bool pair = run.is_array() && run.size() == 2 && run[0].is_number_unsigned() &&
                run[1].is_number_integer();
    if (!pair)
      object.failKey("runs", "holds what is no pair of instruction and layer");
    // An unsigned number past 2^63 turns negative here and is refused below.
    int64_t layer = run[1].get<int64_t>();
    if (layer < -1 || layer >= layerCount)
      object.failKey("runs", fmt::format("names layer {}, but there are {}", layer, layerCount));
    program.runs.push_back({run[0].get<uint64_t>(), static_cast<int>(layer)});
  }
}

} // namespace tilewright

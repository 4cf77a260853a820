#include "tilewright/compiler/tune/ranking_model.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace tilewright {

namespace {

// Rows of three features, of which the second one does not matter.
std::vector<Features> rows(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto value = [&] { return static_cast<float>(random() % 1000) / 1000; };
  std::vector<Features> rows;
  for (size_t i = 0; i < count; ++i)
    rows.push_back({value(), value(), value()});
  return rows;
}

double cost(const Features &row) { return 100 + 50 * std::abs(row[0] - 0.3) + 20 * row[2]; }

std::vector<double> costs(const std::vector<Features> &rows) {
  std::vector<double> costs;
  for (const Features &row : rows)
    costs.push_back(cost(row));
  return costs;
}

} // namespace

TEST(RankingModel, OrdersRowsThatItHasNotSeen) {
  RankingModel model;
  const std::vector<Features> known = rows(200, 1), other = rows(200, 2);
  model.train(known, costs(known));
  const std::vector<float> scores = model.score(other);
  ASSERT_EQ(scores.size(), other.size());
  size_t right = 0, pairs = 0;
  for (size_t i = 0; i < other.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      ++pairs;
      right += (scores[i] > scores[j]) == (cost(other[i]) < cost(other[j]));
    }
  EXPECT_GT(static_cast<double>(right), 0.9 * static_cast<double>(pairs));
}

TEST(RankingModel, OnlyTheOrderOfCostsCounts) {
  RankingModel plain, stretched;
  const std::vector<Features> known = rows(100, 3), other = rows(50, 4);
  std::vector<double> far = costs(known);
  for (double &each : far)
    each = std::exp(each);
  plain.train(known, costs(known));
  stretched.train(known, far);
  EXPECT_EQ(plain.score(other), stretched.score(other));
}

TEST(RankingModel, TheSameRowsGiveTheSameModel) {
  RankingModel first, second;
  const std::vector<Features> known = rows(150, 5), other = rows(50, 6);
  first.train(known, costs(known));
  second.train(rows(20, 7), costs(rows(20, 7)));
  second.train(known, costs(known));
  EXPECT_EQ(first.score(other), second.score(other));
}

TEST(RankingModel, LearnsFromARowAlone) {
  RankingModel model;
  model.train({{1, 2, 3}}, {10});
  EXPECT_EQ(model.score({{1, 2, 3}}).size(), 1u);
  EXPECT_TRUE(model.score({}).empty());
}

} // namespace tilewright

// Runs operators on texts of numbers (host-kernels-test).
#include "run_node.h"

#include <gmock/gmock.h>

namespace tilewright::host {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TfIdfVectorizer, CountsScaleByWeights) {
  using List = std::vector<int64_t>;
  Attributes attributes = {{"mode", std::string("TFIDF")},
                           {"pool_int64s", List{1, 2, 1, 2}},
                           {"ngram_counts", List{0, 2}},
                           {"ngram_indexes", List{2, 0, 1}},
                           {"weights", std::vector<float>{1, 2, 3}},
                           {"min_gram_length", int64_t(1)},
                           {"max_gram_length", int64_t(2)},
                           {"max_skip_count", int64_t(0)}};
  const ConstantTensor text = list({1, 2, 1, 2, 2});
  EXPECT_THAT(valuesOf(*runNode("TfIdfVectorizer", {text}, attributes)[0]), ElementsAre(6, 6, 2));
  attributes["ngram_counts"] = List{0, 3};
  EXPECT_THAT(errorOf("TfIdfVectorizer", {text}, attributes), HasSubstr("does not fit its pool"));
}

} // namespace tilewright::host

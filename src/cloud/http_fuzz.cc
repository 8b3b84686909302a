// HTTP requests to the metadata service: whatever is sent gets an answer, and a request that is
// read is read as the same one when it is written again.
#include "cloud/http.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cloud/metadata.h"

namespace {

void try_service(const stint::HttpRequest& request) {
  stint::MetadataService service(
      {.instance_id = "i-1", .instance_type = "t", .address = "10.0.0.1"}, stint::Random(1));
  const stint::MetadataNews news{.told_at = 5 * stint::kSecond, .takes_at = 9 * stint::kSecond};
  const stint::HttpAnswer answer = service.answer(request, news, 7 * stint::kSecond);
  CHECK(answer.status >= 200);
  CHECK(answer.status < 500);
  CHECK(stint::is_whole_request(stint::to_bytes(answer)));
  if (answer.status != 200 || request.method != "PUT") return;

  // The token that it gave opens every path.
  const stint::HttpRequest asks{.method = "GET",
                                .path = request.path,
                                .headers = {{"x-aws-ec2-metadata-token", answer.body}}};
  CHECK(service.answer(asks, news, 7 * stint::kSecond).status != 401);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto request = stint::parse_http(text);
  if (!request) return 0;
  CHECK(stint::is_whole_request(text));
  CHECK(request->path.starts_with("/"));
  std::string again = request->method + " " + request->path + " HTTP/1.1\r\n";
  for (const auto& [name, value] : request->headers) again += name + ":" + value + "\r\n";
  const auto back = stint::parse_http(again + "\r\n");
  CHECK(back || again.size() + 2 > stint::kHttpRequestMax);
  if (back) CHECK(back->headers == request->headers);
  try_service(*request);
  return 0;
}

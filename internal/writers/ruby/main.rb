# Drives rack-attack for tests of package inspect: it takes one call per line
# and answers what the library said.
#
#   main.rb rack-attack HOST:PORT '{"limit":10,"window_ms":1000}'
#
# A line in is a key and a cost of 1, apart by a space. A line out is JSON:
# allowed and remaining (after the call), or error.
require "json"
require "redis"
require "rack"
require "rack/attack"

_name, address, settings = ARGV
settings = JSON.parse(settings)
limit = settings["limit"]
Rack::Attack.cache.store = Redis.new(url: "redis://#{address}")
throttle = Rack::Attack::Throttle.new("req/ip", limit: limit, period: settings["window_ms"] / 1000) { |r| r.env["key"] }

$stdout.sync = true
$stdin.each_line do |line|
  key, cost = line.split
  answer =
    if cost == "1"
      request = Rack::Attack::Request.new("key" => key)
      refused = throttle.matched_by?(request)
      count = request.env["rack.attack.throttle_data"]["req/ip"][:count]
      { allowed: !refused, remaining: [0, limit - count].max }
    else
      { error: "a cost of #{cost}, and it takes one at a time" }
    end
  puts JSON.generate(answer)
end

# Drives rack-attack for tests of package inspect: it takes one call per line
# and answers what the library said.
#
#   main.rb rack-attack HOST:PORT '{"limit":10,"window_ms":1000}'
#   main.rb rack-attack-ban HOST:PORT '{"limit":10,"window_ms":1000,"block_ms":1000}'
#
# A line in is a key and a cost of 1, apart by a space. A line out is JSON:
# allowed and remaining (after the call), or error.
require "json"
require "redis"
require "rack"
require "rack/attack"

name, address, settings = ARGV
settings = JSON.parse(settings)
limit = settings["limit"]
Rack::Attack.cache.store = Redis.new(url: "redis://#{address}")
seconds = settings["window_ms"] / 1000
throttle = Rack::Attack::Throttle.new("req/ip", limit: limit, period: seconds) { |r| r.env["key"] }
ban = { maxretry: limit, findtime: seconds, bantime: settings["block_ms"].to_i / 1000 }

$stdout.sync = true
$stdin.each_line do |line|
  key, cost = line.split
  answer =
    if cost == "1" && name == "rack-attack-ban"
      # Each call counts against the caller.
      { allowed: !Rack::Attack::Allow2Ban.filter(key, ban) { true } }
    elsif cost == "1"
      request = Rack::Attack::Request.new("key" => key)
      refused = throttle.matched_by?(request)
      count = request.env["rack.attack.throttle_data"]["req/ip"][:count]
      { allowed: !refused, remaining: [0, limit - count].max }
    else
      { error: "a cost of #{cost}, and it takes one at a time" }
    end
  puts JSON.generate(answer)
end

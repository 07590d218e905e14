.PHONY: test race bench-peers bench-redis bench-replay bench-scan

test:
	go test ./...

race:
	go test -race ./...

# weir beside wrk, bombardier, vegeta and h2load; installs what it lacks.
bench-peers:
	@which wrk nginx h2load >/dev/null || apt-get install -y nginx-light wrk nghttp2-client
	go run ./bench/peers

# The limiter's store beside redis-benchmark with the same script.
bench-redis:
	@which redis-server redis-benchmark >/dev/null || apt-get install -y redis-server redis-tools
	go run ./bench/redis

# weir replay bench beside redis-benchmark with the same bytes.
bench-replay:
	@which redis-server redis-benchmark >/dev/null || apt-get install -y redis-server redis-tools
	go run ./bench/redis -replay

# A scan of a million keys beside redis-cli --memkeys, and what a foreground
# client notices of it.
bench-scan:
	@which redis-server redis-cli >/dev/null || apt-get install -y redis-server redis-tools
	go run ./bench/redis -scan 1000000 -rounds 3

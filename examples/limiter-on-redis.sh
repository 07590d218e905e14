#!/bin/sh
# Twenty gateways share their limits in one Redis. Does the fleet keep its
# promise in a storm, how often is Redis asked, and what if it hangs?
set -eu
. "$(dirname "$0")/common.sh"

redis=
stop_redis() {
	if [ -n "$redis" ]; then
		kill -CONT "$redis" 2>/dev/null || true
		kill "$redis" 2>/dev/null || true
		wait "$redis" 2>/dev/null || true
		redis=
	fi
}
trap 'stop; stop_redis; rm -rf "$dir"' EXIT

store=embedded
if command -v redis-server >/dev/null; then
	# A socket in a directory of its own: no port that others could use.
	redis-server --port 0 --unixsocket "$dir/redis.sock" --save '' --dir "$dir" >"$dir/redis.log" &
	redis=$!
	store=unix://$dir/redis.sock
	tries=0
	while [ ! -S "$dir/redis.sock" ]; do
		tries=$((tries + 1))
		if [ "$tries" -gt 100 ] || ! kill -0 "$redis" 2>/dev/null; then
			echo "redis-server did not start" >&2
			exit 1
		fi
		sleep 0.1
	done
fi

# asked prints how often the gateways have asked Redis.
asked() {
	stop
	grep '^The store was asked' "$dir/served"
	echo
}

echo "== one truth for twenty gateways"
serve --redis "$store" --gateways 20 --limit 10/s,burst=20 --latency 100ms --store-timeout 10s 2>"$dir/said"
run --profile retry-storm --limit 10/s,burst=20
[ "$status" -eq 0 ] # held
asked

echo "== the same, and refusals are remembered while they last"
serve --redis "$store" --gateways 20 --design deny-cache --limit 10/s,burst=20 --latency 100ms --store-timeout 10s 2>"$dir/said"
run --profile retry-storm --key-prefix second- --limit 10/s,burst=20
[ "$status" -eq 0 ] # held
asked

if [ -z "$redis" ]; then
	echo "There is no redis-server here to hang: see docs/serve.md, When Redis does not answer."
	exit 0
fi

echo "== Redis hangs for two seconds; each gateway goes on with a twentieth"
[ "$seconds" -ge 6 ] || seconds=6
serve --redis "$store" --gateways 20 --limit 10/s,burst=20 --latency 100ms --on-failure local --breaker 5/500ms 2>"$dir/said"
(
	sleep 2
	kill -STOP "$redis"
	sleep 2
	kill -CONT "$redis"
) &
# While it hangs the twentieths let burst + rate x 2 s through, 40, and the
# bucket fills up all the same: 20 + 40 at once is what this may come to.
run --profile retry-storm --key-prefix third- --limit 10/s,burst=60
wait "$!"
stop
grep '^[0-9/]* [0-9:]* store: ' "$dir/said"

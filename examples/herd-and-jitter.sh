#!/bin/sh
# A thousand clients are refused at one instant and told to wait a second. What
# comes back, and when, depends on what they do with that.
set -eu
. "$(dirname "$0")/common.sh"

serve --limit 100/s,burst=100
for behaviour in retry-after retry-after,jitter=0.5 retry-after,spread full-jitter:1s,10s go-retryablehttp; do
	echo "== $behaviour"
	run --profile thundering-herd --behaviour "$behaviour" --limit 100/s,burst=100 --seed 1
	[ "$status" -eq 0 ] # the limit holds whatever they do
done

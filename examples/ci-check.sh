#!/bin/sh
# A step of a pipeline: fail when the limiter breaks its promise, or when a
# check on the result does, and leave a JUnit file. $1 is where it goes.
# In a pipeline, set urls to the system under test instead of calling serve.
set -eu
. "$(dirname "$0")/common.sh"
junit=${1:-$dir/weir.xml}

serve --limit 50/s,burst=50
# shellcheck disable=SC2086
"$weir" load $urls --quiet --duration "${seconds}s" --profile steady --rate 100/s \
	--limit 50/s,burst=50 \
	--check 'failed==0' \
	--check 'retry_after.missing==0' \
	--check 'latency_ms.admitted.p99<2s' \
	--format junit --out "$junit" || status=$?
status=${status:-0}
case $status in
0) echo "the limit held, and so did the checks" ;;
1) echo "the promise or a check was broken; see $junit" ;;
4) echo "this machine was too busy to tell; try again" ;;
*) echo "weir could not run" ;;
esac
exit "$status"

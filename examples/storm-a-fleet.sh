#!/bin/sh
# Twenty gateways promise 10 requests a second to a customer. Does the fleet
# keep that when 40 workers retry at once whenever they are refused?
set -eu
. "$(dirname "$0")/common.sh"

echo "== every gateway counts for itself"
serve --limit 10/s,burst=20 --gateways 20 --design local --latency 100ms
run --profile retry-storm --limit 10/s,burst=20
[ "$status" -eq 1 ] # broken

echo "== one bucket for all"
serve --limit 10/s,burst=20 --gateways 20 --design central --latency 100ms
run --profile retry-storm --limit 10/s,burst=20
[ "$status" -eq 0 ] # held

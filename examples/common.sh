# Sourced by the examples: where weir is, how long a run takes, and a limiter
# that starts on free loopback ports and is stopped at the end.
weir=${WEIR:-weir}
seconds=${WEIR_EXAMPLE_SECONDS:-10}
dir=$(mktemp -d)
server=
if ! command -v "$weir" >/dev/null; then
	echo "$weir is not on the path: go install ./cmd/weir, or set WEIR to the binary" >&2
	exit 3
fi

stop() {
	if [ -n "$server" ]; then
		kill -INT "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
		server=
	fi
}
trap 'stop; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

# serve FLAGS... starts weir serve and sets urls to its addresses.
serve() {
	stop
	rm -f "$dir/ports"
	"$weir" serve --quiet --listen 127.0.0.1:0 --ports-file "$dir/ports" "$@" >"$dir/served" &
	server=$!
	tries=0
	while [ ! -s "$dir/ports" ]; do
		tries=$((tries + 1))
		if [ "$tries" -gt 100 ] || ! kill -0 "$server" 2>/dev/null; then
			echo "weir serve did not start" >&2
			exit 1
		fi
		sleep 0.1
	done
	urls=$(cat "$dir/ports")
}

# run FLAGS... sends traffic at urls, prints the report's first lines and
# findings, and sets status to the exit code. The whole report is in $dir/report.
run() {
	status=0
	# The addresses are words of their own.
	# shellcheck disable=SC2086
	"$weir" load $urls --quiet --duration "${seconds}s" "$@" >"$dir/report" || status=$?
	awk '
		/^attempts/ { answered = 1 }
		!answered && NF { print }
		/^herd/ { herd = 1; print; next }
		herd && /^ / { print; next }
		{ herd = 0 }
		/^(high|medium) / { finding = 1 }
		finding { print }
		/^$/ { finding = 0 }
	' "$dir/report"
	echo "exit $status"
	echo
}

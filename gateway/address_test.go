package gateway

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func proxies(t testing.TB, header string, trusted ...string) *Proxies {
	t.Helper()
	p := &Proxies{Header: header}
	for _, s := range trusted {
		one, err := ParseProxy(s)
		if err != nil {
			t.Fatal(err)
		}
		p.Trusted = append(p.Trusted, one)
	}
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAddress(t *testing.T) {
	const front, edge = "10.0.0.1:4711", "[fd00::1]:4711"
	long := strings.Repeat("10.0.0.9, ", maxHops+1)
	for _, tt := range []struct {
		why, header, peer string
		lines             []string
		want              string
	}{
		{"nobody says anything", "", "203.0.113.9:1", nil, "203.0.113.9"},
		{"a stranger's word is not taken", "", "203.0.113.9:1", []string{"1.1.1.1"}, "203.0.113.9"},
		{"a proxy's is", "", front, []string{"203.0.113.9"}, "203.0.113.9"},
		{"what stands to the left anybody wrote", "", front, []string{"1.1.1.1, 203.0.113.9"}, "203.0.113.9"},
		{"and it may be anything", "", front, []string{"\x00\xff, 203.0.113.9"}, "203.0.113.9"},
		{"two proxies in a row", "", front, []string{"1.1.1.1, 203.0.113.9, 10.0.0.2"}, "203.0.113.9"},
		{"lines are one list", "", front, []string{"1.1.1.1", "203.0.113.9", "10.0.0.2"}, "203.0.113.9"},
		{"everybody is trusted: the first of them", "", front, []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"a proxy that says nothing", "", front, nil, "10.0.0.1"},
		{"a proxy that says nonsense", "", front, []string{"1.1.1.1, localhost"}, "10.0.0.1"},
		{"or leaves it empty", "", front, []string{"1.1.1.1,"}, "10.0.0.1"},
		{"nonsense behind a second proxy", "", front, []string{"unknown, 10.0.0.2"}, "10.0.0.1"},
		{"a port", "", front, []string{"203.0.113.9:80"}, "203.0.113.9"},
		{"IPv6 counts by its prefix", "", front, []string{"2001:db8:1:2:3:4:5:6"}, "2001:db8:1:2::/64"},
		{"IPv6 in brackets", "", front, []string{"[2001:db8:1:2::9]:443"}, "2001:db8:1:2::/64"},
		{"IPv4 in IPv6 is IPv4", "", front, []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		{"a zone is no part of it", "", "[fe80::1%eth0]:1", nil, "fe80::/64"},
		{"this machine", "", "[::1]:1", nil, "::1"},
		{"an IPv6 proxy", "", edge, []string{"203.0.113.9"}, "203.0.113.9"},
		{"a unix socket's peers have no address", "", "@", []string{"203.0.113.9"}, "unix"},
		{"too many hops", "", front, []string{long}, "10.0.0.1"},
		{"a long list that anybody wrote", "", front, []string{strings.Repeat("x,", 30_000) + "203.0.113.9"}, "203.0.113.9"},
		{"and in RFC 7239", "Forwarded", front, []string{strings.Repeat("for=1.1.1.1,", 5000) + "for=203.0.113.9"}, "203.0.113.9"},
		{"a header of one address", "x-real-ip", front, []string{"203.0.113.9"}, "203.0.113.9"},
		{"another header does not matter", "X-Real-IP", front, nil, "10.0.0.1"},

		{"RFC 7239", "Forwarded", front, []string{`for=192.0.2.60;proto=http;by=203.0.113.43`}, "192.0.2.60"},
		{"from the right", "Forwarded", front, []string{`for=1.1.1.1, For="[2001:db8:cafe::17]:4711"`}, "2001:db8:cafe::/64"},
		{"over proxies", "Forwarded", front, []string{`for=192.0.2.60;by=_x , for=10.0.0.7`, `host="a,b\"c";for=10.0.0.2`}, "192.0.2.60"},
		{"a hidden caller", "Forwarded", front, []string{`for=_gazonk`}, "10.0.0.1"},
		{"an unknown caller", "Forwarded", front, []string{`for=unknown`}, "10.0.0.1"},
		{"no for", "Forwarded", front, []string{`by=10.0.0.1`}, "10.0.0.1"},
		{"two fors", "Forwarded", front, []string{`for=1.1.1.1;for=2.2.2.2`}, "10.0.0.1"},
		{"a quote that the caller opened", "Forwarded", front, []string{`for=1.1.1.1;x=", for="[2001:db8::1]"`}, "10.0.0.1"},
		{"on a line of the caller's own", "Forwarded", front, []string{`for="`, `for=203.0.113.9`}, "203.0.113.9"},
		{"an escape", "Forwarded", front, []string{`for="203.0\.113.9"`}, "203.0.113.9"},
		{"a hidden port", "Forwarded", front, []string{`for="203.0.113.9:_p1"`}, "203.0.113.9"},
		{"not quoted though it should be", "Forwarded", front, []string{`for=[2001:db8::1]:80`}, "2001:db8::/64"},
	} {
		p := proxies(t, tt.header, "10.0.0.0/8", "fd00::1")
		r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{}}
		if tt.lines != nil {
			r.Header[p.Header] = tt.lines
		}
		if got := p.of(r); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}

func TestAddressOfUnixPeers(t *testing.T) {
	p := proxies(t, "", "unix", "10.0.0.0/8")
	for _, tt := range []struct{ lines, want string }{
		{"203.0.113.9", "203.0.113.9"}, {"203.0.113.9, 10.0.0.1", "203.0.113.9"}, {"x", "unix"}, {"10.0.0.5", "10.0.0.5"},
	} {
		r := &http.Request{RemoteAddr: "@", Header: http.Header{"X-Forwarded-For": {tt.lines}}}
		if got := p.of(r); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.lines, got, tt.want)
		}
	}
	if got := p.of(&http.Request{RemoteAddr: "@", Header: http.Header{}}); got != "unix" {
		t.Errorf("without a header: %s", got)
	}
}

func TestIPv6Prefix(t *testing.T) {
	for bits, want := range map[int]string{48: "2001:db8:1::/48", 56: "2001:db8:1::/56", 128: "2001:db8:1:2::3"} {
		p := &Proxies{IPv6Prefix: bits}
		if err := p.check(); err != nil {
			t.Fatal(err)
		}
		if got := p.of(&http.Request{RemoteAddr: "[2001:db8:1:2::3]:1"}); got != want {
			t.Errorf("/%d: %s, want %s", bits, got, want)
		}
	}
	for _, bits := range []int{-1, 15, 129} {
		if (&Proxies{IPv6Prefix: bits}).check() == nil {
			t.Errorf("/%d is taken", bits)
		}
	}
	for _, s := range []string{"", "10.0.0.0/33", "localhost", "fe80::1%eth0", "10.0.0.0/8/8"} {
		if _, err := ParseProxy(s); err == nil {
			t.Errorf("proxy %q is taken", s)
		}
	}
}

// Whatever a caller writes, the address is the peer's unless a listed proxy
// wrote it: the line that the proxy added decides.
func FuzzAddress(f *testing.F) {
	f.Add("1.1.1.1", "", false)
	f.Add(`for="a, for=`, `b\"`, true)
	f.Add(`for=1.1.1.1;x="`, `for="[::1]"`, true)
	f.Add("10.0.0.1,10.0.0.2", "[::]:1", false)
	f.Fuzz(func(t *testing.T, a, b string, forwarded bool) {
		header, added := "X-Forwarded-For", "203.0.113.9"
		if forwarded {
			header, added = "Forwarded", `for="203.0.113.9:80"`
		}
		p := proxies(t, header, "10.0.0.1")
		ask := func(peer string, lines ...string) string {
			return p.of(&http.Request{RemoteAddr: peer, Header: http.Header{header: lines}})
		}
		if got := ask("198.51.100.7:1", a, b); got != "198.51.100.7" {
			t.Fatalf("a stranger is %q", got)
		}
		if got := ask("10.0.0.1:1", a, b, added); got != "203.0.113.9" {
			t.Fatalf("behind a proxy that adds a line it is %q", got)
		}
		// A proxy that appends to the caller's line: its word, or nobody's.
		if got := ask("10.0.0.1:1", a, b+", "+added); got != "203.0.113.9" && (!forwarded || got != "10.0.0.1") {
			t.Fatalf("behind a proxy that appends it is %q", got)
		}
		got := ask("10.0.0.1:1", a, b)
		if _, err := netip.ParseAddr(got); err != nil {
			if _, err := netip.ParsePrefix(got); err != nil {
				t.Fatalf("%q is no address", got)
			}
		}
	})
}

// A network that is written as IPv6 is the IPv4 one that it stands for.
func TestMappedProxyNetwork(t *testing.T) {
	p := proxies(t, "", "::ffff:10.0.0.0/104")
	for peer, want := range map[string]string{"10.1.2.3:80": "203.0.113.9", "[::ffff:10.1.2.3]:80": "203.0.113.9", "11.1.2.3:80": "11.1.2.3"} {
		r := &http.Request{RemoteAddr: peer, Header: http.Header{"X-Forwarded-For": {"203.0.113.9"}}}
		if got := p.of(r); got != want {
			t.Errorf("from %s: %s, want %s", peer, got, want)
		}
	}
}

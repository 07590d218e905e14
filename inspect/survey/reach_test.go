package survey

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/internal/redistest"
)

// A scan goes wherever a client goes: through sentinels, over TLS, to another
// database, with a password.
func TestScanReachesWhatTheClientReaches(t *testing.T) {
	tls := redistest.TLS(t)
	tls.CLI("SET", "limiter:k-7", "1", "EX", "600")
	sentinel := redistest.Sentinel(t, 1)
	locked := redistest.Server(t, "--requirepass", "S3cret")
	for name, o := range map[string]redisconn.Options{
		"TLS":      {URL: tls.URL, CAFile: tls.CAFile},
		"sentinel": {URL: sentinel.URL},
		"database": {URL: "redis://:S3cret@" + locked.Addr + "/3"},
	} {
		c, err := redisconn.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Set(context.Background(), "limiter:k-7", 1, time.Hour).Err(); err != nil {
			t.Fatal(name, err)
		}
		s := scan(t, c, Options{})
		if s.Tally().All.Keys != 1 || len(s.Nodes) != 1 || !strings.Contains(s.Nodes[0].Addr, "127.0.0.1:") || s.Nodes[0].RunID == "" {
			t.Errorf("%s: %+v, %+v", name, s.Tally().All, s.Nodes[0])
		}
		if name == "sentinel" {
			// The replica may still be on its way.
			for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
				s = scan(t, c, Options{Replicas: true})
				if s.Tally().All.Keys == 1 || time.Now().After(end) {
					break
				}
			}
			if s.Tally().All.Keys != 1 || !s.Nodes[0].Replica {
				t.Errorf("its replica: %+v", s.Nodes[0])
			}
		}
		_ = c.Close()
	}
}

//go:build unix

package main

import (
	"bytes"
	"context"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
)

// inForce has rules in force.
type inForce struct {
	mu  sync.Mutex
	set *rules.Set
}

func (h *inForce) Rules() *rules.Set {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.set
}

func (h *inForce) SetRules(s *rules.Set) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.set = s
	return nil
}

func TestHangupReloads(t *testing.T) {
	// Nothing else may let the signal end the test.
	caught := make(chan os.Signal, 100)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)

	path := filepath.Join(t.TempDir(), "rules.yaml")
	h := &inForce{set: rules.FromLimit(limit.Spec{Rate: limit.Rate{Units: 1, Per: time.Second}, Burst: 1})}
	k := gateway.NewRuleKeeper(gateway.KeeperConfig{Source: &gateway.RuleFile{Path: path}, Holder: h})
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { reloadOnHangup(ctx, k) })
	defer running.Wait()
	defer end()
	text := "version: 3\nrules: [{name: a, per: key, limits: [{default: true, limit: 1/s}]}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for tries := 0; h.Rules().Version != 3; tries++ {
		if tries > 2000 {
			t.Fatal("the rules were never read")
		}
		// The first may come before anybody listens.
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestLoadedRulesAreSaid(t *testing.T) {
	var out bytes.Buffer
	sayLoaded(log.New(&out, "", 0), 4, nil, false)
	sayLoaded(log.New(&out, "", 0), 4, nil, true)
	sayLoaded(log.New(&out, "", 0), 4, &gateway.OldRulesError{Version: 2, InForce: 4}, true)
	want := "rules: version 4 is in force\nrules: rules of version 2 come too late: version 4 is in force; version 4 stays in force\n"
	if got := out.String(); got != want || strings.Count(got, "\n") != 2 {
		t.Errorf("got %q, want %q", got, want)
	}
}

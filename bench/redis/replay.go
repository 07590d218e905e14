//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// driverTurn is how long each of weir's measurements takes.
const driverTurn = time.Second

// runReplay runs `weir replay bench` beside redis-benchmark, which is given
// commands of the same bytes over as many keys, in turns.
func runReplay(rounds int) error {
	server, _, words, err := scripted("10/s,burst=20")
	if err != nil {
		return err
	}
	defer server.stop()
	weir, remove, err := built()
	if err != nil {
		return err
	}
	defer remove()
	const prefix = "weir-replay:0123456789ab:" // as long as weir's own
	words[3] = prefix + "s0:rl:{k-__rand_int__}:replay"
	kinds := []*driven{
		{name: "SET", words: []string{"SET", prefix + "SET:k-__rand_int__", "1234567890"}},
		{name: "INCR", words: []string{"INCR", prefix + "INCR:k-__rand_int__"}},
		{name: "weir's own token-bucket", words: words},
	}
	for _, form := range [][2]int{{1, 1}, {50, 1}, {50, 16}} {
		for _, k := range kinds {
			k.weir, k.weirCPU, k.tool, k.toolCPU = nil, nil, nil, nil
		}
		for range rounds {
			if err := driverRound(server, weir, kinds, form[0], form[1]); err != nil {
				return err
			}
		}
		fmt.Printf("\n%d connections, %d calls together (medians of %d turns)\n%-26s %10s %16s %6s %26s\n", form[0], form[1], rounds,
			"", "weir", "redis-benchmark", "ratio", "server CPU-s/million, each")
		for _, k := range kinds {
			fmt.Printf("%-26s %10.0f %16.0f %6.2f %16.2f %9.2f\n", k.name, middle(k.weir), middle(k.tool), middle(k.weir)/middle(k.tool), middle(k.weirCPU), middle(k.toolCPU))
		}
	}
	return nil
}

// driven is one command, and what both came to with it in each turn: calls a
// second, and CPU-seconds of the server per million calls.
type driven struct {
	name                         string
	words                        []string
	weir, weirCPU, tool, toolCPU []float64
}

func driverRound(server *server, weir string, kinds []*driven, conns, pipeline int) error {
	out, err := exec.Command(weir, "replay", "bench", "own", "--redis", "redis://127.0.0.1:"+server.port, "--quiet", "--json",
		"--connections", strconv.Itoa(conns), "--pipelines", strconv.Itoa(pipeline), "--each", driverTurn.String()).Output()
	if err != nil {
		return fmt.Errorf("weir replay bench: %w", err)
	}
	var r struct {
		Rows []struct {
			What string
			PerS float64 `json:"per_s"`
			CPU  float64 `json:"server_cpu"`
		}
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return err
	}
	if len(r.Rows) != len(kinds) {
		return fmt.Errorf("weir replay bench has %d rows", len(r.Rows))
	}
	for i, k := range kinds {
		row := r.Rows[i]
		k.weir, k.weirCPU = append(k.weir, row.PerS), append(k.weirCPU, row.CPU/row.PerS*1e6)
		// As many calls, so that both take as long.
		n := max(int(row.PerS*driverTurn.Seconds()), 1000)
		_, before, err := server.spent()
		if err != nil {
			return err
		}
		rate, err := server.rate(conns, pipeline, n, k.words)
		if err != nil {
			return err
		}
		_, after, err := server.spent()
		if err != nil {
			return err
		}
		k.tool, k.toolCPU = append(k.tool, rate), append(k.toolCPU, (after-before)/float64(n)*1e6)
	}
	return nil
}

// rate has redis-benchmark send a command over 10,000 keys, as weir does, and
// returns its own figure.
func (s *server) rate(conns, pipeline, n int, words []string) (float64, error) {
	line := append([]string{"-p", s.port, "-c", strconv.Itoa(conns), "-P", strconv.Itoa(pipeline), "-n", strconv.Itoa(n), "-r", "10000", "--csv"}, words...)
	out, err := exec.Command("redis-benchmark", line...).Output()
	if err != nil {
		return 0, fmt.Errorf("redis-benchmark: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	cells := strings.Split(lines[len(lines)-1], `","`) // the first cell may hold commas
	if len(cells) < 8 {
		return 0, fmt.Errorf("redis-benchmark: %s", out)
	}
	return strconv.ParseFloat(cells[len(cells)-7], 64)
}

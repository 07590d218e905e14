package inspect_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// writers is where the programs are that drive the real libraries.
const writers = "../internal/writers"

// driver is a program that drives the libraries of one language.
type driver struct {
	args    []string
	missing string // why it cannot run here; "" when it can
}

// settings are the limit that a driver calls its library with.
type settings struct {
	Rate     int   `json:"rate"`
	Burst    int   `json:"burst"`
	Limit    int   `json:"limit"`
	WindowMS int64 `json:"window_ms"`
	BlockMS  int64 `json:"block_ms"`
}

// answer is what a library said of one call.
type answer struct {
	Allowed   bool     `json:"allowed"`
	Remaining *int64   `json:"remaining"`
	WaitMS    *float64 `json:"wait_ms"`
	Error     string   `json:"error"`
}

// findDrivers looks for what each language needs, and downloads nothing.
func findDrivers(t *testing.T) map[string]driver {
	found := map[string]driver{}
	program := filepath.Join(t.TempDir(), "writers")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = filepath.Join(writers, "go")
	build.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly -buildvcs=false", "GOWORK=off")
	found["go"] = driver{args: []string{program}}
	if out, err := build.CombinedOutput(); err != nil {
		found["go"] = driver{missing: "the modules of internal/writers/go are not here (go mod download there): " + firstLine(out)}
	}
	for language, try := range map[string]struct {
		programs []string
		probe    []string // ends well where all that is needed is there
		script   string
		install  string
	}{
		"node": {[]string{"node"}, []string{"-e", "require('./internal/writers/node/node_modules/ioredis')"}, "node/main.mjs", "npm ci in internal/writers/node"},
		// The system's own first: packages are installed for that one.
		"python": {[]string{"/usr/bin/python3", "python3"}, []string{"-c", "import limits, redis"}, "python/main.py", "python3-limits and python3-redis"},
		"ruby":   {[]string{"ruby"}, []string{"-e", "require 'redis'; require 'rack'; require 'rack/attack'"}, "ruby/main.rb", "ruby-rack-attack and ruby-redis"},
		"php": {[]string{"php"}, []string{"-r", "exit(extension_loaded('redis') && is_file('/usr/share/php/Symfony/Component/RateLimiter/autoload.php') ? 0 : 1);"},
			"php/main.php", "php-cli, php-redis, php-symfony-cache and php-symfony-rate-limiter"},
	} {
		d := driver{missing: "to run this test install " + try.install}
		for _, program := range try.programs {
			probe := exec.Command(program, try.probe...)
			probe.Dir = ".."
			if d.missing != "" && probe.Run() == nil {
				d = driver{args: []string{program, filepath.Join(writers, try.script)}}
			}
		}
		found[language] = d
	}
	return found
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return line
}

// conversation is a driver that runs.
type conversation struct {
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
	log bytes.Buffer
}

func (d driver) start(ctx context.Context, library, addr string, s settings) (*conversation, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	c := &conversation{cmd: exec.CommandContext(ctx, d.args[0], append(d.args[1:len(d.args):len(d.args)], library, addr, string(text))...)}
	c.cmd.Stderr = &c.log
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	return c, c.cmd.Start()
}

// take has the library decide once.
func (c *conversation) take(key string, cost int64) (answer, error) {
	if _, err := fmt.Fprintf(c.in, "%s %d\n", key, cost); err != nil {
		return answer{}, c.failed(err)
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return answer{}, c.failed(err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return answer{}, c.failed(fmt.Errorf("%w in %.200q", err, line))
	}
	if a.Error != "" {
		return answer{}, c.failed(fmt.Errorf("the library failed: %s", a.Error))
	}
	return a, nil
}

// failed ends the driver and adds to err what it wrote.
func (c *conversation) failed(err error) error {
	c.end()
	return fmt.Errorf("%w\n%.2000s", err, c.log.String())
}

func (c *conversation) end() {
	_ = c.in.Close()
	_ = c.cmd.Process.Kill() // it may have ended by itself
	_ = c.cmd.Wait()
}

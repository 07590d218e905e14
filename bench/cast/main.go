//go:build unix

// Command cast runs a command in a pseudo terminal and keeps what it shows as
// an asciicast (version 2), which asciinema plays:
//
//	go run ./bench/cast -o docs/media/herd.cast -keys 17s=q -- weir demo herd --for 15s
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
)

// apart is how far apart the frames are at least: what is shown in between goes
// into the next.
const apart = 100 * time.Millisecond

func main() {
	out := flag.String("o", "", "the `FILE` to write")
	keys := flag.String("keys", "", "what to type and when, such as 5s=n,31s=q")
	columns := flag.Uint("columns", 80, "the terminal's columns")
	rows := flag.Uint("rows", 24, "the terminal's rows")
	flag.Parse()
	if err := record(*out, *keys, uint16(*columns), uint16(*rows), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "cast:", err)
		os.Exit(1)
	}
}

func record(path, keys string, columns, rows uint16, args []string) error {
	if path == "" || len(args) == 0 {
		return errors.New("usage: cast -o FILE -- COMMAND")
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "TERM=xterm", "COLORTERM=", "NO_COLOR=")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: columns, Rows: rows})
	if err != nil {
		return err
	}
	defer tty.Close()
	start := time.Now()
	if err := typeKeys(tty, keys); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	enc := json.NewEncoder(f)
	enc.SetEscapeHTML(false)
	header := map[string]any{"version": 2, "width": columns, "height": rows, "timestamp": start.Unix(), "title": strings.Join(args, " "),
		"env": map[string]string{"TERM": "xterm"}}
	if err := enc.Encode(header); err != nil {
		return err
	}
	shown := make(chan []byte)
	go func() {
		defer close(shown)
		buf := make([]byte, 64<<10)
		for {
			n, err := tty.Read(buf)
			if n > 0 {
				shown <- append([]byte(nil), buf[:n]...)
			}
			if err != nil { // the program has ended
				return
			}
		}
	}()
	if err := frames(enc, start, shown); err != nil {
		return err
	}
	return errors.Join(cmd.Wait(), f.Close())
}

// typeKeys types in the background; what is left when the program ends is lost.
func typeKeys(tty io.Writer, keys string) error {
	for _, k := range strings.FieldsFunc(keys, func(r rune) bool { return r == ',' }) {
		at, what, _ := strings.Cut(k, "=")
		d, err := time.ParseDuration(at)
		if err != nil {
			return fmt.Errorf("keys %q: %w", k, err)
		}
		time.AfterFunc(d, func() { _, _ = io.WriteString(tty, what) })
	}
	return nil
}

// frames writes what is shown, whole characters at a time.
func frames(enc *json.Encoder, start time.Time, shown <-chan []byte) error {
	var held []byte
	flush := func(all bool) error {
		n := len(held)
		for back := 1; !all && back <= utf8.UTFMax && back <= n; back++ {
			if utf8.RuneStart(held[n-back]) {
				if !utf8.FullRune(held[n-back:]) {
					n -= back
				}
				break
			}
		}
		if n == 0 {
			return nil
		}
		err := enc.Encode([]any{float64(time.Since(start).Milliseconds()) / 1e3, "o", string(held[:n])})
		held = append([]byte(nil), held[n:]...)
		return err
	}
	tick := time.NewTicker(apart)
	defer tick.Stop()
	for {
		select {
		case b, more := <-shown:
			held = append(held, b...)
			if !more {
				return flush(true)
			}
		case <-tick.C:
			if err := flush(false); err != nil {
				return err
			}
		}
	}
}

package gateway

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// keysEvery is how often the file of keys is looked at.
const keysEvery = time.Second

// read takes the file's keys. What cannot be read leaves the old ones. The
// stamp is taken first, so that a change while it reads is seen later.
func (id *identity) read() error {
	if st, err := stampOf(id.file); err == nil {
		id.seen = st
	}
	data, err := readBounded(id.file, maxKeysFile)
	var wrong *KeysError
	switch {
	case errors.As(err, &wrong):
		return err
	case err != nil:
		return fmt.Errorf("file of keys: %w", err)
	}
	t, err := parseKeys(data, id.file)
	if err != nil {
		return err
	}
	if t.len() == 0 {
		return &KeysError{id.file, 0, "has no keys"}
	}
	id.table.Store(t)
	return nil
}

// readBounded reads a file that is no longer than most.
func readBounded(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = &KeysError{name, 0, fmt.Sprintf("longer than %d MiB", most>>20)}
	}
	return data, err
}

// stamp is what changes when a file does.
type stamp struct {
	size int64
	at   time.Time
}

func stampOf(name string) (stamp, error) {
	st, err := os.Stat(name)
	if err != nil {
		return stamp{}, err
	}
	return stamp{st.Size(), st.ModTime()}, nil
}

// watchKeys keeps the fleet's keys those of their file until it stops.
func (f *Fleet) watchKeys() {
	notice := f.cfg.Notice
	if notice == nil {
		notice = func(string) {}
	}
	f.identity.watch(f.stopped, keysEvery, notice)
}

// watch reads the file again whenever it has changed, until stopped is closed.
// A file that cannot be used is told once, and the keys in force stay.
func (id *identity) watch(stopped <-chan struct{}, every time.Duration, notice func(string)) {
	gone := false
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-stopped:
			return
		}
		now, err := stampOf(id.file)
		switch {
		case err != nil && gone:
			continue
		case err != nil:
			gone = true
			notice("the keys in force stay: " + err.Error())
			continue
		case !gone && now == id.seen:
			continue
		}
		gone = false
		if err := id.read(); err != nil {
			notice("the keys in force stay: " + err.Error())
			continue
		}
		n, noun := id.table.Load().len(), "keys"
		if n == 1 {
			noun = "key"
		}
		notice(fmt.Sprintf("%s: %d %s in force", id.file, n, noun))
	}
}

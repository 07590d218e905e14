package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
)

// RuleFile is a source in a file. The zero value of Every looks for changes
// once a second.
type RuleFile struct {
	Path  string
	Every time.Duration
}

// String is the path.
func (f *RuleFile) String() string { return f.Path }

// Load reads the file.
func (f *RuleFile) Load(context.Context) ([]byte, error) {
	file, err := os.Open(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w at %s: %w", ErrNoRules, f.Path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// One byte more than may be there, for the parser to say so.
	return io.ReadAll(io.LimitReader(file, rules.MaxBytes+1))
}

// Save writes a new file beside the old one and renames it over it, so that
// whoever reads gets the one or the other.
func (f *RuleFile) Save(ctx context.Context, before []byte, s RuleChange) error {
	path, err := filepath.EvalSymlinks(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		path, err = f.Path, nil
	}
	if err != nil {
		return err
	}
	switch now, err := f.Load(ctx); {
	case errors.Is(err, ErrNoRules):
		if before != nil {
			return ErrRulesChanged
		}
	case err != nil:
		return err
	case before == nil || !bytes.Equal(now, before):
		return ErrRulesChanged
	}
	mode := fs.FileMode(0o600)
	if st, err := os.Stat(path); err == nil {
		mode = st.Mode().Perm()
	}
	to, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = to.Write(s.Set.Text())
	if err == nil {
		err = to.Chmod(mode)
	}
	if err == nil {
		err = to.Sync() // or a crash may leave an empty file under the name
	}
	if closed := to.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(to.Name(), path)
	}
	if err != nil {
		os.Remove(to.Name())
	}
	return err
}

// Watch looks at the file's time, size and identity, and tells of a change
// when they have stayed the same from one look to the next: a file that is
// written in pieces is not read in the middle of it.
func (f *RuleFile) Watch(ctx context.Context, changed func()) {
	every := f.Every
	if every <= 0 {
		every = time.Second
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	last := f.look()
	// What came between the caller's reading and the first look.
	changed()
	told := last
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := f.look()
		if same(now, last) && !same(now, told) {
			told = now
			changed()
		}
		last = now
	}
}

// look is what the file is now, nil for none.
func (f *RuleFile) look() fs.FileInfo {
	st, err := os.Stat(f.Path)
	if err != nil {
		return nil
	}
	return st
}

// same reports whether nothing was written between two looks, as far as they
// tell.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && os.SameFile(a, b)
}

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// writeOutFile writes path whole or not at all: into a new file beside it,
// renamed over it at the end, so that two runs writing one path each leave
// their own whole result and the later one stays. A path that is a device or
// a pipe is written directly.
func writeOutFile(path string, fn func(w io.Writer) error) error {
	path, mode, err := resolveOut(path)
	if err != nil {
		return err
	}
	if !mode.IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return outError(path, err)
		}
		return fill(f, path, fn)
	}
	f, err := createBeside(path)
	if err != nil {
		return outError(path, err)
	}
	if err := fill(f, path, fn); err != nil {
		os.Remove(f.Name())
		return err
	}
	if mode.Perm() != 0 {
		// The old file's permissions outlive it, as far as we may set them.
		os.Chmod(f.Name(), mode.Perm())
	}
	if err := os.Rename(f.Name(), path); err != nil {
		os.Remove(f.Name())
		return outError(path, err)
	}
	return nil
}

// checkOutFile fails as writeOutFile would, as far as that can be known
// without writing, and leaves nothing behind.
func checkOutFile(path string) error {
	path, mode, err := resolveOut(path)
	if err != nil || !mode.IsRegular() {
		return err
	}
	f, err := createBeside(path)
	if err != nil {
		return outError(path, err)
	}
	f.Close()
	return os.Remove(f.Name())
}

// resolveOut follows symbolic links, so that a link stays and the file it
// names is replaced, and refuses a directory. The mode is 0 for a new file.
func resolveOut(path string) (string, fs.FileMode, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, 0, nil
	case err != nil:
		return path, 0, outError(path, err)
	case info.IsDir():
		return path, 0, usagef("--out "+filepath.Join(path, "result.json"), "--out %s is a directory", path)
	}
	return path, info.Mode(), nil
}

// createBeside creates a new file in path's folder with the permissions that
// the umask gives, which os.CreateTemp would narrow.
func createBeside(path string) (*os.File, error) {
	for range 100 {
		name := fmt.Sprintf("%s.weir-%08x", path, rand.Uint32())
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, fmt.Errorf("no free name beside %s", path)
}

// fill writes and closes f. An error of fn passes through unless it
// is only the echo of a failed write.
func fill(f *os.File, path string, fn func(w io.Writer) error) error {
	w := &errWriter{w: f}
	buf := bufio.NewWriter(w)
	err := fn(buf)
	if err == nil {
		err = buf.Flush()
	}
	// Close can be the first to report a full disk on a network file system.
	if cerr := f.Close(); err == nil && cerr != nil {
		return outError(path, cerr)
	}
	if w.err != nil {
		return outError(path, w.err)
	}
	return err
}

// outError names the file that the user named, not the new one beside it.
func outError(path string, err error) error { return fileError("--out", path, err) }

// fileError says that the file of a flag cannot be written.
func fileError(flag, path string, err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	hint := fmt.Sprintf("%s with a path that can be written, such as %[1]s ./result", flag)
	switch {
	case errors.Is(err, syscall.ENOSPC):
		hint = fmt.Sprintf("free some space on that disk, or use %s on another", flag)
	case errors.Is(err, fs.ErrNotExist):
		hint = fmt.Sprintf("mkdir -p %s", filepath.Dir(path))
	}
	return reachError(fmt.Errorf("cannot write %s: %w", path, err), hint)
}

//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// built is a weir of this source, and how to remove it.
func built() (weir string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	weir = filepath.Join(dir, "weir")
	if out, err := exec.Command("go", "build", "-o", weir, "./cmd/weir").CombinedOutput(); err != nil {
		remove()
		return "", nil, fmt.Errorf("go build: %w: %s", err, out)
	}
	return weir, remove, nil
}

package inspect

import (
	"maps"
	"slices"
)

// The words of layout files.
var (
	ttlMeanings = []string{"window-end", "block-end", "to-full", "cleanup", "none"}
	lives       = []string{"window", "two-windows", "instant", "aligned", "none"}
	ttlMissing  = []string{"for-ever", "heals", "repairs", "repairs-seconds", "leak", "normal"}
	valueKinds  = append([]string{"", "whole", "number", "decimal", "instant", "instant-us", "uuid", "letters20", "text"}, sortedKeys(shapes)...)
)

func contains(list []string, s string) bool { return slices.Contains(list, s) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

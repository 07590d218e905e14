package limit

import (
	"cmp"
	"slices"
	"strconv"
)

// HashRing gives every key an owner among several, so that adding or removing
// an owner moves only its own share of the keys (consistent hashing, Karger et
// al. 1997). The hash is fixed: every process finds the same owner, whatever
// the order in which owners came. Not safe for use while it is changed.
type HashRing struct {
	points []ringPoint // by hash, then owner
	owners []string    // sorted
	each   int
}

type ringPoint struct {
	hash  uint64
	owner string
}

// DefaultPoints keeps the largest of 20 shares within about a third of the mean.
const DefaultPoints = 128

// NewHashRing makes a ring on which every owner has so many points; below 1 it
// is DefaultPoints.
func NewHashRing(points int, owners ...string) *HashRing {
	if points < 1 {
		points = DefaultPoints
	}
	r := &HashRing{each: points}
	for _, o := range owners {
		r.place(o)
	}
	r.sort()
	return r
}

// Add reports whether the owner is new.
func (r *HashRing) Add(owner string) bool {
	if !r.place(owner) {
		return false
	}
	r.sort()
	return true
}

// place adds an owner's points out of order.
func (r *HashRing) place(owner string) bool {
	at, known := slices.BinarySearch(r.owners, owner)
	if known {
		return false
	}
	r.owners = slices.Insert(r.owners, at, owner)
	for i := range r.each {
		// A byte that ends names, so that a1 and its point 2 is not a and 12.
		r.points = append(r.points, ringPoint{ringHash(owner + "\xff" + strconv.Itoa(i)), owner})
	}
	return true
}

func (r *HashRing) sort() {
	slices.SortFunc(r.points, func(a, b ringPoint) int {
		if a.hash != b.hash {
			return cmp.Compare(a.hash, b.hash)
		}
		return cmp.Compare(a.owner, b.owner)
	})
}

// Remove reports whether the owner was there.
func (r *HashRing) Remove(owner string) bool {
	at, known := slices.BinarySearch(r.owners, owner)
	if !known {
		return false
	}
	r.owners = slices.Delete(r.owners, at, at+1)
	r.points = slices.DeleteFunc(r.points, func(p ringPoint) bool { return p.owner == owner })
	return true
}

// Owners are all owners, sorted.
func (r *HashRing) Owners() []string { return slices.Clone(r.owners) }

// Owner is who has the key: the first point at or after its hash, around the
// ring. It is "" on an empty ring.
func (r *HashRing) Owner(key string) string {
	if len(r.points) == 0 {
		return ""
	}
	hash := ringHash(key)
	lo, hi := 0, len(r.points)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); r.points[mid].hash < hash {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(r.points) {
		lo = 0
	}
	return r.points[lo].owner
}

// ringHash is 64-bit FNV-1a, its bits then mixed as MurmurHash3 finishes,
// since names that differ at their end would otherwise lie close together.
func ringHash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

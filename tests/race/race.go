// Package race has tests try a sample of their cases under the race detector, which makes
// them about ten times slower. `make whole` tries all of those cases without it.
package race

import "hash/fnv"

// Of is whole, or sample under the race detector.
func Of[T any](whole, sample T) T {
	if Enabled {
		return sample
	}
	return whole
}

// OneIn is all, or the first of each n under the race detector.
func OneIn[T any](n int, all []T) []T {
	if !Enabled {
		return all
	}
	var sample []T
	for i := 0; i < len(all); i += n {
		sample = append(sample, all[i])
	}
	return sample
}

// Takes tells whether a case of a table is tried: under the race detector about one in n is,
// always the same.
func Takes(name string, n uint32) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return !Enabled || h.Sum32()%n == 0
}

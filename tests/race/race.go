// Package race has tests try a sample of their cases under the race detector, which makes
// them about ten times slower. `make whole` tries all of those cases without it.
package race

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

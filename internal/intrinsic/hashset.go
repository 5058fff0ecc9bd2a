package intrinsic

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
)

// hashOrder puts values in the order in which a Java HashSet made from a list
// of that length gives them.
func hashOrder(values []any, length int) {
	const least = 16
	buckets := uint32(least)
	for float64(buckets) < math.Floor(float64(length)/0.75)+1 {
		buckets *= 2
	}
	bucket := func(value any) uint32 {
		h := javaHash(value)
		return (h ^ h>>16) & (buckets - 1)
	}
	slices.SortStableFunc(values, func(a, b any) int { return cmp.Compare(bucket(a), bucket(b)) })
}

// javaHash is hashCode of the Java value that a JSON value becomes.
func javaHash(value any) uint32 {
	const factor = 31
	var h uint32
	switch v := value.(type) {
	case bool:
		if v {
			return 1231
		}
		return 1237
	case json.Number:
		return javaNumberHash(v)
	case string:
		for _, unit := range utf16.Encode([]rune(v)) {
			h = factor*h + uint32(unit)
		}
	case []any:
		h = 1
		for _, item := range v {
			h = factor*h + javaHash(item)
		}
	case map[string]any:
		for name, member := range v {
			h += javaHash(name) ^ javaHash(member)
		}
	}
	return h
}

// javaNumberHash is hashCode of an Integer, a Long or a Double.
func javaNumberHash(n json.Number) uint32 {
	bits, err := strconv.ParseInt(string(n), 10, 64)
	if err != nil {
		f, _ := n.Float64()               // infinite beyond its range, as in Java
		bits = int64(math.Float64bits(f)) //nolint:gosec // bits, not a value
	} else if bits >= math.MinInt32 && bits <= math.MaxInt32 {
		return uint32(bits) //nolint:gosec // bits, not a value
	}
	return uint32(bits) ^ uint32(bits>>32) //nolint:gosec // bits, not a value
}

package ordered_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/ordered"
)

// A list is a sorted slice without equal items, whatever comes and goes.
func TestListIsASortedSlice(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		l := ordered.New(cmp.Compare[int])
		var want []int
		wide := 1 + random.IntN(5_000)
		for range 6_000 {
			e := random.IntN(wide)
			i, there := slices.BinarySearch(want, e)
			switch {
			case random.IntN(5) > 1+int(seed%3):
				require.Equal(t, there, l.Remove(e))
				if there {
					want = slices.Delete(want, i, i+1)
				}
			default:
				l.Add(e)
				if !there {
					want = slices.Insert(want, i, e)
				}
			}
			require.Equal(t, len(want), l.Len())
		}
		require.Equal(t, want, slices.Collect(l.All()))
		for range 50 {
			e := random.IntN(wide+2) - 1
			i, there := slices.BinarySearch(want, e)
			if there {
				i++
			}
			require.Equal(t, append([]int(nil), want[i:]...), slices.Collect(l.After(e)))
		}
		first, found := l.First()
		require.Equal(t, len(want) > 0, found)
		if found {
			require.Equal(t, want[0], first)
		}
		for next := range l.All() { // it may end early
			require.Equal(t, first, next)
			break
		}
		for _, e := range want {
			require.True(t, l.Remove(e))
		}
		require.Empty(t, slices.Collect(l.All()))
		_, found = l.First()
		require.False(t, found)
	}
}

// What lies behind an item in some groups is what lies there in one list of them.
func TestGroupsAreOneList(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	g := ordered.NewGroups[int](cmp.Compare[int])
	all := map[int]int{} // the group of each item
	for range 20_000 {
		e := random.IntN(3_000)
		group, there := all[e]
		switch {
		case there && random.IntN(2) == 0:
			g.Remove(group, e)
			delete(all, e)
		case !there:
			all[e] = random.IntN(5)
			g.Add(all[e], e)
		default:
			g.Remove(group+1, e) // which does not have it
		}
		require.Equal(t, len(all), g.Len())
	}
	for range 200 {
		after, n, of := random.IntN(3_000), random.IntN(40), random.IntN(1<<5)
		takes := func(group int) bool { return of&(1<<group) != 0 }
		var want []int
		for e, group := range all {
			if takes(group) {
				want = append(want, e)
			}
		}
		slices.Sort(want)
		require.ElementsMatch(t, want[:min(n, len(want))], g.After(nil, n, takes))
		behind := slices.DeleteFunc(slices.Clone(want), func(e int) bool { return e <= after })
		require.ElementsMatch(t, behind[:min(n, len(behind))], g.After(&after, n, takes))
		require.True(t, slices.IsSorted(g.After(&after, n, takes)))
	}
}

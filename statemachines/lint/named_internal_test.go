package lint

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Where the name of a status says what it means, the entries of the catalogue say the same, but for a few that wait for
// something else.
func TestNamesAgreeWithCatalogue(t *testing.T) {
	t.Parallel()
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	named, differ := 0, 0
	for _, service := range services {
		for _, listed := range service.Entries {
			e, err := catalog.AWS().Lookup(service.Key, listed.Name)
			require.NoError(t, err)
			if e.Aim() == catalog.AimGone {
				continue
			}
			for _, path := range statusPaths(e) {
				s := readStatus(path, []*catalog.Entry{e})
				for _, value := range s.values {
					by, means := meaningOfName(value), s.judges[0].meanings[value]
					isEnd := by == MeansSuccess || by == MeansFailure
					if !isEnd || means != MeansSuccess && means != MeansFailure && means != MeansRunning {
						continue
					}
					if named++; by != means {
						differ++
					}
				}
			}
		}
	}
	require.Greater(t, named, 500)
	require.Less(t, float64(differ), 0.05*float64(named))
}

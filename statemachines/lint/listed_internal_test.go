package lint

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/statusname"
)

// No entry of the catalogue says of a status with the name of a failure that its job still runs, and nearly all say
// that the job has ended, but those that wait until something is gone.
func TestFailuresAreEnds(t *testing.T) {
	t.Parallel()
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	known, ends := 0, 0
	for _, service := range services {
		for _, listed := range service.Entries {
			e, err := catalog.AWS().Lookup(service.Key, listed.Name)
			require.NoError(t, err)
			if e.Aim() == catalog.AimGone {
				continue
			}
			for _, path := range statusPaths(e) {
				s := readStatus(path, []*catalog.Entry{e})
				for _, value := range statusname.FailuresIn(s.values) {
					known++
					switch s.judges[0].meanings[value] {
					case MeansFailure, MeansSuccess:
						ends++
					case MeansRunning, MeansEnding, MeansUnclear:
						t.Errorf("%s: %s of a job that has not ended", e.FullName(), value)
					case MeansUnknown:
					}
				}
			}
		}
	}
	require.Greater(t, ends, 400)
	require.Less(t, known-ends, 10)
}

package catalog_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

var (
	// passingName is what a status is called that another follows.
	passingName = regexp.MustCompile(`(?i)ing$|progress|pending`)
	// endingName is what one is called that leads a running job to its end.
	endingName = regexp.MustCompile(`(?i)stop|cancel|abort|failing|roll(ing_)?back|interrupt`)
	// filterName is what one is called that selects others.
	filterName = regexp.MustCompile(`(?i)^(all|any|none|null)$`)
	// reachedName are the names of waiters for which such a status is on the way to what
	// they wait for.
	reachedName = regexp.MustCompile(`(Deleted|Standby|Stopped|Terminated|Cancelled)$`)
)

// A status that an entry takes for an end, and that is called as if another followed,
// has a decision in endings.json; so has one of a running job that is called as if its
// end followed. Nothing else has.
func TestStatusesThatPassByAreDecided(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	decided := map[string]bool{}
	for _, l := range list {
		for _, listed := range l.Entries {
			e, err := catalog.AWS().Lookup(l.Key, listed.Name)
			require.NoError(t, err)
			for value, verdict := range verdictsOf(e) {
				asks := passingName.MatchString(value)
				if verdict == pollcore.Retry {
					asks = endingName.MatchString(value) && !reachedName.MatchString(e.Waiter.Name)
				}
				asks = asks || filterName.MatchString(value)
				means, reason := e.Passing(value)
				if asks {
					require.NotEmpty(t, reason, "%s: %s (%s) needs a row in endings.json", e.FullName(), value, verdict)
				}
				if means != "" {
					decided[e.FullName()+" "+value] = true
				}
			}
		}
	}
	text, err := os.ReadFile("sources/endings.json")
	require.NoError(t, err)
	var rows []struct {
		Service string          `json:"service"`
		Entries []string        `json:"entries"`
		Values  []string        `json:"values"`
		Means   catalog.Passing `json:"means"`
	}
	require.NoError(t, json.Unmarshal(text, &rows))
	count := 0
	for _, row := range rows {
		require.Contains(t, []catalog.Passing{catalog.PassingEnding, catalog.PassingChange, catalog.PassingEnd, catalog.PassingFilter, catalog.PassingLater, catalog.PassingMeanwhile, catalog.PassingHeld, catalog.PassingUsable, catalog.PassingKind}, row.Means)
		for _, entry := range row.Entries {
			for _, value := range row.Values {
				requireKind(t, row.Service, entry, value)
				require.True(t, decided[row.Service+":"+entry+" "+value], "%s:%s has no status %q to decide", row.Service, entry, value)
				count++
			}
		}
	}
	require.Len(t, decided, count, "a status is decided twice")
}

// requireKind requires of a status of one kind of job that the start call has a member that tells the kind.
func requireKind(t *testing.T, service, name, value string) {
	t.Helper()
	e, err := catalog.Lookup(service, name)
	require.NoError(t, err)
	member, kind := e.KindOf(value)
	if means, _ := e.Passing(value); means != catalog.PassingKind {
		require.Empty(t, member)
		return
	}
	tells := e.Service.Operations[e.Name].Input.Member(member)
	require.NotNil(t, tells, "%s:%s has no member %q", service, name, member)
	require.Contains(t, tells.Shape.Enum, kind)
}

// verdictsOf are the texts that an entry compares a status with, and what they say.
func verdictsOf(e *catalog.Entry) map[string]pollcore.Verdict {
	out := map[string]pollcore.Verdict{}
	for _, a := range slices.Backward(e.Waiter.Acceptors) {
		if m := a.Matcher.Output; m != nil && m.Comparator != pollcore.BooleanEquals {
			out[m.Expected] = a.State
		}
	}
	if e.Job != nil {
		for _, value := range e.Job.Running {
			out[value] = pollcore.Retry
		}
	}
	return out
}

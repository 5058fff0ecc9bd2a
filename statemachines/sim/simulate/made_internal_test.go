package simulate

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// No status of an answer is made up: the model lists it, or an entry of the operation or its documentation names it.
// A status of ClusterRestored was RUNNING, and one of a replication NORMAL, the reason why it stopped.
func TestNoStatusIsMadeUp(t *testing.T) {
	t.Parallel()
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	checked, entries := 0, 0
	for _, service := range services {
		whole, err := models.Load(service.Key)
		require.NoError(t, err)
		for _, listed := range service.Entries {
			e, err := catalog.AWS().Lookup(service.Key, listed.Name)
			require.NoError(t, err)
			entries++
			words := knownWords(e)
			for _, a := range []*answers{{}, {Sample: typecheck.Sample{Wants: stateName().MatchString}}} {
				b := a.behaviourOf(e, whole.Operations[e.Operation.Name], nil, nil)
				for _, s := range b.statuses {
					for _, read := range words {
						if word, isText := read.at.get(s.answer).(string); isText && !s.raises {
							checked++
							require.Contains(t, read.words, word, "%s %s: %s", e.FullName(), s.name, read.at.spell())
						}
					}
				}
			}
		}
	}
	require.Greater(t, checked, 2*entries, "an entry has several statuses, each in two answers")
}

// known are the texts that a status can have.
type known struct {
	at    place
	words []string
}

// knownWords are those of the statuses that an entry reads.
func knownWords(e *catalog.Entry) []known {
	var all []known
	for _, r := range readingsOf(e) {
		m := e.Waiter.Acceptors[r.Acceptor].Matcher.Output
		if m == nil {
			continue
		}
		for _, l := range leavesOf(r, m) {
			name, isMember := l.path[len(l.path)-1].(string)
			if isMember && stateName().MatchString(name) && !slices.ContainsFunc(all, func(k known) bool { return slices.Equal(k.at, l.path) }) {
				all = append(all, known{l.path, wordsOfPlace(e, l.path)})
			}
		}
	}
	return all
}

// wordsOfPlace are the texts that the model or the catalogue has at a place.
func wordsOfPlace(e *catalog.Entry, at place) []string {
	var words []string
	if shape := shapeAt(e.Operation.Output, at); shape != nil {
		words = append(words, shape.Enum...)
	}
	for _, word := range wordsAt(e, at, nil) {
		words = append(words, word.(string)) //nolint:forcetypeassert // they are texts
	}
	for _, told := range e.Telling() {
		if slices.Equal(parsePlace(told.Member), at) {
			words = append(words, told.Before.(string), told.After.(string)) //nolint:forcetypeassert // those of a text are texts
		}
	}
	return words
}

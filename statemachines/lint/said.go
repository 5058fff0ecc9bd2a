package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/nearest"
)

// SaidMeanings are what a user may say of a status.
func SaidMeanings() []string {
	return []string{string(MeansSuccess), string(MeansFailure), string(MeansRunning)}
}

// ParseSaid reads what statuses mean, for Options.Said: "done=success,error=failure", or "Look:done=success" for the Task Look
// alone.
func ParseSaid(texts ...string) (map[string]Meaning, error) {
	said := map[string]Meaning{}
	for _, text := range texts {
		for one := range strings.SplitSeq(text, ",") {
			i := strings.LastIndex(one, "=")
			if i <= 0 {
				return nil, fmt.Errorf("%q must be STATUS=MEANING, such as done=success", one)
			}
			status, means := one[:i], one[i+1:]
			if !slices.Contains(SaidMeanings(), means) {
				return nil, fmt.Errorf("%q of status %q must be success, failure or running%s", means, status, nearest.DidYouMean(means, SaidMeanings()))
			}
			if before, known := said[status]; known && before != Meaning(means) {
				return nil, fmt.Errorf("status %q is %s and %s: say one of them", status, before, means)
			}
			said[status] = Meaning(means)
		}
	}
	return said, nil
}

// UnusedSaid returns what a user says of statuses and that no table of some loops takes: of a loop without a table, or of
// one whose statuses the catalogue knows.
func UnusedSaid(said map[string]Meaning, loops []Loop) map[string]Meaning {
	unused := maps.Clone(said)
	for i := range loops {
		for _, row := range loops[i].Rows {
			if row.By != ByUser {
				continue
			}
			for _, value := range row.Values {
				delete(unused, value)
				delete(unused, loops[i].Poll.Name+":"+value)
			}
		}
	}
	return unused
}

// MeaningOf is what a word says of the job that the Task of a state asks for: by the user, or else by its name; MeansUnknown
// where that is not sure.
func (o Options) MeaningOf(state, status string) Meaning {
	for _, name := range []string{state + ":" + status, status} {
		if said, known := o.Said[name]; known {
			return said
		}
	}
	return meaningOfName(status)
}

package catalog

import (
	"slices"
	"sync"
)

// Passing is what a status is that sounds as if another follows by itself, or as if it
// were none.
type Passing string

// What such a status is.
const (
	// PassingEnding is on the way to an end: "STOPPING", or "deleting" to those who wait
	// until something is available. What ended, and how, the next status says.
	PassingEnding Passing = "ending"
	// PassingChange is of another change of the resource than the one that somebody waits for, such as
	// "creating" to those who wait until it is gone: it passes by.
	PassingChange Passing = "change"
	// PassingEnd is an end: nothing follows by itself.
	PassingEnd Passing = "end"
	// PassingFilter is a word of the model's that only filters have: nothing is ever in
	// that status.
	PassingFilter Passing = "filter"
	// PassingLater is what only a later call leads to: nobody who waits for the entry gets to
	// see it, unless somebody else goes on with what it made.
	PassingLater Passing = "later"
	// PassingMeanwhile is what somebody else's call leads to: the job does not get there by
	// itself.
	PassingMeanwhile Passing = "meanwhile"
	// PassingHeld is of a job that waits for somebody's call, such as an approval: nothing follows by
	// itself, and the job has not ended.
	PassingHeld Passing = "held"
	// PassingUsable is of a job that goes on, though what it makes can be used: who needs no more may go on, too.
	PassingUsable Passing = "usable"
	// PassingKind is an end of one kind of job alone: see [Entry.KindOf].
	PassingKind Passing = "kind"
)

// endingRow is a row of endings.json, a table of the importer's sources that the data has as it is.
type endingRow struct {
	Service string   `json:"service"`
	Entries []string `json:"entries"`
	Values  []string `json:"values"`
	Means   Passing  `json:"means"`
	Reason  string   `json:"reason"`
	// Of is the member of the start call's input, and its value, of PassingKind.
	Of map[string]string `json:"of"`
}

// endingRows are the rows by their services.
var endingRows = sync.OnceValue(func() map[string][]endingRow {
	var rows []endingRow
	if err := AWS().read("endings.json", &rows); err != nil {
		panic("catalog: " + err.Error()) // which is embedded
	}
	by := map[string][]endingRow{}
	for _, row := range rows {
		by[row.Service] = append(by[row.Service], row)
	}
	return by
})

// Passing says what a status that the entry judges is, and why, as a person decided; empty
// for one whose name does not ask.
func (e *Entry) Passing(value string) (means Passing, reason string) {
	for _, row := range endingRows()[e.Service.Key] {
		if slices.Contains(row.Entries, e.Name) && slices.Contains(row.Values, value) {
			return row.Means, row.Reason
		}
	}
	return "", ""
}

// KindOf is the kind of job that alone gets to a status: a member of the start call's input, and its
// value; empty if all kinds do.
func (e *Entry) KindOf(value string) (member, kind string) {
	for _, row := range endingRows()[e.Service.Key] {
		if row.Means == PassingKind && slices.Contains(row.Entries, e.Name) && slices.Contains(row.Values, value) {
			for member, kind = range row.Of {
				return member, kind
			}
		}
	}
	return "", ""
}

package catalog

import (
	_ "embed"
	"encoding/json"
	"slices"
	"sync"
)

// Change says how answers describe a resource while a call changes it. A call has a row where its name
// does not tell that, or where an answer may mislead.
type Change struct {
	Service string `json:"service"`
	// Describes is the operation that tells, and Calls those that change.
	Describes string   `json:"describes"`
	Calls     []string `json:"calls"`
	// Makes tells that there is no such resource before the call.
	Makes bool `json:"makes,omitempty"`
	// Running is the status meanwhile, and Status its path, as those of [Operation.Presence];
	// empty for that of the waiter.
	Running string `json:"running"`
	Status  string `json:"status,omitempty"`
	// Done is the text at Status once the change is over, where no waiter reads that and the member is not there
	// before the first change; empty otherwise.
	Done string `json:"done,omitempty"`
	// Stays are members that the change leaves as they are, with their values.
	Stays map[string]string `json:"stays,omitempty"`
	// Undone is the status while a change that failed is undone: the status of a success follows.
	// Tells are the members that tell the two apart, by the calls.
	Undone string            `json:"undone,omitempty"`
	Tells  map[string]string `json:"tells,omitempty"`
	Source string            `json:"source"`
}

//go:embed changes.json
var changes []byte

// changesOf are the rows of changes.json by their services and operations that tell.
var changesOf = sync.OnceValue(func() map[string][]Change {
	var rows []Change
	if err := json.Unmarshal(changes, &rows); err != nil {
		panic("catalog: changes.json: " + err.Error()) // which is embedded
	}
	by := map[string][]Change{}
	for _, row := range rows {
		by[row.Service+":"+row.Describes] = append(by[row.Service+":"+row.Describes], row)
	}
	return by
})

// ChangedBy returns what the answers of an operation of the service say while a call changes what
// they are about; nil if nothing is known but by names.
func (s *Service) ChangedBy(call, describes string) *Change {
	rows := changesOf()[s.Key+":"+describes]
	for i := range rows {
		if slices.Contains(rows[i].Calls, call) {
			return &rows[i]
		}
	}
	return nil
}

// HasChanges tells whether something is known of calls that change what an operation describes.
func (s *Service) HasChanges(describes string) bool { return len(changesOf()[s.Key+":"+describes]) > 0 }

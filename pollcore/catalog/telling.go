package catalog

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// Telling is a member of the answer about a job or a resource that says, beside what a waiter reads,
// whether it has ended: CodeBuild's buildComplete. It is about the making of a resource.
type Telling struct {
	Service   string `json:"service"`
	Operation string `json:"operation"`
	// Member is its path, as those of [Operation.Presence].
	Member string `json:"member"`
	// Since is when it changes from the value Before to After.
	Since  Presence `json:"since"`
	Before any      `json:"before"`
	After  any      `json:"after"`
	Source string   `json:"source"`
}

//go:embed telling.json
var tellings []byte

// tellingsOf are the rows of telling.json by their services and operations.
var tellingsOf = sync.OnceValue(func() map[string][]Telling {
	var rows []Telling
	if err := json.Unmarshal(tellings, &rows); err != nil {
		panic("catalog: telling.json: " + err.Error()) // which is embedded
	}
	by := map[string][]Telling{}
	for _, row := range rows {
		by[row.Service+":"+row.Operation] = append(by[row.Service+":"+row.Operation], row)
	}
	return by
})

// Telling returns the members of the answer that say, beside the status, whether the job
// has ended.
func (e *Entry) Telling() []Telling {
	return tellingsOf()[e.Service.Key+":"+e.Operation.Name]
}

package catalog

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
)

// Telling is a member of the answer about a job or a resource that says, beside what a waiter reads,
// whether it has ended: CodeBuild's buildComplete. It is about the making of a resource.
type Telling struct {
	Service   string `json:"service"`
	Operation string `json:"operation"`
	// Member is its path, as those of [Operation.Presence].
	Member string `json:"member"`
	// Since is when it changes from the value Before to After; empty if it has one value, whatever the
	// waiter reads.
	Since  Presence `json:"since"`
	Before any      `json:"before"`
	After  any      `json:"after"`
	// Form is the whole text as AWS writes it, with {word} for the word that waiters compare with;
	// empty if the text is the word alone.
	Form   string `json:"form,omitempty"`
	Source string `json:"source"`
}

//go:embed telling.json
var tellings []byte

// Spell returns the text that AWS has for the word that a waiter compares with.
func (t Telling) Spell(word string) string {
	before, after, isForm := strings.Cut(t.Form, "{word}")
	if !isForm || strings.HasPrefix(word, before) && strings.HasSuffix(word, after) {
		return word
	}
	return before + word + after
}

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

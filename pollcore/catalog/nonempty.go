package catalog

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// nonEmptyRow is a text of a request that a service refuses if it is empty, though the model has no
// least length.
type nonEmptyRow struct {
	Service string `json:"service"`
	Shape   string `json:"shape"` // that has the member
	Member  string `json:"member"`
	Source  string `json:"source"`
}

//go:embed nonempty.json
var nonEmptyText []byte

// nonEmpty are the rows of nonempty.json.
var nonEmpty = sync.OnceValue(func() map[nonEmptyRow]bool {
	var rows []nonEmptyRow
	if err := json.Unmarshal(nonEmptyText, &rows); err != nil {
		panic("catalog: nonempty.json: " + err.Error()) // which is embedded
	}
	all := map[nonEmptyRow]bool{}
	for _, row := range rows {
		row.Source = ""
		all[row] = true
	}
	return all
})

// NeverEmpty tells whether the service refuses an empty text as a member of a structure, by the
// structure's name.
func (s *Service) NeverEmpty(shape, member string) bool {
	return nonEmpty()[nonEmptyRow{Service: s.Key, Shape: shape, Member: member}]
}

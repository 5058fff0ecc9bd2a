package catalog

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// alwaysRow names members that the answers of an operation have, though its model does not require them:
// each of them, or those about a job since the table of presence allows the member. An item of a batch has
// it if the service took the item.
type alwaysRow struct {
	Service   string   `json:"service"`
	Operation string   `json:"operation"`
	Members   []string `json:"members"` // paths, as those of [Operation.Presence]
	Source    string   `json:"source"`
}

//go:embed always.json
var alwaysText []byte

// always has the members of always.json by their services and operations.
var always = sync.OnceValue(func() map[string][]string {
	var rows []alwaysRow
	if err := json.Unmarshal(alwaysText, &rows); err != nil {
		panic("catalog: always.json: " + err.Error()) // which is embedded
	}
	all := map[string][]string{}
	for _, row := range rows {
		all[row.Service+":"+row.Operation] = row.Members
	}
	return all
})

// Always returns the paths of members that the answers of the operation have, besides those that its
// model requires: those of [Operation.Presence] once that allows them, and the others always.
func (o *Operation) Always() []string { return always()[o.Service.Key+":"+o.Name] }

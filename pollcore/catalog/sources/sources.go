// Package sources has those of the tables kept by hand that programs read: the others only make the catalogue.
package sources

import (
	_ "embed"
	"encoding/json"
	"sync"
)

//go:embed left-out.json
var leftOut []byte

// LeftOut returns the waiters and jobs that the catalogue leaves out, as "service:name", each with the reason. What it
// returns is shared and not to be changed.
func LeftOut() map[string]string { return reasons() }

var reasons = sync.OnceValue(func() map[string]string {
	var rows []struct {
		Service string `json:"service"`
		Name    string `json:"name"`
		Reason  string `json:"reason"`
	}
	if err := json.Unmarshal(leftOut, &rows); err != nil {
		panic("sources: left-out.json: " + err.Error()) // which is embedded
	}
	reasons := map[string]string{}
	for _, row := range rows {
		reasons[row.Service+":"+row.Name] = row.Reason
	}
	return reasons
})

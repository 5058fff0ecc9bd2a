package catalog

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jmespath"
)

// startRow says what becomes of start calls that are made again, where the model does not tell.
type startRow struct {
	Service string   `json:"service"`
	Calls   []string `json:"calls"`
	// Token is the member of the input that keeps a second job from starting if it is the same in both
	// calls, a path. Another tells that the second call starts another job, though the input has a
	// member called as the job's id. Where neither is set, the service starts no second job.
	Token   string `json:"token,omitempty"`
	Another bool   `json:"another,omitempty"`
	Source  string `json:"source"`
}

//go:embed starts.json
var startsText []byte

// startRows are the rows of starts.json by their services and calls.
var startRows = sync.OnceValue(func() map[string]startRow {
	var rows []startRow
	if err := json.Unmarshal(startsText, &rows); err != nil {
		panic("catalog: starts.json: " + err.Error()) // which is embedded
	}
	by := map[string]startRow{}
	for _, row := range rows {
		for _, call := range row.Calls {
			by[row.Service+":"+call] = row
		}
	}
	return by
})

// StartToken returns the member of the start call's input that keeps a call that is
// repeated from starting a second job, a path: the token, or the name where the service takes none
// twice. required tells that a call without the member is refused. The token is empty if there is none.
func (e *Entry) StartToken() (token string, required bool) {
	if e.Job == nil {
		return "", false
	}
	switch {
	case e.Job.UniqueName != "":
		token = e.Job.UniqueName
	case e.Job.NaturalKey != nil:
		token = e.Job.NaturalKey.Member
	case e.Job.Token != "":
		token = e.Job.Token
	default:
		token = startRows()[e.Service.Key+":"+e.Name].Token
	}
	if token == "" {
		return "", false
	}
	shape, required := e.Service.Operations[e.Name].Input, true
	for name := range strings.SplitSeq(token, ".") {
		m := shape.Member(name)
		if m == nil {
			return "", false
		}
		shape, required = m.Shape, required && m.Required
	}
	return token, required
}

// StartsAnother tells whether a start call that is made again starts a second job. repeats tells whether
// the second call has the same value of a member, a path. A service starts no second job where its
// token or name is the same, where a row of starts.json says so, or where all by which
// [Job.Arguments] find the job is in the input.
func (e *Entry) StartsAnother(repeats func(token string, required bool) bool) bool {
	if e.Job == nil {
		return false
	}
	if token, required := e.StartToken(); token != "" {
		return !repeats(token, required)
	}
	if row, known := startRows()[e.Service.Key+":"+e.Name]; known {
		return row.Another
	}
	input := e.Service.Operations[e.Name].Input
	for _, text := range e.Job.Arguments {
		expr, err := jmespath.Parse(text)
		if err != nil {
			continue // the importer refuses it
		}
		if slices.ContainsFunc(expr.Paths(), func(path []string) bool {
			return len(path) > 1 && path[0] == "output" && !hasMember(input, path[len(path)-1])
		}) {
			return true
		}
	}
	return false
}

// hasMember tells whether a shape has a member of the name, whatever its case.
func hasMember(s *Shape, name string) bool {
	return s != nil && slices.ContainsFunc(s.Members, func(m Member) bool { return strings.EqualFold(m.Name, name) })
}

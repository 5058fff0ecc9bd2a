package fix

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// memberPath is a path of members and indices, such as $.job.Status and $states.input.job.Status.
var memberPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\$?[\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*|\[\d+\])+`)
})

// pathTo is the path in a text, up to the first place of a word; empty if there is none, or if the text has the
// word in another path, too.
func pathTo(text, word string) string {
	path := ""
	for _, found := range memberPath().FindAllString(text, -1) {
		i := regexp.MustCompile(`\.` + regexp.QuoteMeta(word) + `\b`).FindStringIndex(found)
		switch {
		case i == nil:
		case path != "" && path != found[:i[1]]:
			return ""
		default:
			path = found[:i[1]]
		}
	}
	return path
}

// ofInput is a path into the input of a state, the same in both languages; of a variable it is the path itself.
func ofInput(path string) string {
	if rest, ok := strings.CutPrefix(path, "$states.input."); ok {
		return "$." + rest
	}
	return path
}

// putMember puts a member in the place of a wrong one, wherever a text reads it by one path.
func putMember(text, wrong, right string) (string, bool) {
	path := pathTo(text, wrong)
	words := regexp.MustCompile(`\b`+regexp.QuoteMeta(wrong)+`\b`).FindAllStringIndex(text, -1)
	places := regexp.MustCompile(regexp.QuoteMeta(path) + `\b`)
	if path == "" || len(words) != len(places.FindAllStringIndex(text, -1)) {
		return text, false
	}
	return places.ReplaceAllLiteralString(text, strings.TrimSuffix(path, wrong)+right), true
}

// putElsewhere are the edits that put the right member in the place of a wrong one where other states read it by the
// same path. lint does not find it there: a rule that asks whether the member is there hides it, or no run comes there.
func (c *checked) putElsewhere(f lint.Finding, wrong string) []edit.Edit {
	node := nodeAt(c.root, f.Pointer)
	if f.Rule != typecheck.UnknownMember || node == nil || node.Kind != jsontree.String || !readsInput(f.Pointer) {
		return nil
	}
	path := ofInput(pathTo(node.Text, wrong))
	if path == "" || strings.HasPrefix(path, "$states.") {
		return nil
	}
	var edits []edit.Edit
	var walk func(n *jsontree.Node, name string)
	walk = func(n *jsontree.Node, name string) {
		for _, m := range n.Members {
			if m.Name != "States" { // those inside have other data
				walk(m.Value, m.Name)
			}
		}
		for i, item := range n.Items {
			walk(item, strconv.Itoa(i))
		}
		reads := strings.HasPrefix(n.Text, "{%") || strings.HasPrefix(n.Text, "$") || strings.HasSuffix(name, ".$")
		if n.Kind != jsontree.String || !reads || name == "Comment" || ofInput(pathTo(n.Text, wrong)) != path || !readsInput(n.Pointer()) {
			return
		}
		if text, ok := putMember(n.Text, wrong, f.Suggestion); ok {
			edits = append(edits, edit.Edit{Op: edit.Replace, At: n.Pointer(), Value: jsontree.Quote(text)})
		}
	}
	for _, s := range c.statesBehind(f) {
		walk(nodeAt(c.root, s.Position.Pointer), "")
	}
	return edits
}

// statesBehind are the state of a finding, and those of its flow that it leads to.
func (c *checked) statesBehind(f lint.Finding) []*asl.State {
	pointer, _ := stateAndField(f.Pointer)
	var all []*asl.State
	var look func(flow *asl.Flow)
	look = func(flow *asl.Flow) {
		i := slices.IndexFunc(flow.States, func(s *asl.State) bool { return s.Position.Pointer == pointer })
		for n, s := range flow.States {
			if i >= 0 && (n == i || flow.Leads(flow.States[i], s)) {
				all = append(all, s)
			}
			for _, inner := range s.Flows() {
				look(inner)
			}
		}
	}
	look(&c.machine.Flow)
	return all
}

// readsInput tells whether the field of a pointer reads the input of its state, and not the answer of a Task.
func readsInput(pointer string) bool {
	_, field := stateAndField(pointer)
	return !slices.Contains([]string{"ResultSelector", "ResultPath", "Output", "OutputPath", "Assign", "Catch"}, field)
}

// stateAndField are the pointer of the state that a pointer is in, and the field of that state.
func stateAndField(pointer string) (state, field string) {
	const states = "/States/"
	begin := strings.LastIndex(pointer, states) + len(states)
	name, rest, _ := strings.Cut(pointer[begin:], "/")
	field, _, _ = strings.Cut(rest, "/")
	return pointer[:begin] + name, field
}

// endsAsWritten tells whether a run ends by a rule that the right word lets the machine see, though not as its job
// ends: a job that has not ended leaves at the loop's bound, and a success goes where another member of its answer
// sends it.
func (c *checked) endsAsWritten(r *trial.Run) bool {
	if !isEnded(r) {
		return false
	}
	row := func(k trial.Kind) *lint.Row {
		for _, l := range c.loops {
			if i := slices.IndexFunc(l.Rows, func(row lint.Row) bool { return slices.Contains(row.Values, k.Value) }); l.Poll != nil && l.Poll.Name == k.Task && i >= 0 {
				return &l.Rows[i]
			}
		}
		return nil
	}
	last := r.Left
	stays := len(r.Kinds) > 0 && r.Kinds[len(r.Kinds)-1].Sort == trial.Never
	if stays {
		last.Value = r.Kinds[len(r.Kinds)-1].Value
	}
	if at := row(last); at != nil && isGoing(at.Meaning) {
		return at.Ends == lint.PollsOn && (stays || r.After.Asked <= r.Before.Asked)
	}
	return failsByItself(r) && slices.ContainsFunc(append(slices.Clone(r.Kinds), r.Usual...), func(k trial.Kind) bool {
		at := row(k)
		return at != nil && at.Meaning == lint.MeansSuccess && at.Ends == lint.GoesOn && len(at.Routes) > 1
	})
}

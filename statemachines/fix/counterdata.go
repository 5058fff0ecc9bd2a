package fix

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// countsInData tells whether a Pass counts in a member of the data that neither the poll nor a state
// behind the loop reads: a new loop needs no such count. What else the Pass does to the data, a trial
// shows.
func (l *loop) countsInData(s *asl.State) bool {
	path := l.countedMember(s)
	return path != "" && s.Assign == nil && l.memberReader(path) == ""
}

// countedMembers are the members that the loop counts in, such as "count.polls".
func (l *loop) countedMembers() []string {
	var all []string
	for _, s := range l.states {
		if path := l.countedMember(s); path != "" && !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	return all
}

// What a Pass in JSONata makes of its input: all of it, and one member anew.
var mergedMember = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\$merge\(\[\s*\$states\.input\s*,\s*\{\s*['"](\w+)['"]\s*:.*\}\s*\]\)$`)
})

// countedMember is the member of the data that a Pass makes anew, by adding to what is in it, or taking from it; empty
// if it does something else. Several of the loop may count together: one adds, and another puts the sum where the
// first one reads it.
func (l *loop) countedMember(s *asl.State) string { return l.countsTogether()[s] }

// countsTogether are the members that each Pass of the loop makes anew out of those of one another alone, if one of
// the Passes adds to them.
func (l *loop) countsTogether() map[*asl.State]string {
	made := map[*asl.State]string{}
	for _, s := range l.flow.States {
		if path := l.madeMember(s); s.Type == asl.TypePass && l.inside[s.Name] && path != "" && !l.listsMembers(s) {
			made[s] = path
		}
	}
	for {
		before := len(made)
		maps.DeleteFunc(made, func(s *asl.State, _ string) bool { return !l.countsFrom(s, made) })
		if len(made) == before {
			break
		}
	}
	for s := range made {
		if len(addedTo().FindAll(l.node(s).Raw(), -1)) > 0 {
			return made
		}
	}
	return nil
}

// readMember finds a member of a state's input that the state reads.
var readMember = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\$states\.input|"\$|[\s(,]\$)\.([\w.]+)`)
})

// countsFrom tells whether a Pass adds to members of those alone that are made, or reads no others.
func (l *loop) countsFrom(s *asl.State, made map[*asl.State]string) bool {
	raw := writesResult().ReplaceAll(l.node(s).Raw(), nil)
	var from []string
	for _, m := range addedTo().FindAllSubmatch(raw, -1) {
		from = append(from, string(m[1])+string(m[3]))
	}
	adds := from != nil
	if !adds && copies(raw) {
		for _, m := range readMember().FindAllSubmatch(raw, -1) {
			from = append(from, string(m[1]))
		}
	}
	return from != nil && !slices.ContainsFunc(from, func(read string) bool {
		for other, path := range made {
			if (adds || other != s) && (read == path || strings.HasPrefix(read, path+".")) {
				return false
			}
		}
		return true
	})
}

// copies tells whether a Pass computes nothing: it takes members as they are.
func copies(pass []byte) bool {
	text := strings.ReplaceAll(string(pass), "$merge([", "")
	return !strings.Contains(text, "(") && !strings.Contains(text, "[")
}

// madeMember is the one member of the data that a state makes anew; empty if it does not make one alone.
func (l *loop) madeMember(s *asl.State) string {
	switch {
	case s.QueryLanguage == asl.JSONata:
		return outputMember(l.node(s).Get("Output"))
	case s.ResultPath == nil:
		return ""
	default:
		return strings.Join(namesOf(s.ResultPath), ".")
	}
}

// listsMembers tells whether a state that makes data makes it of the members that it lists, and drops any other.
func (l *loop) listsMembers(s *asl.State) bool {
	if s.QueryLanguage == asl.JSONata {
		return l.node(s).Get("Output").Kind == jsontree.Object
	}
	return s.ResultPath != nil && s.ResultPath.Root() && l.node(s).Get("Parameters") != nil
}

// outputMember is the one member that an Output in JSONata, or Parameters, make anew: of a $merge with the input, or
// of an object that has all others from there.
func outputMember(output *jsontree.Node) string {
	if output == nil {
		return ""
	}
	if text, ok := unwrap(output.Text); ok && output.Kind == jsontree.String {
		if m := mergedMember().FindStringSubmatch(text); m != nil {
			return m[1]
		}
		return ""
	}
	made := ""
	for _, m := range output.Members {
		name := variableOf(m)
		switch kept, _ := unwrap(m.Value.Text); {
		case kept == "$states.input."+m.Name, name != m.Name && m.Value.Text == "$."+name:
		case made == "":
			made = name
		default:
			return ""
		}
	}
	return made
}

// memberReader is the poll if it reads a member of the data, or a state behind the loop that does;
// empty for none.
func (l *loop) memberReader(path string) string {
	reads := func(s *asl.State) bool { return readsMember(l.node(s).Raw(), path) }
	if reads(l.poll) {
		return l.poll.Name
	}
	return l.readerBehind(reads, func(s *asl.State) bool { return l.madeMember(s) == path })
}

// writesResult is where a state in JSONPath puts its result, which it does not read.
var writesResult = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"ResultPath"\s*:\s*"[^"]*"`) })

// readsMember tells whether the JSON of a part of a state reads a member of the state's input, or one that
// has it.
func readsMember(raw []byte, path string) bool {
	names := strings.Split(path, ".")
	read := []string{regexp.QuoteMeta(path) + `(?:\W|$)`}
	for n := 1; n < len(names); n++ {
		read = append(read, regexp.QuoteMeta(strings.Join(names[:n], "."))+`(?:[^\w.]|$)`)
	}
	return regexp.MustCompile(`(?:\$states\.input|(?:^|[^$])\$)\.(?:` + strings.Join(read, "|") + ")").Match(writesResult().ReplaceAll(raw, nil))
}

// refusePass says why a loop stays with a Pass that does more than count.
func (l *loop) refusePass(s *asl.State) error {
	const advice = "count in a variable or member that the loop alone reads"
	if path := l.countedMember(s); path != "" && l.memberReader(path) != "" {
		return refuse("the loop does more than poll: %q counts in $.%s, and %q reads that: %s", s.Name, path, l.memberReader(path), advice)
	}
	if name, reader := l.readVariable(s); name != "" {
		return refuse("the loop does more than poll: %q sets $%s, and %q reads that: %s", s.Name, name, reader, advice)
	}
	if l.listsMembers(s) {
		alone := "let ResultPath put the count alone into the data"
		if s.QueryLanguage == asl.JSONata {
			alone = "by $merge of $states.input and the count alone"
		}
		return refuse("the loop does more than poll: %q makes the data anew from the members that it lists, and drops any other: "+
			"count by Assign, or %s", s.Name, alone)
	}
	return refuse("the loop does more than poll: %q changes the data that the states behind the loop get", s.Name)
}

// exceptCounts are the members of the output that the loop counts in.
func (l *loop) exceptCounts() []trial.Member {
	var all []trial.Member
	for _, path := range l.countedMembers() {
		all = append(all, trial.Member{Path: path})
	}
	return all
}

// noteCounts says which members of the data no longer count; empty if there are none.
func (l *loop) noteCounts() string {
	paths := l.countedMembers()
	if len(paths) == 0 {
		return ""
	}
	that, values := "it", "its value"
	if len(paths) > 1 {
		that, values = "them", "the values"
	}
	return fmt.Sprintf("the new loop does not count in $.%s: no state behind it reads %[2]s, and an output that has %[2]s keeps %[3]s from before the loop",
		strings.Join(paths, " and $."), that, values)
}

// noteVariables says which variables nothing sets in the new loop: those that the old one alone read; empty if
// there are none.
func (f *fragment) noteVariables() string {
	var left []string
	for _, s := range f.loop.states {
		for _, part := range partsThatAssign(f.node(s)) {
			assign := part.Get("Assign")
			if assign == nil {
				continue
			}
			for _, m := range assign.Members {
				if name := "$" + variableOf(m); !f.assigns(variableOf(m)) && !slices.Contains(left, name) {
					left = append(left, name)
				}
			}
		}
	}
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf("the new loop does not set %s: nothing but the old one read what it set", strings.Join(left, ", "))
}

// assigns tells whether a state of the new loop sets a variable.
func (f *fragment) assigns(name string) bool {
	for _, s := range f.states {
		document, err := jsontree.Parse(mustJSON(s))
		if err != nil {
			continue
		}
		for _, part := range partsThatAssign(document.Root) {
			if assign := part.Get("Assign"); assign != nil && slices.ContainsFunc(assign.Members, func(m jsontree.Member) bool { return variableOf(m) == name }) {
				return true
			}
		}
	}
	return false
}

// withoutCounts is a JSON text of data without the members that the loop counts in.
func (l *loop) withoutCounts(text string) string {
	paths := l.countedMembers()
	var data any
	if len(paths) == 0 || json.Unmarshal([]byte(text), &data) != nil {
		return text
	}
	for _, path := range paths {
		names := strings.Split(path, ".")
		at, _ := data.(object)
		for _, name := range names[:len(names)-1] {
			at, _ = at[name].(object)
		}
		delete(at, names[len(names)-1])
	}
	return string(mustJSON(data))
}

package plan

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/shipped"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// inventInputs are inputs with which a machine may reach its poll: none, the arguments of
// the call that starts the job, and these with what the definition reads besides. No
// input says how long a Wait waits: that is not to be invented.
func inventInputs(m *asl.StateMachine, e *catalog.Entry) [][]byte {
	arguments := startArguments(m, e)
	all := []map[string]any{{}, arguments, readMembers(m)}
	maps.Copy(all[2], arguments)
	var texts [][]byte
	for _, input := range all {
		text, err := json.Marshal(input)
		if err == nil && !slices.ContainsFunc(texts, func(t []byte) bool { return string(t) == string(text) }) {
			texts = append(texts, text)
		}
	}
	return texts
}

// startArguments are what the model requires of the call that starts the job, which is
// the entry's or else one that the definition asks the Lambda functions for.
func startArguments(m *asl.StateMachine, e *catalog.Entry) map[string]any {
	if e == nil || e.Job == nil {
		for _, name := range shipped.JobsIn(string(asl.Print(m))) {
			if named, err := catalog.AWS().Resolve(name); err == nil && named.Job != nil {
				e = named.Entry
			}
		}
	}
	if e == nil || e.Job == nil {
		return map[string]any{}
	}
	arguments, _ := typecheck.Arguments(e.Service.Operations[e.Name]).(map[string]any)
	if arguments == nil {
		arguments = map[string]any{}
	}
	return arguments
}

var inputMember = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$states\.(?:input|context\.Execution\.Input)((?:\.\w+)+)`)
})

// readMembers is an object with a text wherever arguments, variables and outputs of the
// definition read a member.
func readMembers(m *asl.StateMachine) map[string]any {
	document := map[string]any{}
	for s := range m.All {
		for _, t := range []*asl.Template{s.Parameters, s.Arguments, s.Output, s.Assign} {
			for _, names := range membersOf(t) {
				putMember(document, names)
			}
		}
	}
	return document
}

// membersOf are the members of the input that a template reads.
func membersOf(t *asl.Template) [][]string {
	if t == nil {
		return nil
	}
	var all [][]string
	path := func(p *jsonpath.Path) {
		var names []string
		for _, step := range p.Steps() {
			if step.Deep || step.Kind != jsonpath.StepName {
				break
			}
			names = append(names, step.Names[0])
		}
		switch {
		case p.Variable() != "":
		case !p.Context():
			all = append(all, names)
		case len(names) > 2 && names[0] == "Execution" && names[1] == "Input": //nolint:mnd // and a member
			all = append(all, names[2:])
		}
	}
	switch {
	case t.Path != nil:
		path(t.Path)
	case t.Intrinsic != nil:
		for _, p := range t.Intrinsic.Paths() {
			path(p)
		}
	case t.Expression != nil:
		for _, match := range inputMember().FindAllStringSubmatch(t.Expression.String(), -1) {
			all = append(all, strings.Split(match[1][1:], "."))
		}
	}
	for _, member := range t.Object {
		all = append(all, membersOf(member.Value)...)
	}
	for _, item := range t.Array {
		all = append(all, membersOf(item)...)
	}
	return all
}

// putMember puts a text under names, unless something is there.
func putMember(in map[string]any, names []string) {
	if len(names) == 0 {
		return
	}
	for _, name := range names[:len(names)-1] {
		child, ok := in[name].(map[string]any)
		if !ok {
			child = map[string]any{}
			in[name] = child
		}
		in = child
	}
	if last := names[len(names)-1]; in[last] == nil {
		in[last] = "sample-" + last
	}
}

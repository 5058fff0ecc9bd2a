package wait

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// idPlace is what the ID of "jobpoller wait SERVICE NAME ID" stands for: a member of the
// describe call's input, or what the start call of a job has answered.
type idPlace struct {
	entry   *catalog.Entry
	members []*catalog.Member // the second is for ARNs
	output  []string          // path in the start call's answer; nil for a member
}

// findID returns what an ID stands for. It returns nil where several members of the
// input could be meant, or none. Members that are given otherwise are not meant.
func findID(e *catalog.Entry, given []string) *idPlace {
	place := &idPlace{entry: e}
	member, path := findAnswer(e)
	switch {
	case member == nil:
		place.members = idMembers(e.Operation, given)
	case slices.Contains(given, member.Name):
		return nil
	case isIDShape(member.Shape):
		place.members = []*catalog.Member{member}
	default:
		place.output = path
	}
	if place.members == nil && place.output == nil {
		return nil
	}
	return place
}

// name is what to call the ID.
func (p *idPlace) name() string {
	if p.output != nil {
		return p.output[len(p.output)-1]
	}
	names := make([]string, len(p.members))
	for i, m := range p.members {
		names[i] = m.Name
	}
	return kit.OrList(names)
}

// fill puts an ID into an input.
func (p *idPlace) fill(input map[string]any, id string) error {
	var answer any
	if p.output != nil {
		answer = id
		for _, name := range slices.Backward(p.output) {
			answer = map[string]any{name: answer}
		}
	}
	if err := fillStarted(p.entry, input, answer); err != nil || p.output != nil {
		return err
	}
	m := p.members[0]
	if len(p.members) > 1 && strings.HasPrefix(id, "arn:") {
		m = p.members[1]
	}
	if m.Shape.Type == catalog.List {
		input[m.Name] = []any{id}
	} else {
		input[m.Name] = id
	}
	return nil
}

// fillStarted fills an input with what the answer of the start call says of its job,
// and with what is the same for all jobs.
func fillStarted(e *catalog.Entry, input map[string]any, answer any) error {
	if e.Job == nil {
		return nil
	}
	for member, text := range e.Job.Arguments {
		expr, err := jmespath.Parse(text)
		if err != nil {
			return fmt.Errorf("argument %s of %s: %w", member, e.Operation.Name, err)
		}
		program, _ := expr.Compile(nil) // of any JSON there is nothing to find
		value, err := program.Eval(map[string]any{"input": map[string]any{}, "output": answer})
		if err != nil {
			return fmt.Errorf("argument %s of %s: %w", member, e.Operation.Name, err)
		}
		if value != nil && (answer != nil || !strings.Contains(text, inAnswer)) {
			input[member] = value
		}
	}
	return nil
}

// inAnswer starts a path in the answer of a start call.
const inAnswer = "output."

var answerPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`output((?:\.\w+)+)`) })

// findAnswer is the one member of the describe call's input that the start call of a job
// answers, and its path in the answer.
func findAnswer(e *catalog.Entry) (member *catalog.Member, path []string) {
	if e.Job == nil {
		return nil, nil
	}
	for name, text := range e.Job.Arguments {
		found := answerPath().FindAllStringSubmatch(text, -1)
		if len(found) == 0 {
			continue
		}
		if member != nil || len(found) > 1 {
			return nil, nil
		}
		member, path = e.Operation.Input.Member(name), strings.Split(found[0][1][1:], ".")
	}
	return member, path
}

// isIDShape tells whether values are texts, or lists of texts, that a user chooses.
func isIDShape(shape *catalog.Shape) bool {
	if shape.Type == catalog.List {
		shape = shape.Element.Shape
	}
	return shape.Type == catalog.String && len(shape.Enum) == 0
}

// idMembers finds the members of the input that an ID stands for: the one that has to
// be given, else the one that is called after the operation.
func idMembers(op *catalog.Operation, given []string) []*catalog.Member {
	if op.Input == nil {
		return nil
	}
	var required, optional []*catalog.Member
	for i := range op.Input.Members {
		m := &op.Input.Members[i]
		switch {
		case slices.Contains(given, m.Name):
		case m.Required || m.In == catalog.InPath:
			required = append(required, m)
		case isIDShape(m.Shape) && idStem(m.Name) != noStem:
			optional = append(optional, m)
		}
	}
	if len(required) > 0 {
		if len(required) > 1 || !isIDShape(required[0].Shape) {
			return nil
		}
		return required
	}
	noun := operationNoun(op.Name)
	for _, fits := range []func(stem string) bool{
		func(string) bool { return true },
		func(stem string) bool { return stem == noun },
		func(stem string) bool {
			return stem == "" || strings.HasSuffix(noun, stem) || strings.HasPrefix(noun, stem)
		},
		func(stem string) bool { return stem == "" || strings.HasSuffix(noun, stem) },
	} {
		var fitting []*catalog.Member
		for _, m := range optional {
			if fits(idStem(m.Name)) {
				fitting = append(fitting, m)
			}
		}
		if members := chooseByARN(fitting); members != nil {
			return members
		}
	}
	return nil
}

// chooseByARN takes one member, or two that an ID says which is meant.
func chooseByARN(members []*catalog.Member) []*catalog.Member {
	isARN := func(m *catalog.Member) bool {
		return strings.HasSuffix(strings.ToLower(strings.TrimSuffix(m.Name, "s")), "arn")
	}
	if len(members) == 2 && isARN(members[0]) {
		slices.Reverse(members)
	}
	switch {
	case len(members) == 1:
		return members
	case len(members) != 2 || isARN(members[0]) || !isARN(members[1]):
		return nil
	case idStem(members[0].Name) == idStem(members[1].Name), idStem(members[0].Name) == "", idStem(members[1].Name) == "":
		return members
	default: // they are of two things
		return nil
	}
}

// noStem is the stem of a name that is no ID's.
const noStem = "-"

// idStem is what a member's name says the ID is of: "instance" of InstanceIds, and
// nothing of Names.
func idStem(name string) string {
	for _, suffix := range []string{"Identifier", "Name", "Arn", "ARN", "Id"} {
		if stem, found := strings.CutSuffix(strings.TrimSuffix(name, "s"), suffix); found {
			return strings.ToLower(stem)
		}
	}
	return noStem
}

var verb = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z][a-z]+`) })

// operationNoun is what an operation describes, as one: "instance" of
// DescribeInstances.
func operationNoun(name string) string {
	noun := strings.ToLower(verb().ReplaceAllString(name, ""))
	switch {
	case strings.HasSuffix(noun, "ies"):
		return strings.TrimSuffix(noun, "ies") + "y"
	case strings.HasSuffix(noun, "ss"), strings.HasSuffix(noun, "us"):
		return noun
	default:
		return strings.TrimSuffix(noun, "s")
	}
}

package simulate

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// identity is where the id of a job stands: in the answer of the start call or in
// its arguments, in the arguments of the describe call, and in its answer. The zero
// value is that of a job without an id: there is one at a time.
type identity struct {
	started, chosen, asked, stopped, told place
	// named is where the arguments of the start call have a name of the job besides its
	// id, and called where the answer of the describe call repeats it.
	named, called place
	form          string // of ids
}

// identityOf reads the id of a job out of the arguments that the catalogue makes of
// the start call.
func identityOf(e *catalog.Entry, describe *catalog.Operation) identity {
	start := e.Service.Operations[e.Name]
	var best identity
	rank := -1
	for _, member := range slices.Sorted(maps.Keys(e.Job.Arguments)) {
		i, ok := readIdentity(start, member, e.Job.Arguments[member])
		if !ok || owner().MatchString(member) {
			continue
		}
		if r := i.rank(e, describe.Input.Member(member)); r > rank {
			best, rank = i, r
		}
	}
	if rank < 0 {
		return identity{}
	}
	name := lastName(best.asked)
	if best.started != nil {
		name = lastName(best.started)
	}
	best.told = tell(describe.Output, name, cmp.Or(lastName(best.asked), name))
	if stop := e.Job.Stop; stop != nil {
		for _, member := range slices.Sorted(maps.Keys(stop.Arguments)) {
			i, ok := readIdentity(start, member, stop.Arguments[member])
			if ok && slices.Equal(i.started, best.started) && slices.Equal(i.chosen, best.chosen) {
				best.stopped = i.asked
			}
		}
	}
	best.form = formOf(start.Output, describe.Input, best)
	return best.withName(start, describe)
}

// withName finds what the caller calls the job: the member of the start call that goes by
// the name of the describe call's. What the service makes is told from it where the start
// call's answer has another member.
func (i identity) withName(start, describe *catalog.Operation) identity {
	name, ok := i.asked[0].(string)
	if !ok || len(i.asked) > 1 {
		return i
	}
	var given place
	if start.Input != nil {
		if m := start.Input.Member(name); m != nil && m.Shape.Type == catalog.String {
			given = place{name}
		}
	}
	switch {
	case i.chosen != nil:
		i.started = tell(start.Output, name, lastName(i.chosen))
	case given == nil:
	case lastName(i.started) == name:
		i.chosen = given
	default:
		i.named, i.called = given, tell(describe.Output, name)
	}
	return i
}

// owner are members that say whose the job is, and not which job it is.
var owner = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(account|registry)id$`) })

// marker stands for an id in an expression that is tried.
const marker = "\x00id"

// readIdentity tries the expression of an argument: it is an id if a text of the
// start call comes out as a text.
func readIdentity(start *catalog.Operation, member, text string) (identity, bool) {
	expression, err := jmespath.Parse(text)
	if err != nil {
		return identity{}, false
	}
	shapes := &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{
		"input": start.Input.Describe(), "output": start.Output.Describe(),
	}}
	for _, read := range slices.Backward(expression.Check(shapes).Members) {
		p := place{}
		for _, step := range read.Path {
			if step == "[]" {
				p = append(p, 0)
			} else {
				p = append(p, step)
			}
		}
		shape := read.Type
		if shape != nil && shape.Kind == jsontype.Array {
			p, shape = append(p, 0), shape.Elem
		}
		if shape == nil || shape.Kind != jsontype.String {
			continue
		}
		program, _ := expression.Compile(nil)
		result, err := program.Eval(p.put(map[string]any{}, marker))
		if err != nil {
			continue
		}
		at, found := find(result, marker)
		if !found || len(at) > 1 { // a filter may be written in many ways
			continue
		}
		i := identity{asked: append(place{member}, at...)}
		if p[0] == "output" {
			i.started = p[1:]
		} else {
			i.chosen = p[1:]
		}
		return i, true
	}
	return identity{}, false
}

// rank tells how likely the member is the id of the job: what the service has made
// is, then what the caller calls the job.
func (i identity) rank(e *catalog.Entry, m *catalog.Member) int {
	const made, required = 1000, 500
	r := 0
	if i.started != nil {
		r += made
	}
	if m != nil && m.Required {
		r += required
	}
	word := lastName(i.asked)
	for _, suffix := range []string{"Id", "Name", "Arn"} {
		word = strings.TrimSuffix(word, suffix)
	}
	if strings.Contains(strings.ToLower(e.Name), strings.ToLower(word)) {
		r += len(word)
	}
	return r
}

// lastName is the last name of a place.
func lastName(p place) string {
	for _, part := range slices.Backward(p) {
		if name, ok := part.(string); ok {
			return name
		}
	}
	return ""
}

// tell finds where the describe call's answer repeats the id: in a member of its
// name, or of the name with that of the structure around it (JobRun.Id for
// JobRunId).
func tell(s *catalog.Shape, names ...string) place {
	type candidate struct {
		place  place
		shape  *catalog.Shape
		around string
	}
	const depth = 4
	for queue := []candidate{{shape: s}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at.shape == nil || len(at.place) > depth {
			continue
		}
		if at.shape.Type == catalog.List {
			queue = append(queue, candidate{append(slices.Clone(at.place), 0), at.shape.Element.Shape, at.around})
			continue
		}
		for _, m := range at.shape.Members {
			p := append(slices.Clone(at.place), m.Name)
			if m.Shape.Type == catalog.String && m.Shape.Enum == nil && slices.ContainsFunc(names, func(name string) bool {
				return strings.EqualFold(name, m.Name) || strings.EqualFold(name, at.around+m.Name)
			}) {
				return p
			}
			queue = append(queue, candidate{p, m.Shape, m.Name})
		}
	}
	return nil
}

// formOf is what ids are like: long enough for the model.
func formOf(output, input *catalog.Shape, i identity) string {
	shape := shapeAt(output, i.started)
	if i.started == nil {
		return ""
	}
	name := lastName(i.started)
	form := "job-{n}"
	if strings.HasSuffix(strings.ToLower(name), "arn") {
		form = "arn:aws:simulated:us-east-1:123456789012:job/{n}"
	}
	least := 0
	for _, s := range []*catalog.Shape{shape, shapeAt(input, i.asked)} {
		if s != nil {
			length, _ := strconv.Atoi(string(s.Min)) // 0 without one
			least = max(least, length)
		}
	}
	const digits = len("{n}") - 1
	if missing := least - (len(form) - digits); missing > 0 {
		form = strings.Replace(form, "{n}", strings.Repeat("0", missing)+"{n}", 1)
	}
	return form
}

// shapeAt is the shape of what stands at a place; nil if it is not known.
func shapeAt(s *catalog.Shape, p place) *catalog.Shape {
	for _, part := range p {
		switch {
		case s == nil:
			return nil
		case s.Type == catalog.List || s.Type == catalog.Map:
			s = s.Element.Shape
		default:
			m := s.Member(part.(string))
			if m == nil {
				return nil
			}
			s = m.Shape
		}
	}
	return s
}

// isRequired tells whether a model requires all that a place leads through.
func isRequired(s *catalog.Shape, p place) bool {
	for _, part := range p {
		if name, ok := part.(string); ok {
			m := s.Member(name)
			if m == nil || !m.Required {
				return false
			}
			s = m.Shape
		} else {
			s = s.Element.Shape
		}
	}
	return true
}

// spellPlace is a place in arguments, in the spelling of SDK integrations.
func spellPlace(p place) string {
	if p == nil {
		return ""
	}
	return p.spell()
}

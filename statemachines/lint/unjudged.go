package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// sayUnjudged says why nobody knows where each status leads; empty if there is none.
func (c *checker) sayUnjudged(l *loop, p *polled) string {
	if len(p.statuses) == 0 {
		return ""
	}
	path := p.statuses[0].path
	if p != checkStatus {
		path = javasdk.MemberPath(path)
	}
	isChoice := func(s *asl.State) bool { return s.Choice != nil }
	i := slices.IndexFunc(l.states, isChoice)
	if i < 0 {
		return "no Choice looks at " + path
	}
	i = max(i, slices.IndexFunc(l.states, func(s *asl.State) bool {
		return isChoice(s) && slices.ContainsFunc(s.Choice.Rules, func(r asl.ChoiceRule) bool { return readRule(&r).looksAtStatus() })
	}))
	choice, status := l.states[i], javasdk.MemberName(lastName(path))
	looks := readOperands(choice, status)
	looks.others = slices.DeleteFunc(looks.others, func(name string) bool {
		return c.boundsOf(l).counters[lastName(name)] && !c.boundsOf(l).lists[lastName(name)]
	})
	others := list(looks.others)
	switch {
	case !c.mentions(status) && others == "":
		return "no Choice looks at " + path
	case !c.mentions(status):
		return fmt.Sprintf("no Choice looks at %s: %q looks at %s", path, choice.Name, others)
	case c.findHiding(l, choice, status) != nil:
		return fmt.Sprintf("%q has an expression that lint cannot follow: %q looks at %s behind it", c.findHiding(l, choice, status).Name, choice.Name, path)
	case looks.status && others != "":
		return fmt.Sprintf("%q decides by %s and by %s", choice.Name, path, others)
	case looks.status && strings.Contains(path, "[]") && !looks.first:
		return fmt.Sprintf("%q may look at several jobs, and more than %s decides where it leads", choice.Name, path)
	case looks.status && !looks.computes && isFollowed(choice):
		return fmt.Sprintf("%q leads %s several ways: another rule or state decides, too", choice.Name, path)
	case looks.status:
		return fmt.Sprintf("%q computes with %s: lint cannot follow its expressions", choice.Name, path)
	case others != "":
		return fmt.Sprintf("%q looks at %s: lint cannot tell what that says of %s", choice.Name, others, path)
	default:
		return fmt.Sprintf("%q does not look at %s", choice.Name, path)
	}
}

// findHiding is the state of a loop with an expression that nobody can follow, behind which a Choice knows nothing of the
// status any more; nil if there is none.
func (c *checker) findHiding(l *loop, choice *asl.State, status string) *asl.State {
	env := c.types.Input(choice)
	var hidden []operand
	for i := range choice.Choice.Rules {
		for _, o := range operandsOfRule(&choice.Choice.Rules[i]) {
			if lastName(o.inJSONata()) == status && valueOf(env, o).IsUnknown() {
				hidden = append(hidden, o)
			}
		}
	}
	if len(hidden) == 0 {
		return nil
	}
	hides := func(s *asl.State) bool {
		return slices.ContainsFunc(hidden, func(o operand) bool { return givesUnfollowed(s, o) })
	}
	for _, is := range []func(*asl.State) bool{hides, func(s *asl.State) bool { return !isFollowed(s) }} { // what it hides may be copied
		if i := slices.IndexFunc(l.states, func(s *asl.State) bool { return s != choice && is(s) }); i >= 0 {
			return l.states[i]
		}
	}
	return nil
}

// givesUnfollowed tells whether a state gives an operand by an expression that nobody can follow.
func givesUnfollowed(s *asl.State, o operand) bool {
	t, name := s.Output, strings.Join(o.steps[:min(1, len(o.steps))], "")
	if o.variable != "" {
		t, name = s.Assign, o.variable
	}
	if member := findMember(t, name); member != nil {
		t = member
	} else if o.variable != "" || t != nil && t.Kind == asl.TemplateObject {
		return false
	}
	return t != nil && !followsTemplate(t)
}

// sayNotInCatalogue says which operation a loop asks for a status that the catalogue has no job or
// waiter for, or what else it asks; empty if it asks for no status.
func (c *checker) sayNotInCatalogue(l *loop) string {
	around := slices.ContainsFunc(l.states, func(s *asl.State) bool { return c.polledInside(s) != nil })
	if keepsRecords(l) || !around && !slices.ContainsFunc(l.states, func(s *asl.State) bool { return goesOnForStatus(l)(s) || goesOnForText(l, s) }) {
		return ""
	}
	for _, s := range l.states {
		if poll := c.polledInside(s); poll != nil {
			return fmt.Sprintf("%q polls %s inside of %q, and lint follows no status out of there", poll.Name, c.operations.of(poll).name, s.Name)
		}
		if s.Task == nil || Changes(s) && !mayAsk(s) {
			continue
		}
		if call := c.nameCall(s); mayAsk(s) && (call == "" || strings.HasPrefix(call, "lambda:")) {
			asked, target := nameAsked(s)
			return fmt.Sprintf("%q asks %s, and lint cannot follow where the values of its answer lead; "+
				"check where each status leads, and try it: jobpoller run --mocks", s.Name, strings.TrimSpace(asked+" "+target))
		} else if call != "" {
			return fmt.Sprintf("%q calls %s, and the catalogue has no job or waiter that polls it; "+
				"check where each status leads%s, and try it: jobpoller run --mocks", s.Name, call, c.listedValues(s))
		}
	}
	return ""
}

// goesOnForText tells whether a Choice of a loop looks for a text or a pattern by any function, and may go on.
func goesOnForText(l *loop, s *asl.State) bool {
	return s.Choice != nil && slices.ContainsFunc(s.Choice.Rules, func(r asl.ChoiceRule) bool {
		if r.Expression == nil || r.Expression.Expression == nil || !l.inside[r.Next] && !l.inside[s.Choice.Default] {
			return false
		}
		whole := r.Expression.Expression.Part()
		return namesText(&whole)
	})
}

// namesText tells whether a text or a pattern stands in a part of an expression.
func namesText(p *jsonata.Part) bool {
	text, isText := p.Value.(string)
	return isText && text != "" || p.Kind == jsonata.PartRegex ||
		slices.ContainsFunc(slices.Concat(p.Parts, p.Filters), func(part jsonata.Part) bool { return namesText(&part) })
}

// nameCall names the operation of AWS that a Task calls, whether or not the catalogue has its service;
// empty for any other call.
func (c *checker) nameCall(s *asl.State) string {
	if call := c.operations.call(s.Task.Resource); call != "" {
		return call
	}
	r := asl.ParseResource(s.Task.Resource)
	if service, sdk := r.SDK(); sdk && r.Pattern == "" && !asl.IsPlaceholderText(s.Task.Resource) {
		return service + ":" + javasdk.Capitalize(r.Action)
	}
	return ""
}

// polledInside is the first Task inside of a Map or Parallel that polls once in each run of it; nil
// if there is none.
func (c *checker) polledInside(s *asl.State) *asl.State {
	for _, f := range s.Flows() {
		if len(loops(f, f.States, every)) > 0 {
			continue
		}
		for _, inner := range f.States {
			if c.operations.of(inner) != nil {
				return inner
			}
			if poll := c.polledInside(inner); poll != nil {
				return poll
			}
		}
	}
	return nil
}

// operands are what the rules of a Choice look at.
type operands struct {
	status, first bool     // the status by its name, and that of the first item of a list
	computes      bool     // with the status, where it does more than compare it with texts
	others        []string // what the parts of conditions without it look at
}

// readOperands finds the values that a Choice looks at. status is the name of the member with
// the status of the job.
func readOperands(s *asl.State, status string) operands {
	var found operands
	for i := range s.Choice.Rules {
		switch rule := &s.Choice.Rules[i]; {
		case rule.Expression == nil:
			found.addCondition(&rule.Condition, status)
		case rule.Expression.Expression != nil:
			whole := rule.Expression.Expression.Part()
			forComparisons(&whole, func(part *jsonata.Part) {
				if found.add(wordsOf(part), status, operandsOf(part)) {
					found.computes = found.computes || !comparesTexts(part)
				}
			})
		}
	}
	return found
}

// addCondition adds what a condition in JSONPath looks at.
func (o *operands) addCondition(c *asl.Condition, status string) {
	if c.Not != nil {
		o.addCondition(c.Not, status)
	}
	for _, part := range slices.Concat(c.And, c.Or) {
		o.addCondition(part, status)
	}
	for _, path := range []*jsonpath.Path{c.Variable, c.ValuePath} {
		if path != nil {
			steps, _ := stepsOf(path)
			o.add(steps, status, []string{path.String()})
		}
	}
}

// add adds what a part of a condition looks at, by the words in it, and tells whether that is the
// status.
func (o *operands) add(words []string, status string, names []string) bool {
	if slices.Contains(words, status) {
		o.status, o.first = true, o.first || slices.Contains(words, "[0]")
		return true
	}
	for _, name := range names {
		if !slices.Contains(o.others, name) {
			o.others = append(o.others, name)
		}
	}
	return false
}

// wordsOf are the members and texts in a part of an expression, and the items in brackets.
func wordsOf(p *jsonata.Part) []string {
	var words []string
	switch text, isText := p.Value.(string); {
	case p.Kind == jsonata.PartName:
		words = append(words, p.Text)
	case isText:
		words = append(words, text)
	}
	for _, filter := range p.Filters {
		if n, ok := filter.Value.(float64); ok {
			words = append(words, fmt.Sprintf("[%v]", n))
		}
	}
	for _, part := range slices.Concat(p.Parts, p.Filters) {
		words = append(words, wordsOf(&part)...)
	}
	return words
}

// operandsOf are the variables in a part of an expression, each with the members that it reads, and
// the functions without arguments, such as $random().
func operandsOf(p *jsonata.Part) []string {
	var names []string
	for _, o := range (scope{}).expression(p, nil).operands {
		names = append(names, o.inJSONata())
	}
	return append(names, bareCallsOf(p)...)
}

// bareCallsOf are the calls without arguments in a part of an expression.
func bareCallsOf(p *jsonata.Part) []string {
	var names []string
	if p.Kind == jsonata.PartCall && len(p.Parts) == 0 {
		names = append(names, "$"+p.Text+"()")
	}
	for _, part := range slices.Concat(p.Parts, p.Filters) {
		names = append(names, bareCallsOf(&part)...)
	}
	return names
}

// comparesTexts tells whether a part of an expression compares a path with texts, and does no more.
func comparesTexts(p *jsonata.Part) bool {
	if p.Kind != jsonata.PartBinary || len(p.Filters) > 0 || !slices.Contains([]string{"=", "!=", "in"}, p.Text) {
		return false
	}
	isPath := func(part *jsonata.Part) bool {
		_, plain := scope{state: &asl.State{}}.plain(part)
		return plain
	}
	left, right := &p.Parts[0], &p.Parts[1]
	return isPath(left) && isTexts(right) || isTexts(left) && isPath(right)
}

// isTexts tells whether a part of an expression is a text, or a list of texts.
func isTexts(p *jsonata.Part) bool {
	if p.Kind == jsonata.PartArray {
		return !slices.ContainsFunc(p.Parts, func(part jsonata.Part) bool { return !isTexts(&part) })
	}
	_, text := p.Value.(string)
	return p.Kind == jsonata.PartLiteral && text
}

package fix

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// checkRows refuses a loop in which more than the status says where it leads, and
// finds where one leads that looks at the time or counts its turns: from statuses of
// a job that runs.
func (l *loop) checkRows() error {
	if l.isBounded() && l.bound.Route != "" {
		l.late = append(l.late, l.bound.Route)
	}
	if others := otherFailures(l.flow, l.rows); len(others) == 1 && !l.staysIn(others[0]) {
		l.otherwise = others[0]
	}
	l.addLateRoutes()
	for _, s := range l.states {
		if s.Choice == nil {
			continue
		}
		for i := range s.Choice.Rules {
			rule := &s.Choice.Rules[i]
			raw := l.node(s).Get("Choices").Items[i].Raw()
			if !l.staysIn(rule.Next) && !slices.Contains(l.late, rule.Next) && l.readsCount(raw) {
				l.late = append(l.late, rule.Next)
			}
			if l.staysIn(rule.Next) || l.isBounded() && slices.Contains(l.late, rule.Next) {
				continue
			}
			if other := l.readsOther(rule); other != "" && (!l.together || !l.asksBy(other)) {
				return refuse("a rule of %q leads to %q by data that %q does not give: %s", s.Name, rule.Next, l.poll.Name, other)
			}
		}
	}
	return l.checkEnds()
}

// addLateRoutes notes where the loop leads from statuses of a job that runs.
func (l *loop) addLateRoutes() {
	for _, row := range l.rows {
		if row.Meaning != lint.MeansRunning {
			continue
		}
		for _, name := range row.Routes {
			if !l.staysIn(name) && !slices.Contains(l.late, name) {
				l.late = append(l.late, name)
			}
		}
	}
}

// meaningOf is the meaning of a status for a new loop: a verdict, or where the loop polls on, whether the job
// is known to run.
func (l *loop) meaningOf(s *seen) lint.Meaning {
	passing, _ := l.entry.Passing(s.status)
	switch {
	case passing == catalog.PassingEnding:
		return lint.MeansEnding
	case s.verdict == pollcore.Success:
		return lint.MeansSuccess
	case s.verdict == pollcore.Failure:
		return lint.MeansFailure
	}
	for _, row := range l.rows {
		if slices.Contains(row.Values, s.status) && row.Meaning == lint.MeansRunning {
			return row.Meaning
		}
	}
	return lint.MeansUnknown
}

// checkEnds refuses a loop that an end of the job leaves in several ways: another
// member of the answer than the status says which, and a compiled loop reads none.
func (l *loop) checkEnds() error {
	if l.together { // the other jobs decide: the trial tells whether they do so in the new loop
		return nil
	}
	for _, row := range l.rows {
		if len(row.Routes) < 2 || row.Meaning != lint.MeansSuccess && row.Meaning != lint.MeansFailure {
			continue
		}
		if !slices.ContainsFunc(l.exits(), func(exit string) bool {
			behind := l.behindChoices(exit)
			return !slices.ContainsFunc(row.Routes, func(name string) bool { return !behind[name] })
		}) {
			return l.refuseRow(row.Values[0], row.Routes)
		}
	}
	return nil
}

// refuseRow says why a loop stays that leads a status several ways: a rule looks at a count, too, or at something else.
func (l *loop) refuseRow(value string, routes []string) error {
	for _, s := range l.states {
		if s.Choice == nil {
			continue
		}
		for i := range s.Choice.Rules {
			rule := &s.Choice.Rules[i]
			raw := l.node(s).Get("Choices").Items[i].Raw()
			if slices.Contains(routes, rule.Next) && l.readsCount(raw) {
				return refuse("a rule of %q leads to %q by a count and by more, and %s leads to %s: a new loop looks at the status at once. "+
					"Let a rule look at the count alone, or at the status alone", s.Name, rule.Next, value, list(routes))
			}
		}
	}
	return refuseMore(value, routes)
}

// refuseMore refuses a loop in which more than a value of the status says where it leads.
func refuseMore(value string, routes []string) error {
	return refuse("%s leads to %s by more than the status, which is all that a new loop looks at", value, list(routes))
}

// routesOf are where the table leads a value of the status.
func (l *loop) routesOf(value string) []string {
	i := slices.IndexFunc(l.rows, func(r lint.Row) bool { return slices.Contains(r.Values, value) })
	if i < 0 {
		return nil
	}
	return l.rows[i].Routes
}

// exits returns the states outside of the loop to which its states lead.
func (l *loop) exits() []string {
	var all []string
	for _, s := range l.states {
		for _, way := range s.Transitions() {
			if !l.staysIn(way.To) && !slices.Contains(all, way.To) {
				all = append(all, way.To)
			}
		}
	}
	return all
}

// behindChoices are the states that a state leads to through Choice states alone; itself
// if it is none.
func (l *loop) behindChoices(name string) map[string]bool {
	found, seen := map[string]bool{}, map[string]bool{}
	for left := []string{name}; len(left) > 0; {
		s := l.flow.State(left[0])
		left = left[1:]
		switch {
		case s == nil || seen[s.Name]:
		case s.Choice == nil:
			found[s.Name] = true
		default:
			for _, way := range s.Transitions() {
				left = append(left, way.To)
			}
		}
		if s != nil {
			seen[s.Name] = true
		}
	}
	return found
}

// list writes names of states: "A" or "B".
func list(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return strings.Join(quoted, " or ")
}

// lateExit is where the loop leads at its bound, the author's own way of too many polls or too late;
// empty if there is none, or several.
func (l *loop) lateExit() string {
	switch {
	case !l.isBounded():
		return ""
	case l.bound.Route == "" && len(l.late) == 1:
		return l.late[0]
	default:
		return l.bound.Route
	}
}

// isBounded tells whether the loop counts its turns or looks at the time.
func (l *loop) isBounded() bool {
	return slices.Contains([]lint.BoundKind{lint.ByCount, lint.ByTime, lint.ByOther}, l.bound.Kind)
}

var (
	readInput = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\$states\.(?:input|context\.Execution\.Input)((?:\.\w+)*)`)
	})
	readVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$([\p{L}_][\p{L}\p{N}_]*)((?:\.\w+)*)(\()?`) })
	// unnamedResult is an answer, or a part of it, that an expression gives without a name.
	unnamedResult = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:\{%|[\[,(])\s*\$states\.result\b`) })
	boundVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$([\p{L}_][\p{L}\p{N}_]*)\s*:=`) })
)

// asksBy tells whether the poll asks by the value that an expression in JSONata reads, such as $states.input.ids.
func (l *loop) asksBy(text string) bool {
	arguments := l.node(l.poll).Get("Arguments")
	if l.poll.QueryLanguage == asl.JSONPath {
		arguments, text = l.node(l.poll).Get("Parameters"), strings.Replace(text, "$states.input", "$", 1)
	}
	return arguments != nil && regexp.MustCompile(regexp.QuoteMeta(text)+`(?:\W|$)`).Match(arguments.Raw())
}

// readsOther is what a rule looks at that the poll does not give; empty for nothing.
func (l *loop) readsOther(rule *asl.ChoiceRule) string {
	if rule.Expression == nil {
		return l.conditionReadsOther(&rule.Condition)
	}
	if rule.Expression.Expression == nil {
		return ""
	}
	text := rule.Expression.Expression.String()
	bound := map[string]bool{} // in the expression itself
	for _, match := range boundVariable().FindAllStringSubmatch(text, -1) {
		bound[match[1]] = true
	}
	for _, match := range readVariable().FindAllStringSubmatch(text, -1) {
		if match[3] == "" && match[1] != "states" && !bound[match[1]] && !l.assigns(match[1]) {
			return "$" + match[1]
		}
	}
	for _, match := range readInput().FindAllStringSubmatch(text, -1) {
		name, _, _ := strings.Cut(strings.TrimPrefix(match[1], "."), ".")
		if strings.Contains(match[0], "context") || !l.gives(name) {
			return match[0]
		}
	}
	return ""
}

// assigns tells whether the poll sets a variable.
func (l *loop) assigns(name string) bool {
	n := l.node(l.poll).Get("Assign")
	return n != nil && (n.Get(name) != nil || n.Get(name+".$") != nil)
}

// gives tells whether a member of the poll's output comes from its answer.
func (l *loop) gives(name string) bool {
	if l.poll.QueryLanguage == asl.JSONPath {
		at, answers := l.answerAt()
		return answers && (len(at) == 0 || at[0] == name)
	}
	output := l.node(l.poll).Get("Output")
	if output == nil {
		return true
	}
	if m := output.Get(name); m != nil {
		return strings.Contains(string(m.Raw()), "$states.result")
	}
	for _, quoted := range []string{"'" + name + "'", `"` + name + `"`, name + ":", name + " :"} {
		if strings.Contains(output.Text, quoted) {
			return true
		}
	}
	return unnamedResult().MatchString(output.Text) && !l.readsInput(name)
}

// readsInput tells whether the poll, or a Wait, reads a member of its input.
func (l *loop) readsInput(name string) bool {
	return slices.ContainsFunc(l.states, func(s *asl.State) bool {
		return s.Choice == nil && slices.ContainsFunc(readInput().FindAllStringSubmatch(string(l.node(s).Raw()), -1), func(match []string) bool {
			first, _, _ := strings.Cut(strings.TrimPrefix(match[1], "."), ".")
			return first == name
		})
	})
}

// conditionReadsOther is what a condition in JSONPath looks at that the poll does not give.
func (l *loop) conditionReadsOther(c *asl.Condition) string {
	for _, part := range partsOf(c) {
		if other := l.conditionReadsOther(part); other != "" {
			return other
		}
	}
	for _, p := range []*jsonpath.Path{c.Variable, c.ValuePath} {
		if !l.pathReadsAnswer(p) {
			return p.String()
		}
	}
	return ""
}

// pathReadsAnswer tells whether a path of a Choice in JSONPath leads into the answer.
func (l *loop) pathReadsAnswer(p *jsonpath.Path) bool {
	switch {
	case p == nil:
		return true
	case p.Variable() != "":
		return l.assigns(p.Variable())
	case p.Context(), l.choice.InputPath == nil:
		return false
	case l.poll.QueryLanguage == asl.JSONata:
		names := slices.Concat(namesOf(l.choice.InputPath), namesOf(p))
		return len(names) > 0 && l.gives(names[0])
	}
	at, answers := l.answerAt()
	names := namesOf(p)
	return answers && len(names) >= len(at) && slices.Equal(names[:len(at)], at)
}

// answerAt is where the Choice finds the answer of a poll in JSONPath, if it does.
func (l *loop) answerAt() (at []string, answers bool) {
	if l.poll.ResultPath == nil {
		return nil, false
	}
	at = namesOf(l.poll.ResultPath)
	selections := []*jsonpath.Path{l.poll.OutputPath}
	if l.choice.QueryLanguage == asl.JSONPath {
		selections = append(selections, l.choice.InputPath)
	}
	for _, selected := range selections {
		if selected == nil {
			return nil, false
		}
		at = at[min(len(at), len(namesOf(selected))):]
	}
	return at, true
}

package lint

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/intrinsic"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// counters are the names of the values that change by a step in every turn of a loop.
type counters map[string]bool

// has tells whether one of names counts.
func (c counters) has(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return c[name] })
}

// names are sorted.
func (c counters) names() []string { return slices.Sorted(maps.Keys(c)) }

// findCounters returns the names of the counts of some states, and the names that hold the
// result of comparing one.
func findCounters(states []*asl.State) (counts, compared counters) {
	counts, compared = counters{}, counters{}
	var all []*asl.Template
	for _, s := range states {
		all = append(all, templatesOf(s)...)
	}
	for _, t := range all {
		counts.template("", t)
		forExpressions("", t, counts.expression)
	}
	used := findUsedUp(states)
	maps.Copy(counts, used)
	for _, t := range all {
		forCalls("", t, func(called string, call *intrinsic.Call) {
			ofUsed := func(path *jsonpath.Path) bool { return used[lastName(path.String())] }
			counts[called] = counts[called] || call.Function() == "ArrayLength" && slices.ContainsFunc(call.Paths(), ofUsed)
		})
		forExpressions("", t, func(called, text string) {
			m := countOf().FindStringSubmatch(text)
			counts[called] = counts[called] || m != nil && counts[m[1]]
		})
	}
	for _, t := range all {
		forExpressions("", t, func(called, text string) {
			bare := quoted().ReplaceAllString(text, "''")
			if comparison().MatchString(bare) && counts.has(name().FindAllString(bare, -1)) {
				compared[called] = true
			}
		})
	}
	maps.DeleteFunc(counts, func(_ string, changes bool) bool { return !changes })
	return counts, compared
}

// findLists returns the names of the lists and texts of some states that each turn makes longer or shorter.
// Sums may stand in a list, too: then its items count.
func findLists(states []*asl.State) counters {
	found := counters{}
	for _, s := range states {
		for _, t := range templatesOf(s) {
			forExpressions("", t, func(called, text string) {
				if holdsItself(called, text) && lists().MatchString(text) && !strings.ContainsAny(text, "+-") {
					found[called] = true
				}
			})
		}
	}
	return found
}

// findUsedUp returns the names of the lists of some states that each turn makes shorter by a slice of JSONPath, such as
// $.left[1:].
func findUsedUp(states []*asl.State) counters {
	found := counters{}
	note := func(called string, path *jsonpath.Path) {
		if path != nil && path.Shortens() && lastName(path.String()) == called {
			found[called] = true
		}
	}
	for _, s := range states {
		if s.Pass != nil && s.ResultPath != nil && s.Parameters == nil && !s.Pass.HasResult {
			note(lastName(s.ResultPath.String()), s.InputPath)
		}
		for _, t := range templatesOf(s) {
			forPaths("", t, note)
		}
	}
	return found
}

// forPaths and forCalls do something with each path, and with each call of an intrinsic function, that gives a value
// in a template, and with the name of that value.
func forPaths(called string, t *asl.Template, do func(called string, path *jsonpath.Path)) {
	if t.Path != nil {
		do(called, t.Path)
	}
	for _, m := range t.Object {
		forPaths(m.Name, m.Value, do)
	}
}

func forCalls(called string, t *asl.Template, do func(called string, call *intrinsic.Call)) {
	if t.Intrinsic != nil {
		do(called, t.Intrinsic)
	}
	for _, m := range t.Object {
		forCalls(m.Name, m.Value, do)
	}
}

// holdsItself tells whether an expression gives a value to a name that it reads, and not as a member of an item that
// it selects, such as $table[id = $id].name. A text of that name is no value.
func holdsItself(called, text string) bool {
	text = quoted().ReplaceAllString(text, "''")
	return slices.ContainsFunc(name().FindAllStringIndex(text, -1), func(at []int) bool {
		of, isMember := strings.CutSuffix(text[:at[0]], ".")
		return text[at[0]:at[1]] == called && (!isMember || !strings.HasSuffix(of, "]"))
	})
}

// forExpressions does something with each expression in a template, and with the name of
// what it gives.
func forExpressions(called string, t *asl.Template, do func(called, text string)) {
	if t.Expression != nil {
		forMembers(called, t.Expression.String(), do)
	}
	for _, m := range t.Object {
		forExpressions(m.Name, m.Value, do)
	}
	for _, item := range t.Array {
		forExpressions(called, item, do)
	}
}

// forMembers does something with the members of an object in an expression, and with the
// whole.
func forMembers(called, text string, do func(called, text string)) {
	for _, m := range member().FindAllStringSubmatch(text, -1) {
		forMembers(m[1]+m[2], m[3], do)
	}
	do(called, text)
}

// templatesOf are the templates of a state.
func templatesOf(s *asl.State) []*asl.Template {
	templates := []*asl.Template{s.Parameters, s.Arguments, s.ResultSelector, s.Assign, s.Output}
	if s.Choice != nil {
		for _, r := range s.Choice.Rules {
			templates = append(templates, r.Assign, r.Output)
		}
	}
	for _, catcher := range s.Catch {
		templates = append(templates, catcher.Assign, catcher.Output)
	}
	return slices.DeleteFunc(templates, func(t *asl.Template) bool { return t == nil })
}

// template adds what a value called name counts.
func (c counters) template(name string, t *asl.Template) {
	if t.Intrinsic != nil {
		c.intrinsic(name, t.Intrinsic)
	}
	for _, m := range t.Object {
		c.template(m.Name, m.Value)
	}
	for _, item := range t.Array {
		c.template(name, item)
	}
}

var (
	sum = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([\w.]+)\s*[+-]\s*\d`) })
	// lists matches what makes a list longer or shorter, by one function or by a part of it.
	lists = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(append|filter|sift|substring|replace)\(|\[`) })
	// countOf matches the length of a list of JSONata.
	countOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\$count\(\s*\$?([\w.]+)\s*\)\s*$`) })
	member  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:'(\w+)'|"(\w+)")\s*:\s*([^,}]*)`) })
)

// intrinsic adds a sum, and a list that grows as it holds itself: its length counts.
func (c counters) intrinsic(name string, call *intrinsic.Call) {
	text := call.String()
	sums := strings.Contains(text, "States.MathAdd")
	for _, path := range call.Paths() {
		last := lastName(path.String())
		c[last] = c[last] || sums // the other items of a list count nothing
		c[name] = c[name] || last == name && strings.Contains(text, "States.Array(")
	}
	c[name] = c[name] || sums
}

// expression adds a sum in a value that holds itself, alone or as a member of
// an object, and a list that grows or gets shorter.
func (c counters) expression(called, text string) {
	if holdsItself(called, text) && (lists().MatchString(text) || strings.ContainsAny(text, "+-")) {
		c[called] = true
	}
	if !strings.ContainsAny(text, "+-") {
		return
	}
	for _, m := range sum().FindAllStringSubmatch(text, -1) {
		c[lastName(m[1])] = true
	}
}

// mayGive tells whether a state may give a value to a name.
func mayGive(s *asl.State, called string) bool {
	return s.Pass != nil && s.Pass.HasResult || slices.ContainsFunc(templatesOf(s), func(t *asl.Template) bool { return gives(t, called) })
}

// gives tells whether a template, or an expression in it, gives a value to a name.
func gives(t *asl.Template, called string) bool {
	if memberOf(t, called) != nil || t.Path != nil && t.Path.Variable() == "" && len(t.Path.Steps()) == 0 {
		return true
	}
	found := false
	forExpressions("", t, func(name, _ string) { found = found || name == called })
	return found || slices.ContainsFunc(t.Object, func(m asl.TemplateMember) bool { return gives(m.Value, called) })
}

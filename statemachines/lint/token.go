package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// startsSecond tells whether a call of a Task that is made again starts a second job: of one name
// or token a service takes none.
func startsSecond(s *asl.State, e *catalog.Entry) bool {
	if token := javasdk.MemberName(e.StartToken()); token != "" {
		return lacks(s, token)
	}
	if key := startKey(e); key != "" && differsIn(s, key) {
		return true
	}
	return e.Job.Protection() == catalog.Unprotected
}

// startKey is the member by which a service knows a start call that is made again, though it asks for it in
// each call: a token or a name; empty if there is none.
func startKey(e *catalog.Entry) string {
	switch {
	case e.Job == nil:
		return ""
	case e.Job.NaturalKey != nil:
		return javasdk.MemberName(e.Job.NaturalKey.Member)
	default:
		return javasdk.MemberName(cmp.Or(e.Job.Token, e.Job.UniqueName))
	}
}

// differsIn tells whether the arguments of a Task give a member another value in each attempt.
func differsIn(s *asl.State, member string) bool {
	t := cmp.Or(s.Parameters, s.Arguments)
	return t != nil && slices.ContainsFunc(t.Object, func(m asl.TemplateMember) bool { return strings.EqualFold(m.Name, member) && differs(m.Value) })
}

// lacks tells whether the arguments of a Task that calls an integration are written
// down in the definition and have no member of that name that is the same in each
// attempt: arguments are computed anew for each.
func lacks(s *asl.State, member string) bool {
	t := s.Parameters
	if t == nil {
		t = s.Arguments
	}
	if t.Kind == asl.TemplateObject {
		return !slices.ContainsFunc(t.Object, func(m asl.TemplateMember) bool { return strings.EqualFold(m.Name, member) && !differs(m.Value) })
	}
	given, object := t.Literal.(map[string]any)
	if !object {
		return false
	}
	for name := range given {
		if strings.EqualFold(name, member) {
			return false
		}
	}
	return true
}

// differs tells whether a template gives another value each time.
func differs(t *asl.Template) bool {
	switch {
	case t.Intrinsic != nil:
		text := t.Intrinsic.String()
		return strings.Contains(text, "States.UUID(") || strings.Contains(text, "States.MathRandom(") || strings.Contains(text, "$$.State.RetryCount")
	case t.Expression != nil:
		return slices.ContainsFunc([]string{"$uuid(", "$random(", "$now(", "$millis(", "State.RetryCount"}, func(call string) bool {
			return strings.Contains(quoted().ReplaceAllString(t.Expression.String(), "''"), call)
		})
	case t.Path != nil:
		return strings.HasSuffix(t.Path.String(), ".RetryCount")
	}
	return false
}

// changes tells whether a Task does work by its call, such as sending a message or
// starting a job: a loop around it goes through items, and polls nothing.
func changes(s *asl.State) bool {
	if s.Task == nil {
		return false
	}
	r := asl.ParseResource(s.Task.Resource)
	if r.Direct || r.Action == "" || r.Service == "lambda" || r.Service == "http" || asl.IsPlaceholderText(s.Task.Resource) {
		return false
	}
	return !(&catalog.Operation{Name: javasdk.Capitalize(r.Action)}).Reads()
}

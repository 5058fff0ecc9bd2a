package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// startsSecond tells whether a call of a Task that is made again starts a second job.
func startsSecond(s *asl.State, e *catalog.Entry) bool {
	return e.StartsAnother(func(token string, required bool) bool { return repeats(s, token, required) })
}

// repeats tells whether a Task that calls an integration gives a member the same value in each attempt, for
// which its arguments are computed anew. token is a path. A call without a member that is required does
// nothing, and what the definition does not write down may have the member.
func repeats(s *asl.State, token string, required bool) bool {
	t := s.Parameters
	if t == nil {
		t = s.Arguments
	}
	for name := range strings.SplitSeq(token, ".") {
		if t != nil && t.Kind == asl.TemplateLiteral {
			return givesConstant(t.Literal, javasdk.MemberName(name), required)
		}
		if t == nil || t.Kind != asl.TemplateObject {
			break
		}
		i := slices.IndexFunc(t.Object, func(m asl.TemplateMember) bool { return strings.EqualFold(m.Name, javasdk.MemberName(name)) })
		if i < 0 {
			return required
		}
		t = t.Object[i].Value
	}
	return t == nil || !differs(t)
}

// givesConstant tells whether a constant has a member, or does not need it.
func givesConstant(value any, member string, required bool) bool {
	given, object := value.(map[string]any)
	if !object {
		return true
	}
	for name := range given {
		if strings.EqualFold(name, member) {
			return true
		}
	}
	return required
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

// Changes tells whether a Task does work by its call, such as sending a message or
// starting a job: a loop around it goes through items, and polls nothing.
func Changes(s *asl.State) bool {
	if s.Task == nil {
		return false
	}
	r := asl.ParseResource(s.Task.Resource)
	if r.Direct || r.Action == "" || r.Service == "lambda" || r.Service == "http" || asl.IsPlaceholderText(s.Task.Resource) {
		return false
	}
	return !(&catalog.Operation{Name: javasdk.Capitalize(r.Action)}).Reads()
}

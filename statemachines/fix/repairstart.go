package fix

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// startOnce are the edits by which a start call that is made again starts no second job: a token that is the same in each
// attempt, or a retrier of throttled calls alone where there is no such token.
func (c *checked) startOnce(s *asl.State, f lint.Finding, o RepairOptions) []candidate {
	var at int
	if _, err := fmt.Sscanf(strings.TrimPrefix(f.Pointer, s.Position.Pointer), "/Retry/%d", &at); err != nil || s.Task == nil {
		return nil
	}
	op, err := typecheck.FindOperation(s.Task.Resource, o.Models)
	if err != nil {
		return nil
	}
	if token := lint.StartToken(s.Task.Resource, op); token != "" {
		if sent := c.sendToken(s, token, op); sent != nil {
			return sent
		}
	}
	return c.retryThrottled(s, at, lint.ThrottlingErrors(s.Task.Resource, op))
}

// sendToken gives a start call a token. What trial runs see does not change: the token tells the service.
func (c *checked) sendToken(s *asl.State, token string, op *catalog.Operation) []candidate {
	digest, parts := digestFor(memberAt(op, token)), c.partsOfToken(s)
	if digest == "" || parts == nil {
		return nil
	}
	field, value := "Parameters", tokenInJSONPath(parts, digest)
	if s.QueryLanguage == asl.JSONata {
		field, value = "Arguments", tokenInJSONata(parts, digest)
	}
	parent, name := nodeAt(c.root, s.Position.Pointer).Get(field), token
	for {
		first, rest, nested := strings.Cut(name, ".")
		if parent == nil || parent.Kind != jsontree.Object { // the call gets its whole input, or what an expression gives
			return nil
		}
		if !nested {
			break
		}
		parent, name = parent.Get(first), rest
	}
	e := edit.Edit{Op: edit.Append, At: parent.Pointer(), Name: name, Value: jsonOf(value)}
	if s.QueryLanguage == asl.JSONPath {
		e.Name += ".$"
	}
	for _, m := range parent.Members {
		switch {
		case strings.EqualFold(m.Name, e.Name):
			e.Op, e.At, e.Name = edit.Replace, m.Value.Pointer(), ""
		case strings.EqualFold(m.Name, name): // a constant
			return nil
		}
	}
	return []candidate{{
		class: Offered, idle: true, edits: []edit.Edit{e}, except: []trial.Member{{Task: s.Name, Path: token}},
		about: fmt.Sprintf("a start call of %q that is made again: a second job may start -> each attempt sends the same %s; no answer ends otherwise",
			s.Name, name),
	}}
}

// memberAt is the shape of a member of an operation's input, by a path as a definition spells it; nil if the models do not
// know it.
func memberAt(op *catalog.Operation, path string) *catalog.Shape {
	if op == nil {
		return nil
	}
	shape := op.Input
	for name := range strings.SplitSeq(path, ".") {
		if shape == nil {
			return nil
		}
		i := slices.IndexFunc(shape.Members, func(m catalog.Member) bool { return strings.EqualFold(m.Name, name) })
		if i < 0 {
			return nil
		}
		shape = shape.Members[i].Shape
	}
	return shape
}

// digestFor is the algorithm whose hexadecimal digest a token of that shape can be; empty if it must be another text, such as
// a UUID.
func digestFor(token *catalog.Shape) string {
	for _, digest := range []struct {
		name   string
		digits int
	}{{"SHA-1", 40}, {"MD5", 32}} {
		if token == nil || takes(token, strings.Repeat("a", digest.digits)) {
			return digest.name
		}
	}
	return ""
}

// takes tells whether a text is within a shape's bounds. What Go cannot read as a pattern is one of classes of characters.
func takes(s *catalog.Shape, text string) bool {
	if least, err := s.Min.Int64(); err == nil && int64(len(text)) < least {
		return false
	}
	if most, err := s.Max.Int64(); err == nil && int64(len(text)) > most {
		return false
	}
	pattern, err := regexp.Compile("^(?:" + s.Pattern + ")$")
	return s.Pattern == "" || err != nil || pattern.MatchString(text)
}

// partsOfToken are what tells a start call from the others of the machine, of the context object. It has none in a Map whose
// items share an execution: only the Map's ItemSelector knows the index of an item.
func (c *checked) partsOfToken(s *asl.State) []string {
	parts := []string{"Execution.Id"}
	for other := range c.machine.All {
		if other != s && other.Task != nil && other.Task.Resource == s.Task.Resource {
			parts = append(parts, "State.Name")
			break
		}
	}
	again, items := false, false
	for f := &c.machine.Flow; f != c.flowOf(s); {
		holder := f.Holder(s)
		again = again || f.Leads(holder, holder) || len(holder.Retry) > 0
		if holder.Map != nil {
			items = !holder.Map.Distributed
			again = again && items // each child of a distributed Map has an execution of its own
		}
		inner := holder.Flows()
		f = inner[slices.IndexFunc(inner, func(inner *asl.Flow) bool { return inner.State(s.Name) == s || inner.Holder(s) != nil })]
	}
	if items {
		return nil
	}
	if again || c.flowOf(s).Leads(s, s) {
		parts = append(parts, "State.EnteredTime")
	}
	return parts
}

func tokenInJSONPath(parts []string, digest string) string {
	if len(parts) == 1 {
		return fmt.Sprintf("States.Hash($$.%s, '%s')", parts[0], digest)
	}
	return fmt.Sprintf("States.Hash(States.Format('%s', $$.%s), '%s')",
		strings.TrimSpace(strings.Repeat("{} ", len(parts))), strings.Join(parts, ", $$."), digest)
}

func tokenInJSONata(parts []string, digest string) string {
	return fmt.Sprintf("{%% $hash($states.context.%s, '%s') %%}", strings.Join(parts, " & ' ' & $states.context."), digest)
}

// retryThrottled lets a retrier of a start call take throttled calls alone: after another error the job may have started.
func (*checked) retryThrottled(s *asl.State, at int, throttled []string) []candidate {
	names := slices.DeleteFunc(slices.Clone(throttled), func(name string) bool {
		return slices.ContainsFunc(s.Retry[:at], func(r asl.Retrier) bool { return slices.Contains(r.ErrorEquals, name) })
	})
	if len(names) == 0 {
		return nil
	}
	return []candidate{{
		class: Offered, retried: s.Name, about: fmt.Sprintf("an error of %q other than that of a throttled call", s.Name),
		also:  "after most of them the job may have started",
		frame: []trial.Kind{{Task: s.Name, Sort: trial.Fails}},
		edits: []edit.Edit{{Op: edit.Replace, At: fmt.Sprintf("%s/Retry/%d/ErrorEquals", s.Position.Pointer, at), Value: listOf(names)}},
		mended: func(r *trial.Run) bool {
			return !slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool { return k.Task == s.Name && slices.Contains(throttled, k.Value) })
		},
	}}
}

package fix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// startOnce are the edits by which a start call that is made again starts no second job: a token that is the same in each
// attempt, or a retrier of throttled calls alone where the service takes no token.
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
		return c.sendToken(s, token)
	}
	return c.retryThrottled(s, at, lint.ThrottlingErrors(s.Task.Resource, op))
}

// sendToken gives a start call a token. What trial runs see does not change: the token tells the service.
func (c *checked) sendToken(s *asl.State, token string) []candidate {
	field, value := "Parameters", c.tokenInJSONPath(s)
	if s.QueryLanguage == asl.JSONata {
		field, value = "Arguments", c.tokenInJSONata(s)
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
	if value == "" {
		return nil
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

// partsOfToken are what tells a start call from the others of the machine, of the context object. It has none in Maps in
// each other: nothing tells their items apart.
func (c *checked) partsOfToken(s *asl.State) []string {
	parts := []string{"Execution.Id"}
	for other := range c.machine.All {
		if other != s && other.Task != nil && other.Task.Resource == s.Task.Resource {
			parts = append(parts, "State.Name")
			break
		}
	}
	again, maps := c.flowOf(s).Leads(s, s), 0
	for f := &c.machine.Flow; f != c.flowOf(s); {
		holder := f.Holder(s)
		again = again || f.Leads(holder, holder) || len(holder.Retry) > 0
		if holder.Map != nil {
			maps++
		}
		inner := holder.Flows()
		f = inner[slices.IndexFunc(inner, func(inner *asl.Flow) bool { return inner.State(s.Name) == s || inner.Holder(s) != nil })]
	}
	if again {
		parts = append(parts, "State.EnteredTime")
	}
	switch maps {
	case 0:
	case 1:
		parts = append(parts, "Map.Item.Index")
	default:
		return nil
	}
	return parts
}

// tokenInJSONPath is a token of 40 digits, which all services take.
func (c *checked) tokenInJSONPath(s *asl.State) string {
	parts := c.partsOfToken(s)
	switch len(parts) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("States.Hash($$.%s, 'SHA-1')", parts[0])
	default:
		return fmt.Sprintf("States.Hash(States.Format('%s', $$.%s), 'SHA-1')", strings.TrimSpace(strings.Repeat("{} ", len(parts))), strings.Join(parts, ", $$."))
	}
}

func (c *checked) tokenInJSONata(s *asl.State) string {
	parts := c.partsOfToken(s)
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("{%% $hash($states.context.%s, 'SHA-1') %%}", strings.Join(parts, " & ' ' & $states.context."))
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

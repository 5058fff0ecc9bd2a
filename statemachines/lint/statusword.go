package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// statusWords is a status without an enum in the model, and its operation.
type statusWords struct {
	*status

	operation string
}

// checkStatusWords finds comparisons of a status with a text that no waiter or job of the operation
// knows and which is nearly one that they know. Where the model lists the values, a check of types
// finds it.
func (c *checker) checkStatusWords() {
	if slices.Contains(c.off, typecheck.EnumValue) {
		return
	}
	known, results := map[*catalog.Shape]statusWords{}, map[*asl.State]typecheck.Value{}
	shapes := map[*status]*catalog.Shape{} // nil for those that no text is like
	for s := range c.machine.All {
		p := c.operations.of(s)
		if p == nil || p == checkStatus {
			continue
		}
		for _, status := range p.statuses {
			listed, asked := shapes[status]
			if !asked && !status.listed && c.mentionsMisspelt(status.values) {
				listed = &catalog.Shape{Name: lastName(status.path), Type: catalog.String, Enum: status.values}
				known[listed] = statusWords{status, p.name}
			}
			if shapes[status] = listed; listed == nil {
				continue
			}
			v, found := results[s]
			if !found {
				v = c.types.Result(s)
			}
			results[s] = typecheck.Enumerate(v, status.steps, listed)
		}
	}
	if len(results) == 0 {
		return
	}
	c.addAnswersLike(results, shapes)
	types, err := c.types.With(results)
	if err != nil {
		return // c.types has the same models
	}
	for _, f := range types.Findings() {
		if words, ok := known[f.Enum]; ok && f.Rule == typecheck.EnumValue {
			c.reportWord(f, words)
		}
	}
}

// addAnswersLike adds the answers of other calls that have the same structure with the status in it, as that of
// createInvalidation has: it may come to the same comparison.
func (c *checker) addAnswersLike(results map[*asl.State]typecheck.Value, shapes map[*status]*catalog.Shape) {
	polled := maps.Clone(results)
	known := slices.SortedFunc(maps.Keys(shapes), func(a, b *status) int { return cmp.Compare(a.path, b.path) })
	known = slices.DeleteFunc(known, func(s *status) bool { return shapes[s] == nil || s.judges[0].entry == nil })
	for s := range c.machine.All {
		if _, polls := polled[s]; polls || s.Task == nil {
			continue
		}
		key, action, _ := strings.Cut(c.operations.call(s.Task.Resource), ":")
		for _, status := range known {
			service := status.judges[0].entry.Service
			if key != service.Key || service.Operations[action] == nil {
				continue
			}
			steps := stepsToStatus(service.Operations[action].Output, status)
			if steps == nil {
				continue
			}
			v, found := results[s]
			if !found {
				v = c.types.Result(s)
			}
			results[s] = typecheck.Enumerate(v, steps, shapes[status])
		}
	}
}

// stepsToStatus leads to a status in the answer of another call, as Step Functions spells it, by the name of the
// structure that has it; nil if it is not there.
func stepsToStatus(output *catalog.Shape, s *status) []string {
	parent := strings.TrimSuffix(s.path, "."+lastName(s.path))
	_, holder := spellSteps(s.judges[0].entry.Operation.Output, parent)
	if holder == nil || output == nil || holder.Type != catalog.Structure {
		return nil
	}
	for i := range output.Members {
		if m := &output.Members[i]; m.Shape.Type == catalog.Structure && m.Shape.Name == holder.Name {
			return []string{javasdk.MemberName(m.Name), s.steps[len(s.steps)-1]}
		}
	}
	return nil
}

// aboutWord is a finding about a text that is compared, or about none.
func aboutWord(f typecheck.Finding) Finding {
	found := Finding{Problem: f.Problem, Rule: f.Rule}
	if f.Word != "" {
		found.Subjects = []string{f.Word}
	}
	return found
}

// reportWord reports a text that is nearly a status.
func (c *checker) reportWord(f typecheck.Finding, words statusWords) {
	p, member := f.Problem, javasdk.MemberName(lastName(words.path))
	p.Severity, p.Suggestion = diag.Warning, nearest.Spelling(f.Word, words.values)
	beside := c.findBeside(f)
	switch like := likePattern(f.Word, words.values); {
	case p.Suggestion != "" && beside != nil:
		p.Severity, p.Suggestion = diag.Note, ""
		p.Message = fmt.Sprintf("no waiter or job knows the %s %q of %s, and the word does nothing beside %s", member, f.Word, words.operation, quoteAll(beside))
	case p.Suggestion != "":
		p.Message = fmt.Sprintf("no waiter or job knows the %s %q of %s", member, f.Word, words.operation)
		if nearest.PlainLetters(p.Suggestion) == nearest.PlainLetters(f.Word) {
			p.Message += ", and texts are compared exactly"
		}
	case like != "":
		p.Message = fmt.Sprintf("no known %s of %s matches %q, as texts are compared exactly; one of them is %q", member, words.operation, f.Word, like)
	default:
		return
	}
	f.Problem = p
	c.findings = append(c.findings, aboutWord(f))
}

// likePattern is the first value that a pattern matches but for case, hyphens, underscores and
// spaces; empty if none is, or if it matches one.
func likePattern(pattern string, values []string) string {
	like := ""
	for _, value := range values {
		switch {
		case asl.MatchString(value, pattern):
			return ""
		case like == "" && strings.Contains(pattern, "*") && asl.MatchString(nearest.PlainLetters(value), nearest.PlainLetters(pattern)):
			like = value
		}
	}
	return like
}

// mentionsMisspelt tells whether a text of the definition is nearly one of some values.
func (c *checker) mentionsMisspelt(values []string) bool {
	if c.texts == nil {
		c.mentions("") // prints the definition
		c.texts = map[string]bool{}
		for text := range strings.FieldsFuncSeq(c.text, func(r rune) bool { return strings.ContainsRune(`"'\\`, r) }) {
			c.texts[text] = true
		}
	}
	for text := range c.texts {
		if cmp.Or(nearest.Spelling(text, values), likePattern(text, values)) != "" {
			return true
		}
	}
	return false
}

package wait

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

var errNoIDs = errors.New("found none")

// readIDs reads IDs between spaces, or the JSON that a command of AWS's has printed.
func (s *Subject) readIDs(place *idPlace, text []byte) ([]Target, error) {
	trimmed := strings.TrimSpace(string(text))
	if trimmed == "" || !strings.ContainsAny(trimmed[:1], `{["`) {
		words := strings.Fields(trimmed)
		if len(words) == 0 {
			return nil, kit.Usage("IDs on standard input: %w", errNoIDs)
		}
		var all []Target
		for _, word := range words {
			t, err := s.target(place, word)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
		return all, nil
	}
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, kit.Usage("standard input: %w", err)
	}
	all, err := s.readAnswer(place, doc.Root.Value())
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, kit.Usage("the JSON on standard input has no %s: %s", s.nameID(place), s.otherwise(place))
	}
	return all, nil
}

// otherwise says how to name what is waited for: the output of a command has it only
// where the model says so.
func (s *Subject) otherwise(place *idPlace) string {
	operation := s.Entry.Operation
	if s.Entry.Job != nil {
		operation = s.Entry.Service.Operations[s.Entry.Name]
	} else if place != nil && !hasText(operation.Output, answerNames(place), mostNested) {
		return "pass the ID: " + s.howToSay(nil)
	}
	service := s.Entry.Service.Key
	if service == s3Key {
		service = "s3api" // as the AWS CLI calls it
	}
	return fmt.Sprintf("pipe the output of aws %s %s in, or pass the ID", service, kit.Kebab(operation.Name))
}

// mostNested is how deep answers have their IDs. Shapes may hold themselves.
const mostNested = 6

// hasText tells whether values of a shape may have a text of one of the names.
func hasText(shape *catalog.Shape, names []string, depth int) bool {
	if shape == nil || depth == 0 {
		return false
	}
	if shape.Element != nil && hasText(shape.Element.Shape, names, depth-1) {
		return true
	}
	return slices.ContainsFunc(shape.Members, func(m catalog.Member) bool {
		return m.Shape.Type == catalog.String && isNamed(m.Name, names) || hasText(m.Shape, names, depth-1)
	})
}

func (s *Subject) nameID(place *idPlace) string {
	if place == nil {
		return memberNames(s.Entry)
	}
	return place.name()
}

// readAnswer takes IDs out of JSON: a text is an ID, an object is the answer of a call.
func (s *Subject) readAnswer(place *idPlace, value any) ([]Target, error) {
	switch v := value.(type) {
	case string:
		t, err := s.target(place, v)
		return []Target{t}, err
	case []any:
		var all []Target
		for _, item := range v {
			more, err := s.readAnswer(place, item)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
		return all, nil
	case map[string]any:
		if input := s.inputOfStart(v); len(input) > 0 {
			return []Target{{id: inputID(s.Entry, input), Input: input}}, nil
		}
		var all []Target
		for _, id := range findMembers(place, v) {
			t, err := s.target(place, id)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
		if all == nil {
			return s.readStart(v), nil
		}
		return all, nil
	default:
		return nil, nil
	}
}

// readStart takes the answer of a start call for a waiter of AWS's: that of a job which
// the same operation describes.
func (s *Subject) readStart(answer map[string]any) []Target {
	jobs := s.Entry.Service.Jobs
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		if jobs[name].Describe != s.Entry.Operation.Name {
			continue
		}
		of := *s.Entry
		of.Job = jobs[name]
		started := Subject{Entry: &of}
		if input := started.inputOfStart(answer); len(input) > 0 {
			return []Target{{id: inputID(&of, input), Input: input}}
		}
	}
	return nil
}

// inputOfStart is the input of the describe call that the answer of a job's start call
// makes; nil if it is no such answer.
func (s *Subject) inputOfStart(answer map[string]any) map[string]any {
	literals, input := map[string]any{}, map[string]any{}
	if fillStarted(s.Entry, literals, nil) != nil || fillStarted(s.Entry, input, answer) != nil || len(input) == len(literals) {
		return nil
	}
	return input
}

// inputID is what to call a job by the input of its describe call.
func inputID(e *catalog.Entry, input map[string]any) string {
	if m, _ := findAnswer(e); m != nil {
		switch v := input[m.Name].(type) {
		case string:
			return v
		case []any:
			if len(v) == 1 {
				if text, ok := v[0].(string); ok {
					return text
				}
			}
		}
	}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(input))) {
		if text, ok := input[name].(string); ok {
			return text
		}
	}
	return ""
}

// findMembers finds the texts in an answer whose member has the name of the ID's, or
// the singular of it. The first member that is found counts.
func findMembers(place *idPlace, answer any) []string {
	if place == nil {
		return nil
	}
	for _, m := range slices.Backward(place.members) {
		var found []string
		collectTexts(answer, namesOfMember(m), &found)
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// namesOfMember are the names that a member's value has in an answer.
func namesOfMember(m *catalog.Member) []string {
	return []string{m.Name, strings.TrimSuffix(m.Name, "s")}
}

func answerNames(place *idPlace) []string {
	var names []string
	for _, m := range place.members {
		names = append(names, namesOfMember(m)...)
	}
	return names
}

func isNamed(name string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

func collectTexts(value any, names []string, found *[]string) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if text, ok := v[name].(string); ok && isNamed(name, names) {
				*found = append(*found, text)
				continue
			}
			collectTexts(v[name], names, found)
		}
	case []any:
		for _, item := range v {
			collectTexts(item, names, found)
		}
	}
}

package derived

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

var (
	describeVerbs = []string{"Describe", "Get"}
	// startVerbs begin a job, and makeVerbs make a resource.
	startVerbs = []string{"Start", "Submit", "Run", "Begin"}
	makeVerbs  = []string{"Create"}
	// tails of the name of a describe call say what it tells, not what it is about.
	tails = []string{"Status", "State", "Result", "Results", "Details", "Progress"}
)

// nounOf is what an operation is about, by its name without one of some verbs; empty if it has none of them.
func nounOf(operation string, verbs []string) string {
	for _, verb := range verbs {
		rest, found := strings.CutPrefix(operation, verb)
		if first, _ := utf8.DecodeRuneInString(rest); found && unicode.IsUpper(first) {
			return rest
		}
	}
	return ""
}

// startOf is the one operation that starts or makes what a describe call is about, and what that is without a tail; nil
// if there is none, or several: what is made first and started then has statuses of both.
func startOf(s *catalog.Service, about string) (start *catalog.Operation, noun string) {
	nouns := []string{about}
	for _, tail := range tails {
		if noun, found := strings.CutSuffix(about, tail); found && noun != "" {
			nouns = append(nouns, noun)
		}
	}
	for _, o := range s.Operations {
		of := nounOf(o.Name, slices.Concat(startVerbs, makeVerbs))
		if of == "" || !slices.Contains(nouns, of) {
			continue
		}
		if start != nil {
			return nil, ""
		}
		start, noun = o, of
	}
	return start, noun
}

// isSet tells whether callers set the status themselves: then it tells of no job.
func isSet(s *catalog.Service, about string, listed *catalog.Shape) bool {
	for _, verb := range []string{"Create", "Update", "Put", "Modify"} {
		o := s.Operations[verb+about]
		if o != nil && o.Input != nil && slices.ContainsFunc(o.Input.Members, func(m catalog.Member) bool { return m.Shape == listed }) {
			return true
		}
	}
	return false
}

// deepest is how deep in the input of a call its caller is looked for.
const deepest = 3

// choosesActive tells whether the caller of a call says whether what it makes begins ACTIVE or INACTIVE: either may then be what
// it leads to.
func choosesActive(input *catalog.Shape, values []string, depth int) bool {
	isOf := func(value string) bool { return hasWord(value, []string{"active", "inactive"}) }
	if input == nil || depth == 0 || !slices.ContainsFunc(values, func(value string) bool { return hasWord(value, []string{"inactive"}) }) {
		return false
	}
	return slices.ContainsFunc(input.Members, func(m catalog.Member) bool {
		if m.Shape.Type == catalog.Boolean {
			return hasWord(m.Name, []string{"activate", "activated", "active"})
		}
		return len(m.Shape.Enum) > 0 && !slices.ContainsFunc(m.Shape.Enum, func(value string) bool { return !isOf(value) }) ||
			choosesActive(m.Shape, values, depth-1)
	})
}

// makes tells whether an operation makes a resource.
func makes(start *catalog.Operation) bool { return nounOf(start.Name, makeVerbs) != "" }

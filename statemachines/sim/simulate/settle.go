package simulate

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// agree makes the members that go with a status what they are then: those that say the same,
// and those that are there only later. isPolled tells whether a member is what the status was made from, and
// keeps whether the waiter says the same of another answer. It returns the members that follow the status.
func (s *status) agree(e *catalog.Entry, isPolled func(at place) bool, keeps func(answer any) bool) []place {
	settled := s.settle(e, isPolled, keeps)
	for _, told := range e.Telling() {
		at := parsePlace(told.Member)
		seen := at.get(s.answer)
		if seen == nil || isDeletion(e) {
			continue
		}
		value := told.Before
		if told.Since.Has(s.verdict) {
			value = told.After
		}
		if word, isText := seen.(string); isText && word == s.name && (told.Since != "" || isPolled(at)) {
			value = told.Spell(word)
		}
		if other := at.put(clone(s.answer), value); keeps(other) {
			s.answer = other
		}
	}
	for _, path := range e.Operation.Later() {
		without := clone(s.answer)
		parsePlace(path).remove(without)
		// A stopped replication of DMS that is started again has the reason why it stopped.
		if (!e.Operation.Presence[path].Has(s.verdict) || s.isUntrue(e.Operation, path)) && keeps(without) {
			s.answer = without
		}
	}
	if s.verdict != pollcore.Failure { // nor what tells of a failure by its name
		without := clone(s.answer)
		if dropLater(without, e.Operation.Output, s.name); keeps(without) {
			s.answer = without
		}
	}
	return slices.DeleteFunc(settled, func(at place) bool {
		return slices.ContainsFunc(e.Telling(), func(told catalog.Telling) bool { return parsePlace(told.Member).spell() == at.spell() })
	})
}

// isUntrue tells whether a member of the answer is the code of a reason: a job that runs or succeeds has
// no code of a failure, and one that somebody has stopped has not failed by itself.
func (s *status) isUntrue(op *catalog.Operation, path string) bool {
	shape := shapeAt(op.Output, parsePlace(path))
	if shape == nil || len(shape.Enum) == 0 {
		return false
	}
	switch op.Presence[path] {
	case catalog.WithSome:
		return s.verdict != pollcore.Failure
	case catalog.AfterFailure:
		return unwinding().MatchString(strings.ToUpper(s.name)) && !failedWord().MatchString(s.name)
	default:
		return false
	}
}

// settle lets the other statuses of an answer fit the one that is polled: the parts of a job that has
// succeeded have succeeded, too. The tables say it where the words do not.
func (s *status) settle(e *catalog.Entry, isPolled func(at place) bool, keeps func(answer any) bool) (settled []place) {
	if isDeletion(e) {
		return nil
	}
	for _, at := range statesIn(s.answer, e.Operation.Output) {
		seen, _ := at.get(s.answer).(string)
		word := s.fitting(seen, shapeAt(e.Operation.Output, at).Enum)
		if word == "" || isPolled(at) {
			continue
		}
		if other := at.put(clone(s.answer), word); keeps(other) {
			s.answer = other
			settled = append(settled, at)
		}
	}
	return settled
}

// Words of statuses.
var (
	stateName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(status|state|phase|stage|result|outcome)$`) })
	goingWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)ing|progress|queued$|submitted$|requested$|not_?started$|^pending`)
	})
	failedWord  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)fail|error`) })
	wordGaps    = sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer("_", "", "-", "", " ", "") })
	settledWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(in_?service|available|active|enabled|ready|succe\w+|completed?)$|_complete$`)
	})
)

// statesIn finds the texts of an answer that are called a status and have a list of values.
func statesIn(answer any, s *catalog.Shape) []place {
	var found []place
	switch v := answer.(type) {
	case map[string]any:
		for i := range s.Members {
			m := &s.Members[i]
			value, there := v[m.Name]
			if _, isText := value.(string); isText && len(m.Shape.Enum) > 0 && stateName().MatchString(m.Name) {
				found = append(found, place{m.Name})
			} else if there {
				found = append(found, behind(m.Name, statesIn(value, m.Shape))...)
			}
		}
	case []any:
		for i, item := range v {
			if s.Element != nil {
				found = append(found, behind(i, statesIn(item, s.Element.Shape))...)
			}
		}
	}
	return found
}

// behind are places behind a member or an item.
func behind(first any, rest []place) []place {
	all := make([]place, len(rest))
	for i, at := range rest {
		all[i] = append(place{first}, at...)
	}
	return all
}

// fitting is the value of a list that fits the status: its own name, or one that does not contradict it;
// empty if the one that is there fits.
func (s *status) fitting(seen string, values []string) string {
	plain := func(word string) string { return strings.ToLower(wordGaps().Replace(word)) }
	if i := slices.IndexFunc(values, func(value string) bool { return plain(value) == plain(s.name) }); i >= 0 {
		return values[i]
	}
	isGoing, isFailed := goingWord().MatchString(seen), failedWord().MatchString(seen)
	first := func(fits func(value string) bool) string {
		if i := slices.IndexFunc(values, fits); i >= 0 {
			return values[i]
		}
		return ""
	}
	switch {
	case s.verdict == pollcore.Success && (isGoing || isFailed):
		isEnd := func(value string) bool {
			return !goingWord().MatchString(value) && !unwinding().MatchString(strings.ToUpper(value))
		}
		if best := first(func(value string) bool { return isEnd(value) && settledWord().MatchString(value) }); best != "" {
			return best
		}
		return first(isEnd)
	case s.verdict == pollcore.Failure && isGoing && !goingWord().MatchString(s.name):
		return first(failedWord().MatchString)
	case s.verdict == pollcore.Retry && isFailed:
		return first(goingWord().MatchString)
	default:
		return ""
	}
}

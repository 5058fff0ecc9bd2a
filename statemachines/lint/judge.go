package lint

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// judge is an entry of the catalogue, or a function of jobpoller, that says what a
// value means.
type judge struct {
	entry    *catalog.Entry     // nil for the function check-status
	meanings map[string]Meaning // of the values
	stated   map[string]bool    // those that the entry names, not leaves to a retry
	taken    map[string]bool    // those that the entry's waiter takes for a success
	second   map[string]string  // the member that tells more of an unclear value
	verdict  func(answer any) pollcore.Verdict
	// gone tells that the entry waits until what it describes is no longer found:
	// it succeeds by errors alone.
	gone bool
}

// newJudge asks an entry what each value of a status means when nothing else of the
// answer is known. What an entry judges by more than the status has no meaning.
func newJudge(e *catalog.Entry, s *status) *judge {
	j := &judge{entry: e, meanings: map[string]Meaning{}, stated: map[string]bool{}, taken: map[string]bool{}, second: map[string]string{}, gone: true}
	for _, value := range listValues(e, s.path) {
		j.stated[value] = true
	}
	check, err := pollcore.Compile[any, any](e.Waiter)
	if err != nil {
		return j
	}
	j.verdict = func(answer any) pollcore.Verdict { return check.Check(nil, answer, nil).Verdict }
	for _, a := range e.Waiter.Acceptors {
		if m := a.Matcher; a.State == pollcore.Success && m.ErrorType == nil && (m.Success == nil || *m.Success) {
			j.gone = false
		}
	}
	for _, value := range s.values {
		result := check.Check(nil, answer(s.path, value), nil)
		j.meanings[value], j.taken[value] = j.meaningOf(s, value, result), result.Verdict == pollcore.Success
	}
	return j
}

// addTold adds the value that the status has once the job has succeeded, where the waiter looks
// at another member for that: ACM's is ISSUED.
func (j *judge) addTold(s *status) {
	for _, isSuccess := range j.taken {
		if isSuccess {
			return // this is the member that it looks at
		}
	}
	for _, told := range j.entry.Telling() {
		value, _ := told.After.(string)
		if told.Since == catalog.AfterSuccess && items().ReplaceAllString(told.Member, "[]") == s.path && slices.Contains(s.values, value) {
			j.meanings[value], j.stated[value] = MeansSuccess, true
		}
	}
}

// isPartial tells whether a value is a failure after which a part of the work can be used.
func (j *judge) isPartial(value string) bool {
	return j.entry != nil && j.entry.Job != nil && slices.Contains(j.entry.Job.Partial, value)
}

// secondPaths are the members that tell more of some values, sorted.
func (j *judge) secondPaths() []string { return slices.Compact(slices.Sorted(maps.Values(j.second))) }

// meaningOf is what a value means by the verdict on an answer that has nothing else.
func (j *judge) meaningOf(s *status, value string, result pollcore.Result) Meaning {
	if second := secondMember(j.entry.Waiter, s.path, value); second != "" {
		j.second[value] = second
		return MeansUnclear
	}
	passing, _ := j.entry.Passing(value)
	switch {
	case passing == catalog.PassingEnding, passing == catalog.PassingChange:
		return MeansEnding
	case passing == catalog.PassingLater:
		return MeansUnknown // what the job ended with came before
	case result.Acceptor == pollcore.NoAcceptor && j.aim() == catalog.AimGone && isOnItsWay(value):
		return MeansRunning
	case result.Acceptor == pollcore.NoAcceptor && endName().MatchString(value):
		return MeansUnknown // the waiter polls on, and nobody says that the job runs
	case result.Acceptor == pollcore.NoAcceptor, result.Verdict == pollcore.Retry:
		return MeansRunning
	case result.Verdict == pollcore.Success:
		return MeansSuccess
	default:
		return MeansFailure
	}
}

// secondMember is what acceptors read beside a value of the status to judge it; empty if
// the status alone tells.
func secondMember(w *pollcore.Waiter, status, value string) string {
	plain := items().ReplaceAllString(status, "")
	for _, a := range w.Acceptors {
		path := ""
		if m := a.Matcher.Output; m != nil && !simplePath().MatchString(m.Path) {
			path = m.Path
		} else if m := a.Matcher.InputOutput; m != nil {
			path = m.Path
		}
		if !strings.Contains(path, "'"+value+"'") {
			continue
		}
		second := ""
		for _, found := range memberPath().FindAllStringSubmatch(quotedText().ReplaceAllString(path, "''"), -1) {
			name := found[1]
			bare := items().ReplaceAllString(name, "")
			if found[2] == "" && bare != plain && !strings.HasSuffix(plain, "."+bare) && !strings.HasPrefix(plain, bare+".") {
				if strings.Count(name, ".") >= strings.Count(second, ".") {
					second = name
				}
			}
		}
		if second != "" {
			return second
		}
	}
	return ""
}

var (
	// quotedText is a text or a literal in JMESPath.
	quotedText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("'[^']*'|`[^`]*`") })
	// memberPath is a path of members; its second group is set for a function.
	memberPath = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([A-Za-z_]\w*(?:\[\d*\])?(?:\.\w+(?:\[\d*\])?)*)(\()?`)
	})
)

// endName matches the name of an end. A waiter polls on for values that it does not
// name, and some of them are ends.
var endName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)fail|error|delet|stopped|cancel|abort|incompat|terminat|reject|expire|inaccess|insufficient|full|interrupted|invalid|unknown`)
})

// IsNotBegun tells whether a status says of something that it is not done: "NotBuilt", "NOT_STARTED". A
// waiter may take it for a failure, and a job may have it before it begins.
func IsNotBegun(status string) bool { return notDone().MatchString(status) }

var notDone = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:Not[A-Z]|NOT[_-]|not[-_A-Z])`) })

// isWithWarnings tells whether each of some statuses says of a success that not all is well: whether that is
// enough, only the user knows.
func isWithWarnings(statuses []string) bool {
	return !slices.ContainsFunc(statuses, func(status string) bool { return !withWarnings().MatchString(status) })
}

var withWarnings = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)warn|with[_ -]?(?:issue|error|failure|exception)`)
})

package simulate

import (
	"iter"
	"regexp"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// answers makes responses that fit the model: with the members that it requires,
// and those that the machine names in its paths. Members have the model's spelling.
type answers struct {
	typecheck.Sample

	times bool // of jobs
	bare  bool // without what the model does not require
}

// paging are members that ask for another call: a response without them is the last page. Other
// tokens are what a call is for, such as the RetrievalToken of xray:startTraceRetrieval.
var paging = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(next(page|pagination|continuation|backward|forward)?token|(page|pagination|continuation)token|` +
		`(next)?(page|key|uploadid|versionid|hostedzoneid|partnumber)?marker|\w*truncated|lastevaluated\w*(key|name|arn))$`)
})

// newAnswers makes the answers for machines.
func newAnswers(machines ...*asl.StateMachine) *answers {
	named := map[string]bool{}
	for _, m := range machines {
		text := string(asl.Print(m))
		for name := range members(text) {
			named[name] = true
		}
		for _, expression := range expressions().FindAllString(text, -1) {
			for _, found := range bareNames().FindAllStringSubmatch(texts().ReplaceAllString(expression, "''"), -1) {
				named[found[1]] = true
			}
		}
	}
	return &answers{Sample: typecheck.Sample{Wants: func(name string) bool { return named[name] && !paging().MatchString(name) }}}
}

// with are the answers of an operation: they have what the service always sends, too.
func (a *answers) with(op *catalog.Operation) *answers {
	if op == nil || len(op.Always()) == 0 {
		return a
	}
	own := *a
	own.Has = typecheck.Members{}
	for _, path := range op.Always() {
		var names []string
		for _, part := range parsePlace(path) {
			if name, is := part.(string); is {
				names = append(names, name)
			}
		}
		own.Has.Add(names...)
	}
	return &own
}

// Of JSONata in a definition: expressions, the texts in them, and names that stand by themselves, as
// those of a filter do.
var (
	expressions = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{%(?:[^%]|%[^}])*%\}`) })
	texts       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'[^']*'|\\"[^"\\]*\\"`) })
	bareNames   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[^$\w])([A-Za-z_]\w*)`) })
)

// members yields the names in the paths of a text: .name and ['name'].
func members(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			at := strings.IndexAny(text, ".[")
			if at < 0 {
				return
			}
			text = text[at:]
			name, end := "", 1
			if quoted, ok := strings.CutPrefix(text, "['"); ok {
				if i := strings.IndexByte(quoted, '\''); i > 0 && strings.HasPrefix(quoted[i:], "']") {
					name, end = quoted[:i], len("['']")+i
				}
			} else if text[0] == '.' {
				rest := strings.TrimLeft(text[1:], letters)
				if name = text[1 : len(text)-len(rest)]; name != "" {
					rest = strings.TrimLeft(rest, letters+digits)
					name = text[1 : len(text)-len(rest)]
				}
				end += len(name)
			}
			if name != "" && !yield(name) {
				return
			}
			text = text[end:]
		}
	}
}

// Of the names of members.
const (
	letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
	digits  = "0123456789"
)

package simulate

import (
	"iter"
	"regexp"
	"slices"
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

// newAnswers makes the answers for machines, by what is read of each.
func newAnswers(machines ...*Reading) *answers {
	return &answers{Sample: typecheck.Sample{Wants: func(name string) bool {
		return slices.ContainsFunc(machines, func(r *Reading) bool { return r.named[name] }) && !paging().MatchString(name)
	}}}
}

// Reading is what a machine names: the members that its paths select, and words.
type Reading struct {
	text  string
	named map[string]bool
}

// Read reads the text of a machine, as asl.Print writes it.
func Read(text []byte) *Reading {
	r := &Reading{string(text), map[string]bool{}}
	for name := range members(r.text) {
		r.named[name] = true
	}
	for _, expression := range expressions().FindAllString(r.text, -1) {
		for _, found := range bareNames().FindAllStringSubmatch(texts().ReplaceAllString(expression, "''"), -1) {
			r.named[found[1]] = true
		}
	}
	return r
}

// reading is what a machine names, which the caller may have read.
func (o *Options) reading(m *asl.StateMachine) *Reading {
	if r := o.Readings[m]; r != nil {
		return r
	}
	return Read(asl.Print(m))
}

// has tells whether a word stands in the machine by itself.
func (r *Reading) has(word string) bool {
	return strings.Contains(r.text, `"`+word+`"`) || strings.Contains(r.text, `'`+word+`'`)
}

// with are the answers of an operation: they have what the service always sends, too,
// and no item that says what was not found.
func (a *answers) with(op *catalog.Operation) *answers {
	if op == nil {
		return a
	}
	always := make([]place, 0, len(op.Always()))
	for _, path := range op.Always() {
		always = append(always, parsePlace(path))
	}
	own := *a.telling(always...)
	own.Empty = op.Unanswered()
	return &own
}

// telling are answers that have what stands at some places, besides what they have anyway.
func (a *answers) telling(places ...place) *answers {
	if len(places) == 0 {
		return a
	}
	own := *a
	own.Has = a.Has.Clone()
	for _, at := range places {
		var names []string
		for _, part := range at {
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

package simulate

import (
	"regexp"
	"sync"

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

// member is a name in a path of JSONPath or JSONata.
var member = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.([A-Za-z_]\w*)|\['([^']+)'\]`) })

// paging are members that ask for another call: a response without them is the
// last page.
var paging = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(token|marker|truncated|lastevaluated\w*)$`) })

// newAnswers makes the answers for machines.
func newAnswers(machines ...*asl.StateMachine) *answers {
	named := map[string]bool{}
	for _, m := range machines {
		for _, match := range member().FindAllStringSubmatch(string(asl.Print(m)), -1) {
			named[match[1]+match[2]] = true
		}
	}
	return &answers{Sample: typecheck.Sample{Wants: func(name string) bool { return named[name] && !paging().MatchString(name) }}}
}

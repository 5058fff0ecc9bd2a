package lint

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// startsByName tells whether an operation starts a new job each time that a Task calls it, as far as its name, its
// errors and the names in its arguments tell.
func startsByName(s *asl.State, operation *catalog.Operation) bool {
	verb := catalog.VerbOf(operation.Name)
	starts := verb != nil && (verb.Name == "Start" || verb.Makes && jobName().MatchString(operation.Name))
	if !starts || slices.ContainsFunc(operation.Errors, func(e catalog.Error) bool { return refusesSecond().MatchString(e.Shape) }) {
		return false
	}
	return operation.Input == nil || !slices.ContainsFunc(operation.Input.Members, func(m catalog.Member) bool {
		return namesNew(operation, &m) && repeats(s, m.Name, m.Required)
	})
}

// namesNew tells whether a member of the input may name what a call starts: Name or JobName of StartReportJob.
func namesNew(operation *catalog.Operation, m *catalog.Member) bool {
	of := newName().FindStringSubmatch(javasdk.Capitalize(m.Name))
	return of != nil && strings.HasSuffix(operation.Name, of[1])
}

var (
	// refusesSecond matches an error by which a service may refuse a second job like the first.
	refusesSecond = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)already|exists|conflict|in_?use|in_?progress|concurrent|duplicate|invalid\w*state`)
	})
	// newName matches a member that may name the new job: a service may take no name twice.
	newName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Z]\w*)?(?:Name|Id|Identifier|Reference)$`) })
	// tokenName matches a member by which a service may know a second call, beside those that a model marks.
	tokenName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)token$|requestid$|callerreference$|idempoten`) })
	// jobName matches an operation that makes a job, and not a resource.
	jobName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(Job|Run|Export|Import|Execution|Query|Report)$`) })
	// idName matches the id of something in an answer, and stemName the name or the id of something: first what it is.
	idName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(id|arn|identifier)$`) })
	stemName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(.*?)(?:name|id|arn|identifier)?$`) })
)

// tokenIn is the member of an input that makes a call idempotent; nil if there is none.
func tokenIn(input *catalog.Shape) *catalog.Member {
	if input == nil {
		return nil
	}
	i := slices.IndexFunc(input.Members, func(m catalog.Member) bool { return m.Token || tokenName().MatchString(m.Name) })
	if i < 0 {
		return nil
	}
	return &input.Members[i]
}

// newIDs are the ids of an answer that the input does not have, also those in structures of the answer.
func newIDs(operation *catalog.Operation) []string {
	given := map[string]bool{}
	if operation.Input != nil {
		for i := range operation.Input.Members {
			if m := &operation.Input.Members[i]; !namesNew(operation, m) {
				given[stemOf(m.Name)] = true
			}
		}
	}
	var paths []string
	add := func(m *catalog.Member, path string) {
		if m.Shape.Type == catalog.String && idName().MatchString(m.Name) && !given[stemOf(m.Name)] {
			paths = append(paths, path)
		}
	}
	if operation.Output == nil {
		return nil
	}
	for i := range operation.Output.Members {
		m := &operation.Output.Members[i]
		add(m, m.Name)
		if m.Shape.Type != catalog.Structure {
			continue
		}
		for j := range m.Shape.Members {
			if inner := &m.Shape.Members[j]; strings.Contains(strings.ToLower(m.Name), stemOf(inner.Name)) { // unlike its owner's
				add(inner, m.Name+"."+inner.Name)
			}
		}
	}
	return paths
}

// stemOf says what a member names: "cluster" of ClusterArn and ClusterName.
func stemOf(name string) string { return strings.ToLower(stemName().FindStringSubmatch(name)[1]) }

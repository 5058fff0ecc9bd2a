package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// lambdaName is what a function may be called.
var lambdaName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w-]{1,64}$`) })

// lambdaForms is what --lambda may be.
const lambdaForms = "NAME=./bootstrap, NAME=go:./cmd/x or NAME=http://..."

// localFunction is what --lambda says of a function.
type localFunction struct {
	what    string // ./bootstrap, go:./cmd/x or a URL
	handler string // its handler setting; empty for that of the template, or of its name
}

// localFunctions are the functions of --lambda.
type localFunctions struct {
	byName    map[string]localFunction
	templates map[string]source.Function // what templates say of functions, by logical IDs
}

// readLambdas reads --lambda.
func readLambdas(texts []string) (localFunctions, error) {
	l := localFunctions{byName: map[string]localFunction{}}
	var problems []error
	for _, text := range texts {
		name, what, ok := strings.Cut(text, "=")
		f := localFunction{what: what}
		named := false
		if !isURL(what) {
			f.what, f.handler, named = strings.Cut(what, "#")
		}
		switch {
		case !ok || !lambdaName().MatchString(name) || f.what == "" || f.what == goPackage || named && f.handler == "":
			problems = append(problems, fmt.Errorf("--lambda must be %s, is %q", lambdaForms, text))
		case l.has(name):
			problems = append(problems, fmt.Errorf("--lambda: the function %q stands twice", name))
		case isURL(what) && checkEndpoint("lambda", what) != nil:
			problems = append(problems, checkEndpoint("lambda "+name, what))
		default:
			l.byName[name] = f
		}
	}
	return l, errors.Join(problems...)
}

// isURL tells whether a server invokes a function.
func isURL(what string) bool {
	return strings.HasPrefix(what, "http://") || strings.HasPrefix(what, "https://")
}

// names are those of --lambda, sorted.
func (l localFunctions) names() []string { return slices.Sorted(maps.Keys(l.byName)) }

func (l localFunctions) has(name string) bool { return l.byName[name].what != "" }

// The handler settings of package lambdas/handler.
const (
	handlerRunJob      = "run-job"
	handlerCheckStatus = "check-status"
	handlerCollector   = "collector"
)

// shippedNames are what the shipped definitions call the functions, by handler.
var shippedNames = map[string]string{handlerRunJob: statemachines.RunJobFunction, handlerCheckStatus: statemachines.CheckStatusFunction}

// isPollerHandler tells whether the handler setting is one of package lambdas/handler.
func isPollerHandler(handler string) bool {
	return slices.Contains([]string{handlerRunJob, handlerCheckStatus, handlerCollector}, handler)
}

// handlerOf is the handler setting of a function: as --lambda or the template says, else
// that by which it is named, as the CDK names orders-run-job. Empty if nothing says it.
func (l localFunctions) handlerOf(function string) string {
	if handler := l.byName[function].handler; handler != "" {
		return handler
	}
	setting, named := l.templates[function].Handler, handlerByName(function)
	if named == handlerCollector && !slices.ContainsFunc(l.names(), func(name string) bool { return handlerByName(name) == handlerRunJob }) {
		named = "" // somebody else's collector
	}
	if setting != "" && (named == "" || isPollerHandler(setting)) {
		return setting
	}
	return named
}

// handlerByName is the handler setting by which a function is named.
func handlerByName(function string) string {
	for _, handler := range []string{handlerRunJob, handlerCheckStatus, handlerCollector} {
		if function == handler || function == shippedNames[handler] || strings.HasSuffix(function, "-"+handler) {
			return handler
		}
	}
	return ""
}

// idIn is the logical ID of the function that a template's version or alias is of; of
// anything else the ID itself.
func idIn(templates map[string]source.Function, id string) string {
	return cmp.Or(templates[id].ID, id)
}

// find returns the name in --lambda of what runs a function: its own, or the handler
// setting that it has. Empty if nothing in --lambda runs it.
func (l localFunctions) find(function string) string {
	if l.has(function) {
		return function
	}
	if id := idIn(l.templates, function); l.has(id) {
		return id
	}
	if handler := l.handlerOf(function); isPollerHandler(handler) && l.has(handler) {
		return handler
	}
	return ""
}

// runPollers tells whether run-job, check-status or the collector are among the functions
// that run on this machine.
func (l localFunctions) runPollers() bool {
	return slices.ContainsFunc(l.names(), func(name string) bool { return isPollerHandler(l.handlerOf(name)) && !isURL(l.byName[name].what) })
}

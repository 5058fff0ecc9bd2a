package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/sim"
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
		short, _ := sim.FunctionName(name)
		switch {
		case ok && short != name && lambdaName().MatchString(short):
			problems = append(problems, fmt.Errorf("--lambda: a function runs here for all its versions and aliases: pass its name alone, --lambda %s=%s", short, what))
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
// that by which it is named. Empty if nothing says it.
func (l localFunctions) handlerOf(function string) string {
	return cmp.Or(l.byName[function].handler, l.templates[function].Handler, l.handlerByName(function))
}

// handlerByName is the handler setting by which a function is named. A name may end with
// it, as the CDK names orders-run-job, where --lambda has functions by their handlers, and
// not this one: any other orders-run-job, and a collector alone, is somebody else's.
func (l localFunctions) handlerByName(function string) string {
	byHandler := l.has(handlerRunJob) || l.has(handlerCheckStatus)
	for _, handler := range []string{handlerRunJob, handlerCheckStatus, handlerCollector} {
		switch {
		case function == shippedNames[handler],
			function == handler && (byHandler || handler != handlerCollector),
			strings.HasSuffix(function, "-"+handler) && byHandler && !l.has(function):
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

// find returns the NAME of the --lambda flag that runs a function. NAME is the function's
// own name, or its handler setting. Empty if no flag runs it.
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

// resolve returns the function that runs a function here; nil for none. The functions are
// those of --lambda by its names, and others by theirs.
func (l localFunctions) resolve(functions map[string]sim.LambdaFunction, name string) sim.LambdaFunction {
	return functions[cmp.Or(l.find(name), name)]
}

// invoker lets functions answer the Tasks that invoke them by name.
func (l localFunctions) invoker(functions map[string]sim.LambdaFunction) sim.Handler {
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		name := functionOfCall(lambdaInvoke, call)
		if function := l.resolve(functions, name); function != nil {
			return sim.LambdaInvoke(map[string]sim.LambdaFunction{name: function})(ctx, call)
		}
		return sim.LambdaInvoke(functions)(ctx, call) // which says what there is
	}
}

// withTemplates has what templates say of functions. What cannot be read, the watcher
// says. The error names two templates that give a function of --lambda different settings.
func (l localFunctions) withTemplates(ctx context.Context, names []string) (localFunctions, error) {
	l.templates = map[string]source.Function{}
	files := map[string]string{}
	definitions, _ := source.Load(ctx, names, source.Options{})
	for _, d := range definitions {
		file := cmp.Or(d.Template, d.File)
		functions := d.Functions()
		for _, id := range slices.Sorted(maps.Keys(functions)) {
			f := functions[id]
			earlier, twice := l.templates[id]
			by := l.find(id)
			l.templates[id] = f
			if !twice || l.find(id) == by && (by != f.ID || f.Handler == earlier.Handler && maps.Equal(f.Environment, earlier.Environment)) {
				files[id] = file
				continue
			}
			return l, usage("--lambda %s: %s and %s have different settings for the function %s: name one of the two with --watch",
				cmp.Or(by, l.find(id)), files[id], file, id)
		}
	}
	return l, nil
}

// checkRecords refuses functions of which some run here and others behind a URL: they would
// not work on the same start records.
func (l localFunctions) checkRecords(names []string) error {
	here, behind := map[string]bool{}, map[string]bool{}
	for _, name := range names {
		if handler := l.handlerOf(name); !isPollerHandler(handler) {
			continue
		} else if isURL(l.byName[name].what) {
			behind[handler] = true
		} else {
			here[handler] = true
		}
	}
	for _, remote := range slices.Sorted(maps.Keys(behind)) {
		for _, local := range slices.Sorted(maps.Keys(here)) {
			if !here[remote] && !behind[local] {
				return usage("--lambda: %s is behind a URL and %s runs here, and they work on the same start records: "+
					"pass both as programs, or both as URLs", remote, local)
			}
		}
	}
	return nil
}

// runPollers tells whether run-job, check-status or the collector are among the functions
// that run on this machine.
func (l localFunctions) runPollers() bool {
	return slices.ContainsFunc(l.names(), func(name string) bool { return isPollerHandler(l.handlerOf(name)) && !isURL(l.byName[name].what) })
}

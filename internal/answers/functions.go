package answers

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

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/commandline"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// functionName is what a function may be called.
var functionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w-]{1,64}$`) })

// IsFunctionName tells whether a function may be called so.
func IsFunctionName(name string) bool { return functionName().MatchString(name) }

// lambdaForms is what --lambda may be.
const lambdaForms = "NAME=./bootstrap, NAME=go:./cmd/x or NAME=http://..."

// Function is what --lambda says of a function.
type Function struct {
	What    string // ./bootstrap, go:./cmd/x or a URL
	Handler string // its handler setting; empty for that of the template, or of its name
}

// Functions are the functions of --lambda.
type Functions struct {
	ByName    map[string]Function
	Templates map[string]source.Function // what templates say of functions, by logical IDs
}

// ReadFunctions reads --lambda.
func ReadFunctions(texts []string) (Functions, error) {
	l := Functions{ByName: map[string]Function{}}
	var problems []error
	for _, text := range texts {
		name, what, ok := strings.Cut(text, "=")
		f := Function{What: what}
		named := false
		if !IsURL(what) {
			f.What, f.Handler, named = strings.Cut(what, "#")
		}
		short, _ := sim.FunctionName(name)
		switch {
		case ok && short != name && IsFunctionName(short):
			problems = append(problems, fmt.Errorf("--lambda: a function runs here for all its versions and aliases: pass its name alone, --lambda %s=%s", short, what))
		case !ok || !functionName().MatchString(name) || f.What == "" || f.What == goPackage || named && f.Handler == "":
			problems = append(problems, fmt.Errorf("--lambda must be %s, is %q", lambdaForms, text))
		case l.Has(name):
			problems = append(problems, fmt.Errorf("--lambda: the function %q stands twice", name))
		case IsURL(what) && awssettings.CheckEndpoint("lambda", what) != nil:
			problems = append(problems, awssettings.CheckEndpoint("lambda "+name, what))
		default:
			l.ByName[name] = f
		}
	}
	return l, errors.Join(problems...)
}

// IsURL tells whether a server invokes a function.
func IsURL(what string) bool {
	return strings.HasPrefix(what, "http://") || strings.HasPrefix(what, "https://")
}

// Names are those of --lambda, sorted.
func (l Functions) Names() []string { return slices.Sorted(maps.Keys(l.ByName)) }

// Has tells whether a flag names the function.
func (l Functions) Has(name string) bool { return l.ByName[name].What != "" }

// The handler settings of package lambdas/handler.
const (
	RunJob      = "run-job"
	CheckStatus = "check-status"
	collector   = "collector"
)

// shippedNames are what the shipped definitions call the functions, by handler.
var shippedNames = map[string]string{RunJob: statemachines.RunJobFunction, CheckStatus: statemachines.CheckStatusFunction}

// isPoller tells whether the handler setting is one of package lambdas/handler.
func isPoller(handler string) bool {
	return slices.Contains([]string{RunJob, CheckStatus, collector}, handler)
}

// Find returns the NAME of the --lambda flag that runs a function. NAME is the function's
// own name, or its handler setting. Empty if no flag runs it.
func (l Functions) Find(function string) string {
	if l.Has(function) {
		return function
	}
	if id := IDIn(l.Templates, function); l.Has(id) {
		return id
	}
	if handler := l.handlerOf(function); isPoller(handler) && l.Has(handler) {
		return handler
	}
	return ""
}

// IDIn is the logical ID of the function that a template's version or alias is of; of
// anything else the ID itself.
func IDIn(templates map[string]source.Function, id string) string {
	return cmp.Or(templates[id].ID, id)
}

// WithTemplates has what templates say of functions. What cannot be read, the watcher
// says. The error names two templates that give a function of --lambda different settings.
func (l Functions) WithTemplates(ctx context.Context, names []string) (Functions, error) {
	l.Templates = map[string]source.Function{}
	files := map[string]string{}
	definitions, _ := source.Load(ctx, names, source.Options{})
	for _, d := range definitions {
		file := cmp.Or(d.Template, d.File)
		functions := d.Functions()
		for _, id := range slices.Sorted(maps.Keys(functions)) {
			f := functions[id]
			earlier, twice := l.Templates[id]
			by := l.Find(id)
			l.Templates[id] = f
			if !twice || l.Find(id) == by && (by != f.ID || f.Handler == earlier.Handler && maps.Equal(f.Environment, earlier.Environment)) {
				files[id] = file
				continue
			}
			return l, commandline.Errorf("--lambda %s: %s and %s have different settings for the function %s: name one of the two with --watch",
				cmp.Or(by, l.Find(id)), files[id], file, id)
		}
	}
	return l, nil
}

// CheckRecords refuses functions of which some run here and others behind a URL: they would
// not work on the same start records.
func (l Functions) CheckRecords(names []string) error {
	here, behind := map[string]bool{}, map[string]bool{}
	for _, name := range names {
		if handler := l.handlerOf(name); !isPoller(handler) {
			continue
		} else if IsURL(l.ByName[name].What) {
			behind[handler] = true
		} else {
			here[handler] = true
		}
	}
	for _, remote := range slices.Sorted(maps.Keys(behind)) {
		for _, local := range slices.Sorted(maps.Keys(here)) {
			if !here[remote] && !behind[local] {
				return commandline.Errorf("--lambda: %s is behind a URL and %s runs here, and they work on the same start records: "+
					"pass both as programs, or both as URLs", remote, local)
			}
		}
	}
	return nil
}

// RunPollers tells whether run-job, check-status or the collector are among the functions
// that run on this machine.
func (l Functions) RunPollers() bool {
	return slices.ContainsFunc(l.Names(), func(name string) bool { return isPoller(l.handlerOf(name)) && !IsURL(l.ByName[name].What) })
}

// handlerOf is the handler setting of a function: as --lambda or the template says, else
// that by which it is named. Empty if nothing says it.
func (l Functions) handlerOf(function string) string {
	return cmp.Or(l.ByName[function].Handler, l.Templates[function].Handler, l.handlerByName(function))
}

// handlerByName is the handler setting by which a function is named. A name may end with
// it, as the CDK names orders-run-job, where --lambda has functions by their handlers, and
// not this one: any other orders-run-job, and a collector alone, is somebody else's.
func (l Functions) handlerByName(function string) string {
	byHandler := l.Has(RunJob) || l.Has(CheckStatus)
	for _, handler := range []string{RunJob, CheckStatus, collector} {
		switch {
		case function == shippedNames[handler],
			function == handler && (byHandler || handler != collector),
			strings.HasSuffix(function, "-"+handler) && byHandler && !l.Has(function):
			return handler
		}
	}
	return ""
}

// resolve returns the function that runs a function here; nil for none. The functions are
// those of --lambda by its names, and others by theirs.
func (l Functions) resolve(functions map[string]sim.LambdaFunction, name string) sim.LambdaFunction {
	return functions[cmp.Or(l.Find(name), name)]
}

// invoker lets functions answer the Tasks that invoke them by name.
func (l Functions) invoker(functions map[string]sim.LambdaFunction) sim.Handler {
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		name := functionOfCall(LambdaInvoke, call)
		if function := l.resolve(functions, name); function != nil {
			return sim.LambdaInvoke(map[string]sim.LambdaFunction{name: function})(ctx, call)
		}
		return sim.LambdaInvoke(functions)(ctx, call) // which says what there is
	}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/servicetask"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// serveTasks are what answers the Tasks of a server's executions, by their resource when
// they are called: a state machine that is created later finds it, too.
type serveTasks struct {
	options   *serveOptions
	log       *serveLog
	starter   *functionStarter
	functions map[string]sim.LambdaFunction // of --lambda, by its names
	records   recordServer
	files     []namedMocks // of --mocks
	cases     *mock.Config // of --mock-config
	told      sync.Map     // calls of AWS that the log has

	mu       sync.Mutex
	callers  map[place]*servicetask.Caller
	handlers map[string]sim.Handler             // of services, by resource
	plans    map[*asl.StateMachine]*mock.Config // of --simulate
}

// namedMocks are the mocks of a file.
type namedMocks struct {
	file  string
	mocks *mock.Config
}

// mostPlans bounds the plans that are kept.
const mostPlans = 1000

// newServeTasks starts the functions, and reads the files.
func newServeTasks(ctx context.Context, o *serveOptions, log *serveLog) (*serveTasks, error) {
	t := &serveTasks{
		options: o, log: log, functions: map[string]sim.LambdaFunction{}, callers: map[place]*servicetask.Caller{},
		handlers: map[string]sim.Handler{}, plans: map[*asl.StateMachine]*mock.Config{},
	}
	var err error
	if o.functions, err = o.functions.withTemplates(ctx, o.watch); err != nil {
		return nil, err
	}
	if err := o.functions.checkRecords(o.functions.names()); err != nil {
		return nil, err
	}
	to, env := o.functionPlaces(ctx)
	t.starter = &functionStarter{
		settings: newLocalSettings(&o.services), places: to, env: env, verbose: o.verbose, stderr: log,
		above:    func(out io.Writer, write func(io.Writer)) { write(out) },
		addStore: t.addStore,
	}
	for _, file := range o.mocks {
		mocks, err := readMockFile("mocks", file)
		if err != nil {
			return nil, err
		}
		if len(mocks.TestCases()) > 0 {
			return nil, usage("--mocks %s has the form of MockConfigFile.json: pass it as --mock-config", file)
		}
		t.files = append(t.files, namedMocks{file, mocks})
	}
	if o.mockConfig != "" {
		if t.cases, err = readMockFile("mock-config", o.mockConfig); err != nil {
			return nil, err
		}
		if len(t.cases.TestCases()) == 0 {
			return nil, usage("--mock-config %s has no test case: expected the members StateMachines and MockedResponses", o.mockConfig)
		}
	}
	if err := t.starter.startAll(ctx, o.functions, t.functions); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// functionPlaces says where the calls of functions go: those of Step Functions to this
// server, where no flag says otherwise, and others as those of Tasks. Functions get the
// environment of clients, too, unless they call AWS with the user's own settings. Where a
// flag names another place they have one pair of keys for all: the user's, so that this
// server knows them by the path. They sign that path, so what --forward sends on they send
// to the other server themselves.
func (o *serveOptions) functionPlaces(ctx context.Context) (places, []string) {
	const stepFunctions = "stepfunctions"
	to, env := o.services.places, os.Environ()
	url, access := o.url(), o.access
	if access != nil && len(to.all()) > 0 {
		url, access = url+"/"+access.functions, nil
		if o.forward != "" && to.others == nil {
			to.others = &place{o.forward}
		}
	}
	if !slices.ContainsFunc(to.all(), place.isAWS) {
		env = addVariables(env, o.environmentAt(ctx, os.Getenv, url, access))
	}
	to.byService = maps.Clone(to.byService)
	if to.byService == nil {
		to.byService = map[string]place{}
	}
	if _, named := to.byService[stepFunctions]; !named {
		to.byService[stepFunctions] = place{url}
	}
	return to, env
}

func readMockFile(flag, file string) (*mock.Config, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the user names it
	if err != nil {
		return nil, usage("--%s: %w", flag, err)
	}
	mocks, err := mock.Read(text)
	if err != nil {
		return nil, usage("--%s %s: %w", flag, file, err)
	}
	return mocks, nil
}

// close ends the functions, and then the server of their start records.
func (t *serveTasks) close() error { return errors.Join(t.starter.close(), t.records.close()) }

// prepare puts what answers into the options of an execution.
func (t *serveTasks) prepare(start server.StartInfo, o *sim.Options) error {
	o.Handler = t.answer
	o.Seed += t.options.seed
	if start.TestCase != "" && t.cases == nil {
		return fmt.Errorf("the test case %q needs a server that was started with --mock-config", start.TestCase)
	}
	plan, err := t.plan(start.Machine)
	if err != nil {
		return err
	}
	if plan != nil {
		if err := plan.Apply(start.Machine, "", o); err != nil {
			return err
		}
	}
	for _, f := range t.files {
		if err := f.mocks.Only(start.Machine).Apply(start.Machine, "", o); err != nil {
			return fmt.Errorf("%s: %w", f.file, err)
		}
	}
	mocked := map[string]bool{}
	for name := range o.StateHandlers {
		mocked[name] = true
	}
	for name := range o.Handlers {
		mocked[name] = true
	}
	if start.TestCase != "" {
		if err := t.applyCase(start, o, mocked); err != nil {
			return fmt.Errorf("%s: %w", t.options.mockConfig, err)
		}
	}
	for resource, handler := range o.Handlers {
		o.Handlers[resource] = t.functionOr(handler)
	}
	o.Repeat = func(call sim.Call) bool {
		return mocked[call.State] || mocked[call.Resource] && t.findFunction(call) == nil
	}
	return nil
}

// functionOr lets a function of --lambda answer before what is named for its resource.
func (t *serveTasks) functionOr(handler sim.Handler) sim.Handler {
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		if t.findFunction(call) != nil {
			return t.answer(ctx, call)
		}
		return handler(ctx, call)
	}
}

// findFunction returns the function of --lambda that a Task invokes; nil for any other Task.
func (t *serveTasks) findFunction(call sim.Call) sim.LambdaFunction {
	if isInvoke(call.Resource) || isFunction(call.Resource) {
		return t.options.functions.resolve(t.functions, functionOfCall(call.Resource, call))
	}
	return nil
}

// applyCase puts the answers of a test case into the options, and their names to those
// that are mocked.
func (t *serveTasks) applyCase(start server.StartInfo, o *sim.Options, mocked map[string]bool) error {
	test := start.StateMachineName + "#" + start.TestCase
	names, err := t.cases.Names(test)
	if err != nil {
		return err
	}
	for _, name := range names {
		mocked[name] = true
	}
	return t.cases.Apply(start.Machine, test, o)
}

// plan returns the answers of simulated jobs for the Tasks of a machine that nothing
// else answers; nil without --simulate.
func (t *serveTasks) plan(m *asl.StateMachine) (*mock.Config, error) {
	if !t.options.simulated.isGiven() {
		return nil, nil //nolint:nilnil // there is none
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.plans[m]; p != nil {
		return p, nil
	}
	own := t.options.simulated.only(m)
	named, err := own.states(m)
	if err != nil {
		return nil, err
	}
	var answered []string
	for _, f := range t.files {
		names, err := f.mocks.Only(m).Names("")
		if err != nil {
			return nil, err
		}
		answered = append(answered, names...)
	}
	for s := range m.All {
		if s.Task != nil && !slices.Contains(named, s.Name) && t.reaches(s) {
			answered = append(answered, s.Name)
		}
	}
	plan, err := own.plan(m, answered)
	if err != nil {
		return nil, err
	}
	mocks, err := plan.Mocks()
	if err != nil {
		return nil, err
	}
	if len(t.plans) >= mostPlans {
		clear(t.plans)
	}
	t.plans[m] = mocks
	return mocks, nil
}

// reaches tells whether a Task calls a function or a service that a flag names.
func (t *serveTasks) reaches(s *asl.State) bool {
	resource := strings.TrimSuffix(s.Task.Resource, tokenPattern)
	if isInvoke(resource) || isFunction(resource) {
		if t.options.lambdaEndpoint != "" {
			return true
		}
		reference := resource
		if isInvoke(resource) {
			reference = functionArgument(s)
		}
		if name, _ := sim.FunctionName(reference); t.options.functions.find(name) != "" {
			return true
		}
	}
	key, err := servicetask.Service(resource)
	if err != nil || key == "" {
		return false
	}
	_, ok := t.options.services.places.of(key)
	return ok
}

// errUnanswered is why a Task fails that no flag answers.
var errUnanswered = errors.New("nothing answers the Task")

// tokenPattern ends the resource of a Task that waits until its token comes back.
const tokenPattern = ".waitForTaskToken"

// answer calls the function or the service of a Task.
func (t *serveTasks) answer(ctx context.Context, call sim.Call) (sim.Reply, error) {
	resource, waits := strings.CutSuffix(call.Resource, tokenPattern)
	handler, err := t.handler(ctx, resource, call)
	if waits && errors.Is(err, errUnanswered) {
		t.log.tell("the Task %q of %s calls nothing, and waits for its token", call.State, call.Resource)
		return sim.Reply{Never: true}, nil
	}
	if err != nil {
		return sim.Reply{}, err
	}
	reply, err := handler(ctx, call)
	if err != nil || !waits {
		return reply, err
	}
	return sim.Reply{Never: true, Submitted: reply.Output}, nil
}

// handler is what answers the Tasks of a resource.
func (t *serveTasks) handler(ctx context.Context, resource string, call sim.Call) (sim.Handler, error) {
	if isInvoke(resource) || isFunction(resource) {
		if function, ok, err := t.function(resource, call); ok || err != nil {
			return function, err
		}
	}
	key, err := servicetask.Service(resource)
	if err != nil {
		return nil, err
	}
	at, ok := t.options.services.places.of(key)
	if !ok && t.options.forward != "" { // as clients' own calls of the service
		at, ok = place{t.options.forward}, true
	}
	if key == "" || !ok {
		return nil, fmt.Errorf("%w %q (%s): %s", errUnanswered, call.State, call.Resource, t.hint(resource, key, call))
	}
	if at.isAWS() {
		if name := callName(resource); name != "" {
			if _, told := t.told.LoadOrStore(name, true); !told {
				t.log.warn("calls AWS, which AWS charges for: %s", name)
			}
		}
	}
	caller, err := t.caller(ctx, at)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := t.handlers[resource]; h != nil {
		return h, nil
	}
	h, err := caller.Handler(resource) //nolint:contextcheck // it calls nothing
	if err != nil {
		return nil, fmt.Errorf("%w: answer the Task with --mocks", err)
	}
	if len(t.handlers) >= mostPlans { // each function has an ARN
		clear(t.handlers)
	}
	t.handlers[resource] = h
	return h, nil
}

// caller is what calls services at a place. Tasks that are the first there may load the
// configuration together: it is not held up for others.
func (t *serveTasks) caller(ctx context.Context, at place) (*servicetask.Caller, error) {
	t.mu.Lock()
	caller := t.callers[at]
	t.mu.Unlock()
	if caller != nil {
		return caller, nil
	}
	cfg, err := t.options.services.configuration(ctx, at, t.options.verbose)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.callers[at] == nil {
		t.callers[at] = servicetask.New(cfg, servicetask.Hooks{Left: func(state string, why error) {
			t.log.warn("warning: the job of %q may run on: %v", state, why)
		}})
	}
	return t.callers[at], nil
}

// hint says which flag answers a Task.
func (t *serveTasks) hint(resource, service string, call sim.Call) string {
	mocks := fmt.Sprintf("--mocks with a file such as {%q: {\"return\": {}}}", call.State)
	switch {
	case isInvoke(resource) || isFunction(resource):
		name := functionOfCall(resource, call)
		return fmt.Sprintf("start the server with --lambda %s=./bootstrap, --lambda-endpoint, or %s", name, mocks)
	case service == "":
		return "start the server with " + mocks
	}
	return fmt.Sprintf("start the server with --endpoint-url %s=http://..., --simulate 10m, --aws=%s, or %s", service, service, mocks)
}

// functionOfCall is the name of the function that a Task invokes.
func functionOfCall(resource string, call sim.Call) string {
	if isInvoke(resource) {
		arguments, _ := call.Arguments.(map[string]any)
		resource, _ = arguments["FunctionName"].(string)
	}
	name, _ := sim.FunctionName(resource)
	return name
}

// function is what invokes the function of a Task, if a flag names it.
func (t *serveTasks) function(resource string, call sim.Call) (sim.Handler, bool, error) {
	name := functionOfCall(resource, call)
	function := t.options.functions.resolve(t.functions, name)
	if function == nil {
		var err error
		if function, err = t.remoteFunction(name); function == nil || err != nil {
			return nil, false, err
		}
	}
	if isFunction(resource) {
		return sim.LambdaDirect(function), true, nil
	}
	return sim.LambdaInvoke(map[string]sim.LambdaFunction{name: function}), true, nil
}

// remoteFunction is a function behind --lambda-endpoint; nil without one.
func (t *serveTasks) remoteFunction(name string) (sim.LambdaFunction, error) {
	if t.options.lambdaEndpoint == "" || !lambdaName().MatchString(name) {
		return nil, nil //nolint:nilnil // there is none
	}
	return newRemoteFunction(name, t.options.lambdaEndpoint, http.DefaultTransport, t.starter.settings)
}

// only are the simulated jobs of a machine: a spec of a state is for machines that have
// one of its name.
func (s *simulated) only(m *asl.StateMachine) *simulated {
	states := map[string]bool{}
	for state := range m.All {
		states[state.Name] = true
	}
	own := &simulated{ends: s.ends}
	for _, text := range s.specs {
		if state := specState(text); state == "" || states[state] {
			own.specs = append(own.specs, text)
		}
	}
	return own
}

// specState is the state that a spec of --simulate names, if it does.
func specState(text string) string {
	spec, _ := simulate.ParseSpec(text) // validate has checked it
	return spec.State
}

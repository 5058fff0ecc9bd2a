package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// serveTasks are what answers the Tasks of a server's executions.
type serveTasks struct {
	options *serveOptions
	router  *answers.Router
	records recordServer
	cases   bool // there is a file of --mock-config
	said    saidStatuses
}

// saidStatuses are what statuses mean to the state machines of --watch, by their names.
type saidStatuses struct {
	sync.Mutex

	of map[string]map[string]lint.Meaning
}

func (s *saidStatuses) set(name string, said map[string]lint.Meaning) {
	s.Lock()
	defer s.Unlock()
	if s.of == nil {
		s.of = map[string]map[string]lint.Meaning{}
	}
	s.of[name] = said
}

// get returns what statuses mean to a state machine: to one of a client's, what the flags say.
func (s *saidStatuses) get(name string, flags map[string]lint.Meaning) map[string]lint.Meaning {
	s.Lock()
	defer s.Unlock()
	if said, ok := s.of[name]; ok {
		return said
	}
	return flags
}

// newServeTasks starts the functions, and reads the files.
func newServeTasks(ctx context.Context, o *serveOptions, log *serveLog) (*serveTasks, error) {
	t := &serveTasks{options: o, cases: o.mockConfig != ""}
	var err error
	if o.functions, err = o.functions.WithTemplates(ctx, o.watch); err != nil {
		return nil, err
	}
	if err := o.functions.CheckRecords(o.functions.Names()); err != nil {
		return nil, err
	}
	options := answers.Options{
		Services: o.services, Functions: o.functions, LambdaEndpoint: o.lambdaEndpoint, Forward: o.forward, Simulated: o.simulated, Verbose: o.verbose,
	}
	options.Places, options.Environ = o.functionPlaces(ctx)
	if options.Mocks, options.Cases, err = o.readMocks(); err != nil {
		return nil, err
	}
	t.router, err = answers.New(ctx, options, answers.Hooks{
		Log: log, Store: t.addStore,
		Left:     func(state string, why error) { log.warn("warning: the job of %q may run on: %v", state, why) },
		CallsAWS: func(call string) { log.warn("calls AWS, which AWS charges for: %s", call) },
		Drawn:    func(tasks []simulate.Unknown) { log.warn("%s", kit.DrawnText(tasks)) },
		Warn:     func(text string) { log.warn("warning: %s", text) },
		Waits: func(state, resource string) {
			log.tell("the Task %q of %s calls nothing, and waits for its token", state, resource)
		},
	})
	if err != nil {
		return nil, errors.Join(err, t.records.close())
	}
	return t, nil
}

// functionPlaces says where the calls of functions go: those of Step Functions to this
// server, where no flag says otherwise, and others as those of Tasks. Functions get the
// environment of clients, too, unless they call AWS with the user's own settings. Where a
// flag names another place they have one pair of keys for all: the user's, so that this
// server knows them by the path. They sign that path, so what --forward sends on they send
// to the other server themselves.
func (o *serveOptions) functionPlaces(ctx context.Context) (answers.Places, []string) {
	to, env := o.services.Places, os.Environ()
	url, access := o.url(), o.access
	if access != nil && len(to.All()) > 0 {
		url, access = url+"/"+access.functions, nil
		if o.forward != "" {
			to = to.OrElse("", o.forward)
		}
	}
	if !slices.ContainsFunc(to.All(), answers.Place.IsAWS) {
		env = addVariables(env, o.environmentAt(ctx, os.Getenv, url, access))
	}
	return to.OrElse("stepfunctions", url), env
}

// readMocks reads the files of --mocks and of --mock-config.
func (o *serveOptions) readMocks() (mocks []answers.MockFile, cases answers.MockFile, err error) {
	for _, name := range o.mocks {
		file, err := readMockFile("mocks", name)
		if err != nil {
			return nil, cases, err
		}
		if len(file.Mocks.TestCases()) > 0 {
			return nil, cases, kit.Usage("--mocks %s has the form of MockConfigFile.json: pass it as --mock-config", name)
		}
		mocks = append(mocks, file)
	}
	if o.mockConfig == "" {
		return mocks, cases, nil
	}
	if cases, err = readMockFile("mock-config", o.mockConfig); err != nil {
		return nil, cases, err
	}
	if len(cases.Mocks.TestCases()) == 0 {
		return nil, cases, kit.Usage("--mock-config %s has no test case: expected the members StateMachines and MockedResponses", o.mockConfig)
	}
	return mocks, cases, nil
}

func readMockFile(flag, name string) (answers.MockFile, error) {
	text, err := os.ReadFile(name) //nolint:gosec // the user names it
	if err != nil {
		return answers.MockFile{}, kit.Usage("--%s: %w", flag, err)
	}
	file, err := answers.ReadMocks(name, text)
	if err != nil {
		return file, kit.Usage("--%s %w", flag, err)
	}
	return file, nil
}

// close ends the functions, and then the server of their start records.
func (t *serveTasks) close() error { return errors.Join(t.router.Close(), t.records.close()) }

// prepare puts what answers into the options of an execution.
func (t *serveTasks) prepare(start server.StartInfo, o *sim.Options) error {
	o.Seed += t.options.seed
	test := ""
	if start.TestCase != "" {
		if !t.cases {
			return fmt.Errorf("the test case %q needs a server that was started with --mock-config", start.TestCase)
		}
		test = start.StateMachineName + "#" + start.TestCase
	}
	return t.router.Prepare(start.Machine, test, t.said.get(start.StateMachineName, t.options.simulated.Said), o)
}

// addStore starts the S3 server of the start records, once, and gives functions that store
// in their environment.
func (t *serveTasks) addStore(ctx context.Context, env []string) ([]string, error) {
	if t.records.drawn == (loopback.Keys{}) {
		t.records.drawn = loopback.NewKeys()
	}
	keys, variables, err := t.options.services.FunctionKeys(ctx, env, t.records.drawn, t.options.verbose)
	if err != nil {
		return nil, err
	}
	if t.records.server == nil {
		if err := t.records.start(t.options.data, keys); err != nil { //nolint:contextcheck // the server lives until close
			return nil, err
		}
	}
	return answers.SetStore(slices.Concat(env, variables), answers.Store{
		URL: t.records.server.SecretURL(), Bucket: localloop.Bucket, Flags: answers.FolderFlags(t.options.data),
	}), nil
}

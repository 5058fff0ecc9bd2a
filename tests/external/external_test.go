// Package external_test checks the state machines and the CDK app of this module
// with programs that others made: npm packages that package-lock.json names, and
// moto, with what requirements.txt names:
//
//	make check-external
package external_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/npm"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

var (
	seed   = flag.Uint64("seed", 1, "of the sample")
	sample = flag.Int("sample", 200, "how many compiled definitions are checked besides the shipped ones")
)

// validators are those of the program.
var validators = []string{"asl-validator", "amazon-states-language-service"}

// Without Node.js nothing is checked, which is a failure in CI.
func TestMain(m *testing.M) {
	flag.Parse()
	if _, err := exec.LookPath("npm"); err != nil && os.Getenv("CI") != "true" {
		say("suite external: not run, there is no npm: install Node.js 20 or later")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// definition is one to check.
type definition struct {
	Name       string `json:"name"`
	Definition string `json:"definition"`
}

// falseAlarms are definitions that are right and in which a validator finds a
// problem, with the reason. There was none other in any definition of any entry of
// the catalogue and any strategy. One that a new version of the validator no longer
// has fails the test, and is to be removed.
var falseAlarms = []struct{ name, definition, validator, problem, reason string }{
	{
		"a state named Next", `{"StartAt": "Next", "States": {"Next": {"Type": "Succeed"}}}`,
		"asl-validator", "MISSING_TRANSITION_TARGET: Missing 'StartAt'|'Next'|'Default' target: [object Object]",
		"it takes every member of that name for a transition, states of that name among them; so for StartAt and Default",
	},
}

// newService is a warning that is right: the catalogue has services which are
// newer than the list of those that Step Functions can call.
const newService = "no AWS SDK integration of a service"

func TestDefinitionsAreValidElsewhere(t *testing.T) {
	t.Parallel()
	shipped := shipped(t)
	compiled := compiled(t, rand.New(rand.NewPCG(*seed, 0)))
	definitions := slices.Concat(shipped, compiled)
	for _, d := range definitions {
		for _, problem := range asl.Validate([]byte(d.Definition), asl.Standard) {
			require.Contains(t, problem.Message, newService, "%s: %s", d.Name, problem)
		}
	}
	for _, d := range shipped {
		require.Empty(t, asl.Validate([]byte(d.Definition), asl.Standard), d.Name)
	}
	say("suite external: asl.Validate passed %d of %d: %d shipped, %d compiled with seed %d",
		len(definitions), len(definitions), len(shipped), len(compiled), *seed)

	found := check(t, definitions)
	for _, validator := range validators {
		var wrong []string
		for i, d := range definitions {
			problems, ok := found[i].Problems[validator]
			require.True(t, ok && found[i].Name == d.Name, "%s has not checked %s", validator, d.Name)
			if len(problems) > 0 {
				wrong = append(wrong, d.Name+": "+strings.Join(problems, "; "))
			}
		}
		say("suite external: %s passed %d of %d", validator, len(definitions)-len(wrong), len(definitions))
		require.Empty(t, wrong, validator)
	}
}

func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	definitions := make([]definition, len(falseAlarms))
	for i, alarm := range falseAlarms {
		require.Empty(t, asl.Validate([]byte(alarm.definition), asl.Standard), alarm.name)
		definitions[i] = definition{alarm.name, alarm.definition}
	}
	for i, result := range check(t, definitions) {
		alarm := falseAlarms[i]
		require.Equal(t, []string{alarm.problem}, result.Problems[alarm.validator], alarm.name)
		say("  false alarm of %s: %s: %s", alarm.validator, alarm.name, alarm.reason)
	}
}

// The validators find what is wrong: without that, that they find nothing would
// mean nothing.
func TestValidatorsFindProblems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, definition string
		by               []string
	}{
		{"NextMissing", `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"}, "C": {"Type": "Succeed"}}}`, validators},
		{"TypeMisspelt", `{"StartAt": "A", "States": {"A": {"Type": "Sleep", "End": true}}}`, validators},
		{"JSONataBroken", `{"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": "{% $left( %}", "End": true}}}`, validators[:1]},
	}
	definitions := make([]definition, len(tests))
	for i, tt := range tests {
		definitions[i] = definition{tt.name, tt.definition}
	}
	for i, result := range check(t, definitions) {
		for _, validator := range tests[i].by {
			require.NotEmpty(t, result.Problems[validator], "%s of %s", validator, tests[i].name)
		}
	}
}

// shipped are the definitions in the folder statemachines.
func shipped(t *testing.T) []definition {
	t.Helper()
	files, err := filepath.Glob("../../statemachines/*.asl.json")
	require.NoError(t, err)
	require.Len(t, files, len(statemachines.Names()))
	definitions := make([]definition, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		definitions[i] = definition{filepath.Base(file), string(text)}
	}
	return definitions
}

var strategies = []compile.Strategy{
	compile.LambdaLoop, compile.LambdaRetry, compile.LambdaEvents, compile.Loop, compile.Variables, compile.RetryTask,
}

// compiled are definitions made of entries of the catalogue, strategies and
// options that are drawn; those that a strategy refuses are drawn again.
func compiled(t *testing.T, draw *rand.Rand) []definition {
	t.Helper()
	var entries [][2]string
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, service := range services {
		for _, entry := range service.Entries {
			entries = append(entries, [2]string{service.Key, entry.Name})
		}
	}
	kinds := map[string]int{}
	var definitions []definition
	for len(definitions) < *sample {
		chosen := entries[draw.IntN(len(entries))]
		entry, err := catalog.Lookup(chosen[0], chosen[1])
		require.NoError(t, err)
		call, options, kind := drawn(draw, entry)
		options.Strategy = strategies[len(definitions)%len(strategies)]
		made, err := compile.Compile(entry.Waiter, call, options)
		if errors.Is(err, compile.ErrNotCompiled) {
			continue
		}
		require.NoError(t, err, "%s %s", chosen, options.Strategy)
		kinds[kind]++
		name := fmt.Sprintf("%d %s %s %s%s", len(definitions)+1, chosen[0], chosen[1], options.Strategy, kind)
		definitions = append(definitions, definition{name, string(asl.Print(made.Machine))})
	}
	require.Len(t, kinds, 8, "with and without a schedule and a start call, whole and fragments")
	for _, chosen := range entries {
		entry, err := catalog.Lookup(chosen[0], chosen[1])
		require.NoError(t, err)
		if entry.Job == nil || entry.Job.Sync == "" || entry.Job.SyncUnknown != "" {
			continue
		}
		call := compile.CallOf(entry)
		if entry.Job.SyncArguments != nil {
			call.Stop = nil // it needs the job's id
		}
		made, err := compile.Compile(entry.Waiter, call, compile.Options{Strategy: compile.SyncTask, MaxWait: time.Hour})
		require.NoError(t, err, chosen)
		definitions = append(definitions, definition{fmt.Sprintf("%s %s %s", chosen[0], chosen[1], compile.SyncTask), string(asl.Print(made.Machine))})
	}
	return definitions
}

// drawn draws how a waiter is called, and says what is special.
func drawn(draw *rand.Rand, entry *catalog.Entry) (call compile.Call, o compile.Options, kind string) {
	o = compile.Options{MaxWait: time.Duration(1+draw.IntN(24*3600)) * time.Second, Fit: true}
	switch draw.IntN(3) {
	case 0:
		o.MaxWait, o.Fit = o.MaxWait+time.Hour, false
		o.Schedule = &pollcore.Planned{Then: time.Duration(60+draw.IntN(60)) * time.Second}
		for range 1 + draw.IntN(12) {
			o.Schedule.Delays = append(o.Schedule.Delays, time.Duration(1+draw.IntN(300))*time.Second)
		}
		kind += " with a schedule"
	case 1:
		o.InitialDelay = min(time.Duration(draw.IntN(900))*time.Second, o.MaxWait-time.Second)
	}
	call = compile.CallOf(entry)
	if call.Start != nil && draw.IntN(3) == 0 {
		call.Start, call.Stop = nil, nil
	}
	if call.Start != nil {
		kind += " with start"
	}
	if draw.IntN(3) == 0 {
		o.Prefix = "Second"
		o.Exits = map[pollcore.Status]string{pollcore.Succeeded: "Publish", pollcore.Failed: "Repair", pollcore.TimedOut: "Alarm"}
		kind += " as a fragment"
	}
	return call, o, kind
}

// checked is what the validators say of a definition.
type checked struct {
	Name     string              `json:"name"`
	Problems map[string][]string `json:"problems"`
}

// validatorFolder is where the programs are installed.
func validatorFolder(t *testing.T) string {
	t.Helper()
	files := npm.Files{}
	for _, name := range []string{"package.json", "package-lock.json", "validate.js", "templates.js"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		files[name] = text
	}
	folder, err := npm.Install(t.Context(), "external", files)
	require.NoError(t, err)
	return folder
}

// check asks the validators.
func check(t *testing.T, definitions []definition) []checked {
	t.Helper()
	folder := validatorFolder(t)
	var in, out, errs bytes.Buffer
	encoder := json.NewEncoder(&in)
	for _, d := range definitions {
		require.NoError(t, encoder.Encode(d))
	}
	node := exec.CommandContext(t.Context(), "node", filepath.Join(folder, "validate.js"))
	node.Stdin, node.Stdout, node.Stderr = &in, &out, &errs
	require.NoError(t, node.Run(), "%s", &errs)
	var results []checked
	for decoder := json.NewDecoder(&out); ; {
		var result checked
		err := decoder.Decode(&result)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		results = append(results, result)
	}
	require.Len(t, results, len(definitions))
	return results
}

// say prints a line of the result.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stdout, format+"\n", args...)
}

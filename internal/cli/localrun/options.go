// Package localrun runs a state machine on this machine, shows its progress, and reports how
// it ended.
package localrun

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/shipped"
)

// Options are how a run goes, and what it writes.
type Options struct {
	Virtual   bool
	Processes bool
	Name      string
	Named     bool // by --name
	Redrive   bool
	Seed      uint64
	Lenient   bool
	Express   bool
	Records   shipped.Store

	Output  string
	Quiet   bool
	Verbose bool
	Views   kit.Views
}

// executionName is what names of executions are made of here; AWS allows a
// little more.
var executionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w.-]{1,80}$`) })

// NameOf is the title of a state machine as the name of an execution.
func NameOf(title string) string {
	name, _, _ := strings.Cut(title, ".")
	if !executionName().MatchString(name) {
		return "local"
	}
	return name
}

// AddTo gives a command the flags that every run has.
func (o *Options) AddTo(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&o.Views.Trace, "trace", false, "print every event on stderr as it happens")
	f.StringVar(&o.Views.HTML, "html", "", "`FILE` for a report with pictures")
	f.StringVar(&o.Views.History, "history", "", "`FILE` for the history, in the form of GetExecutionHistory")
	f.BoolVar(&o.Virtual, "virtual", false, "use virtual time: jump from timer to timer")
	f.BoolVar(&o.Processes, "processes", false, "build the Lambda functions and run them as processes (needs the go command)")
	f.StringVar(&o.Name, "name", "", "`NAME` of the execution; with a store that is kept, such as --data, "+
		"a second run of the name goes on with jobs of jobpoller-runjob")
	f.StringVar(&o.Records.Data, "data", "", "`FOLDER` of the embedded S3 server, instead of memory; the server's URL and keys are printed")
	f.StringVarP(&o.Output, "output", "o", "text", "text, json, or jsonl (every event, then the result)")
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "show no progress")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "show the functions' logs on stderr")
	kit.CompleteWords(c, "output", "text", "json", "jsonl")
	kit.Must(c.MarkFlagDirname("data"))
	kit.CompleteNothing(c, "name")
}

// Check says what is wrong with these flags. A run that reads the inputs does not write
// over them.
func (o *Options) Check(inputs ...string) error {
	var problems []error
	if !slices.Contains([]string{"text", "json", "jsonl"}, o.Output) {
		problems = append(problems, fmt.Errorf("--output must be text, json or jsonl, is %q", o.Output))
	}
	if o.Name != "" && !executionName().MatchString(o.Name) {
		problems = append(problems, fmt.Errorf("--name must have 1 to 80 letters, digits, dots, hyphens and underscores, is %q", o.Name))
	}
	if o.Virtual && o.Processes {
		problems = append(problems, errors.New("--virtual and --processes exclude each other: a process runs in real time"))
	}
	problems = append(problems, o.redriveProblem(), kit.CheckOutputs(
		[]kit.OutputFile{{Flag: "history", Name: o.Views.History}, {Flag: "html", Name: o.Views.HTML}}, inputs...,
	))
	return errors.Join(problems...)
}

// SetName names the execution if the user has not.
func (o *Options) SetName() {
	if o.Named = o.Name != ""; !o.Named {
		o.Name = "local"
		if !o.Virtual || o.Records.Data != "" || o.Records.External() {
			o.Name = "local-" + time.Now().UTC().Format("20060102T150405.000")
		}
	}
}

// NewFunctionOptions are those of the shipped functions.
func (o *Options) NewFunctionOptions() shipped.Options {
	return shipped.Options{Name: o.Name, Seed: o.Seed, Quiet: o.Quiet, Verbose: o.Verbose, Processes: o.Processes, Records: o.Records}
}

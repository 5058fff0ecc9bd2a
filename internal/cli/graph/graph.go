// Package graph is "jobpoller graph": it draws a definition.
package graph

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// graphOptions are the flags of "jobpoller graph".
type graphOptions struct {
	output      string
	history     string
	substitutes []string
	aws         kit.AwsFlags
}

var graphFormats = []string{"svg", "mermaid"}

// New is "jobpoller graph".
func New() *cobra.Command {
	var o graphOptions
	c := &cobra.Command{
		Use:   "graph FILE|ARN",
		Short: "Draw a state machine",
		Long: `Graph draws a state machine as SVG or Mermaid on standard output. FILE is a
definition in JSON or YAML, a template, or "-" for standard input. Of a template with
several state machines, name one: template.yaml#LogicalId. With the ARN of a state
machine, a version or an execution, graph CALLS AWS to read its definition.

--history colours and counts the states and transitions of a run, and marks the
states that failed, timed out or were aborted, and those whose failure a Catch took.
The file is one that "jobpoller run --history" wrote, or the output of "aws
stepfunctions get-execution-history".`,
		Example: `  jobpoller graph poller.asl.json >poller.svg
  jobpoller graph 'template.yaml#Poller' -o mermaid
  jobpoller graph poller.asl.json --history history.json >run.svg
  jobpoller graph arn:aws:states:us-east-1:123456789012:stateMachine:nightly >nightly.svg`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return kit.Usage("expected one definition, such as poller.asl.json, found %s", kit.Plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runGraph(c, args[0], o) },
	}
	f := c.Flags()
	f.StringVarP(&o.output, "output", "o", "svg", kit.OrList(graphFormats))
	f.StringVar(&o.history, "history", "", "`FILE` with the history of a run")
	kit.SetOwn(c, "history")
	kit.AddSubstitutes(f, &o.substitutes)
	o.aws.AddForARN(c)
	kit.CompleteWords(c, "output", graphFormats...)
	kit.CompleteNothing(c, "substitute")
	return c
}

func runGraph(c *cobra.Command, name string, o graphOptions) error {
	if !slices.Contains(graphFormats, o.output) {
		return kit.Usage("--output must be %s, is %q%s", kit.OrList(graphFormats), o.output, nearest.DidYouMean(o.output, graphFormats))
	}
	if err := o.aws.CheckForARN(name); err != nil {
		return err
	}
	machine, err := kit.ReadMachine(c.Context(), name, c.InOrStdin(), o.substitutes, &o.aws)
	if err != nil {
		return err
	}
	options := graph.Options{Title: machine.Definition.Title()}
	if o.history != "" {
		if err := addHistory(&options, o.history, machine.StateMachine); err != nil {
			return err
		}
	}
	g := graph.New(machine.StateMachine, options)
	text := g.SVG()
	if o.output == "mermaid" {
		text = []byte(g.Mermaid())
	}
	_, err = c.OutOrStdout().Write(text)
	return err
}

// addHistory shows what the execution of a history went through, and what came of it.
func addHistory(o *graph.Options, name string, m *asl.StateMachine) error {
	text, err := kit.ReadText(name, strings.NewReader(""))
	if err != nil {
		return err
	}
	e, err := history.Read(text)
	if err != nil {
		return kit.Usage("%s: %w", name, err)
	}
	e.Machine = m
	visits := e.FindVisits()
	o.Visits, o.Edges, o.Endings = visits.CountVisits(), e.CountEdges(m, visits), visits.FindEndings()
	unknown := maps.Clone(o.Visits)
	for s := range m.All {
		delete(unknown, s.Name)
	}
	for _, state := range slices.Sorted(maps.Keys(unknown)) {
		return kit.Usage("%s: the history enters the state %q, which the definition does not have: take the history of this state machine", name, state)
	}
	return nil
}

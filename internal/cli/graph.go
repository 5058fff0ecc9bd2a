package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
)

// graphOptions are the flags of "jobpoller graph".
type graphOptions struct {
	output      string
	history     string
	substitutes []string
}

var graphFormats = []string{"svg", "mermaid"}

func newGraphCommand() *cobra.Command {
	var o graphOptions
	c := &cobra.Command{
		Use:   "graph FILE",
		Short: "Draw a state machine",
		Long: `Graph draws a state machine as SVG or Mermaid on standard output. FILE is a
definition in JSON or YAML, a template, or "-" for standard input. Of a template with
several state machines, name one: template.yaml#LogicalId.

--history colours and counts the states and transitions of a run. The file is one
that "jobpoller run --history" wrote, or the output of "aws stepfunctions
get-execution-history".`,
		Example: `  jobpoller graph poller.asl.json >poller.svg
  jobpoller graph 'template.yaml#Poller' -o mermaid
  jobpoller graph poller.asl.json --history history.json >run.svg`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("expected one definition, such as poller.asl.json, found %s", plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runGraph(c, args[0], o) },
	}
	f := c.Flags()
	f.StringVarP(&o.output, "output", "o", "svg", orList(graphFormats))
	f.StringVar(&o.history, "history", "", "`FILE` with the history of a run")
	addSubstitutes(f, &o.substitutes)
	completeWords(c, "output", graphFormats...)
	completeNothing(c, "substitute")
	return c
}

func runGraph(c *cobra.Command, name string, o graphOptions) error {
	if !slices.Contains(graphFormats, o.output) {
		return usage("--output must be %s, is %q%s", orList(graphFormats), o.output, nearest.DidYouMean(o.output, graphFormats))
	}
	machine, err := readMachine(c.Context(), name, c.InOrStdin(), o.substitutes)
	if err != nil {
		return err
	}
	options := graph.Options{Title: machine.title()}
	if o.history != "" {
		if options.Visits, options.Edges, err = readHistory(o.history, machine.StateMachine); err != nil {
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

// historyEvent is what counts of an event of a history.
type historyEvent struct {
	ID         int64  `json:"id"`
	PreviousID int64  `json:"previousEventId"`
	Type       string `json:"type"`
	Entered    *struct {
		Name string `json:"name"`
	} `json:"stateEnteredEventDetails"`
	Exited *struct {
		Name string `json:"name"`
	} `json:"stateExitedEventDetails"`
}

// readHistory counts the visits and transitions of a history. Where two transitions
// lead from one state to another, the history does not say which was taken, so the
// first counts.
func readHistory(name string, m *asl.StateMachine) (map[string]int, map[graph.Edge]int, error) {
	text, err := readText(name, strings.NewReader(""))
	if err != nil {
		return nil, nil, err
	}
	var history struct {
		Events []historyEvent `json:"events"`
	}
	if err := json.Unmarshal(text, &history); err != nil {
		return nil, nil, usage("%s: %w", name, err)
	}
	if len(history.Events) == 0 {
		return nil, nil, usage("%s: the history has no events; expected {\"events\": [...]} as GetExecutionHistory gives it", name)
	}
	visits, edges := map[string]int{}, map[graph.Edge]int{}
	left := map[int64]string{} // by event: the state that it left
	ended := map[int64]bool{}  // events after which a state was entered
	states := map[string]*asl.State{}
	for s := range m.All {
		states[s.Name] = s
	}
	for _, e := range history.Events {
		switch {
		case e.Exited != nil:
			left[e.ID] = e.Exited.Name
		case e.Entered != nil:
			if states[e.Entered.Name] == nil {
				return nil, nil, usage("%s: the history enters the state %q, which the definition does not have: take the history of this state machine",
					name, e.Entered.Name)
			}
			visits[e.Entered.Name]++
			if from := states[left[e.PreviousID]]; from != nil {
				ended[e.PreviousID] = true
				edges[transitionTo(from, e.Entered.Name)]++
			}
		}
	}
	for id, from := range left {
		if s := states[from]; s != nil && !ended[id] && (s.End || s.Type == asl.TypeSucceed) {
			edges[graph.Edge{From: from}]++
		}
	}
	return visits, edges, nil
}

// transitionTo is the first transition from a state to another.
func transitionTo(from *asl.State, to string) graph.Edge {
	for _, way := range from.Transitions() {
		if way.To == to {
			return graph.Edge{From: from.Name, To: to, Kind: way.Kind, Rule: way.Rule}
		}
	}
	return graph.Edge{From: from.Name, To: to}
}

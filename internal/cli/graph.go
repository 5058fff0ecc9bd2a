package cli

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
)

// graphOptions are the flags of "jobpoller graph".
type graphOptions struct {
	format      string
	out         string
	history     string
	substitutes []string
}

var graphFormats = []string{"svg", "mermaid"}

func newGraphCommand() *cobra.Command {
	var o graphOptions
	c := &cobra.Command{
		Use:   "graph definition.asl.json",
		Short: "Draw a state machine",
		Long: `Graph draws a state machine as SVG or Mermaid. With --history the states and
transitions of a run are coloured and counted: the file is one that "jobpoller run
--history" wrote or the output of "aws stepfunctions get-execution-history".
"-" reads standard input.`,
		Example: `  jobpoller graph poller.asl.json --out poller.svg
  jobpoller graph poller.asl.json -f mermaid
  jobpoller graph poller.asl.json --history history.json --out run.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runGraph(c, args[0], o) },
	}
	f := c.Flags()
	f.StringVarP(&o.format, "format", "f", "svg", strings.Join(graphFormats, ", "))
	f.StringVar(&o.out, "out", "", "file to write to; default is standard output")
	f.StringVar(&o.history, "history", "", "history of a run, to colour what it went through")
	f.StringArrayVar(&o.substitutes, "substitute", nil, "Name=value for a placeholder ${Name} of the definition; may be given more than once")
	return c
}

func runGraph(c *cobra.Command, name string, o graphOptions) error {
	if !slices.Contains(graphFormats, o.format) {
		return usage("--format must be one of %s, is %q", strings.Join(graphFormats, ", "), o.format)
	}
	machine, err := readMachine(name, c.InOrStdin(), o.substitutes)
	if err != nil {
		return err
	}
	options := graph.Options{Title: strings.TrimSuffix(filepath.Base(name), ".asl.json")}
	if o.history != "" {
		if options.Visits, options.Edges, err = readHistory(o.history, machine); err != nil {
			return err
		}
	}
	g := graph.New(machine, options)
	var text []byte
	switch o.format {
	case "mermaid":
		text = []byte(g.Mermaid())
	default:
		text = g.SVG()
	}
	if o.out != "" {
		return writeFile("out", o.out, text)
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

// readHistory counts the visits and transitions of a history. Where two ways
// lead from one state to another, the history does not tell which was taken: the
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
		return nil, nil, usage("%s: it has no events; expected {\"events\": [...]} as GetExecutionHistory gives it", name)
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
				return nil, nil, usage("%s: it enters the state %q, which the definition does not have: it is of another state machine", name, e.Entered.Name)
			}
			visits[e.Entered.Name]++
			if from := states[left[e.PreviousID]]; from != nil {
				ended[e.PreviousID] = true
				edges[wayTo(from, e.Entered.Name)]++
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

// wayTo is the first way from a state to another.
func wayTo(from *asl.State, to string) graph.Edge {
	for _, way := range from.Transitions() {
		if way.To == to {
			return graph.Edge{From: from.Name, To: to, Kind: way.Kind, Rule: way.Rule}
		}
	}
	return graph.Edge{From: from.Name, To: to}
}

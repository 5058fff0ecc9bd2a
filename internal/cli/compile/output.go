package compile

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/internal/jsontree/toyaml"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// write prints what was asked for, or compares it with a file.
func (o *compileOptions) write(c *cobra.Command, compiled *compile.Compiled) error {
	if compiled.Choice != "" && (!o.report || o.output != "text") { // whose text has it
		terminal.Fprintf(c.ErrOrStderr(), "note: %s\n", compiled.Choice)
	}
	for _, w := range compiled.Warnings {
		terminal.Fprintf(c.ErrOrStderr(), "warning: %s\n", w)
	}
	if o.check != "" {
		return o.compare(c, asl.Print(compiled.Machine))
	}
	var text []byte
	var err error
	switch {
	case o.report && o.output == "text":
		text = []byte(reportText(compiled.Report()))
	case o.report:
		text, err = indentJSON(compiled.Report())
	case o.iam:
		text, err = indentJSON(compiled.Policy)
	default:
		text = asl.Print(compiled.Machine)
	}
	if err == nil && o.output == "yaml" {
		text, err = toYAML(text)
	}
	if err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	if _, err := c.OutOrStdout().Write(text); err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	return nil
}

func indentJSON(value any) ([]byte, error) {
	var b bytes.Buffer
	err := kit.WriteJSON(&b, value)
	return b.Bytes(), err
}

// toYAML writes JSON as YAML, with members in the same order.
func toYAML(text []byte) ([]byte, error) {
	document, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	return printYAML(toyaml.Node(document.Root))
}

// sameYAML writes YAML in the layout of toYAML.
func sameYAML(text []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if document.IsZero() {
		return nil, nil
	}
	return printYAML(&document)
}

func printYAML(n *yaml.Node) ([]byte, error) {
	blockStyle(n)
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	err := encoder.Encode(n)
	return b.Bytes(), err
}

// blockStyle takes away comments, brackets and quotes, but for those of empty values
// and of strings that would else be something other than a string.
func blockStyle(n *yaml.Node) {
	if n.Value != toyaml.Merge {
		n.Style = 0
	}
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	if len(n.Content) == 0 && n.Kind != yaml.ScalarNode {
		n.Style = yaml.FlowStyle
	}
	for _, part := range n.Content {
		blockStyle(part)
	}
}

// compare tells whether the file still holds the definition. Its layout does not
// matter, nor comments of YAML.
func (o *compileOptions) compare(c *cobra.Command, want []byte) error {
	if o.check == kit.Stdin {
		return kit.Usage("--check needs a file: - is the standard input")
	}
	d, err := source.LoadOne(c.Context(), o.check, source.Options{})
	if err != nil {
		return kit.Usage("--check: %w; without --check the same command prints what the file should have", err)
	}
	var got []byte
	if d.YAML && d.ID == "" { // the difference is shown in YAML
		if want, err = toYAML(want); err != nil {
			return kit.WithCode(kit.ExitFailed, err)
		}
		got, err = os.ReadFile(d.File)
		if err == nil {
			got, err = sameYAML(got)
		}
	} else {
		got, err = printDefinition(d)
	}
	if err != nil {
		return kit.WithCode(kit.ExitFailed, terminal.Errorf("%s: %w", o.check, err))
	}
	if !bytes.Equal(got, want) {
		return kit.WithCode(kit.ExitFailed, terminal.Errorf("%s: %s", o.check, terminal.Lines(difference(string(got), string(want)))))
	}
	terminal.Fprintf(c.ErrOrStderr(), "%s is up to date\n", o.check)
	return nil
}

func printDefinition(d *source.Definition) ([]byte, error) {
	m, err := d.Parse()
	if err != nil {
		return nil, fmt.Errorf("not a definition: %w", err)
	}
	return asl.Print(m), nil
}

// difference tells where two texts differ first.
func difference(got, want string) string {
	gotLines, wantLines := strings.Split(strings.TrimSpace(got), "\n"), strings.Split(strings.TrimSpace(want), "\n")
	for i, line := range wantLines {
		switch {
		case i >= len(gotLines):
			return fmt.Sprintf("it ends before line %d of what compile prints now: %s", i+1, strings.TrimSpace(line))
		case gotLines[i] != line:
			return fmt.Sprintf("it differs from what compile prints now, first at line %d of that:\n  has   %s\n  wants %s",
				i+1, strings.TrimSpace(gotLines[i]), strings.TrimSpace(line))
		}
	}
	return fmt.Sprintf("it has more than the %s that compile prints now: %s", kit.Plural(len(wantLines), "line"), strings.TrimSpace(gotLines[len(wantLines)]))
}

func reportText(r compile.Report) string {
	var b strings.Builder
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	terminal.Fprintf(&b, "strategy %s, %s at most: transitions %d and events %d a poll\n\n",
		r.Strategy, seconds(r.MaxWaitSeconds), r.TransitionsPerPoll, r.EventsPerPoll)
	terminal.Fprintf(&b, "%-32s %8s %12s %8s %10s %8s\n", "", "polls", "transitions", "events", "USD", "late")
	for _, row := range []struct {
		name string
		cost compile.Cost
	}{
		{fmt.Sprintf("a job of %s to %s", seconds(r.JobSeconds[0]), seconds(r.JobSeconds[1])), r.Expected},
		{"a job that does not end", r.Worst},
	} {
		terminal.Fprintf(&b, "%-32s %8.1f %12.1f %8.0f %10.6f %7.0fs\n",
			row.name, row.cost.Polls, row.cost.Transitions, row.cost.Events, row.cost.USD, row.cost.LatenessSeconds)
	}
	terminal.Fprintf(&b, "\n")
	if r.Choice != "" {
		terminal.Fprintf(&b, "%s\n", r.Choice)
	}
	if r.SignalNote != "" {
		terminal.Fprintf(&b, "%s\n", r.SignalNote)
	}
	terminal.Fprintf(&b, "%s\n", r.RedriveNote)
	return b.String()
}

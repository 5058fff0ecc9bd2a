package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// substitutions are the values of placeholders, "Name=value".
type substitutions []string

// addSubstitutes gives a command the flag --substitute.
func addSubstitutes(f *pflag.FlagSet, to *[]string) {
	f.StringArrayVar(to, "substitute", nil, "`NAME=VALUE` for a placeholder ${Name} of the definition; repeatable")
}

// values returns them by name.
func (s substitutions) values() (map[string]string, error) {
	out := map[string]string{}
	for _, text := range s {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usage("--substitute must be Name=value, is %q", text)
		}
		out[name] = value
	}
	return out, nil
}

// readMachine reads a definition, with its placeholders replaced.
func readMachine(ctx context.Context, name string, in io.Reader, s substitutions) (*source.Machine, error) {
	values, err := s.values()
	if err != nil {
		return nil, err
	}
	d, err := source.LoadOne(ctx, name, source.Options{Values: values, Stdin: in})
	if err != nil {
		return nil, usage("%w", sourceError(err))
	}
	return parseMachine(d)
}

// readMachines reads all definitions that the names give. What could be read is
// returned beside an error.
func readMachines(ctx context.Context, names []string, in io.Reader, s substitutions) ([]*source.Machine, error) {
	values, err := s.values()
	if err != nil {
		return nil, err
	}
	definitions, err := source.Load(ctx, names, source.Options{Values: values, Stdin: in})
	var problems []error
	if err != nil {
		problems = append(problems, usage("%w", sourceError(err)))
	}
	var machines []*source.Machine
	for _, d := range definitions {
		m, err := parseMachine(d)
		if err == nil {
			machines = append(machines, m)
		}
		problems = append(problems, err)
	}
	return machines, errors.Join(problems...)
}

// parseMachine parses a definition. Its error is one of wrong usage.
func parseMachine(d *source.Definition) (*source.Machine, error) {
	m, err := d.Parse()
	if err != nil && isRequest(d.Text) {
		return nil, usage("%s is a request of the Lambda functions, not a definition: pass it as --input %s", d.File, d.File)
	}
	if err != nil {
		return nil, usage("%s: %w%s", d.File, err, quotesHint(d, err))
	}
	return &source.Machine{StateMachine: m, Definition: d}, nil
}

// sourceError names the flag in an error about a value.
func sourceError(err error) error {
	if unused, ok := errors.AsType[*source.ValueError](err); ok {
		return fmt.Errorf("--substitute %s: %w", unused.Name, unused)
	}
	return err
}

// quotesHint says what to do if a value in quotes makes a definition wrong: a line
// of its own, or nothing.
func quotesHint(d *source.Definition, err error) terminal.Lines {
	if text := d.ExplainQuotes(err); text != "" {
		return terminal.Lines("\n" + terminal.Quote(text))
	}
	return ""
}

// substituteHint tells how placeholders get values: a line of its own, or
// nothing if there are none.
func substituteHint(names []string) terminal.Lines {
	if len(names) == 0 {
		return ""
	}
	flags := make([]string, 0, len(names))
	for _, name := range names {
		flags = append(flags, "--substitute "+name+"=VALUE")
	}
	return terminal.Lines("\nAWS SAM and the CDK replace placeholders when they deploy. Here, pass their values: " + strings.Join(flags, " "))
}

// openPlaceholders are the names of the placeholders that a machine still has,
// each once; with needed only those that keep it from running.
func openPlaceholders(m *asl.StateMachine, needed bool) []string {
	var names []string
	for _, h := range m.Placeholders {
		if (h.Needed || !needed) && !slices.Contains(names, h.Name) {
			names = append(names, h.Name)
		}
	}
	return names
}

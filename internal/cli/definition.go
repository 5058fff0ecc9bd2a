package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jobpoller/jobpoller/diag"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
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

// readMachine reads a definition from a file, with its placeholders replaced.
func readMachine(name string, in io.Reader, s substitutions) (*asl.StateMachine, error) {
	text, err := readText(name, in)
	if err != nil {
		return nil, err
	}
	values, err := s.values()
	if err != nil {
		return nil, err
	}
	replaced, err := substitute(name, text, values)
	if err != nil {
		return nil, err
	}
	machine, err := asl.Parse(replaced)
	if err != nil && isRequest(replaced) {
		return nil, usage("%s is a request of the Lambda functions, not a definition: pass it as --input %s", name, name)
	}
	if err != nil {
		return nil, usage("%s: %w%s", name, err, placeholderHint(text, values, err))
	}
	return machine, nil
}

// placeholderHint says what to do about placeholders if they make a definition
// wrong: a line of its own, or nothing.
func placeholderHint(text []byte, values map[string]string, err error) terminal.Lines {
	if open := asl.BarePlaceholders(asl.Substitute(text, values)); len(open) > 0 {
		return substituteHint(open)
	}
	problems, ok := errors.AsType[diag.Problems](err)
	if !ok {
		return ""
	}
	// With only those replaced that stand outside of quotes, the others are
	// still where the problems are.
	bare := map[string]string{}
	for _, name := range asl.BarePlaceholders(text) {
		bare[name] = values[name]
	}
	before, err := asl.Parse(asl.Substitute(text, bare))
	if err != nil {
		return ""
	}
	for _, p := range problems {
		for _, h := range before.Placeholders {
			if value := []byte(values[h.Name]); h.Position.Pointer == p.Pointer && json.Valid(value) && value[0] != '"' {
				return terminal.Lines(fmt.Sprintf("\n${%s} stands in quotes, so its value is a string. For the value %s, write ${%[1]s} without quotes",
					h.Name, terminal.Quote(string(value))))
			}
		}
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

// substitute replaces the placeholders of a definition.
func substitute(file string, text []byte, values map[string]string) ([]byte, error) {
	for name := range values {
		if !bytes.Contains(text, []byte("${"+name+"}")) {
			return nil, usage("--substitute %s: %s has no placeholder ${%s}", name, file, name)
		}
	}
	return asl.Substitute(text, values), nil
}

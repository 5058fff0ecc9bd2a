package kit

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// Substitutions are the values of placeholders, "Name=value".
type Substitutions []string

// AddSubstitutes gives a command the flag --substitute.
func AddSubstitutes(f *pflag.FlagSet, to *[]string) {
	f.StringArrayVar(to, "substitute", nil, "`NAME=VALUE` for a placeholder ${Name} of the definition; repeatable")
}

// Values returns them by name.
func (s Substitutions) Values() (map[string]string, error) {
	out := map[string]string{}
	for _, text := range s {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, Usage("--substitute must be Name=value, is %q", text)
		}
		out[name] = value
	}
	return out, nil
}

// ReadMachine reads the definition in a file, or the one that AWS has under an ARN, and puts
// in the user's values.
func ReadMachine(ctx context.Context, name string, in io.Reader, s Substitutions, a *AwsFlags) (*source.Machine, error) {
	values, err := s.Values()
	if err != nil {
		return nil, err
	}
	d, err := NewSettings().LoadOne(ctx, name, source.Options{Values: values, Stdin: in, Fetch: a.Fetch})
	if err != nil {
		return nil, SourceError(err)
	}
	return ParseMachine(d)
}

// ParseMachine parses a definition. Its error is one of wrong usage.
func ParseMachine(d *source.Definition) (*source.Machine, error) {
	m, err := d.Parse()
	if err != nil {
		return nil, Usage("%s: %w%s", d.File, err, QuotesHint(d, err))
	}
	return &source.Machine{StateMachine: m, Definition: d}, nil
}

// SourceError is the error of reading definitions as one of the command: a call of AWS has
// its own code, and the rest is wrong usage. It names the flag of a value.
func SourceError(err error) error {
	if unused, ok := errors.AsType[*source.ValueError](err); ok {
		return Usage("--substitute %s: %w", unused.Name, unused)
	}
	if other, ok := errors.AsType[*source.OtherFileError](err); ok && IsRequest(other.Text) {
		return Usage("%w\n%s is a request of the Lambda functions. To run its job: jobpoller run --input %s", err, other.Name, other.Name)
	}
	if code, ok := CodeOf(err); ok {
		return WithCode(code, err)
	}
	return Usage("%w", err)
}

// QuotesHint says what to do if a value in quotes makes a definition wrong: a line
// of its own, or nothing.
func QuotesHint(d *source.Definition, err error) terminal.Lines {
	if text := d.ExplainQuotes(err); text != "" {
		return terminal.Lines("\n" + terminal.Quote(text))
	}
	return ""
}

// SubstituteHint tells how placeholders get values: a line of its own, or
// nothing if there are none.
func SubstituteHint(names []string) terminal.Lines {
	if len(names) == 0 {
		return ""
	}
	flags := make([]string, 0, len(names))
	for _, name := range names {
		flags = append(flags, "--substitute "+name+"=VALUE")
	}
	return terminal.Lines("\nAWS SAM and the CDK replace placeholders when they deploy. Here, pass their values: " + strings.Join(flags, " "))
}

// OpenPlaceholders are the names of the placeholders that a machine still has,
// each once; with needed only those that keep it from running.
func OpenPlaceholders(m *asl.StateMachine, needed bool) []string {
	var names []string
	for _, h := range m.Placeholders {
		if (h.Needed || !needed) && !slices.Contains(names, h.Name) {
			names = append(names, h.Name)
		}
	}
	return names
}

package run

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// checkInput says, before the run, which fields cannot use the input. If a state that
// the run enters for sure has one, nothing runs; else it may end before it gets there.
func (o *runOptions) checkInput(out io.Writer, m *source.Machine, input []byte) error {
	if o.Lenient {
		return nil
	}
	if len(input) == 0 {
		input = []byte("{}")
	}
	d := json.NewDecoder(bytes.NewReader(input))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return nil //nolint:nilerr // the run says what is wrong with it
	}
	misfits, err := typecheck.CheckInput(m.StateMachine, typecheck.Options{Models: models.Load, Input: typecheck.Literal(value)})
	if err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	list := func(findings []typecheck.Finding) terminal.Lines {
		var b strings.Builder
		for _, f := range findings {
			terminal.Fprintf(&b, "  %s:%s\n", m.Definition.File, m.Definition.Locate(f.Problem))
		}
		return terminal.Lines(b.String())
	}
	if len(misfits.Certain) > 0 {
		what, instead := "the input", "another"
		if o.input == "" {
			what, instead = "the input {}", "one"
		}
		return kit.Usage("%s does not fit the states that it goes to:\n%sPass %s with --input. To run all the same, pass --lenient",
			what, list(misfits.Certain), instead)
	}
	if len(misfits.Possible) > 0 {
		terminal.Fprintf(out, "The input does not fit these fields, so a state that reads them fails:\n%s", list(misfits.Possible))
	}
	return nil
}

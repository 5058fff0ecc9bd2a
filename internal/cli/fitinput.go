package cli

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// checkInput says, before the run, which members the states read and the input does
// not have. The run goes on: it may end before it reads them.
func (o *runOptions) checkInput(out io.Writer, m *machine, input []byte) error {
	if o.lenient {
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
	anyInput, err := typecheck.New(m.StateMachine, typecheck.Options{Models: models.Load})
	if err != nil {
		return &exitError{exitFailed, err}
	}
	thisInput, err := typecheck.New(m.StateMachine, typecheck.Options{Models: models.Load, Input: typecheck.Literal(value)})
	if err != nil {
		return &exitError{exitFailed, err}
	}
	known := map[string]bool{} // mistakes of the definition, which lint reports
	for _, f := range anyInput.Findings() {
		known[f.Pointer] = true
	}
	var missing diag.Problems
	for _, f := range thisInput.Findings() {
		if f.Rule == typecheck.UnknownMember && !known[f.Pointer] {
			missing = append(missing, m.definition.Locate(f.Problem))
		}
	}
	for i, p := range missing {
		if i == 0 {
			terminal.Fprintf(out, "The input lacks what these fields read, so a state that reads them fails:\n")
		}
		terminal.Fprintf(out, "  %s:%s\n", m.definition.File, p)
	}
	return nil
}

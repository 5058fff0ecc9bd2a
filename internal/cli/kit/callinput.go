package kit

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// CallInput is what the command line says of a call's input.
type CallInput struct {
	Op     *catalog.Operation
	Text   string // of --input: JSON, @FILE or -
	Params Params
	Whole  bool // the text is the whole input
}

// Read reads --input, in the spelling of the model.
func (s *CallInput) Read(stdinput io.Reader) (map[string]any, error) {
	if s.Text == "" {
		return map[string]any{}, nil
	}
	text, hint := []byte(s.Text), ""
	if file, isFile := strings.CutPrefix(s.Text, "@"); isFile || file == Stdin {
		var err error
		if text, err = ReadText(file, stdinput); err != nil {
			return nil, Usage("--input of %s: %w", s.Op.Name, err)
		}
	} else if !strings.HasPrefix(strings.TrimSpace(s.Text), "{") {
		hint = "\nTo read a file, write @ before its name"
	}
	value, problems, err := typecheck.FitText(text, s.Op.Input, true)
	if err != nil && hint != "" {
		err = fmt.Errorf("%w%s", err, hint)
	}
	if err == nil && s.Whole {
		err = problems.Err()
	}
	if err != nil {
		return nil, Usage("--input of %s: %w", s.Op.Name, err)
	}
	return value.(map[string]any), nil //nolint:forcetypeassert // FitText wants an object
}

// Fit checks the whole input.
func (s *CallInput) Fit(input map[string]any) (map[string]any, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	value, problems, err := typecheck.FitText(text, s.Op.Input, true)
	for i := range problems { // nobody has seen the text
		problems[i].Line, problems[i].Column, problems[i].Source = 0, 0, ""
	}
	if err == nil {
		err = problems.Err()
	}
	if err != nil {
		return nil, Usage("input of %s: %w", s.Op.Name, err)
	}
	return value.(map[string]any), nil //nolint:forcetypeassert // FitText wants an object
}

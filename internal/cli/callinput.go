package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// callInput is what the command line says of a call's input.
type callInput struct {
	op     *catalog.Operation
	text   string // of --input: JSON, @FILE or -
	params params
	whole  bool // the text is the whole input
}

// read reads --input, in the spelling of the model.
func (s *callInput) read(stdinput io.Reader) (map[string]any, error) {
	if s.text == "" {
		return map[string]any{}, nil
	}
	text, hint := []byte(s.text), ""
	if file, isFile := strings.CutPrefix(s.text, "@"); isFile || file == stdin {
		var err error
		if text, err = readText(file, stdinput); err != nil {
			return nil, usage("--input of %s: %w", s.op.Name, err)
		}
	} else if !strings.HasPrefix(strings.TrimSpace(s.text), "{") {
		hint = "\nTo read a file, write @ before its name"
	}
	value, problems, err := typecheck.FitText(text, s.op.Input, true)
	if err != nil && hint != "" {
		err = fmt.Errorf("%w%s", err, hint)
	}
	if err == nil && s.whole {
		err = problems.Err()
	}
	if err != nil {
		return nil, usage("--input of %s: %w", s.op.Name, err)
	}
	return value.(map[string]any), nil //nolint:forcetypeassert // FitText wants an object
}

// missing are the members that the input needs and does not have.
func (s *callInput) missing(input map[string]any) []string {
	var missing []string
	if s.op.Input != nil {
		for _, m := range s.op.Input.Members {
			if _, has := input[m.Name]; !has && (m.Required || m.In == catalog.InPath) {
				missing = append(missing, m.Name)
			}
		}
	}
	return missing
}

// fit checks the whole input.
func (s *callInput) fit(input map[string]any) (map[string]any, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	value, problems, err := typecheck.FitText(text, s.op.Input, true)
	for i := range problems { // nobody has seen the text
		problems[i].Line, problems[i].Column, problems[i].Source = 0, 0, ""
	}
	if err == nil {
		err = problems.Err()
	}
	if err != nil {
		return nil, usage("input of %s: %w", s.op.Name, err)
	}
	return value.(map[string]any), nil //nolint:forcetypeassert // FitText wants an object
}

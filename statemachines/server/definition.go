package server

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// parseDefinition reads the definition of a state machine, and refuses one that AWS
// refuses.
func parseDefinition(text string, kind asl.ExecutionType) (*asl.StateMachine, error) {
	m, err := asl.Parse([]byte(text))
	if err == nil && kind == asl.Express {
		err = asl.ExpressProblems(m).Err()
	}
	if problems, ok := errors.AsType[diag.Problems](err); ok {
		return nil, refuseDefinition(text, problems)
	}
	return m, err
}

// refuseDefinition says in AWS's words what is wrong in a definition.
func refuseDefinition(text string, problems diag.Problems) error {
	var texts []string
	for _, d := range diagnoseText(text, problems) {
		if d.Severity != severityError {
			continue
		}
		at := d.Location
		if at == "" {
			at = "null"
		}
		texts = append(texts, d.Code+": "+d.Message+" at "+at)
	}
	return refuse("InvalidDefinition", "Invalid State Machine Definition: '%s'", strings.Join(texts, ", "))
}

// diagnoseText is diagnose for a text that may not be JSON.
func diagnoseText(text string, problems diag.Problems) []diagnostic {
	if strings.TrimSpace(text) == "" {
		return []diagnostic{{Severity: severityError, Code: schemaFailed, Message: notAnObject}}
	}
	m := findJSONMistake([]byte(text))
	if m.message == "" {
		return diagnose(text, problems)
	}
	// AWS shows no more of a text than this.
	const shown = 500
	source := text
	if runes := []rune(text); len(runes) > shown {
		source = string(runes[:shown]) + "[truncated " + strconv.Itoa(len(runes)-shown) + " chars]"
	}
	at := fmt.Sprintf("[Source: (String)\"%s\"; line: %d, column: %d]", source, m.line, m.column)
	return []diagnostic{{severityError, invalidJSON, m.message + "\n at " + at, at}}
}

const notAnObject = "Definition must be a valid JSON object"

type validateInput struct {
	Definition string            `json:"definition"`
	Type       asl.ExecutionType `json:"type"`
	Severity   string            `json:"severity"`
	MaxResults int               `json:"maxResults"`
}

type validateOutput struct {
	Result      string       `json:"result"`
	Diagnostics []diagnostic `json:"diagnostics"`
	Truncated   bool         `json:"truncated"`
}

// mostDiagnostics is how many an answer has where the request does not say.
const mostDiagnostics = 100

func validateStateMachineDefinition(_ *request, in *validateInput) (*validateOutput, error) {
	if in.Type == "" {
		in.Type = asl.Standard
	}
	out := &validateOutput{Result: "OK", Diagnostics: []diagnostic{}}
	for _, d := range diagnoseText(in.Definition, asl.Validate([]byte(in.Definition), in.Type)) {
		if d.Severity == severityError {
			out.Result = "FAIL"
		} else if in.Severity != severityWarned {
			continue
		}
		out.Diagnostics = append(out.Diagnostics, d)
	}
	if in.MaxResults == 0 {
		in.MaxResults = mostDiagnostics
	}
	if len(out.Diagnostics) > in.MaxResults {
		out.Diagnostics, out.Truncated = out.Diagnostics[:in.MaxResults], true
	}
	return out, nil
}

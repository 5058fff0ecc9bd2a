package server

import (
	"errors"
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
		return nil, refuseDefinition(problems)
	}
	return m, err
}

func refuseDefinition(problems diag.Problems) error {
	var texts []string
	for _, p := range problems {
		if p.Severity == diag.Error {
			texts = append(texts, "SCHEMA_VALIDATION_FAILED: "+p.Message+" at "+location(p.Pointer))
		}
	}
	return refuse("InvalidDefinition", "Invalid State Machine Definition: '%s'", strings.Join(texts, ", "))
}

// location is how AWS names a place in a definition.
func location(pointer string) string {
	if pointer == "" {
		return "/"
	}
	return pointer
}

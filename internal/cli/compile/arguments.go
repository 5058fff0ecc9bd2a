package compile

import (
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// readArguments reads the arguments of an operation, in the spelling of SDK
// integrations; nil if there are none. The machine itself gives the token.
func (o *compileOptions) readArguments(op *catalog.Operation, token string) (map[string]any, error) {
	if o.arguments == "" {
		return nil, nil //nolint:nilnil // the input of the machine
	}
	arguments, err := typecheck.FitArguments([]byte(o.arguments), op, token, compile.Strategy(o.strategy).Language())
	if err != nil {
		return nil, kit.Usage("--arguments of %s: %w", op.Name, err)
	}
	return arguments, nil
}

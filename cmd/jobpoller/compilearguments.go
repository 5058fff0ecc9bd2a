package main

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// pathSuffix is how the name of a member ends whose value is a path of JSONPath.
const pathSuffix = ".$"

// readArguments reads the arguments of an operation, in the spelling of SDK
// integrations; nil if there are none. The machine itself gives the token.
func (o *compileOptions) readArguments(op *catalog.Operation, token string) (map[string]any, error) {
	if o.arguments == "" {
		return nil, nil //nolint:nilnil // the input of the machine
	}
	f := modelFit{input: true, given: token, language: asl.JSONata}
	if o.strategy == string(statemachines.Loop) {
		f.language = asl.JSONPath
	}
	value, err := f.read([]byte(o.arguments), op.Input)
	if err == nil {
		err = f.problems.Err()
	}
	if err != nil {
		return nil, usage("--arguments of %s: %w", op.Name, err)
	}
	spelt, ok := integrationSpelling(value, op.Input).(map[string]any)
	if !ok {
		return nil, usage("--arguments: %s takes none", op.Name)
	}
	return spelt, nil
}

// isExpression tells whether an expression of JSONata stands for a value.
func (f *modelFit) isExpression(n *jsontree.Node) bool {
	if f.language == "" || n.Kind != jsontree.String || !strings.HasPrefix(n.Text, "{%") {
		return false
	}
	if f.language != asl.JSONata {
		f.report(n.Problem("this strategy is written in JSONPath, where a path is the value of a member whose name ends in %q, and an expression of JSONata is text",
			pathSuffix))
	}
	return true
}

// cutPath returns the name of a member, and whether its value is a path of
// JSONPath.
func (f *modelFit) cutPath(n *jsontree.Node, m jsontree.Member) (name string, isPath bool) {
	name, isPath = strings.CutSuffix(m.Name, pathSuffix)
	if f.language == "" || !isPath {
		return m.Name, false
	}
	if f.language != asl.JSONPath {
		f.report(n.MemberProblem(m, `this strategy is written in JSONata, where an expression is the value of %s: "{%% ... %%}"`, name))
	}
	return name, true
}

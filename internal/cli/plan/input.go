package plan

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/internal/shipped"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// inventInputs are inputs with which a machine may reach its poll: none, the arguments of
// the call that starts the job, and these with what the definition reads besides. No
// input says how long a Wait waits: that is not to be invented.
func inventInputs(m *asl.StateMachine, e *catalog.Entry) [][]byte {
	arguments := startArguments(m, e)
	drawn := map[string]any{}
	if demands, err := typecheck.FindDemands(m.State(m.StartAt), m, models.Load); err == nil {
		input, _ := trial.DrawInput(demands, typecheck.DrawOptions{Compared: 1, SkipWaits: true}).(map[string]any)
		maps.Copy(drawn, input)
	}
	maps.Copy(drawn, arguments)
	var texts [][]byte
	for _, input := range []map[string]any{{}, arguments, drawn} {
		text, err := json.Marshal(input)
		if err == nil && !slices.ContainsFunc(texts, func(t []byte) bool { return string(t) == string(text) }) {
			texts = append(texts, text)
		}
	}
	return texts
}

// startArguments are what the model requires of the call that starts the job, which is
// the entry's or else one that the definition asks the Lambda functions for.
func startArguments(m *asl.StateMachine, e *catalog.Entry) map[string]any {
	if e == nil || e.Job == nil {
		for _, name := range shipped.JobsIn(string(asl.Print(m))) {
			if named, err := catalog.AWS().Resolve(name); err == nil && named.Job != nil {
				e = named.Entry
			}
		}
	}
	if e == nil || e.Job == nil {
		return map[string]any{}
	}
	arguments, _ := typecheck.Arguments(e.Service.Operations[e.Name]).(map[string]any)
	if arguments == nil {
		arguments = map[string]any{}
	}
	return arguments
}

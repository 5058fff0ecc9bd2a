package asl

import "slices"

// Quota is how often AWS lets an account do something in a region: a token bucket that
// holds Burst and gets PerSecond tokens a second.
type Quota struct{ Burst, PerSecond int }

// largeRegions have larger quotas than the others.
var largeRegions = []string{"us-east-1", "us-west-2", "eu-west-1"}

// quotas are those of operations in the large regions and in the others. What the page
// gives for a group of operations holds for each of them.
var quotas = map[string]struct{ large, other Quota }{
	"StateTransition": {Quota{5000, 5000}, Quota{800, 800}},

	"StartExecution":      {Quota{1300, 300}, Quota{800, 150}},
	"RedriveExecution":    {Quota{1300, 300}, Quota{800, 150}},
	"StopExecution":       {Quota{1000, 200}, Quota{500, 25}},
	"DescribeExecution":   {Quota{300, 15}, Quota{250, 10}},
	"ListExecutions":      {Quota{200, 5}, Quota{100, 2}},
	"GetExecutionHistory": {Quota{400, 20}, Quota{400, 20}},
	"SendTaskSuccess":     {Quota{3000, 500}, Quota{1500, 300}},
	"SendTaskFailure":     {Quota{3000, 500}, Quota{1500, 300}},
	"SendTaskHeartbeat":   {Quota{3000, 500}, Quota{1500, 300}},
	"GetActivityTask":     {Quota{3000, 500}, Quota{1500, 300}},
	"TestState":           {Quota{50, 10}, Quota{50, 10}},
	"ListMapRuns":         {Quota{100, 1}, Quota{100, 1}},
	"DescribeMapRun":      {Quota{200, 1}, Quota{200, 1}},
	"CreateStateMachine":  {Quota{100, 1}, Quota{100, 1}},
	"ListStateMachines":   {Quota{100, 5}, Quota{100, 5}},
	"UpdateStateMachine":  {Quota{100, 1}, Quota{100, 1}},
	"DeleteStateMachine":  {Quota{100, 1}, Quota{100, 1}},
	"TagResource":         {Quota{200, 1}, Quota{200, 1}},
	"UntagResource":       {Quota{200, 1}, Quota{200, 1}},
	"ListTagsForResource": {Quota{200, 1}, Quota{200, 1}},
	"HTTPTask":            {Quota{300, 300}, Quota{300, 300}},

	"CreateStateMachineAlias":        {Quota{100, 1}, Quota{100, 1}},
	"UpdateStateMachineAlias":        {Quota{100, 1}, Quota{100, 1}},
	"DeleteStateMachineAlias":        {Quota{100, 1}, Quota{100, 1}},
	"DescribeStateMachine":           {Quota{200, 20}, Quota{200, 20}},
	"DescribeStateMachineAlias":      {Quota{100, 1}, Quota{100, 1}},
	"ListStateMachineAliases":        {Quota{100, 1}, Quota{100, 1}},
	"PublishStateMachineVersion":     {Quota{100, 1}, Quota{100, 1}},
	"DeleteStateMachineVersion":      {Quota{100, 1}, Quota{100, 1}},
	"ListStateMachineVersions":       {Quota{100, 1}, Quota{100, 1}},
	"ValidateStateMachineDefinition": {Quota{100, 1}, Quota{100, 1}},
}

// expressStarts is the quota of StartExecution for Express workflows.
var expressStarts = Quota{6000, 6000}

// QuotaOf returns the quota of an operation of the API in a region, or of
// "StateTransition" and "HTTPTask"; false if it has none, or none that is known.
// Transitions of Express workflows have no quota.
func QuotaOf(operation, region string, as ExecutionType) (Quota, bool) {
	if as == Express {
		switch operation {
		case "StartExecution":
			return expressStarts, true
		case "StateTransition":
			return Quota{}, false
		}
	}
	q, ok := quotas[operation]
	if slices.Contains(largeRegions, region) {
		return q.large, ok
	}
	return q.other, ok
}

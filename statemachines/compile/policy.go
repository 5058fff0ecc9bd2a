package compile

import (
	"cmp"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Policy is an IAM policy document
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html).
type Policy struct {
	Version   string      `json:"Version"`
	Statement []Statement `json:"Statement"`
}

// Statement allows actions on resources.
type Statement struct {
	Effect   string   `json:"Effect"`
	Action   []string `json:"Action"`
	Resource []string `json:"Resource"`
	// Condition is nil for none; else values by key by operator.
	Condition map[string]map[string][]string `json:"Condition,omitempty"`
}

// policyVersion is that of the policy language.
const policyVersion = "2012-10-17"

// anyResource stands for all resources.
const anyResource = "*"

// policy is what the role of the state machine needs: the actions of each call
// and, where it starts the job, those that the service makes or checks on
// behalf of who does. What no argument names of a resource is an asterisk, and unnamed
// are the members of the start call that name it, by action.
func (p *plan) policy() (policy Policy, unnamed map[string][]string) {
	needed := grants{}
	if p.functions {
		for _, function := range []string{p.options.RunJobFunction, p.options.CheckStatusFunction} {
			needed.add("lambda:InvokeFunction", functionARN(function), nil)
		}
		return needed.policy(), nil
	}
	if p.own != nil && p.call.Operation.Actions == nil {
		if function := p.own.function(); function != "" {
			needed.add("lambda:InvokeFunction", functionARN(function), nil)
		}
		return needed.policy(), nil
	}
	unnamed = map[string][]string{}
	var job *catalog.Job
	var arguments map[string]any
	need := func(action, resource string, passedTo []string) {
		arns, members := job.On(resource, arguments)
		for _, arn := range arns {
			needed.add(action, arn, passedTo)
		}
		for _, member := range members {
			if !slices.Contains(unnamed[action], member) {
				unnamed[action] = append(unnamed[action], member)
			}
		}
	}
	called := func(op *catalog.Operation) {
		for _, action := range op.Actions {
			for _, resource := range op.On() {
				need(action, resource, nil)
			}
		}
	}
	if s := p.call.Start; s != nil {
		job, arguments = s.Operation.Service.Jobs[s.Operation.Name], s.Arguments
		called(s.Operation)
		if job != nil {
			for _, d := range job.Dependent {
				need(d.Action, d.Resource, d.PassedTo)
			}
		}
	}
	called(p.call.Operation)
	if p.call.Stop != nil {
		called(p.stop())
	}
	if p.told {
		// Step Functions stops the job of an execution that is stopped, and makes a rule
		// in EventBridge.
		if job.Stop != nil {
			called(p.call.Operation.Service.Operations[job.Stop.Operation])
		}
		if job.SyncRule != "" {
			for _, action := range []string{"events:DescribeRule", "events:PutRule", "events:PutTargets"} {
				needed.add(action, "arn:*:events:*:*:rule/"+job.SyncRule, nil)
			}
		}
	}
	return needed.policy(), unnamed
}

// grants are the resources of actions.
type grants map[grant][]string

// grant is an action, and the services that get a role by it, with commas between
// them: a role for one service is not for another.
type grant struct{ action, passedTo string }

func (g grants) add(action, resource string, passedTo []string) {
	of := grant{action, strings.Join(passedTo, ",")}
	if !slices.Contains(g[of], resource) {
		g[of] = append(g[of], resource)
	}
}

// policy puts actions on the same resources into one statement. Statements are
// in the order of their first actions.
func (g grants) policy() Policy {
	policy := Policy{Version: policyVersion, Statement: []Statement{}}
	for _, of := range slices.SortedFunc(maps.Keys(g), func(a, b grant) int {
		return cmp.Or(strings.Compare(a.action, b.action), strings.Compare(a.passedTo, b.passedTo))
	}) {
		resources := slices.Sorted(slices.Values(g[of]))
		if slices.Contains(resources, anyResource) {
			resources = []string{anyResource}
		}
		var condition map[string]map[string][]string
		if of.passedTo != "" {
			condition = map[string]map[string][]string{"StringEquals": {"iam:PassedToService": strings.Split(of.passedTo, ",")}}
		}
		i := slices.IndexFunc(policy.Statement, func(s Statement) bool {
			return slices.Equal(s.Resource, resources) && reflect.DeepEqual(s.Condition, condition)
		})
		if i < 0 {
			i = len(policy.Statement)
			policy.Statement = append(policy.Statement, Statement{Effect: "Allow", Resource: resources, Condition: condition})
		}
		policy.Statement[i].Action = append(policy.Statement[i].Action, of.action)
	}
	return policy
}

// placeholder is a part of a resource that the catalogue names, such as
// ${BucketName}, or that a template fills in.
var placeholder = regexp.MustCompile(`\$\{[^}]*\}`)

// functionARN is the resource of a Lambda function, by what invocations may call
// it: its name, its ARN or the part of that from the account on. The name may
// have a version or an alias behind it.
func functionARN(function string) string {
	if strings.HasPrefix(function, "{%") {
		function = anyResource // known when it runs
	}
	function = placeholder.ReplaceAllLiteralString(function, anyResource)
	switch {
	case strings.HasPrefix(function, "arn:"):
		return function
	case strings.Contains(function, ":function:"):
		return "arn:*:lambda:*:" + function
	default:
		return "arn:*:lambda:*:*:function:" + function
	}
}

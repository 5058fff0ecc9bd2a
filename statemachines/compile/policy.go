package compile

import (
	"cmp"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
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
		if asl.ParseResource(p.own.resource()).Service == "lambda" {
			needed.add("lambda:InvokeFunction", functionARN(p.own.function()), nil)
		}
		return needed.policy(), nil
	}
	n := needs{grants: needed, unnamed: map[string][]string{}}
	if s := p.call.Start; s != nil {
		n.job, n.arguments = s.Operation.Service.Jobs[s.Operation.Name], s.Arguments
		n.addCall(s.Operation)
		n.addDependent()
	}
	n.addCall(p.call.Operation)
	if p.call.Stop != nil {
		n.addCall(p.stop())
	}
	if p.told {
		n.addSync(p.call.Operation.Service)
	}
	return needed.policy(), n.unnamed
}

// needs collects what the calls of a plan need.
type needs struct {
	grants    grants
	unnamed   map[string][]string
	job       *catalog.Job   // that the plan starts; nil for none
	arguments map[string]any // of the start call
}

// addCall adds the actions of an operation.
func (n *needs) addCall(op *catalog.Operation) {
	for _, action := range op.Actions {
		for _, resource := range op.On() {
			n.add(action, resource, nil)
		}
	}
}

// addDependent adds what the service makes or checks on behalf of who starts the job.
func (n *needs) addDependent() {
	if n.job == nil {
		return
	}
	for _, d := range n.job.Dependent {
		n.add(d.Action, d.Resource, d.PassedTo)
	}
}

// addSync adds what Step Functions needs to wait for the job itself: it stops the job of an
// execution that is stopped, and makes a rule in EventBridge.
func (n *needs) addSync(service *catalog.Service) {
	if n.job.Stop != nil {
		n.addCall(service.Operations[n.job.Stop.Operation])
	}
	if n.job.SyncRule != "" {
		for _, action := range []string{"events:DescribeRule", "events:PutRule", "events:PutTargets"} {
			n.grants.add(action, "arn:*:events:*:*:rule/"+n.job.SyncRule, nil)
		}
	}
}

// add adds an action on a resource, as the arguments of the start call name it.
func (n *needs) add(action, resource string, passedTo []string) {
	arns, members := n.job.On(resource, n.arguments)
	for _, arn := range arns {
		n.grants.add(action, arn, passedTo)
	}
	for _, member := range members {
		if !slices.Contains(n.unnamed[action], member) {
			n.unnamed[action] = append(n.unnamed[action], member)
		}
	}
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
// have a version or an alias behind it. It is empty where the run gives all arguments.
func functionARN(function string) string {
	if function == "" || strings.HasPrefix(function, "{%") {
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

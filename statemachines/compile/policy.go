package compile

import (
	"maps"
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
}

// policyVersion is that of the policy language.
const policyVersion = "2012-10-17"

// anyResource stands for all resources.
const anyResource = "*"

// policy is what the role of the state machine needs: the actions of each call
// and, where it starts the job, those that the service makes or checks on
// behalf of who does. What is in a resource's name is not known here, and an
// asterisk stands for it.
func (p *plan) policy() Policy {
	needed := map[string][]string{} // resources by action
	need := func(action, resource string) {
		if !slices.Contains(needed[action], resource) {
			needed[action] = append(needed[action], resource)
		}
	}
	called := func(op *catalog.Operation) {
		for _, action := range op.Actions {
			need(action, anyResource)
		}
	}
	if p.functions {
		for _, function := range []string{p.options.RunJobFunction, p.options.CheckStatusFunction} {
			need("lambda:InvokeFunction", functionARN(function))
		}
		return policyOf(needed)
	}
	called(p.call.Operation)
	if s := p.call.Start; s != nil {
		called(s.Operation)
		if job := s.Operation.Service.Jobs[s.Operation.Name]; job != nil {
			for _, d := range job.Dependent {
				need(d.Action, placeholder.ReplaceAllLiteralString(d.Resource, anyResource))
			}
		}
	}
	if p.call.Stop != nil {
		called(p.stop())
	}
	return policyOf(needed)
}

// policyOf puts actions on the same resources into one statement. Statements are
// in the order of their first actions.
func policyOf(needed map[string][]string) Policy {
	policy := Policy{Version: policyVersion, Statement: []Statement{}}
	for _, action := range slices.Sorted(maps.Keys(needed)) {
		resources := slices.Sorted(slices.Values(needed[action]))
		if slices.Contains(resources, anyResource) {
			resources = []string{anyResource}
		}
		i := slices.IndexFunc(policy.Statement, func(s Statement) bool { return slices.Equal(s.Resource, resources) })
		if i < 0 {
			i = len(policy.Statement)
			policy.Statement = append(policy.Statement, Statement{Effect: "Allow", Resource: resources})
		}
		policy.Statement[i].Action = append(policy.Statement[i].Action, action)
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

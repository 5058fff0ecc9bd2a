package cdkapp

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/jobpoller/jobpoller/statemachines"
)

// narrowed puts the ARNs of the prop Resources in the place of those that the
// catalogue knows; an action without ARNs is left out. A role that a service gets
// has to be named: with any role of the account, who may start an execution could
// do what all of them may.
func narrowed(policy []statemachines.Statement, resources *map[string]*[]*string) ([]statemachines.Statement, error) {
	known := map[string]bool{}
	var kept []statemachines.Statement
	given := map[string][]string{} // resources by action
	all := orElse(resources, nil)
	for _, s := range policy {
		rest := s
		rest.Action = nil
		for _, action := range s.Action {
			known[action] = true
			arns, ok := all[action]
			if !ok {
				rest.Action = append(rest.Action, action)
				continue
			}
			for _, arn := range orElse(arns, nil) {
				if text(arn) == "" {
					return nil, refuse("Resources", "an ARN of %s is empty: give the ARNs that it is allowed on", action)
				}
				given[action] = append(given[action], *arn)
			}
		}
		if len(rest.Action) > 0 {
			kept = append(kept, rest)
		}
	}
	for _, action := range slices.Sorted(maps.Keys(all)) {
		if !known[action] {
			return nil, refuse("Resources", "the state machine needs no %q; it needs %s", action, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	if _, ok := all[passRole]; known[passRole] && !ok {
		return nil, refuse("Resources", "the job hands a role to its service: name the ARNs of the roles that it may, under the action %q; "+
			"or none, if it gets none", passRole)
	}
	for _, action := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(kept, func(s statemachines.Statement) bool { return slices.Equal(s.Resource, given[action]) })
		if i < 0 {
			i = len(kept)
			kept = append(kept, statemachines.Statement{Effect: "Allow", Resource: given[action]})
		}
		kept[i].Action = append(slices.Clone(kept[i].Action), action)
	}
	return kept, nil
}

// policyStatements are the statements for the CDK, in the partition, the region
// and the account that the scope is deployed to, where they have an asterisk.
func policyStatements(scope constructs.Construct, policy []statemachines.Statement) []awsiam.PolicyStatement {
	stack := awscdk.Stack_Of(scope)
	all := make([]awsiam.PolicyStatement, len(policy))
	for i, s := range policy {
		resources := make([]string, len(s.Resource))
		for j, resource := range s.Resource {
			resources[j] = resource
			if parts := strings.SplitN(resource, ":", arnParts); len(parts) == arnParts && parts[1] == anyResource {
				for at, value := range map[int]*string{1: stack.Partition(), 3: stack.Region(), 4: stack.Account()} {
					if parts[at] == anyResource {
						parts[at] = *value
					}
				}
				resources[j] = strings.Join(parts, ":")
			}
		}
		all[i] = awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: pointers(s.Action), Resources: pointers(resources)})
	}
	return all
}

// arnParts is how many parts an ARN has: arn, partition, service, region, account
// and resource.
const arnParts = 6

func pointers(texts []string) *[]*string {
	all := make([]*string, len(texts))
	for i := range texts {
		all[i] = &texts[i]
	}
	return &all
}

// makeRole makes the role, which only state machines of this account can assume,
// and no other service on their behalf.
func (p *jobPoller) makeRole() {
	stack := awscdk.Stack_Of(p)
	machines := stack.FormatArn(&awscdk.ArnComponents{
		Service: new("states"), Resource: new("stateMachine"), ResourceName: new("*"), ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
	})
	p.role = awsiam.NewRole(p, new("Role"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(new("states.amazonaws.com"), &awsiam.ServicePrincipalOpts{Conditions: &map[string]any{
			"StringEquals": map[string]any{"aws:SourceAccount": stack.Account()},
			"ArnLike":      map[string]any{"aws:SourceArn": machines},
		}}),
		Description: new("What the state machine of a poller runs as."), // not with its path: IAM takes Latin-1 alone
	})
	for _, s := range slices.Concat(policyStatements(p, p.machine.policy), p.machine.given) {
		p.role.AddToPolicy(s)
	}
	if len(p.invoked) > 0 {
		arns := make([]string, len(p.invoked))
		for i, f := range p.invoked {
			arns[i] = *f.function.FunctionArn()
		}
		allow(p.role, arns, nil, invokeAction)
	}
}

package cdkapp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/constructs-go/constructs/v10"
)

// anyResource is the resource of an action that has none, or whose resource is not
// known.
const anyResource = "*"

// narrowResources returns the prop Resources, whose actions must be among those that are
// needed. A role that a service gets has to be named: with any role of the account,
// who may start an execution could do what all of them may.
//
// The arguments do not name the resources of the actions that are unnamed.
func (p where) narrowResources(needed []permission, unnamed unnamed, resources *map[string]*[]*string) map[string][]string {
	actions, passesAny := map[string]bool{}, false
	for _, one := range needed {
		actions[one.action] = true
		passesAny = passesAny || one.action == passRole && strings.HasSuffix(one.resource, anyResource)
	}
	given := map[string][]string{}
	all := orElse(resources, nil)
	for _, action := range slices.Sorted(maps.Keys(all)) {
		given[action] = texts(all[action])
		switch {
		case !actions[action]:
			p.refuse("Resources", "the action %q is not needed; these are: %s; Grants adds others", action, strings.Join(slices.Sorted(maps.Keys(actions)), ", "))
		case slices.Contains(given[action], ""):
			p.refuse("Resources", "an ARN of %s is empty: give the ARNs of its resources", action)
		}
		for _, arn := range given[action] {
			if !isResource(arn) {
				p.refuse("Resources", "expected ARNs for %s, found %q: IAM needs ARNs, not names", action, arn)
			}
		}
	}
	for _, action := range slices.Sorted(maps.Keys(unnamed)) {
		if _, ok := given[action]; !ok && len(unnamed[action]) > 0 && isCritical(action) {
			p.refuse("Resources", "no literal argument names what %s is on: give Arguments a literal %s, or give the ARNs under the action %q, "+
				"or no ARNs if the job needs none; Grants adds other statements", action, strings.Join(unnamed[action], " or "), action)
		}
	}
	if _, ok := given[passRole]; !ok && passesAny && len(unnamed[passRole]) == 0 {
		p.refuse("Resources", "no argument names the roles that %s is on: give their ARNs under the action %[1]q, or no ARNs if the job passes none", passRole)
	}
	return given
}

// isCritical tells whether an action on any resource of the account would let who may
// start an execution hand on any role, or read any secret or what any key encrypts.
func isCritical(action string) bool {
	service, _, _ := strings.Cut(action, ":")
	return action == passRole || service == "kms" || service == "secretsmanager"
}

// warnUnnamed tells which actions are on more than one execution needs.
func (m *machine) warnUnnamed(scope constructs.Construct) {
	var wide, members []string
	for _, action := range slices.Sorted(maps.Keys(m.unnamed)) {
		if _, ok := m.narrowed[action]; !ok {
			wide, members = append(wide, action), append(members, m.unnamed[action]...)
		}
	}
	if slices.Sort(members); len(wide) > 0 {
		awscdk.Annotations_Of(scope).AddWarningV2(new("jobpoller:resources"), new(fmt.Sprintf(
			"the role may do these actions on all resources of their kind, because the input of an execution chooses them: %s. "+
				"Give Arguments a literal %s, or name the ARNs by action in Resources", strings.Join(wide, ", "), strings.Join(slices.Compact(members), ", "))))
	}
}

// isResource tells whether IAM takes the text as a resource, as far as is known
// before the stack is deployed.
func isResource(text string) bool {
	return text == anyResource || strings.HasPrefix(text, "arn:") || *awscdk.Token_IsUnresolved(text)
}

// statements allow the permissions, each action on the resources that narrowed
// names for it, or those that are known. Actions on the same resources are in one
// statement.
func statements(scope constructs.Construct, needed []permission, narrowed map[string][]string) []awsiam.PolicyStatement {
	type toService struct{ action, passedTo string }
	resources := map[toService][]string{}
	for _, p := range needed {
		own, given := narrowed[p.action]
		if !given {
			own = []string{resourceIn(awscdk.Stack_Of(scope), p.resource)}
		}
		of := toService{p.action, p.passedTo}
		for _, resource := range own {
			if !slices.Contains(resources[of], resource) {
				resources[of] = append(resources[of], resource)
			}
		}
	}
	actions := map[string][]string{} // by their resources
	for of, on := range resources {
		if slices.Contains(on, anyResource) {
			on = []string{anyResource}
		}
		key := of.passedTo + "\n" + strings.Join(slices.Sorted(slices.Values(on)), "\n")
		actions[key] = slices.Sorted(slices.Values(append(actions[key], of.action)))
	}
	var all []awsiam.PolicyStatement
	for _, key := range slices.SortedFunc(maps.Keys(actions), func(a, b string) int {
		return cmp.Or(strings.Compare(actions[a][0], actions[b][0]), strings.Compare(a, b))
	}) {
		to, on, _ := strings.Cut(key, "\n")
		props := &awsiam.PolicyStatementProps{Actions: pointers(actions[key]), Resources: pointers(strings.Split(on, "\n"))}
		if to != "" {
			props.Conditions = &map[string]any{"StringEquals": map[string]any{"iam:PassedToService": strings.Split(to, ",")}}
		}
		all = append(all, awsiam.NewPolicyStatement(props))
	}
	return all
}

// arnParts is how many parts an ARN has: arn, partition, service, region, account
// and resource.
const arnParts = 6

// resourceIn is a resource in the account and the region of the stack.
func resourceIn(stack awscdk.Stack, resource string) string {
	parts := strings.SplitN(resource, ":", arnParts)
	if len(parts) == arnParts {
		for at, value := range map[int]*string{1: stack.Partition(), 3: stack.Region(), 4: stack.Account()} {
			if parts[at] == anyResource {
				parts[at] = *value
			}
		}
	}
	return strings.Join(parts, ":")
}

func pointers(texts []string) *[]*string {
	all := make([]*string, len(texts))
	for i, text := range texts {
		all[i] = &text
	}
	return &all
}

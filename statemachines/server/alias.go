package server

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxAliases is how many aliases a state machine may have.
const maxAliases = 100

// alias is a name for one version of a state machine, or for two by weight.
type alias struct {
	name, arn        string
	description      string
	routes           []route
	created, updated time.Time
}

// route is how many of a hundred executions go to a version.
type route struct{ version, weight int }

const allWeights = 100

func (a *alias) routesTo(version int) bool {
	return slices.ContainsFunc(a.routes, func(r route) bool { return r.version == version })
}

type routingConfigurationItem struct {
	StateMachineVersionARN string `json:"stateMachineVersionArn"`
	Weight                 int    `json:"weight"`
}

func refuseRouting(format string, args ...any) error {
	return refuseFor("INVALID_ROUTING_CONFIGURATION", format, args...)
}

// noSuchReference is the refusal of an alias, or of a version in an alias, that does not exist.
func noSuchReference() error {
	return refuse("ResourceNotFound", "Request references a resource that does not exist.")
}

// routing checks where an alias leads and returns the state machine of the versions. Its
// caller holds a.mu.
func (a *account) routing(items []routingConfigurationItem) (*machine, []route, error) {
	var arns, weights []string
	distinct, sum := map[string]bool{}, 0
	for _, item := range items {
		arns, weights = append(arns, item.StateMachineVersionARN), append(weights, strconv.Itoa(item.Weight))
		distinct[item.StateMachineVersionARN] = true
		sum += item.Weight
	}
	received := strings.Join(arns, ", ")
	if len(distinct) < len(items) {
		return nil, nil, refuseRouting("Routing configuration must contain distinct state machine version ARNs. Received: [%s]", received)
	}
	names := map[string]bool{}
	routes := make([]route, len(items))
	for i, item := range items {
		arn, err := parseARN(item.StateMachineVersionARN, machineKind)
		if err != nil {
			return nil, nil, err
		}
		name, qualifier, _ := strings.Cut(arn.rest, ":")
		names[name] = true
		if routes[i] = (route{versionNumber(qualifier), item.Weight}); routes[i].version == 0 {
			return nil, nil, refuseRouting("Routing configuration must contain state machine version ARNs. Received: [%s]", received)
		}
	}
	switch {
	case len(names) > 1:
		return nil, nil, refuseRouting("Routing configuration must contain versions of one state machine. Received: [%s]", received)
	case sum != allWeights:
		return nil, nil, refuseRouting("Sum of routing configuration weights must equal 100. Received: [%s]", strings.Join(weights, ", "))
	}
	var m *machine
	for i, item := range items {
		var err error
		m, _, err = a.findQualified(item.StateMachineVersionARN)
		switch {
		case err != nil:
			return nil, nil, err
		case m == nil || m.versions[routes[i].version] == nil:
			return nil, nil, noSuchReference()
		case m.deleting:
			return nil, nil, refuseDeleting(m)
		}
	}
	return m, routes, nil
}

// alias returns an alias. Its caller holds a.mu.
func (a *account) alias(text string) (*machine, *alias, error) {
	m, qualifier, err := a.findQualified(text)
	if err != nil {
		return nil, nil, err
	}
	if m == nil || m.aliases[qualifier] == nil {
		return nil, nil, noSuchReference()
	}
	return m, m.aliases[qualifier], nil
}

type createStateMachineAliasInput struct {
	Name                 string                     `json:"name"`
	Description          string                     `json:"description"`
	RoutingConfiguration []routingConfigurationItem `json:"routingConfiguration"`
}

type createStateMachineAliasOutput struct {
	StateMachineAliasARN string `json:"stateMachineAliasArn"`
	CreationDate         epoch  `json:"creationDate"`
}

func createStateMachineAlias(r *request, in *createStateMachineAliasInput) (*createStateMachineAliasOutput, error) {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	m, routes, err := r.account.routing(in.RoutingConfiguration)
	if err != nil {
		return nil, err
	}
	is := m.aliases[in.Name]
	switch {
	case is != nil && (is.description != in.Description || !slices.Equal(is.routes, routes)):
		return nil, refuse("ConflictException",
			"Failed to create alias because an alias with the same name and a different routing configuration already exists.")
	case is == nil && len(m.aliases) >= maxAliases:
		return nil, refuse(quotaExceeded, "The maximum number of aliases is %d. Delete aliases that you no longer need.", maxAliases)
	case is == nil:
		if err := r.keep(); err != nil {
			return nil, err
		}
		now := r.now()
		is = &alias{name: in.Name, arn: m.arn + ":" + in.Name, description: in.Description, routes: routes, created: now, updated: now}
		m.aliases[in.Name] = is
	}
	return &createStateMachineAliasOutput{is.arn, epoch(is.created)}, nil
}

type updateStateMachineAliasInput struct {
	StateMachineAliasARN string                     `json:"stateMachineAliasArn"`
	Description          *string                    `json:"description"`
	RoutingConfiguration []routingConfigurationItem `json:"routingConfiguration"`
}

type updateStateMachineAliasOutput struct {
	UpdateDate epoch `json:"updateDate"`
}

func updateStateMachineAlias(r *request, in *updateStateMachineAliasInput) (*updateStateMachineAliasOutput, error) {
	if in.Description == nil && in.RoutingConfiguration == nil {
		return nil, refuseFor("MISSING_REQUIRED_PARAMETER", "Either the description or the routingConfiguration must be specified")
	}
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	m, is, err := r.account.alias(in.StateMachineAliasARN)
	if err != nil {
		return nil, err
	}
	routes := is.routes
	if in.RoutingConfiguration != nil {
		var of *machine
		if of, routes, err = r.account.routing(in.RoutingConfiguration); err != nil {
			return nil, err
		}
		if of != m {
			return nil, refuseRouting("Routing configuration must contain versions of the alias's state machine %s. Received a version of %s", m.arn, of.arn)
		}
	}
	if err := r.keep(); err != nil {
		return nil, err
	}
	is.routes = routes
	if in.Description != nil {
		is.description = *in.Description
	}
	is.updated = r.now()
	return &updateStateMachineAliasOutput{epoch(is.updated)}, nil
}

type aliasInput struct {
	StateMachineAliasARN string `json:"stateMachineAliasArn"`
}

func deleteStateMachineAlias(r *request, in *aliasInput) (*empty, error) {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	m, is, err := r.account.alias(in.StateMachineAliasARN)
	if err != nil {
		return nil, err
	}
	if err := r.keep(); err != nil {
		return nil, err
	}
	delete(m.aliases, is.name)
	return &empty{}, nil
}

type describeStateMachineAliasOutput struct {
	StateMachineAliasARN string                     `json:"stateMachineAliasArn"`
	Name                 string                     `json:"name"`
	Description          string                     `json:"description,omitempty"`
	RoutingConfiguration []routingConfigurationItem `json:"routingConfiguration"`
	CreationDate         epoch                      `json:"creationDate"`
	UpdateDate           epoch                      `json:"updateDate"`
}

func describeStateMachineAlias(r *request, in *aliasInput) (*describeStateMachineAliasOutput, error) {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	m, is, err := r.account.alias(in.StateMachineAliasARN)
	if err != nil {
		return nil, err
	}
	out := &describeStateMachineAliasOutput{
		StateMachineAliasARN: is.arn, Name: is.name, Description: is.description, CreationDate: epoch(is.created), UpdateDate: epoch(is.updated),
	}
	for _, to := range is.routes {
		out.RoutingConfiguration = append(out.RoutingConfiguration, routingConfigurationItem{m.versionARN(m.versions[to.version]), to.weight})
	}
	return out, nil
}

type listStateMachineAliasesInput struct {
	StateMachineARN string `json:"stateMachineArn"`
	MaxResults      int    `json:"maxResults"`
	NextToken       string `json:"nextToken"`
}

type listedAlias struct {
	StateMachineAliasARN string `json:"stateMachineAliasArn"`
	CreationDate         epoch  `json:"creationDate"`
}

type listStateMachineAliasesOutput struct {
	StateMachineAliases []listedAlias `json:"stateMachineAliases"`
	NextToken           string        `json:"nextToken,omitempty"`
}

// listStateMachineAliases lists by name. For the ARN of a version it lists the aliases
// that lead there.
func listStateMachineAliases(r *request, in *listStateMachineAliasesInput) (*listStateMachineAliasesOutput, error) {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	m, qualifier, err := r.account.findQualified(in.StateMachineARN)
	number := versionNumber(qualifier)
	if err == nil && (m == nil || number == 0 || m.versions[number] == nil) {
		number = 0
		m, err = r.account.findMachine(in.StateMachineARN)
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(m.aliases)) {
		if number == 0 || m.aliases[name].routesTo(number) {
			names = append(names, name)
		}
	}
	page, next, err := paginate(r, in.StateMachineARN, names, func(name string) string { return name }, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	out := &listStateMachineAliasesOutput{StateMachineAliases: make([]listedAlias, len(page)), NextToken: next}
	for i, name := range page {
		out.StateMachineAliases[i] = listedAlias{m.aliases[name].arn, epoch(m.aliases[name].created)}
	}
	return out, nil
}

package server

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/ordered"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// machine is a state machine.
type machine struct {
	name, arn string
	kind      asl.ExecutionType
	created   time.Time
	// published and description are those of the request that made it, which a request
	// that repeats it must have, too.
	published   bool
	description string
	// deleting is set from DeleteStateMachine on, until the last execution has ended.
	deleting bool
	running  int // executions
	// rosters list its executions: by the ARN of a version or an alias those that were
	// started with it, and under the empty name all. Those of Express are in none.
	rosters map[string]*roster
	named   *ordered.List[*execution] // those of Express, by name; nil: there is none

	current     *revision
	tags        tags
	versions    map[int]*version
	numbers     []int // of the versions, the oldest first
	lastVersion int
	aliases     map[string]*alias // by name
}

// revision is what a state machine does between two updates. It is never changed: its
// executions keep it.
type revision struct {
	id         string // empty for the first one
	definition string
	parsed     *asl.StateMachine
	nested     []string // resources that call Step Functions
	role       string
	logging    loggingConfiguration
	tracing    tracingConfiguration
	encryption encryptionConfiguration
	updated    time.Time
}

type createStateMachineInput struct {
	Name                    string                   `json:"name"`
	Definition              string                   `json:"definition"`
	RoleARN                 string                   `json:"roleArn"`
	Type                    asl.ExecutionType        `json:"type"`
	LoggingConfiguration    *loggingConfiguration    `json:"loggingConfiguration"`
	TracingConfiguration    *tracingConfiguration    `json:"tracingConfiguration"`
	EncryptionConfiguration *encryptionConfiguration `json:"encryptionConfiguration"`
	Tags                    []tag                    `json:"tags"`
	Publish                 bool                     `json:"publish"`
	VersionDescription      string                   `json:"versionDescription"`
}

type createStateMachineOutput struct {
	StateMachineARN        string `json:"stateMachineArn"`
	CreationDate           epoch  `json:"creationDate"`
	StateMachineVersionARN string `json:"stateMachineVersionArn,omitempty"`
}

func createStateMachine(r *request, in *createStateMachineInput) (*createStateMachineOutput, error) {
	if err := checkName(in.Name); err != nil {
		return nil, err
	}
	if err := checkRole(in.RoleARN); err != nil {
		return nil, err
	}
	if in.VersionDescription != "" && !in.Publish {
		return nil, refuse(validation, descriptionWithoutPublish)
	}
	if in.Type == "" {
		in.Type = asl.Standard
	}
	rev := &revision{definition: in.Definition, role: in.RoleARN}
	if err := rev.configure(in.LoggingConfiguration, in.TracingConfiguration, in.EncryptionConfiguration); err != nil {
		return nil, err
	}
	if rev.logging.Level != logOff && !plainName().MatchString(in.Name) {
		return nil, refuse("InvalidName", "Invalid Name: '%s'", in.Name)
	}
	tags, err := newTags(r.arn(machineKind, in.Name), in.Tags)
	if err != nil {
		return nil, err
	}
	if rev.parsed, err = parseDefinition(in.Definition, in.Type); err != nil {
		return nil, err
	}
	rev.nested = findNested(rev.parsed)
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.machines[in.Name]
	if m != nil && m.deleting && r.replayed {
		m = nil // its executions had ended
	}
	switch {
	case m == nil && len(a.machines) >= maxMachines && !r.replayed:
		return nil, refuse("StateMachineLimitExceeded", "The account has %d state machines, the most that there can be", maxMachines)
	case m == nil:
		m = &machine{
			name: in.Name, arn: a.arn(machineKind, in.Name), kind: in.Type, published: in.Publish, description: in.VersionDescription,
			current: rev, tags: tags, versions: map[int]*version{}, aliases: map[string]*alias{},
		}
		r.revised = m
	case m.deleting:
		return nil, refuseDeleting(m)
	case m.kind != in.Type || m.published != in.Publish || m.description != in.VersionDescription || !m.current.same(rev):
		return nil, refuse("StateMachineAlreadyExists", "State Machine Already Exists: '%s'", m.arn)
	}
	if in.Publish {
		if err := m.checkPublish(m.current); err != nil {
			return nil, err
		}
	}
	if err := r.keep(); err != nil {
		return nil, err
	}
	if r.revised == m {
		m.created, m.current.updated = r.now(), r.now()
		a.machines[in.Name] = m
		a.machineNames.Add(in.Name)
	}
	out := &createStateMachineOutput{StateMachineARN: m.arn, CreationDate: epoch(m.created)}
	if in.Publish {
		out.StateMachineVersionARN = m.versionARN(m.publish(in.VersionDescription, r.now()))
	}
	return out, nil
}

// plainName is the name of a state machine that logs.
var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z._-]+$`) })

// maxMachines is how many state machines an account can have. AWS allows more.
const maxMachines = 10_000

const descriptionWithoutPublish = "Version description can only be set when publish is true"

// same tells whether a request to create asks for this revision. A role does not count.
func (v *revision) same(o *revision) bool {
	return v.definition == o.definition && v.logging.equal(o.logging) && v.tracing == o.tracing && v.encryption == o.encryption
}

func checkRole(text string) error {
	if !strings.HasPrefix(text, "arn:") {
		return refuse("InvalidArn", "Invalid Role Arn: '%s'", text)
	}
	return nil
}

func refuseDeleting(m *machine) error {
	return refuse("StateMachineDeleting", "State Machine Deleting: '%s'", m.arn)
}

func refuseMissing(text string) error {
	return refuse("StateMachineDoesNotExist", "State Machine Does Not Exist: '%s'", text)
}

type updateStateMachineInput struct {
	StateMachineARN         string                   `json:"stateMachineArn"`
	Definition              *string                  `json:"definition"`
	RoleARN                 *string                  `json:"roleArn"`
	LoggingConfiguration    *loggingConfiguration    `json:"loggingConfiguration"`
	TracingConfiguration    *tracingConfiguration    `json:"tracingConfiguration"`
	EncryptionConfiguration *encryptionConfiguration `json:"encryptionConfiguration"`
	Publish                 bool                     `json:"publish"`
	VersionDescription      string                   `json:"versionDescription"`
}

type updateStateMachineOutput struct {
	UpdateDate             epoch  `json:"updateDate"`
	RevisionID             string `json:"revisionId,omitempty"`
	StateMachineVersionARN string `json:"stateMachineVersionArn,omitempty"`
}

func updateStateMachine(r *request, in *updateStateMachineInput) (*updateStateMachineOutput, error) {
	parsed, err := parseARN(in.StateMachineARN, machineKind)
	if err != nil {
		return nil, err
	}
	if strings.Contains(parsed.rest, "/") {
		return nil, refuseLabel()
	}
	if in.VersionDescription != "" && !in.Publish {
		return nil, refuse(validation, descriptionWithoutPublish)
	}
	if in.Definition == nil && in.RoleARN == nil && in.LoggingConfiguration == nil && in.TracingConfiguration == nil && in.EncryptionConfiguration == nil {
		return nil, refuse("MissingRequiredParameter", "Either the definition, the role ARN, the LoggingConfiguration, or the TracingConfiguration must be specified")
	}
	if in.RoleARN != nil {
		if err := checkRole(*in.RoleARN); err != nil {
			return nil, err
		}
	}
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.machineOf(parsed)
	if m == nil {
		return nil, refuseMissing(in.StateMachineARN)
	}
	if m.deleting {
		return nil, refuseDeleting(m)
	}
	next, err := m.current.update(in, m.kind)
	if err != nil {
		return nil, err
	}
	if next.role == m.current.role && next.same(m.current) {
		next = m.current
	} else {
		next.id = r.newUUID()
	}
	if in.Publish {
		if err := m.checkPublish(next); err != nil {
			return nil, err
		}
	}
	if err := r.keep(); err != nil {
		return nil, err
	}
	now := r.now()
	if next != m.current {
		next.updated = now
		m.current, r.revised = next, m
	}
	out := &updateStateMachineOutput{UpdateDate: epoch(now), RevisionID: m.current.id}
	if in.Publish {
		out.StateMachineVersionARN = m.versionARN(m.publish(in.VersionDescription, now))
	}
	return out, nil
}

// update returns the revision as a request changes it.
func (v *revision) update(in *updateStateMachineInput, kind asl.ExecutionType) (*revision, error) {
	next := *v
	if in.Definition != nil && *in.Definition != v.definition {
		next.definition = *in.Definition
		var err error
		if next.parsed, err = parseDefinition(next.definition, kind); err != nil {
			return nil, err
		}
		next.nested = findNested(next.parsed)
	}
	if in.RoleARN != nil {
		next.role = *in.RoleARN
	}
	return &next, next.configure(in.LoggingConfiguration, in.TracingConfiguration, in.EncryptionConfiguration)
}

type stateMachineInput struct {
	StateMachineARN string `json:"stateMachineArn"`
}

func deleteStateMachine(r *request, in *stateMachineInput) (*empty, error) {
	parsed, err := parseARN(in.StateMachineARN, machineKind)
	if err != nil {
		return nil, err
	}
	if strings.Contains(parsed.rest, "/") {
		return nil, refuseLabel()
	}
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.machineOf(parsed)
	if m == nil || m.deleting {
		return &empty{}, nil
	}
	if err := r.keep(); err != nil {
		return nil, err
	}
	m.deleting = true
	if !r.replayed { // which counts executions at its end
		a.removeUnused(m)
	}
	return &empty{}, nil
}

// removeUnused removes a state machine that is to be deleted, once none of its
// executions runs.
func (a *account) removeUnused(m *machine) {
	if m.deleting && m.running == 0 && a.machines[m.name] == m {
		delete(a.machines, m.name)
		a.machineNames.Remove(m.name)
	}
}

type describeStateMachineInput struct {
	StateMachineARN string `json:"stateMachineArn"`
	IncludedData    string `json:"includedData"`
}

type describeStateMachineOutput struct {
	StateMachineARN         string                  `json:"stateMachineArn"`
	Name                    string                  `json:"name"`
	Status                  string                  `json:"status"`
	Definition              string                  `json:"definition,omitempty"`
	RoleARN                 string                  `json:"roleArn"`
	Type                    asl.ExecutionType       `json:"type"`
	CreationDate            epoch                   `json:"creationDate"`
	LoggingConfiguration    loggingConfiguration    `json:"loggingConfiguration"`
	TracingConfiguration    tracingConfiguration    `json:"tracingConfiguration"`
	EncryptionConfiguration encryptionConfiguration `json:"encryptionConfiguration"`
	Label                   string                  `json:"label,omitempty"`
	RevisionID              string                  `json:"revisionId,omitempty"`
	Description             string                  `json:"description,omitempty"`
	VariableReferences      map[string][]string     `json:"variableReferences,omitempty"`
}

func describeStateMachine(r *request, in *describeStateMachineInput) (*describeStateMachineOutput, error) {
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	t, err := a.resolve(in.StateMachineARN)
	if err != nil {
		return nil, err
	}
	m, v := t.machine, t.revision
	out := &describeStateMachineOutput{
		StateMachineARN: m.arn, Name: m.name, Status: "ACTIVE", Definition: v.definition, RoleARN: v.role, Type: m.kind, CreationDate: epoch(m.created),
		LoggingConfiguration: v.logging, TracingConfiguration: v.tracing, EncryptionConfiguration: v.encryption, Label: t.label,
		RevisionID: v.id, VariableReferences: v.variableReferences(),
	}
	if m.deleting {
		out.Status = "DELETING"
	}
	if t.version != nil {
		out.StateMachineARN, out.Description, out.CreationDate = m.versionARN(t.version), t.version.description, epoch(t.version.created)
	}
	if t.label != "" {
		out.StateMachineARN = m.arn + "/" + t.label
	}
	if in.IncludedData == "METADATA_ONLY" {
		out.Definition, out.VariableReferences = "", nil
	}
	return out, nil
}

// variableReferences are the variables that each state uses.
func (v *revision) variableReferences() map[string][]string {
	found := map[string][]string{}
	for s := range v.parsed.All {
		if names := s.Variables(); len(names) > 0 {
			found[s.Name] = names
		}
	}
	return found
}

type listInput struct {
	MaxResults int    `json:"maxResults"`
	NextToken  string `json:"nextToken"`
}

type stateMachineItem struct {
	StateMachineARN string            `json:"stateMachineArn"`
	Name            string            `json:"name"`
	Type            asl.ExecutionType `json:"type"`
	CreationDate    epoch             `json:"creationDate"`
}

type listStateMachinesOutput struct {
	StateMachines []stateMachineItem `json:"stateMachines"`
	NextToken     string             `json:"nextToken,omitempty"`
}

func listStateMachines(r *request, in *listInput) (*listStateMachinesOutput, error) {
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	page, next, err := r.paginateNames(a.machineNames, in)
	if err != nil {
		return nil, err
	}
	out := &listStateMachinesOutput{StateMachines: []stateMachineItem{}, NextToken: next}
	for _, name := range page {
		m := a.machines[name]
		out.StateMachines = append(out.StateMachines, stateMachineItem{m.arn, m.name, m.kind, epoch(m.created)})
	}
	return out, nil
}

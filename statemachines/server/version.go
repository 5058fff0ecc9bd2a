package server

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxVersions is how many versions a state machine may have.
const maxVersions = 1000

// version is a revision of a state machine that was published. Numbers are never used again.
type version struct {
	number      int
	revision    *revision
	description string
	created     time.Time
}

func (m *machine) versionARN(v *version) string { return m.arn + ":" + strconv.Itoa(v.number) }

// versionNumber is the number that a qualifier of a state machine's ARN names, or 0.
func versionNumber(qualifier string) int {
	n, err := strconv.Atoi(qualifier)
	if err != nil || n < 1 || strconv.Itoa(n) != qualifier {
		return 0
	}
	return n
}

// publish returns the version of the current revision, which it makes if there is none.
func (m *machine) publish(description string, now time.Time) *version {
	if v := m.versionOf(m.current); v != nil {
		return v
	}
	m.lastVersion++
	v := &version{number: m.lastVersion, revision: m.current, description: description, created: now}
	m.versions[v.number] = v
	m.numbers = append(m.numbers, v.number)
	return v
}

// checkPublish refuses to publish a revision that would be one version too many.
func (m *machine) checkPublish(is *revision) error {
	if len(m.versions) < maxVersions || m.versionOf(is) != nil {
		return nil
	}
	return refuse(quotaExceeded, "The maximum number of versions is %d. Delete versions that you no longer need.", maxVersions)
}

// versionOf returns the version of a revision, or nil.
func (m *machine) versionOf(is *revision) *version {
	for _, v := range m.versions {
		if v.revision == is {
			return v
		}
	}
	return nil
}

// findMachine returns the state machine of an ARN without a version or an alias. Its
// caller holds a.mu.
func (a *account) findMachine(text string) (*machine, error) {
	arn, err := parseARN(text, machineKind)
	if err != nil {
		return nil, err
	}
	m := a.machineOf(arn)
	switch {
	case m == nil:
		return nil, refuseMissing(text)
	case m.deleting:
		return nil, refuseDeleting(m)
	}
	return m, nil
}

// findQualified returns the state machine of a version's or an alias's ARN, nil if there is
// none, and which version or alias it is. Its caller holds a.mu.
func (a *account) findQualified(text string) (m *machine, qualifier string, err error) {
	arn, err := parseARN(text, machineKind)
	if err != nil {
		return nil, "", err
	}
	arn.rest, qualifier, _ = strings.Cut(arn.rest, ":")
	return a.machineOf(arn), qualifier, nil
}

type publishStateMachineVersionInput struct {
	StateMachineARN string  `json:"stateMachineArn"`
	RevisionID      *string `json:"revisionId"`
	Description     string  `json:"description"`
}

type publishStateMachineVersionOutput struct {
	CreationDate           epoch  `json:"creationDate"`
	StateMachineVersionARN string `json:"stateMachineVersionArn"`
}

// initialRevision is the id of a state machine that was never updated.
const initialRevision = "INITIAL"

func publishStateMachineVersion(r *request, in *publishStateMachineVersionInput) (*publishStateMachineVersionOutput, error) {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	m, err := r.account.findMachine(in.StateMachineARN)
	if err != nil {
		return nil, err
	}
	current := m.current.id
	if current == "" {
		current = initialRevision
	}
	if in.RevisionID != nil && *in.RevisionID != current {
		return nil, refuse("ConflictException",
			"Failed to publish the State Machine version for revision %s. The current State Machine revision is %s.", *in.RevisionID, current)
	}
	if err := m.checkPublish(m.current); err != nil {
		return nil, err
	}
	if err := r.keep(); err != nil {
		return nil, err
	}
	v := m.publish(in.Description, r.now())
	return &publishStateMachineVersionOutput{epoch(v.created), m.versionARN(v)}, nil
}

type deleteStateMachineVersionInput struct {
	StateMachineVersionARN string `json:"stateMachineVersionArn"`
}

// deleteStateMachineVersion also succeeds for a version that does not exist. Executions
// of the version go on.
func deleteStateMachineVersion(r *request, in *deleteStateMachineVersionInput) (*empty, error) {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	m, qualifier, err := r.account.findQualified(in.StateMachineVersionARN)
	number := versionNumber(qualifier)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return &empty{}, nil
	case number == 0:
		return nil, refuseARN("Invalid ARN: " + in.StateMachineVersionARN)
	}
	if m.versions[number] == nil {
		return &empty{}, nil
	}
	var referring []string
	for _, name := range slices.Sorted(maps.Keys(m.aliases)) {
		if m.aliases[name].routesTo(number) {
			referring = append(referring, name)
		}
	}
	if len(referring) > 0 {
		return nil, refuse("ConflictException",
			"Version to be deleted must not be referenced by an alias. Current list of aliases referencing this version: [%s]",
			strings.Join(referring, ", "))
	}
	if err := r.keep(); err != nil {
		return nil, err
	}
	delete(m.versions, number)
	m.numbers = slices.DeleteFunc(m.numbers, func(n int) bool { return n == number })
	return &empty{}, nil
}

type listStateMachineVersionsInput struct {
	StateMachineARN string `json:"stateMachineArn"`
	MaxResults      int    `json:"maxResults"`
	NextToken       string `json:"nextToken"`
}

type listedVersion struct {
	StateMachineVersionARN string `json:"stateMachineVersionArn"`
	CreationDate           epoch  `json:"creationDate"`
}

type listStateMachineVersionsOutput struct {
	StateMachineVersions []listedVersion `json:"stateMachineVersions"`
	NextToken            string          `json:"nextToken,omitempty"`
}

// listStateMachineVersions lists the newest version first. A state machine that does not
// exist has no versions: the operation has no error for it.
func listStateMachineVersions(r *request, in *listStateMachineVersionsInput) (*listStateMachineVersionsOutput, error) {
	arn, err := parseARN(in.StateMachineARN, machineKind)
	if err != nil {
		return nil, err
	}
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	out := &listStateMachineVersionsOutput{StateMachineVersions: []listedVersion{}}
	m := r.account.machineOf(arn)
	if m == nil {
		return out, nil
	}
	numbers := slices.Clone(m.numbers)
	slices.Reverse(numbers)
	newestFirst := func(n int) string { return fmt.Sprintf("%010d", math.MaxInt32-n) }
	page, next, err := paginate(r, m.arn, numbers, newestFirst, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	for _, n := range page {
		out.StateMachineVersions = append(out.StateMachineVersions, listedVersion{m.versionARN(m.versions[n]), epoch(m.versions[n].created)})
	}
	out.NextToken = next
	return out, nil
}

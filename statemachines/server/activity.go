package server

import (
	"time"
)

// maxActivities is how many activities an account may have in a region.
const maxActivities = 10_000

// activity is an activity. Its tasks are the world's.
type activity struct {
	name, arn  string
	created    time.Time
	encryption encryptionConfiguration
	tags       tags
	workers    int // that wait for a task
}

type createActivityInput struct {
	Name                    string                   `json:"name"`
	Tags                    []tag                    `json:"tags"`
	EncryptionConfiguration *encryptionConfiguration `json:"encryptionConfiguration"`
}

type createActivityOutput struct {
	ActivityARN  string `json:"activityArn"`
	CreationDate epoch  `json:"creationDate"`
}

// createActivity answers as before for an activity that exists; other tags change nothing.
func createActivity(r *request, in *createActivityInput) (*createActivityOutput, error) {
	if err := checkName(in.Name); err != nil {
		return nil, err
	}
	encryption, err := readEncryption(in.EncryptionConfiguration)
	if err != nil {
		return nil, err
	}
	arn := r.arn(activityKind, in.Name)
	initial, err := newTags(arn, in.Tags)
	if err != nil {
		return nil, err
	}
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	a := r.account.activities[in.Name]
	switch {
	case a == nil && len(r.account.activities) >= maxActivities:
		return nil, refuse("ActivityLimitExceeded", "The maximum number of activities is %d. Delete activities that you no longer need.", maxActivities)
	case a == nil:
		if err := r.keep(); err != nil {
			return nil, err
		}
		a = &activity{name: in.Name, arn: arn, created: r.now(), encryption: encryption, tags: initial}
		r.account.activities[in.Name] = a
		r.account.activityNames.Add(in.Name)
	case a.encryption != encryption:
		return nil, refuse("ActivityAlreadyExists", "Activity Already Exists: '%s'", arn)
	}
	return &createActivityOutput{arn, epoch(a.created)}, nil
}

type activityInput struct {
	ActivityARN string `json:"activityArn"`
}

// deleteActivity also succeeds for an activity that does not exist.
func deleteActivity(r *request, in *activityInput) (*empty, error) {
	arn, err := parseARN(in.ActivityARN, activityKind)
	if err != nil {
		return nil, err
	}
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	if a := r.account.activities[arn.rest]; a == nil || a.arn != in.ActivityARN {
		return &empty{}, nil
	}
	if err := r.keep(); err != nil {
		return nil, err
	}
	delete(r.account.activities, arn.rest)
	r.account.activityNames.Remove(arn.rest)
	return &empty{}, nil
}

// activity returns the activity of an ARN. Its caller holds a.mu.
func (a *account) activity(text string) (*activity, error) {
	arn, err := parseARN(text, activityKind)
	if err != nil {
		return nil, err
	}
	found := a.activities[arn.rest]
	if found == nil || found.arn != text {
		return nil, refuse("ActivityDoesNotExist", "Activity Does Not Exist: '%s'", text)
	}
	return found, nil
}

type describeActivityOutput struct {
	ActivityARN             string                  `json:"activityArn"`
	Name                    string                  `json:"name"`
	CreationDate            epoch                   `json:"creationDate"`
	EncryptionConfiguration encryptionConfiguration `json:"encryptionConfiguration"`
}

func describeActivity(r *request, in *activityInput) (*describeActivityOutput, error) {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	a, err := r.account.activity(in.ActivityARN)
	if err != nil {
		return nil, err
	}
	return &describeActivityOutput{a.arn, a.name, epoch(a.created), a.encryption}, nil
}

type listedActivity struct {
	ActivityARN  string `json:"activityArn"`
	Name         string `json:"name"`
	CreationDate epoch  `json:"creationDate"`
}

type listActivitiesOutput struct {
	Activities []listedActivity `json:"activities"`
	NextToken  string           `json:"nextToken,omitempty"`
}

// listActivities lists by name.
func listActivities(r *request, in *listInput) (*listActivitiesOutput, error) {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	page, next, err := r.paginateNames(r.account.activityNames, in)
	if err != nil {
		return nil, err
	}
	out := &listActivitiesOutput{Activities: make([]listedActivity, len(page)), NextToken: next}
	for i, name := range page {
		a := r.account.activities[name]
		out.Activities[i] = listedActivity{a.arn, a.name, epoch(a.created)}
	}
	return out, nil
}

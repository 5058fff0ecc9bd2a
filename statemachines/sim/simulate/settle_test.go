package simulate_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// pollOf answers a loop on an entry that reads members of the names.
func pollOf(t *testing.T, e *catalog.Entry, names []string) *simulate.Response {
	t.Helper()
	read := map[string]any{}
	for _, name := range names {
		read[name+".$"] = "$." + strings.ToUpper(name[:1]) + name[1:]
	}
	states := map[string]any{
		"Describe": callState(e.Service, e.Operation.Name),
		"Loop?":    map[string]any{"Type": "Choice", "Default": "Read", "Choices": []any{map[string]any{"Variable": "$.x", "IsPresent": true, "Next": "Describe"}}},
		"Read":     map[string]any{"Type": "Pass", "Parameters": read, "End": true},
	}
	text, err := json.Marshal(map[string]any{"StartAt": "Describe", "States": states})
	require.NoError(t, err)
	m, err := asl.Parse(text)
	require.NoError(t, err, string(text))
	all, _, err := simulate.Responses(m, simulate.Options{Models: models.Load, Polls: map[string]*catalog.Entry{"Describe": e}})
	require.NoError(t, err)
	return all["Describe"]
}

// statusNames are the names of all members of a shape that are called a status and have values, and of those
// that are no text: one of them may lead to a status.
func statusNames(s *catalog.Shape, depth int, found []string) []string {
	if s == nil || depth == 0 {
		return found
	}
	if s.Element != nil {
		return statusNames(s.Element.Shape, depth, found)
	}
	for i := range s.Members {
		m := &s.Members[i]
		if m.Shape.Type != catalog.String || len(m.Shape.Enum) > 0 && statusName.MatchString(m.Name) {
			found = append(found, m.Name)
		}
		found = statusNames(m.Shape, depth-1, found)
	}
	return found
}

var (
	statusName = regexp.MustCompile(`(?i)(status|state)$`)
	underway   = regexp.MustCompile(`(?i)(ing|progress)$|^pending$`)
)

// eachStatus calls f with the statuses of an answer, by the model.
func eachStatus(answer any, s *catalog.Shape, path string, f func(path, value string, values []string)) {
	switch v := answer.(type) {
	case []any:
		for _, item := range v {
			eachStatus(item, s.Element.Shape, path+"[0]", f)
		}
	case map[string]any:
		for i := range s.Members {
			m := &s.Members[i]
			value := v[strings.ToUpper(m.Name[:1])+m.Name[1:]]
			if text, is := value.(string); is && len(m.Shape.Enum) > 0 && statusName.MatchString(m.Name) {
				f(path+"."+m.Name, text, m.Shape.Enum)
			} else if value != nil {
				eachStatus(value, m.Shape, path+"."+m.Name, f)
			}
		}
	}
}

// No part of a thing that is ready, and no other status of it, goes on in an answer, where the model has a
// value for what does not. A change set that was CREATE_COMPLETE could not be executed for ever.
func TestStatusesOfWhatIsReady(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	looked := 0
	for _, l := range list {
		for _, listed := range l.Entries {
			e, err := catalog.Lookup(l.Key, listed.Name)
			require.NoError(t, err)
			if e.Job == nil || e.Job.Describe == e.Name {
				continue
			}
			r := pollOf(t, e, statusNames(e.Operation.Output, 4, nil))
			for _, s := range r.Statuses {
				if s.Verdict != pollcore.Success || s.Failure != nil {
					continue
				}
				eachStatus(s.Answer, e.Operation.Output, "", func(path, value string, values []string) {
					looked++
					settled := slices.ContainsFunc(values, func(v string) bool {
						return !strings.Contains(strings.ToLower(v), "ing") && strings.Contains(strings.ToLower(v), "succe")
					})
					require.False(t, settled && underway.MatchString(value) && !strings.HasSuffix(value, "Warning"), "%s %s: %s is %s", e.FullName(), s.Name, path, value)
				})
			}
		}
	}
	require.Greater(t, looked, 200)
}

// The other statuses of an answer by the one that is polled.
func TestStatusesBesideTheOneThatIsPolled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ service, entry, status, member, want string }{
		{"cloudformation", "ChangeSetCreateComplete", "CREATE_COMPLETE", "ExecutionStatus", "AVAILABLE"},
		{"cloudformation", "ChangeSetCreateComplete", "CREATE_IN_PROGRESS", "ExecutionStatus", "UNAVAILABLE"},
		{"cloudformation", "ChangeSetCreateComplete", "FAILED", "ExecutionStatus", "UNAVAILABLE"},
		{"cloudformation", "StackRefactorCreateComplete", "CREATE_COMPLETE", "ExecutionStatus", "AVAILABLE"},
		{"cloudformation", "StackRefactorExecuteComplete", "EXECUTE_IN_PROGRESS", "Status", "CREATE_COMPLETE"},
		{"lambda", "FunctionUpdated", "InProgress", "State", "Active"},
		{"lambda", "FunctionUpdated", "Failed", "State", "Active"},
		{"lambda", "FunctionActive", "Pending", "State", "Pending"},
		{"sagemaker", "TrainingJobCompletedOrStopped", "Failed", "SecondaryStatus", "Failed"},
		{"sagemaker", "CreateHyperParameterTuningJob", "Completed", "BestTrainingJob.TrainingJobStatus", "Completed"},
		{"backup", "StartRestoreJob", "COMPLETED", "ValidationStatus", "SUCCESSFUL"},
		{"backup", "StartRestoreJob", "RUNNING", "ValidationStatus", "VALIDATING"},
		{"dms", "ReplicationTaskStopped", "stopped", "ReplicationTasks[0].StopReason", "Stop Reason FULL_LOAD_ONLY_FINISHED"},
		{"redshift-data", "ExecuteStatement", "FINISHED", "SubStatements[0].Status", "FINISHED"},
		{"dynamodb", "TableExists", "ACTIVE", "Table.GlobalSecondaryIndexes[0].IndexStatus", "ACTIVE"},
		{"ec2", "VpcAvailable", "available", "Vpcs[0].CidrBlockAssociationSet[0].CidrBlockState.State", "associated"},
		{"omics", "ReadSetActivationJobCompleted", "COMPLETED", "sources[0].status", "FINISHED"},
	} {
		t.Run(c.entry+" "+c.status+" "+c.member, func(t *testing.T) {
			t.Parallel()
			e, err := catalog.Lookup(c.service, c.entry)
			require.NoError(t, err)
			r := pollOf(t, e, strings.Split(strings.ReplaceAll(c.member, "[0]", ""), "."))
			i := slices.IndexFunc(r.Statuses, func(s simulate.StatusResponse) bool { return s.Name == c.status })
			require.GreaterOrEqual(t, i, 0, "%v", r.Statuses)
			require.Equal(t, c.want, at(r.Statuses[i].Answer, c.member))
		})
	}
}

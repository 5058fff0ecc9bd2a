package simulate_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// pollLoop is a loop in JSONata on an operation, with the rules of its Choice.
func pollLoop(t *testing.T, resource string, arguments map[string]any, rules ...[2]string) *asl.StateMachine {
	t.Helper()
	choices := make([]any, len(rules))
	for i, rule := range rules {
		choices[i] = map[string]any{"Condition": "{% " + rule[0] + " %}", "Next": rule[1]}
	}
	text, err := json.Marshal(map[string]any{"QueryLanguage": "JSONata", "StartAt": "First", "TimeoutSeconds": 7200, "States": map[string]any{
		"Get":    map[string]any{"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:" + resource, "Arguments": arguments, "Next": "Done?"},
		"Done?":  map[string]any{"Type": "Choice", "Choices": choices, "Default": "Failed"},
		"First":  map[string]any{"Type": "Choice", "Choices": []any{map[string]any{"Condition": "{% false %}", "Next": "Ok"}}, "Default": "Get"},
		"Wait":   map[string]any{"Type": "Wait", "Seconds": 60, "Next": "Get"},
		"Ok":     map[string]any{"Type": "Succeed"},
		"Failed": map[string]any{"Type": "Fail", "Error": "Q"},
	}})
	require.NoError(t, err)
	m, err := asl.Parse(text)
	require.NoError(t, err)
	return m
}

// A simulated poll of what is not over has a status for which the loop asks again, of the entry
// that the loop is for. Loops on RDS, Redshift and EKS got "DBInstanceStatus", or the answer of
// another entry, and those that fail by Default failed at once.
func TestLoopsPollOnForTheRunningStatus(t *testing.T) {
	t.Parallel()
	none := map[string]any{}
	const (
		instance = "$states.input.DbInstances[0].DbInstanceStatus"
		cluster  = "$states.input.Clusters[0].ClusterStatus"
		eks      = "$states.input.Cluster.Status"
		task     = "$states.input.Tasks[0].LastStatus"
	)
	tests := []struct {
		name, resource string
		arguments      map[string]any
		rules          [][2]string
	}{
		{"RDS that is created", "rds:describeDBInstances", none, [][2]string{{instance + " = 'available'", "Ok"}, {instance + " = 'creating'", "Wait"}}},
		{"RDS that is changed", "rds:describeDBInstances", none, [][2]string{{instance + " = 'available'", "Ok"}, {instance + " = 'modifying'", "Wait"}}},
		{
			"RDS with a word of the machine", "rds:describeDBInstances", none,
			[][2]string{{instance + " = 'available'", "Ok"}, {instance + " in ['backing-up', 'modifying']", "Wait"}},
		},
		{"Redshift", "redshift:describeClusters", none, [][2]string{{cluster + " = 'available'", "Ok"}, {cluster + " = 'creating'", "Wait"}}},
		{"EKS", "eks:describeCluster", map[string]any{"Name": "c"}, [][2]string{{eks + " = 'ACTIVE'", "Ok"}, {eks + " = 'CREATING'", "Wait"}}},
		{"ECS", "ecs:describeTasks", map[string]any{"Tasks": []any{"t"}}, [][2]string{{task + " = 'STOPPED'", "Ok"}, {task + " in ['PROVISIONING', 'PENDING', 'RUNNING']", "Wait"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := pollLoop(t, tt.resource, tt.arguments, tt.rules...)
			o := simulate.Options{Specs: []simulate.Spec{{Spread: mock.Exactly(10 * time.Minute)}}}
			o.Polls, o.Running = lint.Polled(lint.Loops(m, lint.Options{}))
			r := simulated(t, m, nil, o)
			require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s", r.Error, r.Cause)
			require.Equal(t, 10*time.Minute, r.Duration())
		})
	}
}

// No entry is simulated with a made-up status while its job runs, where one is known: not even
// for a machine that names each of its statuses.
func TestNoMadeUpStatusWhileAJobRuns(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	none, madeUp := map[string]any{}, map[string]bool{}
	path, statuses := regexp.MustCompile(`^[\w.\[\]]+\w$`), 0
	for _, s := range list {
		for _, listed := range s.Entries {
			e, err := catalog.Lookup(s.Key, listed.Name)
			require.NoError(t, err)
			resource := e.Service.ARNName + ":" + strings.ToLower(e.Operation.Name[:1]) + e.Operation.Name[1:]
			var rules [][2]string
			var names []string
			for _, a := range e.Waiter.Acceptors {
				m := a.Matcher.Output
				if m == nil || !path.MatchString(m.Path) {
					continue
				}
				if name := m.Path[strings.LastIndex(m.Path, ".")+1:]; !slices.Contains(names, name) {
					names = append(names, name)
					rules = append(rules, [2]string{"$states.input." + javasdk.MemberName(name) + " = 1", "Wait"})
				}
			}
			if rules == nil {
				continue
			}
			responses, _, err := simulate.Responses(pollLoop(t, resource, none, rules...), simulate.Options{
				Models: models.Load, Polls: map[string]*catalog.Entry{"Get": e},
			})
			require.NoError(t, err)
			r := responses["Get"]
			if len(r.Statuses) == 0 {
				continue
			}
			statuses++
			answer, err := json.Marshal(r.Statuses[r.Running].Answer)
			require.NoError(t, err)
			for _, name := range names {
				madeUp[e.FullName()] = madeUp[e.FullName()] || strings.Contains(string(answer), `"`+javasdk.MemberName(name)+`":"`+name+`"`)
			}
		}
	}
	maps.DeleteFunc(madeUp, func(_ string, is bool) bool { return !is })
	require.Empty(t, madeUp)
	require.Greater(t, statuses, 300)
}

// A failure that --ends means is one that the status tells, where one does. Of an ECS task it
// was a list of failures beside a task of the status "lastStatus", and then one without an exit
// code.
func TestFailureOfATaskThatStopped(t *testing.T) {
	t.Parallel()
	const task = "$states.input.Tasks[0]"
	m := pollLoop(t, "ecs:describeTasks", map[string]any{"Tasks": []any{"t"}},
		[2]string{task + ".LastStatus = 'STOPPED' and $count(" + task + ".Containers[ExitCode != 0]) = 0", "Ok"},
		[2]string{task + ".LastStatus = 'RUNNING'", "Wait"})
	e, err := catalog.Lookup("ecs", "RunTask")
	require.NoError(t, err)
	r := simulated(t, m, nil, simulate.Options{
		Specs: []simulate.Spec{{Spread: mock.Exactly(10 * time.Minute)}}, Ends: "failure", Polls: map[string]*catalog.Entry{"Get": e},
	})
	require.Equal(t, "Q", r.Error, r.Cause)
	require.Equal(t, 10*time.Minute, r.Duration())
}

// A Task that polls what no answer lets end is told, as its answer never changes.
func TestTasksThatPollForEver(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("ecs", "DaemonActive")
	require.NoError(t, err)
	m := pollLoop(t, "ecs:describeDaemon", map[string]any{"DaemonArn": "d"}, [2]string{"$states.input.Daemon.Status = 'ACTIVE'", "Ok"}, [2]string{"true", "Wait"})
	plan, err := simulate.New(m, simulate.Options{
		Models: models.Load, Specs: []simulate.Spec{{Spread: mock.Exactly(time.Minute)}}, Polls: map[string]*catalog.Entry{"Get": e},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"Get"}, plan.Endless)
	require.Empty(t, plan.Jobs)
}

// What is deleted is there while it is deleted, and then not found, as the service says it. It was
// there for ever, or gone in a list that was empty.
func TestDeletionsEndByTheErrorOfTheService(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		resource, running, gone string
		arguments               map[string]any
	}{
		"EKS":         {"eks:describeCluster", "$states.input.Cluster.Status = 'DELETING'", "Eks.ResourceNotFoundException", map[string]any{"Name": "c"}},
		"RDS":         {"rds:describeDBInstances", "$states.input.DbInstances[DbInstanceIdentifier = 'd'].DbInstanceStatus = 'deleting'", "Rds.DbInstanceNotFoundException", map[string]any{"DbInstanceIdentifier": "d"}},
		"Redshift":    {"redshift:describeClusters", "$states.input.Clusters[0].ClusterStatus = 'deleting'", "Redshift.ClusterNotFoundException", map[string]any{"ClusterIdentifier": "c"}},
		"ElastiCache": {"elasticache:describeReplicationGroups", "$states.input.ReplicationGroups[ReplicationGroupId = 'r'].Status = 'deleting'", "ElastiCache.ReplicationGroupNotFoundException", map[string]any{"ReplicationGroupId": "r"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := pollLoop(t, tt.resource, tt.arguments, [2]string{tt.running, "Wait"})
			m.State("Get").Catch = []asl.Catcher{{ErrorEquals: []string{tt.gone}, Next: "Ok"}}
			r := simulated(t, m, nil, simulate.Options{Specs: []simulate.Spec{{Spread: mock.Exactly(10 * time.Minute)}}})
			require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s", r.Error, r.Cause)
			require.Equal(t, 10*time.Minute, r.Duration())
		})
	}
}

// An answer has the ids that the request asked for, so that a filter for one finds it, and an item
// for each of several.
func TestAnswersHaveTheIDsOfTheRequest(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		resource, ok, running string
		arguments             map[string]any
	}{
		"a filter of ElastiCache": {
			"elasticache:describeReplicationGroups", "$states.input.ReplicationGroups[ReplicationGroupId = 'r'].Status = 'available'",
			"$states.input.ReplicationGroups[ReplicationGroupId = 'r'].Status = 'creating'",
			map[string]any{"ReplicationGroupId": "r"},
		},
		"a filter of EMR": {
			"emr:describeCluster", "$states.input.Cluster[Id = 'j'].Status.State = 'WAITING'",
			"$states.input.Cluster[Id = 'j'].Status.State in ['STARTING', 'BOOTSTRAPPING']",
			map[string]any{"ClusterId": "j"},
		},
		"three builds": {
			"codebuild:batchGetBuilds", "$count($states.input.Builds[BuildStatus = 'SUCCEEDED' and Id in ['a', 'b', 'c'] and CurrentPhase = 'COMPLETED']) = 3",
			"$count($states.input.Builds[BuildStatus = 'IN_PROGRESS' and CurrentPhase != 'COMPLETED']) = 3",
			map[string]any{"Ids": []any{"a", "b", "c"}},
		},
		"two instances": {
			"ec2:describeInstances", "$states.input.Reservations.Instances[InstanceId = 'i-2'].State.Name = 'running'",
			"$states.input.Reservations.Instances[InstanceId = 'i-2'].State.Name = 'pending'",
			map[string]any{"InstanceIds": []any{"i-1", "i-2"}},
		},
		"a certificate": {
			"acm:describeCertificate", "$states.input.Certificate[CertificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/a'].Status = 'ISSUED'",
			"$states.input.Certificate.Status = 'PENDING_VALIDATION'",
			map[string]any{"CertificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/a"},
		},
		"a cluster of Redshift that is restored": {
			"redshift:describeClusters", "$states.input.Clusters[0].ClusterStatus = 'available' and $states.input.Clusters[0].RestoreStatus.Status = 'completed'",
			"$states.input.Clusters[0].ClusterStatus = 'creating'",
			map[string]any{"ClusterIdentifier": "c"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := pollLoop(t, tt.resource, tt.arguments, [2]string{tt.ok, "Ok"}, [2]string{tt.running, "Wait"})
			r := simulated(t, m, nil, simulate.Options{Specs: []simulate.Spec{{Spread: mock.Exactly(10 * time.Minute)}}})
			require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s", r.Error, r.Cause)
			require.Equal(t, 10*time.Minute, r.Duration())
		})
	}
}

// A Task that waits for what is not there yet by its Retry polls, too. The object was there at once.
func TestTasksThatPollByTheirRetry(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Get", "States": {"Get": {
		"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:headObject", "Parameters": {"Bucket": "b", "Key": "k"}, "End": true,
		"Retry": [{"ErrorEquals": ["S3.NoSuchKeyException"], "IntervalSeconds": 60, "BackoffRate": 1, "MaxAttempts": 20}]}}}`))
	require.NoError(t, err)
	r := simulated(t, m, nil, simulate.Options{Specs: []simulate.Spec{{Spread: mock.Exactly(10 * time.Minute)}}})
	require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s", r.Error, r.Cause)
	require.Equal(t, 10*time.Minute, r.Duration())
}

// The code of a reason is of a failure: nobody knows which one a job has that goes well.
func TestReasonCodesAreOfFailures(t *testing.T) {
	t.Parallel()
	m := pollLoop(t, "lambda:getFunctionConfiguration", map[string]any{"FunctionName": "f"},
		[2]string{"$states.input.LastUpdateStatus = 'Successful'", "Ok"}, [2]string{"$states.input.LastUpdateStatus = 'InProgress'", "Wait"},
		[2]string{"$states.input.LastUpdateStatusReasonCode = 'EniLimitExceeded'", "Failed"})
	for end, want := range map[string]bool{"Successful": false, "Failed": true} {
		o := simulate.Options{Models: models.Load, Specs: []simulate.Spec{{Spread: mock.Exactly(10 * time.Minute), Ends: end}}}
		o.Polls, o.Running = lint.Polled(lint.Loops(m, lint.Options{}))
		plan, err := simulate.New(m, o)
		require.NoError(t, err)
		text, err := plan.JSON()
		require.NoError(t, err)
		require.Equal(t, want, strings.Contains(string(text), "LastUpdateStatusReasonCode"), string(text))
	}
}

package compile_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/tests/race"
)

func compiled(t *testing.T, service, name string, o compile.Options) *compile.Compiled {
	t.Helper()
	e, err := catalog.Lookup(service, name)
	require.NoError(t, err)
	m, err := compile.Compile(e.Waiter, compile.CallOf(e), o)
	require.NoError(t, err)
	return m
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		service, entry string
		options        compile.Options
		want           string
	}{
		"poll": {"dynamodb", "ExportCompleted", compile.Options{Strategy: compile.RetryTask}, `{
			"Version": "2012-10-17",
			"Statement": [{"Effect": "Allow", "Action": ["dynamodb:DescribeExport"], "Resource": ["arn:*:dynamodb:*:*:table/*/export/*"]}]
		}`},
		"start": {"dynamodb", "ExportTableToPointInTime", compile.Options{Strategy: compile.Loop}, `{
			"Version": "2012-10-17",
			"Statement": [
				{"Effect": "Allow", "Action": ["dynamodb:DescribeExport"], "Resource": ["arn:*:dynamodb:*:*:table/*/export/*"]},
				{"Effect": "Allow", "Action": ["dynamodb:ExportTableToPointInTime"], "Resource": ["arn:*:dynamodb:*:*:table/*"]},
				{"Effect": "Allow", "Action": ["s3:AbortMultipartUpload", "s3:PutObject", "s3:PutObjectAcl"], "Resource": ["arn:*:s3:::*/*"]}
			]
		}`},
		"start and stop": {"rds", "StartExportTask", compile.Options{Strategy: compile.Variables}, `{
			"Version": "2012-10-17",
			"Statement": [
				{"Effect": "Allow", "Action": ["iam:PassRole"], "Resource": ["arn:*:iam::*:role/*"],
					"Condition": {"StringEquals": {"iam:PassedToService": ["export.rds.amazonaws.com"]}}},
				{"Effect": "Allow", "Action": ["kms:CreateGrant", "kms:DescribeKey"], "Resource": ["arn:*:kms:*:*:key/*"]},
				{"Effect": "Allow", "Action": ["rds:CancelExportTask", "rds:DescribeExportTasks", "rds:StartExportTask"], "Resource": ["*"]}
			]
		}`},
		"an action with another name": {"s3", "ObjectExists", compile.Options{Strategy: compile.Variables}, `{
			"Version": "2012-10-17",
			"Statement": [{"Effect": "Allow", "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": ["*"]}]
		}`},
		"roles of several services": {"emr", "RunJobFlow", compile.Options{Strategy: compile.Variables}, `{
			"Version": "2012-10-17",
			"Statement": [
				{"Effect": "Allow", "Action": ["elasticmapreduce:DescribeCluster", "elasticmapreduce:TerminateJobFlows"], "Resource": ["arn:*:elasticmapreduce:*:*:cluster/*"]},
				{"Effect": "Allow", "Action": ["elasticmapreduce:RunJobFlow"], "Resource": ["*"]},
				{"Effect": "Allow", "Action": ["iam:PassRole"], "Resource": ["arn:*:iam::*:role/*"],
					"Condition": {"StringEquals": {"iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]}}},
				{"Effect": "Allow", "Action": ["iam:PassRole"], "Resource": ["arn:*:iam::*:role/*"],
					"Condition": {"StringEquals": {"iam:PassedToService": ["elasticmapreduce.amazonaws.com", "elasticmapreduce.amazonaws.com.cn"]}}}
			]
		}`},
		"functions by name": {"dynamodb", "ExportTableToPointInTime", compile.Options{Strategy: compile.LambdaRetry}, `{
			"Version": "2012-10-17",
			"Statement": [{"Effect": "Allow", "Action": ["lambda:InvokeFunction"], "Resource": [
				"arn:*:lambda:*:*:function:jobpoller-checkstatus", "arn:*:lambda:*:*:function:jobpoller-runjob"]}]
		}`},
		"functions by ARN": {"dynamodb", "ExportTableToPointInTime", compile.Options{
			Strategy:       compile.LambdaLoop,
			RunJobFunction: "arn:aws:lambda:eu-west-1:123456789012:function:run:live", CheckStatusFunction: "123456789012:function:check",
		}, `{
			"Version": "2012-10-17",
			"Statement": [{"Effect": "Allow", "Action": ["lambda:InvokeFunction"], "Resource": [
				"arn:*:lambda:*:123456789012:function:check", "arn:aws:lambda:eu-west-1:123456789012:function:run:live"]}]
		}`},
		"functions of a template": {"dynamodb", "ExportTableToPointInTime", compile.Options{
			Strategy: compile.LambdaLoop, RunJobFunction: "${RunJob}", CheckStatusFunction: "{% $check %}",
		}, `{
			"Version": "2012-10-17",
			"Statement": [{"Effect": "Allow", "Action": ["lambda:InvokeFunction"], "Resource": ["arn:*:lambda:*:*:function:*"]}]
		}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.options.MaxWait = 10 * time.Minute
			text, err := json.Marshal(compiled(t, tt.service, tt.entry, tt.options).Policy)
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(text))
		})
	}
}

// Each action is there for a call of the definition, or because the service
// makes it for who starts the job; and each call has its actions.
func TestEveryActionIsNeeded(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	tested := 0
	for _, s := range race.OneIn(6, list) {
		for _, l := range s.Entries {
			e, err := catalog.Lookup(s.Key, l.Name)
			require.NoError(t, err)
			for _, strategy := range noLambda {
				m, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: strategy, MaxWait: 2 * time.Hour})
				if err != nil {
					require.ErrorIs(t, err, compile.ErrNotCompiled)
					continue
				}
				tested++
				require.Equal(t, neededFor(t, m.Machine, e.Service), allowed(t, m.Policy), "%s %s", s.Key, l.Name)
			}
		}
	}
	require.Greater(t, tested, race.Of(1000, 150))
}

// neededFor are the actions of the calls in a definition, sorted.
func neededFor(t *testing.T, m *asl.StateMachine, s *catalog.Service) []string {
	t.Helper()
	actions := map[string]bool{}
	for _, op := range called(t, m, s) {
		for _, action := range op.Actions {
			actions[action] = true
		}
		if job := s.Jobs[op.Name]; job != nil {
			for _, d := range job.Dependent {
				if arns, _ := job.On(d.Resource, nil); len(arns) > 0 {
					actions[d.Action] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(actions))
}

// allowed are the actions of a policy, sorted.
func allowed(t *testing.T, p compile.Policy) []string {
	t.Helper()
	var actions []string
	for _, statement := range p.Statement {
		require.Equal(t, "Allow", statement.Effect)
		require.NotEmpty(t, statement.Resource)
		require.True(t, slices.IsSorted(statement.Action))
		require.True(t, slices.IsSorted(statement.Resource))
		require.NotContains(t, strings.Join(statement.Resource, " "), "$", "IAM takes it for a variable")
		require.NotContains(t, strings.Join(statement.Action, " "), "*")
		actions = append(actions, statement.Action...)
	}
	return slices.Compact(slices.Sorted(slices.Values(actions))) // a role of each service has a statement
}

// called are the operations of a service that a definition calls.
func called(t *testing.T, m *asl.StateMachine, s *catalog.Service) []*catalog.Operation {
	t.Helper()
	var all []*catalog.Operation
	for state := range m.All {
		if state.Task == nil {
			continue
		}
		r := asl.ParseResource(state.Task.Resource)
		service, ok := r.SDK()
		require.True(t, ok, state.Task.Resource)
		require.Equal(t, s.ARNName, service)
		for name, op := range s.Operations {
			if strings.EqualFold(name, r.Action) {
				all = append(all, op)
			}
		}
	}
	require.NotEmpty(t, all)
	return all
}

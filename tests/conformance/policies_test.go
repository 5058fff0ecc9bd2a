package conformance_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// openActions are actions on all resources that know some: the reference marks all of
// them optional, and which of them a call touches depends on its settings.
var openActions = []string{
	"account:EnableRegion", "account:GetRegionOptStatus", "braket:CreateJob", "cassandra:Create", "cloudformation:DescribeStacks",
	"controltower:EnableControl", "dms:DescribeReplicationTaskAssessmentRuns", "ec2:CancelExportTask",
	"ec2:CancelImportTask", "elasticbeanstalk:DescribeEnvironments", "elasticfilesystem:DescribeFileSystems",
	"es:CreateDomain", "iotsitewise:CreateBulkImportJob", "iotsitewise:DescribeBulkImportJob",
	"lambda:GetProvisionedConcurrencyConfig", "lambda:PutProvisionedConcurrencyConfig", "lex:DescribeImport",
	"lex:StartImport", "mediaconvert:CreateJob", "polly:StartSpeechSynthesisTask", "rds:DescribeBlueGreenDeployments",
	"rds:DescribeDBClusterSnapshots", "rds:DescribeDBClusters", "rds:DescribeDBInstances", "rds:DescribeDBSnapshots",
	"rds:DescribeExportTasks", "rds:StartExportTask", "redshift:DescribeClusterSnapshots", "redshift:DescribeClusters",
	"rekognition:StartMediaAnalysisJob", "sagemaker:CreateModelPackage", "translate:CreateParallelData",
	"translate:GetParallelData", "translate:StartTextTranslationJob",
	"cassandra:Restore", "cassandra:Select", // on the restored table and the one that it is restored from
	"deadline:BatchGetJob", "glue:BatchGetDataQualityRulesetEvaluationRun", "mediaconvert:GetJobsQueryResults",
	"mediaconvert:StartJobsQuery", // which the reference does not have yet
}

// critical matches ARNs of resources that a policy must name in full, but for the objects
// in a bucket.
var critical = regexp.MustCompile(`^arn:\*:(iam|kms|lambda|s3::|secretsmanager):`)

// unnamedRoles are jobs that pass roles which no argument names.
var unnamedRoles = []string{"ecs:RunTask"} // those of the task definition

// The policy of each job names all that literal arguments name, and has an asterisk only
// where the action takes no resource, or a table here says why.
func TestPoliciesOfAllJobs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/actions-without-resources.txt")
	require.NoError(t, err)
	without := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
			without[line] = true
		}
	}
	used := map[string]bool{}
	compiled := 0
	for _, e := range allJobs(t) {
		job, err := catalog.AWS().Resolve(e.FullName())
		require.NoError(t, err)
		arguments := literalArguments(e.Job)
		known := map[string][]string{} // ARNs by action
		for _, p := range job.Permissions() {
			arns, members := e.Job.On(p.Resource, arguments)
			require.Empty(t, members, "%s: %s", job.FullName, p.Action)
			known[p.Action] = append(known[p.Action], arns...)
			if !slices.Contains(unnamedRoles, job.FullName) {
				requireNamed(t, job.FullName+": "+p.Action, arns)
			}
			if !slices.Contains(arns, "*") {
				continue
			}
			used[p.Action] = true
			if !without[p.Action] && !slices.Contains(openActions, p.Action) {
				t.Errorf("%s: %s is on all resources", job.FullName, p.Action)
			}
		}
		if policy := policyOf(t, e, arguments); policy != nil {
			compiled++
			for _, s := range policy.Statement {
				for _, action := range s.Action {
					require.Subset(t, known[action], s.Resource, "%s: %s", job.FullName, action)
				}
			}
		}
	}
	require.Greater(t, compiled, 110)
	for action := range without {
		require.True(t, used[action], "no job needs %s on all resources", action)
	}
	for _, action := range openActions {
		require.True(t, used[action], "no job needs %s on all resources", action)
		require.False(t, without[action], action)
	}
}

// requireNamed requires that critical ARNs have the name that the arguments have.
func requireNamed(t *testing.T, what string, arns []string) {
	t.Helper()
	for _, arn := range arns {
		if name := arn[strings.LastIndex(arn, ":")+1:]; critical.MatchString(arn) {
			require.NotContains(t, strings.TrimSuffix(name, "/*"), "*", "%s on %s", what, arn)
			require.Contains(t, name, "mine", "%s on %s", what, arn)
		}
	}
}

// policyOf returns the policy of a machine that starts the job; nil if no strategy can take the job.
func policyOf(t *testing.T, e *catalog.Entry, arguments map[string]any) *compile.Policy {
	t.Helper()
	for _, strategy := range []compile.Strategy{compile.Variables, compile.RetryTask, compile.Loop} {
		call := compile.CallOf(e)
		call.Start.Arguments = arguments
		m, err := compile.Compile(e.Waiter, call, compile.Options{Strategy: strategy, MaxWait: 2 * time.Hour})
		if err != nil {
			require.ErrorIs(t, err, compile.ErrNotCompiled, e.FullName())
			continue
		}
		require.Empty(t, m.Unnamed, e.FullName())
		return &m.Policy
	}
	return nil
}

// literalArguments name everything that the job has names for.
func literalArguments(j *catalog.Job) map[string]any {
	arguments := map[string]any{}
	for _, naming := range j.Names {
		for value, paths := range map[string][]string{"mine": naming.Name, "arn:aws:a:b:1:mine": naming.ARN, "s3://mine/a": naming.S3} {
			for _, member := range paths {
				in, path := arguments, strings.Split(member, ".")
				for _, name := range path[:len(path)-1] {
					next, ok := in[name].(map[string]any)
					if !ok {
						next = map[string]any{}
						in[name] = next
					}
					in = next
				}
				in[path[len(path)-1]] = value
			}
		}
	}
	return arguments
}

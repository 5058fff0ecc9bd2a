package derived_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/derived"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/catalog/sources"
)

// judgement is what a person says of the job that an operation starts, with the models at hand. Reason is for what is not
// plain, such as a status that is in no set.
type judgement struct {
	Service   string            `json:"service"`
	Start     string            `json:"start"`
	Describe  string            `json:"describe"`
	Arguments map[string]string `json:"arguments"`
	Status    string            `json:"status"`
	Success   []string          `json:"success"`
	Failure   []string          `json:"failure"`
	Running   []string          `json:"running"`
	Reason    string            `json:"reason"`
}

func load(t *testing.T, service string) *catalog.Service {
	t.Helper()
	s, err := models.Load(service)
	require.NoError(t, err)
	return s
}

// What follows from a model is what a person says who reads it.
func TestJudged(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/judged.json")
	require.NoError(t, err)
	var all []judgement
	require.NoError(t, json.Unmarshal(text, &all))
	require.Len(t, all, 130, "docs/reference/catalog.md says how many there are")
	for _, want := range all {
		name := want.Service + ":" + want.Start
		e, err := derived.Lookup(load(t, want.Service), want.Start)
		require.NoError(t, err, name)
		got := judgement{
			e.Service.Key, e.Name, e.Operation.Name, e.Job.Arguments, e.Job.Status, e.Job.Success, e.Job.Failure, e.Job.Running, want.Reason,
		}
		require.Equal(t, want, got, name)
		require.Equal(t, catalog.Derived, e.Kind, name)
	}
}

// What a model does not tell, or tells in two ways, has no entry.
func TestNotDerived(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ service, describe, reason string }{
		"action":        {"sagemaker", "DescribeAction", "CreateAction sets the status: it is the caller's word"},
		"ops item":      {"ssm", "GetOpsItem", "UpdateOpsItem sets the status: people work on it"},
		"probe":         {"networkmonitor", "GetProbe", "UpdateProbe sets the state"},
		"budget action": {"budgets", "DescribeBudgetAction", "an action goes through executions, reversals and resets, long after it is made"},
		"session":       {"databrew", "DescribeProject", "SessionStatus is of the session of a project, not of its creation"},
		"delegation":    {"iam", "GetDelegationRequest", "PermissionCheckStatus is of a part of the request"},
		"network":       {"medialive", "DescribeNetwork", "ACTIVE and IDLE may both be what the creation leads to"},
		"set":           {"guardduty", "GetIPSet", "Activate says whether the set begins ACTIVE or INACTIVE"},
		"route":         {"migration-hub-refactor-spaces", "GetRoute", "ActivationState says whether the route begins ACTIVE or INACTIVE"},
		"rule":          {"route53resolver", "GetResolverRule", "no status says that the creation goes on"},
		"deployment":    {"launch-wizard", "GetDeployment", "COMPLETED and UPDATE_COMPLETED are of two changes"},
		"left out":      {"lookoutequipment", "DescribeDataIngestionJob", "left-out.json says why"},
		"reviewed":      {"athena", "GetQueryExecution", "the catalogue has it"},
		"no job":        {"s3", "GetBucketVersioning", "it has no status of a job"},
		"a list":        {"ec2", "DescribeInstances", "it is about several things"},
	} {
		o := load(t, c.service).Operations[c.describe]
		require.NotNil(t, o, name)
		require.Nil(t, derived.Of(o), "%s: %s", name, c.reason)
	}
}

// No person has decided about the job of an entry, and each entry holds together: its calls have the members that it names, its
// sets are values of the status, and none is in two.
func TestEveryEntryIsWhole(t *testing.T) {
	t.Parallel()
	list, err := models.List()
	require.NoError(t, err)
	count := 0
	for _, l := range list {
		s := load(t, l.Key)
		for _, e := range derived.Entries(s) {
			count++
			name := e.FullName()
			_, err := catalog.Lookup(l.Key, e.Name)
			if found, _ := catalog.AWS().Find(l.Key); found != nil && found.Key == l.Key {
				require.ErrorIs(t, err, catalog.ErrNotFound, name)
			}
			require.NotContains(t, sources.LeftOut(), name)
			require.Contains(t, s.Operations, e.Name)
			for member := range e.Job.Arguments {
				require.NotNil(t, e.Operation.Input.Member(member), "%s %s", name, member)
			}
			all := slices.Concat(e.Job.Success, e.Job.Failure, e.Job.Running)
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(all))), len(all), name)
			require.NoError(t, e.Waiter.Validate(), name)
			require.NotEmpty(t, e.Operation.Actions, name)
		}
	}
	require.Equal(t, 288, count, "docs/reference/catalog.md says how many there are")
}

// An entry has the name of its start call and of its waiter.
// A job that somebody stopped has failed, and one that did a part of its work, too: neither goes on.
func TestEndsThatAreNoSuccess(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ failure, partial []string }{
		"comprehend:StartFlywheelIteration":      {failure: []string{"FAILED", "STOPPED"}},
		"textract:StartDocumentInsights":         {[]string{"FAILED", "PARTIAL_SUCCESS"}, []string{"PARTIAL_SUCCESS"}},
		"datazone:StartMetadataGenerationRun":    {[]string{"CANCELED", "FAILED", "PARTIALLY_SUCCEEDED"}, []string{"PARTIALLY_SUCCEEDED"}},
		"chime:CreatePhoneNumberOrder":           {[]string{"Failed", "Partial"}, []string{"Partial"}},
		"voice-id:StartFraudsterRegistrationJob": {[]string{"COMPLETED_WITH_ERRORS", "FAILED"}, []string{"COMPLETED_WITH_ERRORS"}},
		"apigatewayv2:CreateVpcLink":             {failure: []string{"FAILED"}}, // INACTIVE comes long after
	} {
		service, start, _ := strings.Cut(name, ":")
		e, err := derived.Lookup(load(t, service), start)
		require.NoError(t, err, name)
		require.Equal(t, want.failure, e.Job.Failure, name)
		require.Equal(t, want.partial, e.Job.Partial, name)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	s := load(t, "kendra")
	byStart, err := derived.Lookup(s, "create-index")
	require.NoError(t, err)
	byWaiter, err := derived.Lookup(s, "IndexCreated")
	require.NoError(t, err)
	require.Equal(t, byStart.Name, byWaiter.Name)
	_, err = derived.Lookup(s, "CreateIndx")
	require.ErrorIs(t, err, catalog.ErrNotFound)
	require.ErrorContains(t, err, `did you mean "CreateIndex"?`)
}

package wait

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// What an ID stands for, of each kind of entry.
func TestIDOfEntries(t *testing.T) {
	t.Parallel()
	tests := []struct {
		service, name string
		given         []string
		want          string // empty for none
	}{
		{"ec2", "InstanceRunning", nil, "InstanceIds"},
		{"ec2", "ImageAvailable", nil, "ImageIds"},
		{"ec2", "SnapshotCompleted", nil, "SnapshotIds"},
		{"ec2", "SecurityGroupExists", nil, ""}, // GroupIds or GroupNames
		{"ec2", "SecurityGroupExists", []string{"GroupNames"}, "GroupIds"},
		{"rds", "DBSnapshotAvailable", nil, "DBSnapshotIdentifier"},
		{"rds", "StartExportTask", nil, "ExportTaskIdentifier"},
		{"cloudformation", "StackCreateComplete", nil, "StackName"},
		{"elbv2", "LoadBalancerAvailable", nil, "Names or LoadBalancerArns"},
		{"s3", "ObjectExists", nil, ""}, // Bucket and Key
		{"s3", "ObjectExists", []string{"Bucket"}, "Key"},
		{"glue", "StartJobRun", nil, "RunId"}, // the start call answers it
		{"emr", "AddJobFlowSteps", nil, "StepIds"},
		{"mgn", "StartTest", nil, "jobID"}, // within a filter
		{"eks", "NodegroupActive", nil, ""},
		{"resiliencehubv2", "ReportSucceeded", nil, ""}, // of two things
		{"iam", "GenerateCredentialReport", nil, ""},
	}
	for _, tt := range tests {
		entry, err := catalog.AWS().Lookup(tt.service, tt.name)
		require.NoError(t, err)
		got := ""
		if place := findID(entry, tt.given); place != nil {
			got = place.name()
		}
		require.Equal(t, tt.want, got, "%s %s", tt.service, tt.name)
	}
}

// An ID makes an input that lacks nothing but what has to be given besides.
func TestIDsOfAllEntries(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	count := 0
	for _, service := range list {
		for _, listed := range service.Entries {
			entry, err := catalog.AWS().Lookup(service.Key, listed.Name)
			require.NoError(t, err)
			if findID(entry, nil) == nil {
				continue
			}
			count++
			s := Subject{Entry: entry, IDs: []string{"arn:aws:x"}}
			for _, m := range inputMembers(entry) {
				if isID := isAnsweredBy(entry, m.Name); (m.Required || m.In == catalog.InPath) && !isID {
					s.Params = append(s.Params, m.Name+"="+sampleParam(m.Shape))
				}
			}
			targets, err := s.Targets(nil)
			require.NoError(t, err, "%s", entry.FullName())
			require.Len(t, targets, 1)
		}
	}
	require.Equal(t, 535, count)
}

// isAnsweredBy tells whether the ID of an entry stands for a member.
func isAnsweredBy(e *catalog.Entry, member string) bool {
	for _, m := range findID(e, nil).members {
		if m.Name == member {
			return true
		}
	}
	return false
}

// sampleParam is a value of --param for a shape.
func sampleParam(shape *catalog.Shape) string {
	if len(shape.Enum) > 0 {
		return shape.Enum[0]
	}
	switch shape.Type {
	case catalog.List:
		return sampleParam(shape.Element.Shape)
	case catalog.Integer, catalog.Long:
		return "1"
	default:
		return "x"
	}
}

// The first of two members that an ID may stand for is its name, the second its ARN.
func TestIDThatIsAnARN(t *testing.T) {
	t.Parallel()
	entry, err := catalog.AWS().Lookup("elbv2", "LoadBalancerAvailable")
	require.NoError(t, err)
	for id, member := range map[string]string{"web": "Names", "arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/web/1": "LoadBalancerArns"} {
		s := Subject{Entry: entry, IDs: []string{id}}
		targets, err := s.Targets(nil)
		require.NoError(t, err)
		require.Equal(t, []Target{{id, map[string]any{member: []any{id}}}}, targets)
		// Of an answer that has both, the ARN is taken: it is never ambiguous.
		s.IDs = []string{"-"}
		answer := `{"LoadBalancers": [{"Name": "web", "LoadBalancerArn": "arn:x"}, {"LoadBalancerArn": "arn:x"}, {"LoadBalancerArn": "arn:y"}]}`
		targets, err = s.Targets(strings.NewReader(answer))
		require.NoError(t, err)
		require.Equal(t, []Target{
			{"arn:x", map[string]any{"LoadBalancerArns": []any{"arn:x"}}}, {"arn:y", map[string]any{"LoadBalancerArns": []any{"arn:y"}}},
		}, targets)
	}
}

// Wait takes no more IDs than it can poll, wherever they come from.
func TestTooManyIDs(t *testing.T) {
	t.Parallel()
	entry, err := catalog.AWS().Lookup("ec2", "InstanceRunning")
	require.NoError(t, err)
	ids := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("i-%d", i))
		}
		return all
	}
	forms := map[string]func([]string) (*Subject, string){
		"arguments": func(ids []string) (*Subject, string) { return &Subject{Entry: entry, IDs: ids}, "" },
		"words": func(ids []string) (*Subject, string) {
			return &Subject{Entry: entry, IDs: []string{"-"}}, strings.Join(ids, "\n")
		},
		"JSON": func(ids []string) (*Subject, string) {
			text, err := json.Marshal(ids)
			require.NoError(t, err)
			return &Subject{Entry: entry, IDs: []string{"-"}}, string(text)
		},
	}
	for name, form := range forms {
		s, text := form(ids(maxTargets))
		targets, err := s.Targets(strings.NewReader(text))
		require.NoError(t, err, name)
		require.Len(t, targets, maxTargets)
		s, text = form(ids(maxTargets + 1))
		_, err = s.Targets(strings.NewReader(text))
		require.ErrorContains(t, err, "wait takes at most 100 IDs at once, found more", name)
	}
}

// The inputs of several IDs share what --input says, and no --param changes it.
func TestParamsOfSeveralIDs(t *testing.T) {
	t.Parallel()
	entry, err := catalog.AWS().Lookup("inspector2", "ConnectorConnected")
	require.NoError(t, err)
	base := map[string]any{"filterCriteria": map[string]any{}}
	for range 2 {
		input := maps.Clone(base)
		given := kit.Params{`filterCriteria.provider={"comparison": "EQUALS", "value": "AZURE"}`, `filterCriteria.connectorArns={"comparison": "EQUALS", "value": "arn"}`}
		require.NoError(t, given.Set(input, entry.Operation.Input))
		require.Len(t, input["filterCriteria"], 2)
		for _, items := range input["filterCriteria"].(map[string]any) {
			require.Len(t, items, 1)
		}
	}
	require.Empty(t, base["filterCriteria"])
}

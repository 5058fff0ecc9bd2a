package clients_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/stretchr/testify/require"
)

// stateMachineResource makes the calls of Terraform's aws_sfn_state_machine, in its
// order. The provider itself comes from no registry of packages, so this stands in for
// it.
type stateMachineResource struct {
	*sfn.Client

	arn string
}

// plan validates, as the provider does before each plan.
func (r *stateMachineResource) plan(t *testing.T, definition string) {
	t.Helper()
	valid, err := r.ValidateStateMachineDefinition(t.Context(), &sfn.ValidateStateMachineDefinitionInput{
		Definition: &definition, Type: types.StateMachineTypeStandard, Severity: types.ValidateStateMachineDefinitionSeverityError,
	})
	require.NoError(t, err)
	require.Equal(t, types.ValidateStateMachineDefinitionResultCodeOk, valid.Result)
}

func (r *stateMachineResource) create(t *testing.T, definition string) {
	t.Helper()
	r.plan(t, definition)
	created, err := r.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String("tf-orders"), Definition: &definition, RoleArn: aws.String(role), Type: types.StateMachineTypeStandard, Publish: true,
		Tags:                 []types.Tag{{Key: aws.String("team"), Value: aws.String("orders")}},
		LoggingConfiguration: &types.LoggingConfiguration{Level: types.LogLevelOff},
		TracingConfiguration: &types.TracingConfiguration{Enabled: true},
	})
	require.NoError(t, err)
	r.arn = *created.StateMachineArn
}

// read is the refresh before each plan and after each change.
func (r *stateMachineResource) read(t *testing.T) (machine *sfn.DescribeStateMachineOutput, versions []string, tags map[string]string) {
	t.Helper()
	machine, err := r.DescribeStateMachine(t.Context(), &sfn.DescribeStateMachineInput{StateMachineArn: &r.arn})
	require.NoError(t, err)
	list, err := r.ListStateMachineVersions(t.Context(), &sfn.ListStateMachineVersionsInput{StateMachineArn: &r.arn})
	require.NoError(t, err)
	for _, v := range list.StateMachineVersions {
		versions = append(versions, *v.StateMachineVersionArn)
	}
	tagged, err := r.ListTagsForResource(t.Context(), &sfn.ListTagsForResourceInput{ResourceArn: &r.arn})
	require.NoError(t, err)
	tags = map[string]string{}
	for _, tag := range tagged.Tags {
		tags[*tag.Key] = *tag.Value
	}
	return machine, versions, tags
}

func (r *stateMachineResource) update(t *testing.T, definition string) {
	t.Helper()
	r.plan(t, definition)
	_, err := r.UntagResource(t.Context(), &sfn.UntagResourceInput{ResourceArn: &r.arn, TagKeys: []string{"team"}})
	require.NoError(t, err)
	_, err = r.TagResource(t.Context(), &sfn.TagResourceInput{ResourceArn: &r.arn, Tags: []types.Tag{{Key: aws.String("stage"), Value: aws.String("test")}}})
	require.NoError(t, err)
	_, err = r.UpdateStateMachine(t.Context(), &sfn.UpdateStateMachineInput{
		StateMachineArn: &r.arn, Definition: &definition, RoleArn: aws.String(role), Publish: true, VersionDescription: aws.String(""),
		TracingConfiguration: &types.TracingConfiguration{Enabled: false},
	})
	require.NoError(t, err)
}

func (r *stateMachineResource) remove(t *testing.T) {
	t.Helper()
	_, err := r.DeleteStateMachine(t.Context(), &sfn.DeleteStateMachineInput{StateMachineArn: &r.arn})
	require.NoError(t, err)
	_, err = r.DescribeStateMachine(t.Context(), &sfn.DescribeStateMachineInput{StateMachineArn: &r.arn})
	require.ErrorAs(t, err, new(*types.StateMachineDoesNotExist))
}

// Terraform sees after each apply what it applied, so the next plan is empty.
func TestProviderCalls(t *testing.T) {
	t.Parallel()
	r := &stateMachineResource{Client: newClient(t, startServe(t).endpoint)}
	const first = `{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}`
	r.create(t, first)
	machine, versions, tags := r.read(t)
	require.Equal(t, first, *machine.Definition)
	require.Equal(t, role, *machine.RoleArn)
	require.Equal(t, types.LogLevelOff, machine.LoggingConfiguration.Level)
	require.True(t, machine.TracingConfiguration.Enabled)
	require.Equal(t, []string{r.arn + ":1"}, versions)
	require.Equal(t, map[string]string{"team": "orders"}, tags)

	const second = `{"StartAt": "B", "States": {"B": {"Type": "Succeed"}}}`
	r.update(t, second)
	machine, versions, tags = r.read(t)
	require.Equal(t, second, *machine.Definition)
	require.False(t, machine.TracingConfiguration.Enabled)
	require.Equal(t, []string{r.arn + ":2", r.arn + ":1"}, versions, "the provider takes the first as the newest")
	require.Equal(t, map[string]string{"stage": "test"}, tags)

	alias, err := r.CreateStateMachineAlias(t.Context(), &sfn.CreateStateMachineAliasInput{
		Name: aws.String("live"), RoutingConfiguration: []types.RoutingConfigurationListItem{{StateMachineVersionArn: &versions[0], Weight: 100}},
	})
	require.NoError(t, err)
	described, err := r.DescribeStateMachineAlias(t.Context(), &sfn.DescribeStateMachineAliasInput{StateMachineAliasArn: alias.StateMachineAliasArn})
	require.NoError(t, err)
	require.Equal(t, "live", *described.Name)
	_, err = r.DeleteStateMachineAlias(t.Context(), &sfn.DeleteStateMachineAliasInput{StateMachineAliasArn: alias.StateMachineAliasArn})
	require.NoError(t, err)
	r.remove(t)
	say("suite clients: the calls of Terraform's provider: create, two refreshes, update, alias, delete")
}

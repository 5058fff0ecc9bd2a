package source_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/source"
)

// The functions of a template have what it says of them. What only a deployment knows is
// not there, and a version or an alias is its function.
func TestFunctions(t *testing.T) {
	t.Parallel()
	const template = `
Parameters: {Stage: {Type: String, Default: test}, Team: {Type: String}}
Globals:
  Function: {Handler: bootstrap, Environment: {Variables: {A: all, B: all, G: all}}}
Resources:
  Sam:
    Type: AWS::Serverless::Function
    Properties: {Environment: {Variables: {B: !Ref Bucket, C: 7, D: !Ref Stage, E: !Sub "${Stage}-${Team}", F: !Sub "${Stage}-x", G: ""}}}
  RunJob12AB:
    Type: AWS::Lambda::Function
    Properties: {Handler: run-job, Environment: {Variables: {JOBPOLLER_TABLE: {Ref: Records}, JOBPOLLER_JOBS: "shop:Report"}}}
  RunJobVersion: {Type: AWS::Lambda::Version, Properties: {FunctionName: {Ref: RunJob12AB}}}
  RunJobLive: {Type: AWS::Lambda::Alias, Properties: {FunctionName: !Ref RunJob12AB, Name: live}}
  Elsewhere: {Type: AWS::Lambda::Version, Properties: {FunctionName: other}}
  Odd: {Type: AWS::Lambda::Function, Properties: {Handler: !If [Prod, a, b], Environment: !Ref X}}
  Bare: {Type: AWS::Lambda::Function}
  Bucket: {Type: AWS::S3::Bucket}
  M:
    Type: AWS::StepFunctions::StateMachine
    Properties: {Definition: {Comment: !Sub "${Stage} ${Team}", StartAt: A, States: {A: {Type: Pass, End: true}}}}
`
	load := func(o source.Options) map[string]source.Function {
		d, err := source.LoadOne(t.Context(), "template.yaml", o)
		require.NoError(t, err)
		return d.Functions()
	}
	files := fstest.MapFS{"template.yaml": {Data: []byte(template)}, "a.json": {Data: []byte(`{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}`)}}
	runJob := source.Function{ID: "RunJob12AB", Handler: "run-job", Environment: map[string]string{"JOBPOLLER_JOBS": "shop:Report"}}
	want := map[string]source.Function{
		"Sam":        {ID: "Sam", Handler: "bootstrap", Environment: map[string]string{"A": "all", "C": "7", "D": "test", "F": "test-x", "G": ""}},
		"RunJob12AB": runJob, "RunJobVersion": runJob, "RunJobLive": runJob,
		"Odd":  {ID: "Odd", Environment: map[string]string{}},
		"Bare": {ID: "Bare", Environment: map[string]string{}},
	}
	require.Equal(t, want, load(source.Options{FS: files}))

	want["Sam"].Environment["D"], want["Sam"].Environment["E"], want["Sam"].Environment["F"] = "prod", "prod-blue", "prod-x"
	require.Equal(t, want, load(source.Options{FS: files, Values: map[string]string{"Stage": "prod", "Team": "blue"}}))

	d, err := source.LoadOne(t.Context(), "a.json", source.Options{FS: files})
	require.NoError(t, err)
	require.Empty(t, d.Functions(), "it has no template")
}

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// The app synthesizes as the CDK's command lets it, and the state machine runs to each of its ends, which the Lambda
// function and Glue decide.
func TestReports(t *testing.T) {
	t.Parallel()
	folder := synthesized(t)
	requirePackages(t, folder)
	definition := deployed(t, folder)
	function := func(status, reason string) any {
		return map[string]any{"Payload": map[string]any{
			"status": status, "reason": reason, "output": map[string]any{"ExportDescription": map[string]any{"ExportArn": "arn:export"}},
		}}
	}
	glue := func(status string) any { return map[string]any{"JobRun": map[string]any{"JobRunState": status}} }
	exported := func(check *mock.Script) {
		check.Fail("JobPoller.Running", "").Times(4).Return(function("SUCCEEDED", "")).Times(2)
	}
	curated := func(get *mock.Script) { get.Return(glue("RUNNING")).Times(3).Return(glue("SUCCEEDED")) }
	for name, c := range map[string]struct {
		check, get func(*mock.Script) // what the function CheckStatus and Glue say
		failure    string
		starts     int // of the Glue job
		stops      int
	}{
		"both succeed": {exported, curated, "", 1, 0},
		"an export fails": {
			func(check *mock.Script) {
				check.Return(function("SUCCEEDED", "")).Return(function("FAILED", "no such bucket"))
			},
			curated, "JobPoller.Failed: no such bucket", 0, 0,
		},
		"an export takes too long": {
			func(check *mock.Script) { check.Return(function("TIMED_OUT", "still IN_PROGRESS")).Times(2) },
			curated, "JobPoller.TimedOut: still IN_PROGRESS", 0, 0,
		},
		"Glue fails": {
			exported, func(get *mock.Script) { get.Return(glue("RUNNING")).Return(glue("FAILED")) }, "JobPoller.Failed", 1, 0,
		},
		"Glue takes too long": {
			exported, func(get *mock.Script) { get.Return(glue("RUNNING")).Times(1000) }, "JobPoller.TimedOut", 1, 1,
		},
		"Glue has lost the run": {
			exported, func(get *mock.Script) { get.Fail("Glue.EntityNotFoundException", "no such run") }, "no such run", 1, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := simtest.New(t, definition)
			s.On("ExportRunJob").Return(map[string]any{"Payload": map[string]any{"job": "handle"}}).Times(2)
			c.check(s.On("ExportCheckStatus"))
			s.On("CurateStartJobRun").Return(map[string]any{"JobRunId": "jr_1"})
			c.get(s.On("CurateGetJobRun"))
			s.On("CurateBatchStopJobRun").Return(map[string]any{})
			run := s.Run(`{"tables": ["arn:orders", "arn:customers"], "bucket": "exports"}`)
			if c.failure == "" {
				run.RequireSucceeded().RequireVisits("Reported", 1)
			} else {
				run.RequireFailed("NoReports", c.failure).RequireVisits("Reported", 0)
			}
			require.Len(t, s.Calls("CurateBatchStopJobRun"), c.stops)
			starts := s.Calls("CurateStartJobRun")
			require.Len(t, starts, c.starts)
			for _, start := range starts {
				require.Equal(t, map[string]any{"JobName": "curate", "Arguments": map[string]any{"--exports": "arn:export,arn:export"}}, start.Arguments)
			}
			// Each table has a job of its own.
			for _, state := range []string{"ExportRunJob", "ExportCheckStatus"} {
				calls := map[string]int{}
				for _, call := range s.Calls(state) {
					event := call.Arguments.(map[string]any)["Payload"].(map[string]any)
					require.Equal(t, "Export", event["Poller"])
					calls[event["Scope"].(json.Number).String()]++
				}
				require.Equal(t, map[string]int{"0": len(s.Calls(state)) / 2, "1": len(s.Calls(state)) / 2}, calls)
			}
		})
	}
}

// deployed is the definition that CloudFormation makes of what was synthesized: a
// reference is the logical ID of what is referred to.
func deployed(t *testing.T, folder string) string {
	t.Helper()
	var template struct {
		Resources map[string]struct {
			Type       string
			Properties struct {
				DefinitionString struct {
					Join []json.RawMessage `json:"Fn::Join"`
				}
			}
		}
	}
	readJSON(t, filepath.Join(folder, "Reports.template.json"), &template)
	for _, resource := range template.Resources {
		if resource.Type != "AWS::StepFunctions::StateMachine" {
			continue
		}
		var parts []any
		require.NoError(t, json.Unmarshal(resource.Properties.DefinitionString.Join[1], &parts))
		var definition strings.Builder
		for _, part := range parts {
			switch part := part.(type) {
			case string:
				definition.WriteString(part)
			case map[string]any:
				switch attribute, ok := part["Fn::GetAtt"].([]any); {
				case ok:
					definition.WriteString(attribute[0].(string))
				case part["Ref"] == "AWS::Partition":
					definition.WriteString("aws")
				default: // a version of a function
					definition.WriteString(part["Ref"].(string))
				}
			}
		}
		return definition.String()
	}
	require.Fail(t, "there is no state machine")
	return ""
}

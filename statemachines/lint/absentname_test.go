package lint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// A field that reads, while a job runs, what by its name is there only after a failure or an end has a warning where
// no entry of the catalogue says when it is there. One that is read later, asked for first, or required has none.
func TestAbsentMembersByName(t *testing.T) {
	t.Parallel()
	const (
		importJob = "mailmanager:getAddressListImportJob"
		dataset   = "bedrockagentcore:getDatasetGeneration"
		fails     = ": then the state fails with States.Runtime, which nothing catches; "
		select1   = "give it a default by States.JsonMerge, or select the object around it"
	)
	for name, c := range map[string]struct{ call, status, selects, fail, want string }{
		"reason": {
			importJob, "Status", `"Why.$": "$.Error"`, `"Error": "E"`,
			"Look: Error may be missing in the answer of mailmanager:GetAddressListImportJob with Status PROCESSING, as it tells of a failure by its name" + fails + select1,
		},
		"time of the end": {
			importJob, "Status", `"At.$": "$.CompletedTimestamp"`, `"Error": "E"`,
			"Look: CompletedTimestamp may be missing in the answer of mailmanager:GetAddressListImportJob with Status PROCESSING, as it is the time of an end by its name" +
				fails + select1,
		},
		"item of a list": {
			dataset, "Status", `"Why.$": "$.ErrorDetails[0].ErrorCode"`, `"Error": "E"`,
			"Look: ErrorDetails may be empty in the answer of bedrock-agentcore:GetDatasetGeneration with Status IN_PROGRESS, as it tells of a failure by its name" +
				fails + "select the whole list",
		},
		"whole list":          {dataset, "Status", `"Why.$": "$.ErrorDetails"`, `"Error": "E"`, ""},
		"beside what is read": {importJob, "Status", `"Why.$": "$.JobId"`, `"Error": "Error"`, ""},
		"after the failure":   {importJob, "Status", `"All.$": "$"`, `"Error": "E", "CausePath": "$.run.All.Error"`, ""},
		"as text":             {importJob, "Status", `"All.$": "States.JsonToString($)"`, `"Error": "E"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := func(value string) string { return `{"Variable": "$.run.S", "StringEquals": "` + value + `"}` }
			m, err := asl.Parse([]byte(`{"StartAt": "Pause", "TimeoutSeconds": 3600, "States": {
				"Pause": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
				"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:` + c.call + `", "Parameters": {"JobId.$": "$.id"},
					"ResultSelector": {"S.$": "$.` + c.status + `", ` + c.selects + `}, "ResultPath": "$.run",
					"Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "Next": "Which"},
				"Which": {"Type": "Choice", "Choices": [
					{"Or": [` + is("CREATED") + `, ` + is("PROCESSING") + `, ` + is("WAITING") + `, ` + is("IN_PROGRESS") + `], "Next": "Pause"},
					{"Or": [` + is("COMPLETED") + `], "Next": "Done"}], "Default": "Lost"},
				"Done": {"Type": "Succeed"}, "Lost": {"Type": "Fail", ` + c.fail + `}}}`))
			require.NoError(t, err)
			types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
			require.NoError(t, err)
			var found []string
			for _, f := range lint.Check(m, lint.Options{Types: types}) {
				if f.Rule == typecheck.AbsentMember {
					require.Equal(t, diag.Warning, f.Severity)
					found = append(found, m.StateAt(f.Pointer).Name+": "+f.Message)
				}
			}
			require.Equal(t, c.want, strings.Join(found, "\n"))
			require.NotContains(t, rulesOf(lint.Check(m, lint.Options{Types: types, Off: []string{typecheck.AbsentMember}})), typecheck.AbsentMember)
		})
	}
}

// rulesOf are the rules of findings.
func rulesOf(findings []lint.Finding) []string {
	var rules []string
	for _, f := range findings {
		rules = append(rules, f.Rule)
	}
	return rules
}

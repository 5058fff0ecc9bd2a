package catalog_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// Each row of always.json names members of its operation's answer that the model does not require, and
// says where that is from.
func TestMembersOfEachAnswer(t *testing.T) {
	t.Parallel()
	rows := readAlways(t)
	require.NotEmpty(t, rows)
	for _, row := range rows {
		service, err := models.Load(row.Service)
		require.NoError(t, err)
		require.Equal(t, row.Service, service.Key)
		operation := service.Operations[row.Operation]
		require.NotNil(t, operation, "%s:%s", row.Service, row.Operation)
		require.Equal(t, row.Members, operation.Always())
		require.NotEmpty(t, row.Source)
		for _, path := range row.Members {
			shape, required := operation.Output, true
			for part := range strings.SplitSeq(path, ".") {
				name, isList := strings.CutSuffix(part, "[0]")
				m := shape.Member(name)
				require.NotNil(t, m, "%s has no %s", row.Operation, path)
				shape, required = m.Shape, required && m.Required
				if isList {
					require.Equal(t, catalog.List, shape.Type)
					shape = shape.Element.Shape
				}
			}
			require.False(t, required, "%s requires %s", row.Operation, path)
		}
	}
}

// A member whose source speaks of an end of the job is not in each answer: the table of presence says since when.
func TestMembersOfTheAnswersAboutAnEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ service, entry, member string }{
		{"transcribe", "StartTranscriptionJob", "TranscriptionJob.Transcript.TranscriptFileUri"},
		{"transcribe", "StartMedicalTranscriptionJob", "MedicalTranscriptionJob.Transcript.TranscriptFileUri"},
		{"organizations", "CreateAccount", "CreateAccountStatus.AccountId"},
	} {
		e, err := catalog.Lookup(c.service, c.entry)
		require.NoError(t, err)
		require.Contains(t, e.Operation.Always(), c.member)
		require.Equal(t, catalog.AfterSuccess, e.Operation.Presence[c.member], c.member)
	}
	ends := regexp.MustCompile(`(?i)completed|successful|succeeded|failed|ended|as that of`)
	rows := readAlways(t)
	told := 0
	eachEntry(t, func(e *catalog.Entry) {
		for _, row := range rows {
			if row.Service != e.Service.Key || row.Operation != e.Operation.Name {
				continue
			}
			for _, member := range row.Members {
				told++
				_, later := e.Operation.Presence[member]
				require.Equal(t, ends.MatchString(row.Source), later, "%s: %s", e.FullName(), member)
			}
		}
	})
	require.Greater(t, told, 5)
}

// alwaysRow is a row of always.json.
type alwaysRow struct {
	Service   string   `json:"service"`
	Operation string   `json:"operation"`
	Source    string   `json:"source"`
	Members   []string `json:"members"`
}

func readAlways(t *testing.T) (rows []alwaysRow) {
	t.Helper()
	text, err := os.ReadFile("always.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &rows))
	return rows
}

package catalog_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// Each row of nonempty.json is of a text of the model that has no least length there.
func TestMembersThatAreNeverEmpty(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("nonempty.json")
	require.NoError(t, err)
	var rows []struct {
		Service string `json:"service"`
		Shape   string `json:"shape"`
		Member  string `json:"member"`
		Source  string `json:"source"`
	}
	require.NoError(t, json.Unmarshal(text, &rows))
	require.NotEmpty(t, rows)
	for _, row := range rows {
		service, err := models.Load(row.Service)
		require.NoError(t, err)
		require.NotEmpty(t, row.Source)
		require.True(t, service.NeverEmpty(row.Shape, row.Member))
		found := false
		for _, op := range service.Operations {
			found = found || hasText(op.Input, row.Shape, row.Member)
		}
		require.True(t, found, "%s has no %s.%s without a least length", row.Service, row.Shape, row.Member)
		require.False(t, service.NeverEmpty(row.Shape, "Other"))
	}
}

// hasText tells whether a shape is, or has, a structure of the name with a text of the name.
func hasText(s *catalog.Shape, structure, member string) bool {
	switch {
	case s == nil:
		return false
	case s.Element != nil:
		return hasText(s.Element.Shape, structure, member)
	}
	for i := range s.Members {
		m := &s.Members[i]
		if s.Name == structure && m.Name == member && m.Shape.Type == catalog.String && m.Shape.Min == "" {
			return true
		}
		if m.Shape.Type == catalog.List && hasText(m.Shape, structure, member) {
			return true
		}
	}
	return false
}

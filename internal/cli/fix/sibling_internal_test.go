package fix

import (
	"errors"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/source"
)

// A module that cannot be read is a reason not to change a file of it. What fix prints stays.
func TestUnreadModuleIsAReason(t *testing.T) {
	t.Parallel()
	var c cobra.Command
	c.SetContext(t.Context())
	s := &siblings{of: &edited{Machine: &source.Machine{Definition: &source.Definition{File: "main.tf"}}}, unread: errors.New("no disk")}
	reason, err := s.whyNotShared(&c, []byte("text"), nil, nil)
	require.NoError(t, err)
	require.Equal(t, "main.tf may give the text of other definitions, which fix cannot read: no disk", reason)
}

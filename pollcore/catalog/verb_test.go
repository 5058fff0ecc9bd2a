package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

func TestVerbOfAnOperation(t *testing.T) {
	t.Parallel()
	for operation, want := range map[string]catalog.Verb{
		"CreateDBInstance": {Name: "Create", Aim: catalog.AimReady, Makes: true},
		"createStack":      {Name: "Create", Aim: catalog.AimReady, Makes: true},
		"ResizeCluster":    {Name: "Resize", Aim: catalog.AimReady},
		"PauseCluster":     {Name: "Pause", Aim: catalog.AimStopped},
		"DeregisterImage":  {Name: "Deregister", Aim: catalog.AimGone},
		"DescribeClusters": {},
		"Runtime":          {},
	} {
		got := catalog.VerbOf(operation)
		if want.Name == "" {
			require.Nil(t, got, operation)
			continue
		}
		require.NotNil(t, got, operation)
		require.Equal(t, want, *got, operation)
	}
}

func TestAimOfAnEntry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		service, entry string
		want           catalog.Aim
	}{
		{"rds", "DBInstanceAvailable", catalog.AimReady},
		{"rds", "DBInstanceDeleted", catalog.AimGone},
		{"dynamodb", "TableNotExists", catalog.AimGone},
		{"ec2", "InstanceStopped", catalog.AimStopped},
		{"athena", "StartQueryExecution", catalog.AimReady},
	} {
		e, err := catalog.Lookup(c.service, c.entry)
		require.NoError(t, err)
		require.Equal(t, c.want, e.Aim(), c.entry)
	}
}

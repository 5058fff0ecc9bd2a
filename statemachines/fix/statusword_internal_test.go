package fix

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

func TestOrIn(t *testing.T) {
	t.Parallel()
	const or, other = `{"Or": [{"StringEquals": "A"}]}`, `{"Or": [{"StringEquals": "B"}]}`
	for rule, want := range map[string]string{
		or: "/Or",
		`{"And": [{"IsPresent": true}, ` + or + `]}`: "/And/1/Or",
		`{"And": [` + or + `, ` + other + `]}`:       "",
		`{"And": [{"IsPresent": true}]}`:             "",
		`{"StringEquals": "A"}`:                      "",
	} {
		root, err := jsontree.Parse([]byte(rule))
		require.NoError(t, err)
		at := ""
		if found := orIn(root.Root); found != nil {
			at = found.Pointer()
		}
		require.Equal(t, want, at, rule)
	}
}

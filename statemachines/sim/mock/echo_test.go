package mock_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

// A list in the answer repeats the list of the call; a list of things has one for each id.
func TestEchoOfLists(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer, arguments, want any
		echoes                  map[string]string
	}{
		"a list": {
			map[string]any{"Command": map[string]any{"InstanceIds": []any{"InstanceIds"}}},
			map[string]any{"InstanceIds": []any{"a", "b"}},
			map[string]any{"Command": map[string]any{"InstanceIds": []any{"a", "b"}}},
			map[string]string{"InstanceIds": "Command.InstanceIds"},
		},
		"an empty list": {
			map[string]any{"Ids": []any{"Ids"}},
			map[string]any{"Ids": []any{}},
			map[string]any{"Ids": []any{}},
			map[string]string{"Ids": "Ids"},
		},
		"a list of each thing": {
			map[string]any{"Jobs": []any{map[string]any{"Names": []any{"Names"}}}},
			map[string]any{"Names": []any{"a", "b"}},
			map[string]any{"Jobs": []any{map[string]any{"Names": []any{"a", "b"}}}},
			map[string]string{"Names": "Jobs[0].Names"},
		},
		"a thing for each id": {
			map[string]any{"Jobs": []any{map[string]any{"Id": "Id"}}},
			map[string]any{"Ids": []any{"a", "b"}},
			map[string]any{"Jobs": []any{map[string]any{"Id": "a"}, map[string]any{"Id": "b"}}},
			map[string]string{"Ids": "Jobs[0].Id"},
		},
		"no list in the answer": {
			map[string]any{}, map[string]any{"Ids": []any{"a"}}, map[string]any{}, map[string]string{"Ids": "Ids"},
		},
	} {
		answer, err := mock.Echo(c.answer, c.arguments, c.echoes)
		require.NoError(t, err, name)
		require.Equal(t, c.want, answer, name)
	}
}

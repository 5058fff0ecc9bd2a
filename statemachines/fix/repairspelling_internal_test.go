package fix

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPutMember(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"one place":                  {"$.r.Sttus", "$.r.Status"},
		"in a text":                  {"States.Format('{}', $.r.Sttus)", "States.Format('{}', $.r.Status)"},
		"two of one path":            {"{% $exists($states.input.r.Sttus) and $states.input.r.Sttus = 'DONE' %}", "{% $exists($states.input.r.Status) and $states.input.r.Status = 'DONE' %}"},
		"below the member":           {"{% $r.Sttus.Code = 1 and $r.Sttus.Name = 'x' %}", "{% $r.Status.Code = 1 and $r.Status.Name = 'x' %}"},
		"of an item":                 {"$.r.Jobs[0].Sttus", "$.r.Jobs[0].Status"},
		"of two objects":             {"{% $a.Sttus = 'DONE' and $b.Sttus = 'DONE' %}", ""},
		"a word beside the member":   {"{% $a.Sttus = 'Sttus' %}", ""},
		"a longer name":              {"$.r.SttusText", ""},
		"beside a longer name":       {"{% $r.Sttus = 'A' and $r.SttusText = 'b' %}", "{% $r.Status = 'A' and $r.SttusText = 'b' %}"},
		"a path in another spelling": {"$['r'].Sttus", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, ok := putMember(test.text, "Sttus", "Status")
			require.Equal(t, test.want != "", ok)
			if ok {
				require.Equal(t, test.want, text)
			}
		})
	}
}

func TestReadsInput(t *testing.T) {
	t.Parallel()
	require.True(t, readsInput("/States/Done?/Choices/0/Variable"))
	require.True(t, readsInput("/States/Tell/Parameters/Message.$"))
	require.True(t, readsInput("/States/Output result/Parameters/OutputLocation.$"))
	require.True(t, readsInput("/States/Each/ItemProcessor/States/Catch/Parameters/Assign/x.$"))
	require.False(t, readsInput("/States/Each/ItemProcessor/States/Look/ResultPath"))
	for _, pointer := range []string{"/States/Look/ResultSelector/status.$", "/States/Look/OutputPath", "/States/Look/Assign/status.$", "/States/Look/Catch/0/Output"} {
		require.False(t, readsInput(pointer), pointer)
	}
}

package edit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/edit"
)

// An item that moves takes the comments that are its own, and leaves the others.
func TestMovesKeepComments(t *testing.T) {
	t.Parallel()
	block := func(choices, end string) string {
		return "StartAt: C\nStates:\n  C:\n    Type: Choice\n    Choices:\n" + choices + end
	}
	const (
		first  = "      # first\n      # of all\n      - Next: A # a\n        Condition: a\n        # inside of a\n"
		second = "      - # second\n        Next: B\n"
		other  = "      - Next: B   # b\n"
		third  = "    # third\n      - Next: C\n        Or:\n          # within\n          - Next: D # d\n"
	)
	for name, c := range map[string]struct{ before, at, to, after string }{
		"lines":                       {block(first+other+third, "    Default: D\n"), "2", "0", block(third+first+other, "    Default: D\n")},
		"neighbours":                  {block(first+other+third, "    # ours\n    Default: D\n"), "2", "1", block(first+third+other, "    # ours\n    Default: D\n")},
		"blank lines stay":            {block(first+"\n"+other+"\n\n"+third, "\n    Default: D\n"), "2", "0", block(third+"\n"+first+"\n\n"+other, "\n    Default: D\n")},
		"a file that ends without \n": {block(first+other, "      - Next: C # c"), "2", "0", block("      - Next: C # c\n"+first, "      - Next: B   # b\n")},
		"in brackets": {
			"StartAt: C\nStates:\n  C:\n    Choices: [ # all\n      # a\n      {Next: A}, # is A\n      {Next: B},\n      # c\n\n      {Next: C} # is C\n    ]\n", "2", "0",
			"",
		},
		"in brackets with comments": {
			"StartAt: C\nStates:\n  C:\n    Choices: [ # all\n      # a\n      {Next: A}, # is A\n      {Next: B},\n      # c\n      # c again\n      {Next: C} # is C\n    ]\n", "2", "0",
			"StartAt: C\nStates:\n  C:\n    Choices: [ # all\n      # c\n      # c again\n      {Next: C}, # is C\n      # a\n      {Next: A}, # is A\n      {Next: B}\n    ]\n",
		},
		"on one line":           {`{"States": {"C": {"Choices": [{"a": 1},{"b":2} , {"c": [3]}]}}}`, "2", "1", `{"States": {"C": {"Choices": [{"a": 1},{"c": [3]} , {"b":2}]}}}`},
		"a dash without a line": {block(first+second, ""), "1", "0", ""},
		"between two":           {block(first+"      # of whom?\n\n"+other, ""), "1", "0", ""},
		"a comma in front":      {"StartAt: C\nStates:\n  C:\n    Choices: [{Next: A} # a\n      , {Next: B}]\n", "1", "0", ""},
		"an anchor": {
			block("      - &a\n        Next: A\n      - *a\n      - Next: B\n", ""), "2", "0", "",
		},
		"a string of a template": {
			template + "      DefinitionString: !Sub |\n        {\"States\": {\"C\": {\"Choices\": [\n          {\"Next\": \"${!A}\"},\n          {\n            \"Next\": \"${B}\"\n          }\n        ]}}}\n", "1", "0",
			template + "      DefinitionString: !Sub |\n        {\"States\": {\"C\": {\"Choices\": [\n          {\n            \"Next\": \"${B}\"\n          },\n          {\"Next\": \"${!A}\"}\n        ]}}}\n",
		},
		"a string in quotes": {
			`{"Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"DefinitionString": "{\"States\": {\"C\": {\"Choices\": [\n{\"a\": \"\\u0041\"},\n  {\"b\": 2}]}}}"}}}}`, "1", "0",
			`{"Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"DefinitionString": "{\"States\": {\"C\": {\"Choices\": [\n{\"b\": 2},\n  {\"a\": \"\\u0041\"}]}}}"}}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after, err := edit.Apply([]byte(c.before), read, edit.Edit{Op: edit.Move, At: "/States/C/Choices/" + c.at, To: "/States/C/Choices/" + c.to})
			if c.after == "" {
				require.Error(t, err, "%s", after)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.after, string(after))
		})
	}
}

func TestMovesThatAreRefused(t *testing.T) {
	t.Parallel()
	const text = `{"States": {"C": {"Choices": [1, 2, [3]], "Default": 4}}}`
	for _, places := range [][2]string{{"1", "1"}, {"0", "1"}, {"1", "2/0"}, {"1", "9"}} {
		_, err := edit.Apply([]byte(text), read, edit.Edit{Op: edit.Move, At: "/States/C/Choices/" + places[0], To: "/States/C/Choices/" + places[1]})
		require.Error(t, err, places)
	}
	_, err := edit.Apply([]byte(text), read, edit.Edit{Op: edit.Move, At: "/States/C/Default", To: "/States/C/Choices"})
	require.ErrorContains(t, err, "only an item of an array moves")
	// Another edit goes into the text that moves, or stands beside it.
	_, err = edit.Apply([]byte(text), read, edit.Edit{Op: edit.Move, At: "/States/C/Choices/1", To: "/States/C/Choices/0"}, edit.Edit{Op: edit.Replace, At: "/States/C/Choices/0", Value: raw("5")})
	require.ErrorContains(t, err, "one after the other")
	after, err := edit.Apply([]byte(text), read, edit.Edit{Op: edit.Move, At: "/States/C/Choices/1", To: "/States/C/Choices/0"}, edit.Edit{Op: edit.Before, At: "/States/C/Choices/0", Value: raw("5")})
	require.NoError(t, err)
	want := `{"States": {"C": {"Choices": [5, 2, 1, [3]], "Default": 4}}}`
	require.Equal(t, want, string(after))
}

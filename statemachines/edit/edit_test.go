package edit_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/edit"
)

func raw(text string) json.RawMessage { return json.RawMessage(text) }

const template = "Resources:\n  M:\n    Type: AWS::Serverless::StateMachine\n    Properties:\n"

func TestEditsCopyTheirNeighbours(t *testing.T) {
	t.Parallel()
	rule := raw(`{"Variable": "$.s", "StringEquals": "CANCELLED", "Next": "B"}`)
	tests := map[string]struct {
		before string
		edits  []edit.Edit
		after  string
	}{
		"rule in front of one on a line": {
			"{\"States\": {\"C\": {\"Choices\": [\n  { \"Variable\":\"$.s\", \"Next\":\"B\" }\n]}}}",
			[]edit.Edit{{Op: edit.Before, At: "/States/C/Choices/0", Value: rule}},
			"{\"States\": {\"C\": {\"Choices\": [\n  { \"Variable\":\"$.s\", \"StringEquals\":\"CANCELLED\", \"Next\":\"B\" },\n  { \"Variable\":\"$.s\", \"Next\":\"B\" }\n]}}}",
		},
		"rule on many lines, with tabs and CRLF": {
			"{\r\n\t\"States\": {\r\n\t\t\"C\": {\r\n\t\t\t\"Choices\": [\r\n\t\t\t\t{\r\n\t\t\t\t\t\"Next\": \"B\"\r\n\t\t\t\t}\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}",
			[]edit.Edit{{Op: edit.Before, At: "/States/C/Choices/0", Value: raw(`{"Next": "A"}`)}},
			"{\r\n\t\"States\": {\r\n\t\t\"C\": {\r\n\t\t\t\"Choices\": [\r\n\t\t\t\t{\r\n\t\t\t\t\t\"Next\": \"A\"\r\n\t\t\t\t},\r\n\t\t\t\t{\r\n\t\t\t\t\t\"Next\": \"B\"\r\n\t\t\t\t}\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}",
		},
		"compact": {
			`{"States":{"W":{"Type":"Wait","Next":"L"}}}`,
			[]edit.Edit{{Op: edit.Before, At: "/States/W/Next", Name: "Assign", Value: raw(`{"polls": 0, "more": [1, 2]}`)}},
			`{"States":{"W":{"Type":"Wait","Assign":{"polls":0,"more":[1,2]},"Next":"L"}}}`,
		},
		"two in front of one": {
			`{"States":{"A":{"Type":"Pass"}}}`,
			[]edit.Edit{{Op: edit.Before, At: "/States/A", Name: "B", Value: raw(`{}`)}, {Op: edit.Before, At: "/States/A", Name: "C", Value: raw(`{}`)}},
			`{"States":{"B":{},"C":{},"A":{"Type":"Pass"}}}`,
		},
		"two rules change places": {
			"{\"StartAt\": \"C\", \"Choices\": [\n  {\"Next\": \"A\"},\n  {\"Next\": \"B\"}\n]}",
			[]edit.Edit{{Op: edit.Before, At: "/Choices/0", Value: raw(`{"Next": "B"}`)}, {Op: edit.Remove, At: "/Choices/1"}},
			"{\"StartAt\": \"C\", \"Choices\": [\n  {\"Next\": \"B\"},\n  {\"Next\": \"A\"}\n]}",
		},
		"new name and new value": {
			`{"States":{"A":{"reason.$":"$.a"}}}`,
			[]edit.Edit{{Op: edit.Rename, At: "/States/A/reason.$", Name: "status.$"}, {Op: edit.Replace, At: "/States/A/reason.$", Value: raw(`"$.b"`)}},
			`{"States":{"A":{"status.$":"$.b"}}}`,
		},
		"comments, anchors elsewhere and a reference stay": {
			template + "      Definition:\n        Comment: &c it\n        Also: *c\n        StartAt: A\n        States:\n          A:\n            Type: Task\n            Resource: !Ref F # ours\n            Next: B   # then\n            # the end\n",
			[]edit.Edit{{Op: edit.Before, At: "/States/A/Next", Name: "ResultPath", Value: raw(`"$.x: y"`)}, {Op: edit.Replace, At: "/States/A/Next", Value: raw(`"C"`)}},
			template + "      Definition:\n        Comment: &c it\n        Also: *c\n        StartAt: A\n        States:\n          A:\n            Type: Task\n            Resource: !Ref F # ours\n            ResultPath: \"$.x: y\"\n            Next: C   # then\n            # the end\n",
		},
		"quotes of the neighbour": {
			"StartAt: 'A'\nStates:\n  A:\n    Type: 'Wait'\n    Next: 'B'\n",
			[]edit.Edit{{Op: edit.Before, At: "/States/A/Next", Name: "Comment", Value: raw(`"it"`)}},
			"StartAt: 'A'\nStates:\n  A:\n    Type: 'Wait'\n    Comment: 'it'\n    Next: 'B'\n",
		},
		"in brackets of YAML": {
			"StartAt: A\nStates:\n  A: {Type: Wait, Next: B}   # be gentle\n",
			[]edit.Edit{{Op: edit.Before, At: "/States/A/Next", Name: "Assign", Value: raw(`{"polls.$": "States.MathAdd($polls, 1)"}`)}},
			"StartAt: A\nStates:\n  A: {Type: Wait, Assign: {polls.$: \"States.MathAdd($polls, 1)\"}, Next: B}   # be gentle\n",
		},
		"Sub reads the text": {
			template + "      DefinitionString: !Sub |\n        {\"States\": {\n          \"A\": {\"Resource\": \"${F.Arn}\"}\n        }}\n",
			[]edit.Edit{{Op: edit.Before, At: "/States/A", Name: "B", Value: raw(`{"Resource": "${F.Arn}", "Comment": "${x}"}`)}},
			template + "      DefinitionString: !Sub |\n        {\"States\": {\n          \"B\": {\"Resource\": \"${F.Arn}\", \"Comment\": \"${!x}\"},\n          \"A\": {\"Resource\": \"${F.Arn}\"}\n        }}\n",
		},
		"string in quotes": {
			`{"Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"DefinitionString": "{\n  \"States\": {\n    \"A\": {\"Type\": \"Pass\"}\n  }\n}"}}}}`,
			[]edit.Edit{{Op: edit.Before, At: "/States/A", Name: "B", Value: raw(`{"Type": "Fail", "Cause": "a \"b\""}`)}},
			`{"Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"DefinitionString": "{\n  \"States\": {\n    \"B\": {\"Type\": \"Fail\", \"Cause\": \"a \\\"b\\\"\"},\n    \"A\": {\"Type\": \"Pass\"}\n  }\n}"}}}}`,
		},
		"a template's directive": {
			`{"States": {"A": {"Resource": "${f}"}}}`,
			[]edit.Edit{{Op: edit.Append, At: "/States/A", Name: "Output", Value: raw(`"{%{'a': 1}%}"`)}},
			`{"States": {"A": {"Resource": "${f}", "Output": "{% {'a': 1} %}"}}}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after, err := edit.Apply([]byte(test.before), read, test.edits...)
			require.NoError(t, err)
			require.Equal(t, test.after, string(after))
		})
	}
}

func TestEditsThatAreRefused(t *testing.T) {
	t.Parallel()
	anchors := "StartAt: A\nStates:\n  A:\n    Retry: &r\n      - ErrorEquals: [X]\n  B:\n    Retry: *r\n  C: &c\n    Type: Pass\n  D:\n    <<: *c\n    Next: A\n"
	insert := func(at, name string) edit.Edit {
		return edit.Edit{Op: edit.Before, At: at, Name: name, Value: raw("{}")}
	}
	tests := map[string]struct {
		before string
		edits  []edit.Edit
		reason string
	}{
		"anchor":        {anchors, []edit.Edit{insert("/States/A/Retry/0", "")}, "an anchor (&)"},
		"anchor inside": {"StartAt: A\nStates:\n  A:\n    Retry:\n      - ErrorEquals: [&x X]\n  B:\n    Comment: *x\n", []edit.Edit{{Op: edit.Remove, At: "/States/A/Retry"}}, "an anchor (&)"},
		"alias":         {anchors, []edit.Edit{insert("/States/B/Retry/0", "")}, "an anchor (&)"},
		"merged member": {anchors, []edit.Edit{{Op: edit.Replace, At: "/States/D/Type", Value: raw(`"Fail"`)}}, "a merge key (<<)"},
		"function": {
			template + "      Definition:\n        States:\n          A:\n            Resource: !Ref F\n",
			[]edit.Edit{{Op: edit.Replace, At: "/States/A/Resource", Value: raw(`"x"`)}},
			"a function or placeholder",
		},
		"several strings": {
			template + "      DefinitionString: !Join ['', ['{\"States\":', '{}}']]\n",
			[]edit.Edit{{Op: edit.Append, At: "/States", Name: "A", Value: raw("{}")}},
			"several strings",
		},
		"new placeholder": {
			`{"States": {"A": {"Resource": "${f}"}}}`,
			[]edit.Edit{{Op: edit.Append, At: "/States/A", Name: "Output", Value: raw(`"${g}"`)}},
			"would be a placeholder",
		},
		"same text twice": {
			`{"States": {"A": {"Next": "B"}}}`,
			[]edit.Edit{{Op: edit.Replace, At: "/States/A", Value: raw("{}")}, {Op: edit.Replace, At: "/States/A/Next", Value: raw(`"C"`)}},
			"one after the other",
		},
		"name that is taken": {`{"States": {"A": {}}}`, []edit.Edit{insert("/States/A", "A")}, `a member "A" already`},
		"no such place":      {`{"States": {}}`, []edit.Edit{insert("/States/A", "B")}, "no such value"},
		"name of an item":    {`{"States": {"A": {"Choices": [1]}}}`, []edit.Edit{insert("/States/A/Choices/0", "B")}, "a name is for a member alone"},
		"not JSON":           {`{"States": {}}`, []edit.Edit{{Op: edit.Replace, At: "/States", Value: raw("{")}}, "is not JSON"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after, err := edit.Apply([]byte(test.before), read, test.edits...)
			_, ok := errors.AsType[*edit.Error](err)
			require.True(t, ok, "%v %s", err, after)
			require.ErrorContains(t, err, test.reason)
			require.ErrorContains(t, err, "make the change by hand")
			require.Nil(t, after)
		})
	}
}

// No text and no edit makes it panic, or gives a text that cannot be read.
func FuzzApply(f *testing.F) {
	f.Add("StartAt: A\nStates:\n  A: {Type: Wait, Next: B}   # be gentle\n", "before", "/States/A/Next", "X", `{"a": [1]}`)
	f.Add(`{"States": {"A": {"Next": "B"}}}`, "remove", "/States/A", "", "")
	f.Add("States:\n- - a\n  - &x b\n- *x\n", "append", "/States/0", "", `"y: z"`)
	f.Add(template+"      DefinitionString: !Sub '{\"a\": [1]}'\n", "replace", "/a/0", "", `"${b}"`)
	f.Add("a: |\n  x\nb: ? y", "rename", "/a", "c", "")
	f.Fuzz(func(t *testing.T, file, op, at, name, text string) {
		after, err := edit.Apply([]byte(file), read, edit.Edit{Op: edit.Op(op), At: at, Name: name, Value: raw(text)})
		if err != nil {
			require.Nil(t, after)
			return
		}
		_, err = read(after)
		require.NoError(t, err)
	})
}

// What a variable of serverless.yml gives is told as that, at the value.
func TestValuesOfVariables(t *testing.T) {
	t.Parallel()
	const text = "custom:\n  done: {Type: Choice, Choices: [{Variable: $.x, StringEquals: A, Next: B}]}\n" +
		"stepFunctions:\n  stateMachines:\n    m: {definition: {StartAt: A, States: {A: \"${self:custom.done}\", B: {Type: Succeed}}}}\n"
	for _, e := range []edit.Edit{
		{Op: edit.Replace, At: "/States/A/Choices/0/StringEquals", Value: raw(`"C"`)},
		{Op: edit.Remove, At: "/States/A/Choices/0"},
		{Op: edit.Before, At: "/States/A/Choices", Name: "Default", Value: raw(`"B"`)},
	} {
		_, err := edit.Apply([]byte(text), read, e)
		require.ErrorContains(t, err, "a function or")
		require.NotContains(t, err.Error(), "alias", e.At)
	}
}

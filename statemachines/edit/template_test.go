package edit_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/edit"
)

// TestEditsInModules: what is written into a module is what Terraform reads as the new
// value, in the style of what stands beside it.
func TestEditsInModules(t *testing.T) {
	t.Parallel()
	before := func(at, name, value string) edit.Edit {
		return edit.Edit{Op: edit.Before, At: at, Name: name, Value: json.RawMessage(value)}
	}
	behind := func(at, name, value string) edit.Edit {
		return edit.Edit{Op: edit.Behind, At: at, Name: name, Value: json.RawMessage(value)}
	}
	replace := func(at, value string) edit.Edit {
		return edit.Edit{Op: edit.Replace, At: at, Value: json.RawMessage(value)}
	}
	tests := map[string]struct {
		before string
		edits  []edit.Edit
		after  string // of the definition
	}{
		"what would begin an interpolation or a directive is escaped": {
			"<<EOF\n{\"StartAt\": \"A\", \"States\": {}}\nEOF",
			[]edit.Edit{replace("/StartAt", `"${A} %{ if {%{'a': 1}%} $x{a: b} $"`)},
			"<<EOF\n{\"StartAt\": \"$${A} %%{ if {%%{'a': 1}%} $x{a: b} $\", \"States\": {}}\nEOF",
		},
		"lines have the indentation of the heredoc": {
			"<<-EOF\n      {\n        \"StartAt\": \"A\",\n        \"States\": {\n          \"A\": {\n            \"Type\": \"Pass\"\n          }\n        }\n      }\n    EOF",
			[]edit.Edit{behind("/States/A", "B", `{"Type": "Fail"}`)},
			"<<-EOF\n      {\n        \"StartAt\": \"A\",\n        \"States\": {\n          \"A\": {\n            \"Type\": \"Pass\"\n          },\n          \"B\": {\n            \"Type\": \"Fail\"\n          }\n        }\n      }\n    EOF",
		},
		"an expression stays one": {
			"<<EOF\n{\"StartAt\": \"A\", \"States\": {\"A\": {\"Resource\": \"${ aws_lambda_function.a.arn }:${var.b}\"}}}\nEOF",
			[]edit.Edit{behind("/States/A", "B", `{"Resource": "${aws_lambda_function.a.arn}:${var.b}:${var.c}"}`)},
			"<<EOF\n{\"StartAt\": \"A\", \"States\": {\"A\": {\"Resource\": \"${ aws_lambda_function.a.arn }:${var.b}\"}, \"B\": {\"Resource\": \"${ aws_lambda_function.a.arn }:${var.b}:$${var.c}\"}}}\nEOF",
		},
		"an expression outside of strings stays one": {
			"<<EOF\n{\"StartAt\": \"A\", \"States\": {\"A\": {\"Seconds\": ${var.n}, \"B\": 1}}}\nEOF",
			[]edit.Edit{behind("/States/A", "B", `{"Seconds": "${var.n}"}`)},
			"<<EOF\n{\"StartAt\": \"A\", \"States\": {\"A\": {\"Seconds\": ${var.n}, \"B\": 1}, \"B\": {\"Seconds\": ${var.n}}}}\nEOF",
		},
		"a string in quotes": {
			`"{\n\t\"StartAt\": \"A\",\n\t\"States\": {}\n}"`,
			[]edit.Edit{before("/States", "Comment", `"say \"${it}\"\\ \t"`)},
			`"{\n\t\"StartAt\": \"A\",\n\t\"Comment\": \"say \\\"$${it}\\\"\\\\ \\t\",\n\t\"States\": {}\n}"`,
		},
		"a name and a scalar as Terraform writes them": {
			"jsonencode({\n    StartAt = \"A\"\n    States = {}\n  })",
			[]edit.Edit{before("/States", "Comment", `"say \"${it}\" {%{'a': 1}%}"`), behind("/States", "a.$", `null`), replace("/StartAt", `"B"`)},
			"jsonencode({\n    StartAt = \"B\"\n    Comment = \"say \\\"$${it}\\\" {%%{'a': 1}%}\"\n    States = {}\n    \"a.$\"  = null\n  })",
		},
		"signs are aligned": {
			"jsonencode({\n    States = {\n      A = {\n        Type       = \"Task\" # a task\n        Parameters = { \"a.$\" = \"$.a\" }\n      }\n    }\n  })",
			[]edit.Edit{behind("/States/A/Type", "Next", `"B"`), behind("/States/A", "B", `{"Type": "Choice", "Default": "A"}`)},
			"jsonencode({\n    States = {\n      A = {\n        Type       = \"Task\" # a task\n        Next       = \"B\"\n        Parameters = { \"a.$\" = \"$.a\" }\n      }\n      B = {\n        Type    = \"Choice\"\n        Default = \"A\"\n      }\n    }\n  })",
		},
		"quotes, colons and commas": {
			"jsonencode({\n    \"States\" : {\n      \"A\" : { \"Type\" : \"Pass\" }, // one\n      \"B\" : { \"Type\" : \"Pass\" }, // two\n    }\n  })",
			[]edit.Edit{behind("/States/B", "C", `{"Type": "Fail"}`), before("/States/B", "D", `{}`)},
			"jsonencode({\n    \"States\" : {\n      \"A\" : { \"Type\" : \"Pass\" }, // one\n      \"D\" : {},\n      \"B\" : { \"Type\" : \"Pass\" }, // two\n      \"C\" : { \"Type\" : \"Fail\" }\n    }\n  })",
		},
		"an expression of an object stays one": {
			"jsonencode({ States = { A = { Resource = aws_lambda_function.a.arn, Seconds = var.n } } })",
			[]edit.Edit{behind("/States/A", "B", `{"Resource": "${aws_lambda_function.a.arn}", "Comment": "of ${aws_lambda_function.a.arn}"}`)},
			"jsonencode({ States = { A = { Resource = aws_lambda_function.a.arn, Seconds = var.n }, " +
				"B = { Resource = aws_lambda_function.a.arn, Comment = \"of ${aws_lambda_function.a.arn}\" } } })",
		},
		"a value in a local": {
			"jsonencode(local.a)\n}\nlocals {\n  a = { States = merge(local.b, {}) }\n  b = { A = { Next = \"B\" } }",
			[]edit.Edit{replace("/States/A/Next", `"C"`)},
			"jsonencode(local.a)\n}\nlocals {\n  a = { States = merge(local.b, {}) }\n  b = { A = { Next = \"C\" } }",
		},
		"a list that is empty": {
			"jsonencode({ States = { A = { Choices = [ ] } } })",
			[]edit.Edit{{Op: edit.Append, At: "/States/A/Choices", Value: json.RawMessage(`{"Next": "A"}`)}},
			"jsonencode({ States = { A = { Choices = [{ Next = \"A\" }] } } })",
		},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			head, tail := "resource \"aws_sfn_state_machine\" \"m\" {\n  definition = ", "\n}\n"
			after, err := edit.Apply([]byte(head+c.before+tail), read, c.edits...)
			require.NoError(t, err)
			require.Equal(t, head+c.after+tail, string(after))
			crlf := strings.ReplaceAll(head+c.before+tail, "\n", "\r\n")
			after, err = edit.Apply([]byte(crlf), read, c.edits...)
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(head+c.after+tail, "\n", "\r\n"), string(after))
		})
	}
}

// TestEditsThatModulesCompute: a value that Terraform computes has no place to be changed
// at.
func TestEditsThatModulesCompute(t *testing.T) {
	t.Parallel()
	for definition, e := range map[string]edit.Edit{
		`jsonencode({ States = merge({ A = { Next = "A" } }, {}) })`: {Op: edit.Append, At: "/States", Name: "B", Value: raw(`{}`)},
		`jsonencode({ States = { A = { Seconds = var.n } } })`:       {Op: edit.Replace, At: "/States/A/Seconds", Value: raw(`1`)},
		`jsonencode({ States = [for s in ["A"] : { Next = s }] })`:   {Op: edit.Behind, At: "/States/0", Value: raw(`{}`)},
		`jsonencode({ States = { A = local.a, B = local.a } })`:      {Op: edit.Replace, At: "/States/A/Next", Value: raw(`"B"`)},
		`"{\"States\": {\"A\": {\"Seconds\": ${var.n}}}}"`:           {Op: edit.Replace, At: "/States/A/Seconds", Value: raw(`1`)},
		`"{\"A\": \"${var.m}\", \"B\": ${var.m}, \"C\": 1}"`:         {Op: edit.Replace, At: "/C", Value: raw(`"${var.m}"`)},
		`"{\"States\": ${jsonencode(local.a)}}"`:                     {Op: edit.Append, At: "/States", Name: "B", Value: raw(`{}`)},
	} {
		text := "resource \"aws_sfn_state_machine\" \"m\" {\n  definition = " + definition + "\n}\n" +
			"variable \"n\" {\n  default = 30\n}\nlocals {\n  a = { Next = \"A\" }\n}\n"
		after, err := edit.Apply([]byte(text), read, e)
		_, refused := errors.AsType[*edit.Error](err)
		require.True(t, refused, "%s: %v\n%s", definition, err, after)
	}
}

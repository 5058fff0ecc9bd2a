package source_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// moduleForms are ways to write the sample in a module: a state "Look" stands where the
// file has "@@" before its name.
var moduleForms = []struct {
	name  string
	files map[string]string
}{
	{"a heredoc", map[string]string{"main.tf": moduleText("<<EOF\n" + plainText + "EOF")}},
	{"a flush heredoc", map[string]string{"main.tf": moduleText("<<-EOF\n" + indented("      ") + "    EOF")}},
	{"a flush heredoc with tabs", map[string]string{"main.tf": moduleText("<<-EOF\n" + indented("\t\t") + "\tEOF")}},
	{"a flush heredoc whose end marker stands further left", map[string]string{"main.tf": moduleText("<<-EOF\n" + indented("      ") + "EOF")}},
	{"CRLF", map[string]string{"main.tf": strings.ReplaceAll(moduleText("<<-EOF\n"+indented("  ")+"EOF"), "\n", "\r\n")}},
	{"a quoted string", map[string]string{"main.tf": moduleText(inQuotes(plainText))}},
	{"a quoted string with other escapes", map[string]string{"main.tf": moduleText(strings.ReplaceAll(inQuotes(plainText), "Look", `\u004Cook`))}},
	{"jsonencode", map[string]string{"main.tf": moduleText("jsonencode(" + hclObject + ")")}},
	{"jsonencode with colons", map[string]string{"main.tf": moduleText("jsonencode(" + plainText + ")")}},
	{"a local object", map[string]string{"main.tf": moduleText("jsonencode(local.definition)"), "locals.tf": "locals {\n  definition = " + hclObject + "\n}\n"}},
	{"a local text", map[string]string{"main.tf": moduleText("local.text"), "a.tf": "locals {\n  text = jsonencode(" + hclObject + ")\n}\n"}},
	{"merge", map[string]string{"main.tf": moduleText("jsonencode(merge({StartAt = \"Wait\"}, " + hclObject + "))")}},
	{"a file", map[string]string{"main.tf": moduleText(`file("${path.module}/x.json")`), "x.json": plainText}},
	{"a file below", map[string]string{"main.tf": moduleText(`file("asl/x.json")`), "asl/x.json": plainText}},
	{"a template", map[string]string{"main.tf": moduleText(`templatefile("x.json", {wait = 30})`), "x.json": strings.ReplaceAll(plainText, "30", "${wait}")}},
	{"a template with unknown values", map[string]string{
		"main.tf": moduleText(`templatefile("x.json", {wait = aws_a.b.c, name = "${aws_a.b.c}/x"})`),
		"x.json":  strings.ReplaceAll(strings.ReplaceAll(plainText, "30", "${wait}"), `"Type": "Wait"`, `"Comment": "${name}", "Type": "Wait"`),
	}},
	{"sensitive", map[string]string{"main.tf": moduleText(`sensitive(file("x.json"))`), "x.json": plainText}},
	{"trimspace and indent", map[string]string{"main.tf": moduleText(`indent(2, trimspace(chomp(file("x.json"))))`), "x.json": plainText}},
	{"replace", map[string]string{"main.tf": moduleText(`replace(replace(file("x.json"), "/_S[A-Z]+_/", "30"), "_", "")`), "x.json": strings.ReplaceAll(plainText, "30", "_SECONDS_")}},
	{"format", map[string]string{"main.tf": moduleText(`format(file("x.json"), 30, "a")`), "x.json": strings.ReplaceAll(plainText, "30", `%d, "Comment": "%[2]s %%"`)}},
	{"join", map[string]string{"main.tf": moduleText(`join("", [file("x.json"), ""])`), "x.json": plainText}},
	{"jsondecode", map[string]string{"main.tf": moduleText(`jsonencode(merge(jsondecode(file("x.json")), {Comment = aws_a.b.c}))`), "x.json": plainText}},
	{"yamldecode", map[string]string{"main.tf": moduleText(`jsonencode(yamldecode(file("x.yaml")))`), "x.yaml": yamlText}},
	{"parts of yamldecode", map[string]string{"main.tf": moduleText(`jsonencode(merge(yamldecode(file("x.yaml")), {Comment = "${aws_a.b.c}"}))`), "x.yaml": yamlText}},
	{"a condition that is known", map[string]string{"main.tf": moduleText(`var.a == "x" ? file("x.json") : file("none.json")`) + "variable \"a\" {\n  default = \"x\"\n}\n", "x.json": plainText}},
	{"a for", map[string]string{"main.tf": moduleText(`jsonencode({for k, v in jsondecode(file("x.json")) : k => v if k != "Comment"})`), "x.json": plainText}},
	{"template_file", map[string]string{"main.tf": moduleText("data.template_file.x.rendered") + "data \"template_file\" \"x\" {\n  template = file(\"x.json\")\n  vars = {wait = 30}\n}\n", "x.json": strings.ReplaceAll(plainText, "30", "${wait}")}},
	{"local_file", map[string]string{"main.tf": moduleText("data.local_file.x.content") + "data \"local_file\" \"x\" {\n  filename = \"${path.root}/x.json\"\n}\n", "x.json": plainText}},
	{"a module's output", map[string]string{"main.tf": moduleText("module.m.text") + "module \"m\" {\n  source = \"./m\"\n}\n", "m/o.tf": "output \"text\" {\n  value = file(\"${path.module}/x.json\")\n}\n", "m/x.json": plainText}},
	{"a module of one's own", map[string]string{
		"main.tf":   "module \"m\" {\n  source = \"./m\"\n  text = file(\"x.json\")\n}\n",
		"m/main.tf": "variable \"text\" {}\n" + moduleText("var.text"), "x.json": plainText,
	}},
	{"a registry module", map[string]string{"main.tf": "module \"m\" {\n  source = \"a/b/c\"\n  definition = file(\"x.json\")\n}\n", "x.json": plainText}},
	{"a registry module that takes an object", map[string]string{"main.tf": "module \"m\" {\n  source = \"a/b/c\"\n  definition = " + hclObject + "\n}\n"}},
	{"JSON syntax", map[string]string{"main.tf.json": `{"resource": [{"aws_sfn_state_machine": {"m": [{"definition": ` + inQuotes(plainText) + `}]}}]}`}},
	{"an expression in JSON syntax", map[string]string{"main.tf.json": `{"resource": {"aws_sfn_state_machine": {"m": {"definition": "${file(\"x.json\")}"}}}}`, "x.json": plainText}},
	{"an override", map[string]string{"main.tf": moduleText(`"{}"`), "main_override.tf": moduleText(`file("x.json")`), "x.json": plainText}},
	{"for_each", map[string]string{"main.tf": moduleText("templatefile(\"x.json\", {wait = each.value})\n  for_each = {a = 30}"), "x.json": strings.ReplaceAll(plainText, "30", "${wait}")}},
	{"for_each over a variable", map[string]string{
		"main.tf": moduleText("templatefile(each.value.file, {wait = each.value.wait})\n  for_each = var.all") +
			"variable \"all\" {\n  type = map(object({file = string, wait = optional(number)}))\n  default = {a = {file = \"x.json\", wait = 30}}\n}\n",
		"x.json": strings.ReplaceAll(plainText, "30", "${wait}"),
	}},
	{"a resource as a whole", map[string]string{
		"main.tf": moduleText("jsonencode(merge(jsondecode(file(\"x.json\")), {Comment = local_file.a}))") + "resource \"local_file\" \"a\" {\n  content = \"b\"\n}\n",
		"x.json":  plainText,
	}},
	{"count", map[string]string{"main.tf": moduleText("file(\"x${count.index}.json\")\n  count = 1"), "x0.json": plainText}},
	{"a nested condition", map[string]string{"main.tf": moduleText(`jsonencode(true ? jsondecode(file("x.json")) : null)`), "x.json": plainText}},
	{"try", map[string]string{"main.tf": moduleText(`try(local.x.none, file("x.json"))`) + "locals {\n  x = {}\n}\n", "x.json": plainText}},
	{"characters beyond ASCII", map[string]string{"main.tf": moduleText("<<-EOF\n" + indented("    ", `"Comment": "größer → 🙂 e\u0301",`) + "EOF")}},
	{"escapes of the template", map[string]string{"main.tf": moduleText("<<-EOF\n" + indented("    ", `"Comment": "$${Stage} %%{ $$ % {% $x %}",`) + "EOF")}},
	{"trimmed directives", map[string]string{"main.tf": moduleText("<<-EOF\n" + indented("    ", "%{ for x in [1] ~}\n\"Comment\": \"${~ x ~}\",\n%{ endfor ~}\n") + "EOF")}},
}

const plainText = `{
  "StartAt": "Wait",
  "States": {
    "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
    @@"Look": {"Type": "Pass", "End": true}
  }
}
`

const yamlText = `StartAt: Wait
States:
  Wait: {Type: Wait, Seconds: 30, Next: Look}
  @@Look:
    Type: Pass
    End: true
`

const hclObject = `{
    StartAt = "Wait"
    States = {
      Wait = { Type = "Wait", Seconds = 30, Next = "Look" } # a comment
      @@"Look" = {
        Type = "Pass"
        End  = true
      }
    }
  }`

func moduleText(definition string) string {
	return "resource \"aws_sfn_state_machine\" \"m\" {\n  definition = " + definition + "\n}\n"
}

// indented is the text further right, with lines after the first.
func indented(margin string, lines ...string) string {
	text := strings.Replace(plainText, "{\n", "{\n"+strings.Join(append(lines, ""), "\n"), 1)
	return margin + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+margin) + "\n"
}

// inQuotes is the text in a string in quotes.
func inQuotes(text string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

// takeMark takes the mark out of the files, and returns the file and the place that it had.
func takeMark(t *testing.T, files map[string]string) (fstest.MapFS, string) {
	t.Helper()
	out, at := fstest.MapFS{}, ""
	for name, text := range files {
		if i := strings.Index(text, "@@"); i >= 0 {
			require.Empty(t, at)
			p := diag.At([]byte(text), i, "", "")
			at = fmt.Sprintf("%s:%d:%d", name, p.Line, p.Column)
		}
		out[name] = &fstest.MapFile{Data: []byte(strings.Replace(text, "@@", "", 1))}
	}
	require.NotEmpty(t, at)
	return out, at
}

func placeOfState(d *source.Definition, m *asl.StateMachine, state string) string {
	for s := range m.All {
		if s.Name == state {
			p := d.Locate(m.Problem(s.Position.Pointer, ""))
			return fmt.Sprintf("%s:%d:%d", cmp.Or(p.File, d.File), p.Line, p.Column)
		}
	}
	return ""
}

// TestTerraformForms: each form is read, alone and in its folder, and a state stands where
// the user's file has it.
func TestTerraformForms(t *testing.T) {
	t.Parallel()
	for _, form := range moduleForms {
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			files, at := takeMark(t, form.files)
			main := "main.tf"
			if files[main] == nil {
				main = "main.tf.json"
			}
			for _, name := range []string{".", main} {
				all, err := source.Load(t.Context(), []string{name}, source.Options{FS: files})
				require.NoError(t, err)
				require.Len(t, all, 1)
				require.Empty(t, all[0].Validate(asl.Standard), "%s", all[0].Text)
				m, err := all[0].Parse()
				require.NoError(t, err)
				require.Equal(t, at, placeOfState(all[0], m, "Look"))
				require.Equal(t, main, cmp.Or(all[0].Template, all[0].File))
			}
		})
	}
}

// TestTerraformAddresses: a name gives the machines of an address.
func TestTerraformAddresses(t *testing.T) {
	t.Parallel()
	files, _ := takeMark(t, map[string]string{
		"infra/main.tf": moduleText("var.fast ? jsonencode({}) : file(\"x.json\")") + "variable \"fast\" {}\n" +
			"resource \"aws_sfn_state_machine\" \"each\" {\n  for_each = toset([\"b\", \"a\"])\n  type = \"express\"\n  definition = file(\"x.json\")\n}\n" +
			"module \"m\" {\n  count = 2\n  source = \"../m\"\n}\n" +
			"module \"none\" {\n  source = \"terraform-aws-modules/lambda/aws\"\n}\n",
		"m/main.tf": moduleText(`jsonencode({StartAt = path.module, States = {}})`), "infra/x.json": plainText,
	})
	names := func(name string) []string {
		all, err := source.Load(t.Context(), []string{name}, source.Options{FS: files})
		if err != nil {
			return []string{err.Error()}
		}
		out := []string{}
		for _, d := range all {
			out = append(out, strings.TrimSpace(d.Name+" "+string(d.Type)))
		}
		return out
	}
	all := []string{
		"infra/main.tf#aws_sfn_state_machine.m if var.fast", "infra/main.tf#aws_sfn_state_machine.m if not (var.fast)",
		`infra/main.tf#aws_sfn_state_machine.each["a"] EXPRESS`, `infra/main.tf#aws_sfn_state_machine.each["b"] EXPRESS`,
		"infra/main.tf#module.m[0].aws_sfn_state_machine.m", "infra/main.tf#module.m[1].aws_sfn_state_machine.m",
	}
	require.Equal(t, all, names("infra/main.tf"))
	require.Equal(t, all, names("infra"))
	require.Equal(t, all, names("."))
	require.Equal(t, all[:2], names("infra/main.tf#aws_sfn_state_machine.m"))
	require.Equal(t, all[1:2], names("infra#aws_sfn_state_machine.m if not (var.fast)"))
	require.Equal(t, all[2:4], names("infra#aws_sfn_state_machine.each"))
	require.Equal(t, all[3:4], names(`infra#aws_sfn_state_machine.each["b"]`))
	require.Contains(t, names("infra#aws_sfn_state_machine.eech")[0], `has no state machine "aws_sfn_state_machine.eech"`)
}

// TestTerraformVariables: a value of the user's wins over a default, in the type of the
// variable.
func TestTerraformVariables(t *testing.T) {
	t.Parallel()
	files, _ := takeMark(t, map[string]string{
		"main.tf": moduleText(`templatefile("x.json", {wait = var.wait, name = aws_a.b.c})`) + "variable \"wait\" {\n  type = number\n  default = 30\n}\n",
		"x.json":  strings.ReplaceAll(plainText, "30", `${jsonencode(wait)}, "Comment": "${name}"`),
	})
	text := func(values map[string]string) string {
		d, err := source.LoadOne(t.Context(), "main.tf", source.Options{FS: files, Values: values})
		require.NoError(t, err)
		return string(d.Text)
	}
	require.Contains(t, text(nil), `"Seconds": 30, "Comment": "${aws_a.b.c}"`)
	require.Contains(t, text(map[string]string{"wait": "45"}), `"Seconds": 45,`)
	require.Contains(t, text(map[string]string{"var.wait": "45", "aws_a.b.c": "x"}), `"Seconds": 45, "Comment": "x"`)
	_, err := source.LoadOne(t.Context(), "main.tf", source.Options{FS: files, Values: map[string]string{"none": "45"}})
	require.ErrorContains(t, err, "main.tf has no placeholder ${none}")
}

// TestTypesOfVariables: whoever gives a variable its value, that has the variable's type.
func TestTypesOfVariables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, value, user, want string }{
		{"number", `"45"`, "45", "45"},
		{"number", `45`, "45", "45"},
		{"number", `"4.50"`, "4.50", "4.5"},
		{"number", `"soon"`, "soon", `"${var.wait}"`},
		{"number", `true`, "true", `"${var.wait}"`},
		{"number", `["45"]`, `["45"]`, `"${var.wait}"`},
		{"string", `45`, "45", `"45"`},
		{"string", `true`, "true", `"true"`},
		{"bool", `"true"`, "true", "true"},
		{"list(number)", `["45"]`, `["45"]`, "[45]"},
		{"object({a = string, b = optional(number, 1)})", `{a = 5}`, `{a = 5}`, `{"a":"5","b":1}`},
		{"object({a = string})", `{}`, `{}`, `"${var.wait}"`},
		{"any", `45`, "45", "45"},
		{"any", `"some text"`, "some text", `"some text"`},
	} {
		t.Run(c.kind+" "+c.value, func(t *testing.T) {
			t.Parallel()
			variable := func(more string) string {
				return "variable \"wait\" {\n  type = " + c.kind + "\n" + more + "}\n"
			}
			machine := moduleText(`jsonencode({StartAt = "W", States = {W = {Type = "Pass", Result = var.wait, End = true}}})`)
			for giver, files := range map[string]map[string]string{
				"default": {"main.tf": variable("  default = "+c.value+"\n") + machine},
				"file":    {"main.tf": variable("") + machine, "terraform.tfvars": "wait = " + c.value},
				"caller":  {"main.tf": "module \"m\" {\n  source = \"./m\"\n  wait = " + c.value + "\n}\n", "m/main.tf": variable("") + machine},
				"user":    {"main.tf": variable("") + machine},
			} {
				options := source.Options{FS: filesOf(files)}
				if giver == "user" {
					options.Values = map[string]string{"wait": c.user}
				}
				d, err := source.LoadOne(t.Context(), "main.tf", options)
				require.NoError(t, err)
				var read struct {
					States struct {
						W struct {
							Result json.RawMessage `json:"Result"`
						} `json:"W"`
					} `json:"States"`
				}
				require.NoError(t, json.Unmarshal(d.Text, &read))
				require.JSONEq(t, c.want, string(read.States.W.Result), giver)
			}
		})
	}
}

// TestTerraformMessages: what cannot be read says why, and what to do.
func TestTerraformMessages(t *testing.T) {
	t.Parallel()
	const ask = "terraform show -json PLAN"
	for name, c := range map[string]struct {
		files    map[string]string
		severity diag.Severity
		at, says string
	}{
		"a variable":          {map[string]string{"main.tf": moduleText("var.a") + "variable \"a\" {}\n"}, diag.Note, "main.tf:2:16", ask},
		"no definition":       {map[string]string{"main.tf": "resource \"aws_sfn_state_machine\" \"m\" {\n}\n"}, diag.Note, "main.tf:1:34", ask},
		"a part that is open": {map[string]string{"main.tf": moduleText(`"{\"StartAt\": \"A\" ${var.rest}"`) + "variable \"rest\" {}\n"}, diag.Note, "main.tf:2:16", "var.rest"},
		"broken JSON with an open part in a string": {map[string]string{"main.tf": moduleText("<<EOF\n{\"StartAt\": \"${var.a}\" \"States\": {}}\nEOF") + "variable \"a\" {}\n"}, diag.Error, "main.tf:3:24", "not valid JSON"},
		"broken HCL":        {map[string]string{"main.tf": moduleText("<<EOF\n{}\nEOF") + "locals {\n  a = [\n}\n"}, diag.Error, "main.tf:8:1", "Terraform cannot read this"},
		"a directive":       {map[string]string{"main.tf": moduleText("<<EOF\n{\"StartAt\": \"{%{'a': 1}%}\"}\nEOF")}, diag.Error, "main.tf:3:14", `"{%%{"`},
		"a broken template": {map[string]string{"main.tf": moduleText(`templatefile("t", {})`), "t": "{\n\"a\": \"${\"\n}"}, diag.Error, "t:2:", "Terraform cannot read this"},
		"a directive in a file": {map[string]string{
			"main.tf": moduleText(`templatefile("t", {})`), "t": "{\n\"a\": \"{%{'a': 1}%}\"\n}",
		}, diag.Error, "t:2:7", `"{%%{"`},
		"no such file":       {map[string]string{"main.tf": moduleText(`file("none.json")`)}, diag.Warning, "main.tf:2:16", "none.json"},
		"a file elsewhere":   {map[string]string{"main.tf": moduleText(`file("../../none.json")`)}, diag.Warning, "main.tf:2:16", "lies outside"},
		"broken JSON syntax": {map[string]string{"main.tf.json": "{\"resource\": {\"aws_sfn_state_machine\": }}"}, diag.Error, "main.tf.json:1:40", "Terraform cannot read this"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			for name, text := range c.files {
				files[name] = &fstest.MapFile{Data: []byte(text)}
			}
			all, err := source.Load(t.Context(), []string{"."}, source.Options{FS: files})
			require.NoError(t, err)
			for _, d := range all {
				for _, p := range d.Validate(asl.Standard) {
					at := fmt.Sprintf("%s:%d:%d", cmp.Or(p.File, d.File), p.Line, p.Column)
					if p.Severity == c.severity && strings.HasPrefix(at, c.at) && strings.Contains(p.Message, c.says) {
						return
					}
					t.Log(at, p)
				}
			}
			t.Fatal("no such message")
		})
	}
}

// TestTerraformStdin: a module on the standard input.
func TestTerraformStdin(t *testing.T) {
	t.Parallel()
	text := strings.Replace(moduleText("<<EOF\n"+plainText+"EOF"), "@@", "", 1)
	d, err := source.LoadOne(t.Context(), source.Stdin, source.Options{FS: fstest.MapFS{}, Stdin: bytes.NewReader([]byte(text))})
	require.NoError(t, err)
	require.Equal(t, "-#aws_sfn_state_machine.m", d.Name)
	require.Empty(t, d.Validate(asl.Standard))
}

// The root's variables have the values of its files, as Terraform reads them; those of a module
// that it calls have none. Where such a file is broken nobody knows them.
func TestFilesOfValues(t *testing.T) {
	t.Parallel()
	const root = "variable \"wait\" {\n  default = 1\n}\n"
	machine := moduleText(`"{\"StartAt\": \"W\", \"States\": {\"W\": {\"Type\": \"Wait\", \"Seconds\": ${var.wait}, \"End\": true}}}"`)
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"no file", map[string]string{"prod.tfvars": "wait = 2"}, "1"},
		{"terraform.tfvars", map[string]string{"terraform.tfvars": "wait = 2"}, "2"},
		{"JSON", map[string]string{"terraform.tfvars": "wait = 2", "terraform.tfvars.json": `{"wait": 3}`}, "3"},
		{"automatic ones in their order", map[string]string{"a.auto.tfvars": "wait = 4", "b.auto.tfvars.json": `{"wait": 5}`, "terraform.tfvars": "wait = 2"}, "5"},
		{"other variables", map[string]string{"terraform.tfvars": "other = 2"}, "1"},
		{"a constant", map[string]string{"terraform.tfvars": "wait = 1 + 2"}, "3"},
		{"a reference", map[string]string{"terraform.tfvars": "wait = 2\nother = var.wait"}, `"${var.wait}"`},
		{"a call", map[string]string{"terraform.tfvars": "wait = 2\nother = max(1, 2)"}, `"${var.wait}"`},
		{"a block", map[string]string{"terraform.tfvars": "wait = 2\nother {\n}\n"}, `"${var.wait}"`},
		{"a broken file", map[string]string{"terraform.tfvars": "wait = = 2"}, `"${var.wait}"`},
		{"broken JSON", map[string]string{"a.auto.tfvars.json": `{"wait": }`}, `"${var.wait}"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"main.tf": root + machine}
			called := map[string]string{"main.tf": "module \"m\" {\n  source = \"./m\"\n}\n", "m/main.tf": root + machine}
			for name, text := range c.files {
				files[name], called["m/"+name] = text, text
			}
			read := func(files map[string]string) string {
				all, err := source.Load(t.Context(), []string{"main.tf"}, source.Options{FS: filesOf(files)})
				require.NoError(t, err)
				require.Len(t, all, 1)
				return string(all[0].Text)
			}
			require.Contains(t, read(files), `"Seconds": `+c.want+`,`)
			require.Contains(t, read(called), `"Seconds": 1,`)
		})
	}
}

package source_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// machineOf is a module with a definition, and what else stands in it.
func machineOf(definition, rest string) string {
	return moduleText(definition) + rest
}

// growing are modules that say much in few bytes.
func growing() map[string]string {
	var doubled, nested strings.Builder
	doubled.WriteString("locals {\n  a0 = \"0123456789\"\n  o0 = {a = 1}\n")
	for i := 1; i < 60; i++ {
		fmt.Fprintf(&doubled, "  a%d = \"${local.a%d}${local.a%d}\"\n  o%d = {a = local.o%d, b = local.o%d}\n", i, i-1, i-1, i, i-1, i-1)
	}
	doubled.WriteString("}\n")
	for i := range 40 {
		fmt.Fprintf(&nested, "variable \"c%d\" {}\n", i)
	}
	conditions := "jsonencode({"
	for i := range 40 {
		conditions += fmt.Sprintf("s%d = var.c%d ? {a = 1} : {b = [var.c%d ? [1] : [2]]}\n", i, i, (i+1)%40)
	}
	return map[string]string{
		"doubled text":       machineOf("local.a59", doubled.String()),
		"doubled objects":    machineOf("jsonencode(local.o59)", doubled.String()),
		"a circle":           machineOf("local.a", "locals {\n a = local.b\n b = \"${local.a}\"\n}\n"),
		"loops in loops":     machineOf("jsonencode([for a in range(1024) : [for b in range(1024) : [for c in range(1024) : \"${a}${b}${c}\"]]])", ""),
		"brackets":           machineOf(strings.Repeat("[", 100_000), ""),
		"signs":              machineOf(strings.Repeat("!", 100_000)+"true", ""),
		"conditions":         machineOf(strings.Repeat("true ? 1 : ", 100_000)+"1", ""),
		"sums":               machineOf(strings.Repeat("1 + ", 50_000)+"1", ""),
		"unknown choices":    machineOf(conditions+"})", nested.String()),
		"directives":         machineOf("<<EOF\n"+strings.Repeat("%{ if true }", 10_000)+"\nEOF", ""),
		"many lines":         machineOf("<<EOF\n"+strings.Repeat("\n", 500_000)+"EOF", ""),
		"interpolations":     machineOf("<<EOF\n"+strings.Repeat("${a.b.c}\n", 30_000)+"EOF", ""),
		"widths":             machineOf(`format("%999999999d %0999999999s", 1, "a")`, ""),
		"a list of widths":   machineOf(`jsonencode(formatlist("%999999999d", [1, 2]))`, ""),
		"indent":             machineOf("indent(999999999, \"a\\nb\")", ""),
		"a product":          machineOf("jsonencode(setproduct(range(1000), range(1000), range(1000), range(1000)))", ""),
		"a huge number":      machineOf("jsonencode({a = 1e999999999, b = 1e999999999 * 1e999999999, c = pow(9, 999999999), d = 1 / 0})", ""),
		"replaced":           machineOf("local.e", "locals {\n a = join(\"\", range(1000))\n b = replace(local.a, \"/./\", local.a)\n c = replace(local.b, \"1\", local.b)\n d = replace(local.c, \"/1/\", local.c)\n e = replace(local.d, \"1\", local.d)\n}\n"),
		"a module in itself": machineOf("module.a.x", "module \"a\" {\n source = \"./\"\n}\nmodule \"b\" {\n source = \"./\"\n for_each = toset([\"a\", \"b\"])\n}\noutput \"x\" {\n value = module.a.x\n}\n"),
		"many machines":      machineOf("jsonencode([each.key, local.a20])\nfor_each = toset([for a in range(1024) : \"${a}\"])", doubled.String()),
		"templates":          machineOf("templatefile(\"t\", {a = file(\"t\")})", ""),
		"aliases":            machineOf("jsonencode(yamldecode(<<EOF\na: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c]\ne: [*d, *d, *d, *d, *d, *d, *d, *d]\nEOF\n).e)", ""),
		"deep data":          machineOf("jsonencode({a = jsondecode(\""+strings.Repeat("[", 5000)+"\")})", ""),
		"a matching hole":    machineOf(`replace("{\"a\": \"${aws_a.b.c}\"}", "/a.*/", "b")`, ""),
	}
}

// TestTerraformGrowth: modules that say much in few bytes are read in little time and memory.
func TestTerraformGrowth(t *testing.T) { //nolint:paralleltest // it measures the process
	for name, text := range growing() { //nolint:paralleltest // it measures the process
		t.Run(name, func(t *testing.T) {
			requireCheap(t, text, "%{ for x in a }${a}${templatefile(\"t\", {a = a})}%{ endfor }", "main.tf")
		})
	}
}

// FuzzTerraform: nothing panics, and what is read of some bytes takes little time and
// memory. What is read of a module is JSON, or has a problem.
func FuzzTerraform(f *testing.F) {
	for _, form := range moduleForms {
		template := ""
		for name, text := range form.files {
			if !strings.HasPrefix(name, "main.tf") {
				template = text
			}
		}
		f.Add(strings.ReplaceAll(form.files["main.tf"], "x.json", "t"), template, false)
		f.Add(form.files["main.tf.json"], template, true)
	}
	f.Add(machineOf(`jsonencode({StartAt = "A", States = merge({A = {Type = "Succeed"}}, local.b)})`, "locals {\n b = {for k, v in {x = 1} : k => {Type = \"Pass\", End = !false, Result = v[*].a}}\n}\n"), "", false)
	f.Add(`{"resource": {"aws_sfn_state_machine": {"m": {"definition": "${jsonencode({StartAt = \"\u00e4\", \"${var.a}\" = [1]})}"}}}}`, "", true)
	f.Add("module \"m\" {\n  source = \"a/step-functions/b\"\n  definition = templatefile(\"${path.module}/t\", {a = [1, \"b\"]})\n}\n", "{\"StartAt\": \"${~ a[1] ~}\" , \"States\": {}}", false)
	f.Add(machineOf("jsonencode({(local) = each, a = var, b = path, c = data, d = module, e = data.a, f = count[*]})", ""), "", false)
	f.Fuzz(func(t *testing.T, text, template string, asJSON bool) {
		name := "main.tf"
		if asJSON {
			name = "main.tf.json"
		}
		requireCheap(t, text, template, name)
	})
}

// requireCheap reads a module within bounds of time and memory.
func requireCheap(t *testing.T, text, template, name string) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	all, _ := source.Load(t.Context(), []string{"."}, source.Options{FS: fstest.MapFS{name: {Data: []byte(text)}, "t": {Data: []byte(template)}}})
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	require.Less(t, took, 10*time.Second)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(1024), "MiB")
	for _, d := range all {
		if d.Text == nil {
			require.NotEmpty(t, d.Problems)
		} else if len(d.Validate(asl.Standard)) == 0 {
			require.True(t, json.Valid(d.Text), "%s", d.Text)
		}
	}
}

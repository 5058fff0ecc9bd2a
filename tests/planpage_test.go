//go:build e2e

package tests_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// assumptions are how long jobs take in the table of the page.
var assumptions = []string{"lognormal(5m, 0.25)", "lognormal(15m, 0.5)", "uniform(15m, 30m)"}

// plannedRow is a row that plan prints.
type plannedRow struct {
	Name  string  `json:"name"`
	Calls float64 `json:"calls"`
	Late  float64 `json:"meanLateSeconds"`
}

func (r plannedRow) cell() string {
	return fmt.Sprintf("%.1f/%.0fs", r.Calls, r.Late)
}

// planRows are the rows of a plan for a shipped definition.
func planRows(t *testing.T, name, duration string) map[string]plannedRow {
	t.Helper()
	args := []string{"plan", "../statemachines/" + name + ".asl.json", "--duration", duration, "-o", "json"}
	if strings.HasPrefix(name, "lambda-loop") { // its input says which job it polls
		input, err := json.Marshal(documentedInput(t, name))
		require.NoError(t, err)
		args = append(args, "--input", string(input))
	}
	out, err := exec.CommandContext(t.Context(), commandFile(t), args...).Output()
	require.NoError(t, err, name)
	var report struct {
		Schedules []plannedRow `json:"schedules"`
	}
	require.NoError(t, json.Unmarshal(out, &report))
	rows := map[string]plannedRow{}
	for _, row := range report.Schedules {
		rows[row.Name] = row
	}
	require.Contains(t, rows, "today", "%s: %s", name, out)
	return rows
}

// The table of docs/guide/plan.md has what the command prints for the shipped
// definitions: today, and planned. The plan is the same for all.
func TestE2EPlanPageTable(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../statemachines/*.asl.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var table strings.Builder
	fmt.Fprintf(&table, "| calls/lateness | `%s` |\n|---|%s\n", strings.Join(assumptions, "` | `"), strings.Repeat("---|", len(assumptions)))
	planned := map[string]string{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".asl.json")
		cells := []string{"`" + name + "`"}
		for _, duration := range assumptions {
			rows := planRows(t, name, duration)
			cells = append(cells, rows["today"].cell())
			if planned[duration] == "" {
				planned[duration] = rows["planned"].cell()
			}
			require.Equal(t, planned[duration], rows["planned"].cell(), name)
		}
		fmt.Fprintf(&table, "| %s |\n", strings.Join(cells, " | "))
	}
	table.WriteString("| **planned** |")
	for _, duration := range assumptions {
		fmt.Fprintf(&table, " **%s** |", planned[duration])
	}
	table.WriteByte('\n')
	requireSection(t, book+"/guide/plan.md", "shipped", "\n"+table.String()+"\n")
}

// The picture of the example shows what plan finds for it.
func TestE2EPlanPicture(t *testing.T) {
	t.Parallel()
	const picture = examples + "/athena/plan.svg"
	drawn, err := exec.CommandContext(t.Context(), commandFile(t), "plan", examples+"/athena/loop.asl.json", "--duration", "uniform(15m, 30m)", "-o", "svg").Output()
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(picture, drawn, 0o600))
	}
	kept, err := os.ReadFile(picture)
	require.NoError(t, err)
	require.Equal(t, string(kept), string(drawn), "go test -tags e2e ./tests -run %s -update draws it anew", t.Name())
}

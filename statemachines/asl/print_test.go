package asl_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

var update = flag.Bool("update", false, "write the golden files")

func TestPrint(t *testing.T) {
	t.Parallel()
	for name, definition := range map[string]string{"path-loop": pathLoop, "expression-loop": expressionLoop, "poll-machine": pollMachine} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, filepath.Join("testdata", name+".asl.json"), asl.Print(parse(t, definition)))
		})
	}
}

// The definitions that the project ships are in canonical form.
func TestShippedArePrinted(t *testing.T) {
	t.Parallel()
	shipped, err := filepath.Glob("../*.asl.json")
	require.NoError(t, err)
	for _, file := range shipped {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		golden(t, file, asl.Print(parse(t, string(text))))
	}
}

func parse(t *testing.T, definition string) *asl.StateMachine {
	t.Helper()
	m, err := asl.Parse([]byte(definition))
	require.NoError(t, err)
	return m
}

// golden compares a text with a file. The text is its own canonical form.
func golden(t *testing.T, file string, text []byte) {
	t.Helper()
	require.Equal(t, string(text), string(asl.Print(parse(t, string(text)))))
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, text, 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(text))
}

package source_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// FuzzLoad: nothing panics. What is rendered is JSON, each problem has a place in
// the file, and each range is of bytes of the file.
func FuzzLoad(f *testing.F) {
	var plain any
	require.NoError(f, json.Unmarshal([]byte(sample), &plain))
	for i, w := range writings {
		for seed := range 3 {
			files, _ := w.write(rand.New(rand.NewPCG(uint64(seed), uint64(i))), plain)
			for name, text := range files {
				f.Add(name, []byte(text))
			}
		}
	}
	f.Add("t.yaml", []byte(definitionOf("!Sub ['${A}', {A: !If [a, &b {c: *d}, !Join ['', [*b]]]}]")))
	f.Add("t.yaml", []byte("a: &a [*a]\nResources: {M: {Type: AWS::Serverless::StateMachine, Properties: {Definition: {<<: *a}}}}"))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		all, err := source.Load(t.Context(), []string{"-"}, source.Options{FS: fstest.MapFS{}, Stdin: bytes.NewReader(text)})
		fromDisk, _ := source.Load(t.Context(), []string{name}, source.Options{FS: fstest.MapFS{name: {Data: text}}})
		if err != nil {
			require.Empty(t, all)
		}
		for _, d := range append(all, fromDisk...) {
			requireConsistent(t, d, text)
		}
	})
}

func requireConsistent(t *testing.T, d *source.Definition, text []byte) {
	t.Helper()
	if d.YAML && d.Text != nil {
		require.True(t, json.Valid(d.Text), "%s", d.Text)
	}
	for _, p := range d.Validate(asl.Standard) {
		require.LessOrEqual(t, p.Line, 1+bytes.Count(text, []byte("\n")))
	}
	m, err := d.Parse()
	if err != nil {
		return
	}
	for s := range m.All {
		if place, ok := d.Place(s.Position.Pointer); ok {
			require.LessOrEqual(t, place.From, place.To)
			require.LessOrEqual(t, place.To, len(text))
		}
	}
}

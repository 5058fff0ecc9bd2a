package bench_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// A reader that went by encoding/json's tokens was slower than encoding/json four
// times and made 48,572 allocations of the index.
var jsontreePairs = []pair{
	{
		name: "jsontree/Parse of the catalogue's index/json.Decoder into an any",
		ours: treeRead("../../pollcore/catalog/data/index.json.gz"), peer: anyRead("../../pollcore/catalog/data/index.json.gz"),
		bound: 1, allocs: 60,
	},
	{
		name: "jsontree/Parse of a definition/json.Decoder into an any",
		ours: treeRead("../../statemachines/glue-crawler.asl.json"), peer: anyRead("../../statemachines/glue-crawler.asl.json"),
		bound: 1, allocs: 30,
	},
}

func treeRead(file string) func(b *testing.B) {
	return func(b *testing.B) {
		text := readText(b, file)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := jsontree.Parse(text); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// anyRead keeps the digits of numbers, as jsontree does.
func anyRead(file string) func(b *testing.B) {
	return func(b *testing.B) {
		text := readText(b, file)
		for b.Loop() {
			dec := json.NewDecoder(bytes.NewReader(text))
			dec.UseNumber()
			var v any
			if err := dec.Decode(&v); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// readText reads a file, and unpacks one of gzip.
func readText(b *testing.B, file string) []byte {
	b.Helper()
	text, err := os.ReadFile(file)
	require.NoError(b, err)
	if filepath.Ext(file) != ".gz" {
		return text
	}
	packed, err := gzip.NewReader(bytes.NewReader(text))
	require.NoError(b, err)
	text, err = io.ReadAll(packed)
	require.NoError(b, err)
	return text
}

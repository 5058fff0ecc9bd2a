package bench_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// A reader that went by encoding/json's tokens was slower than encoding/json four
// times and made 48,572 allocations of the index.
var jsontreePairs = []pair{
	{
		name: "jsontree/Parse of the catalogue's index/json.Decoder into an any",
		ours: treeRead("../../pollcore/catalog/data/index.json"), peer: anyRead("../../pollcore/catalog/data/index.json"),
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
		text, err := os.ReadFile(file)
		require.NoError(b, err)
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
		text, err := os.ReadFile(file)
		require.NoError(b, err)
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

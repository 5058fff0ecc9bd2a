package jsonata_test

import (
	"testing"

	"github.com/jobpoller/jobpoller/internal/jsonata"
)

func BenchmarkEval(b *testing.B) {
	for name, text := range map[string]string{
		"status": "$states.result.ExportDescription.ExportStatus = 'COMPLETED'",
		"filter": "$count($states.result.Items[Status='FAILED']) > 0",
		"now":    "$toMillis($now()) - $toMillis($states.input.start) > 1000",
	} {
		b.Run(name, func(b *testing.B) {
			e, err := jsonata.Compile(text)
			if err != nil {
				b.Fatal(err)
			}
			env := environment(b)
			env.Variables = map[string]any{"states": decode(b, `{
				"input": {"start": "2026-11-20T07:30:00Z"},
				"result": {
					"ExportDescription": {"ExportStatus": "COMPLETED", "ItemCount": 7},
					"Items": [{"Status": "OK"}, {"Status": "FAILED"}]
				}
			}`)}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Eval(b.Context(), env); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

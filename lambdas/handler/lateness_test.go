package handler_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A result says how late the job's end was seen, where the service says when it was.
func TestLateSeconds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		output map[string]any
		want   string // in the result
		metric string
	}{
		"succeeded":      {map[string]any{"State": "DONE", "EndedAt": "2026-11-20T09:31:00.4Z"}, `"lateSeconds":14,`, `"Lateness":14,`},
		"failed":         {map[string]any{"State": "BROKEN", "EndedAt": "2026-11-20T09:31:14Z"}, `"lateSeconds":0,`, `"Lateness":0,`},
		"another clock":  {map[string]any{"State": "DONE", "EndedAt": "2026-11-20T10:00:00Z"}, `"lateSeconds":0,`, `"Lateness":0,`},
		"does not say":   {map[string]any{"State": "DONE"}, "", ""},
		"runs":           {map[string]any{"State": "RUNNING", "EndedAt": "2026-11-20T09:31:00Z"}, "", ""}, // of the run before
		"not in seconds": {map[string]any{"State": "DONE", "EndedAt": "yesterday"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			w := startedWorld(t, request, metered(&out))
			w.advance(time.Minute)
			w.service.says(tt.output, nil)
			result := jsonOf(t, w.checkStatus(t, bare(request)))
			if tt.want == "" {
				require.NotContains(t, result, "lateSeconds")
				require.NotContains(t, out.String(), "Lateness")
				return
			}
			require.Contains(t, result, tt.want)
			require.Contains(t, out.String(), tt.metric)
			require.Contains(t, out.String(), `{"Name":"Lateness","Unit":"Seconds"}`)
			require.Equal(t, result, jsonOf(t, w.checkStatus(t, bare(request))), "a stored result says it, too")
		})
	}
}

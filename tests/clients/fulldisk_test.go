package clients_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server whose disk is full keeps all that it has acknowledged, takes nothing more, and
// goes on when it is started again.
func TestFullDisk(t *testing.T) {
	folder := t.TempDir()
	s := startUnder(t, []string{"sh", "-c", `ulimit -f 64; exec "$0" "$@"`}, "--time", "manual", "--data", folder)
	client := newLoad(t, s.endpoint)
	machine := client.create(t, "waits", asksOrWaits)
	start := func(client *load, n int) error {
		input, err := json.Marshal(map[string]any{"seconds": 60, "ask": false, "text": strings.Repeat("x", 100+n*7)})
		require.NoError(t, err)
		_, err = client.post(t.Context(), "StartExecution", fmt.Sprintf(`{"stateMachineArn": %q, "name": "x%d", "input": %q}`, machine, n, input))
		return err
	}
	acknowledged := 0
	var full error
	for ; full == nil; acknowledged++ {
		require.Less(t, acknowledged, 10_000)
		full = start(client, acknowledged)
	}
	acknowledged--
	require.ErrorContains(t, full, "ServiceUnavailable")
	require.ErrorContains(t, full, "The server takes no changes any more: ")
	require.ErrorContains(t, full, "journal.jsonl takes no more records")
	require.Eventually(t, func() bool { return strings.Contains(s.log.String(), "takes no changes any more") }, patience, 1e7)
	status, _ := s.clock(t, `{"advance": "1h"}`)
	require.Equal(t, http.StatusServiceUnavailable, status)
	statuses := func(s *serving) map[string]int {
		counts := map[string]int{}
		for n := range acknowledged {
			text := callAPI(t, s.endpoint, "DescribeExecution", fmt.Sprintf(`{"executionArn": %q}`, executionARN(machine, fmt.Sprintf("x%d", n))))
			var x struct {
				Status string `json:"status"`
			}
			require.NoError(t, json.Unmarshal([]byte(text), &x))
			counts[x.Status]++
		}
		return counts
	}
	require.Equal(t, map[string]int{"RUNNING": acknowledged}, statuses(s))
	require.NoError(t, s.process.Signal(os.Interrupt))

	require.Eventually(t, func() bool { return s.process.Signal(os.Interrupt) != nil }, patience, 1e7)
	s = startServe(t, "--time", "manual", "--data", folder)
	require.NoError(t, start(newLoad(t, s.endpoint), acknowledged), "its name is free: it was not started")
	acknowledged++
	status, text := s.clock(t, `{"advance": "1h"}`)
	require.Equal(t, http.StatusOK, status, text)
	require.Equal(t, map[string]int{"SUCCEEDED": acknowledged}, statuses(s))
	say("full disk: %d executions acknowledged before, all there after", acknowledged-1)
}

package handler_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

func metered(out *bytes.Buffer) func(*handler.Config) {
	return func(c *handler.Config) { c.Metrics = &handler.Metrics{Namespace: "Orders", Writer: out} }
}

// The line is what CloudWatch's specification of the format asks for.
func TestMetricsFormat(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := newWorld(t, "token", metered(&out))
	w.runJob(t, bare(`{"job": "test:Job", "maxWaitSeconds": 1800, "arguments": {"Password": "hunter2"}}`))
	require.True(t, strings.HasSuffix(out.String(), "\n"))
	require.JSONEq(t, `{
		"_aws": {
			"Timestamp": 1795167014000,
			"CloudWatchMetrics": [{"Namespace": "Orders", "Dimensions": [["Job"]], "Metrics": [{"Name": "JobsStarted", "Unit": "Count"}]}]
		},
		"Job": "test:Job", "Execution": "`+arn+`", "JobsStarted": 1
	}`, out.String())
}

// Two deployments have metrics of their own.
func TestMetricsOfADeployment(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := newWorld(t, "token", func(c *handler.Config) {
		c.Metrics = &handler.Metrics{Namespace: "Orders", Deployment: "Blue/Functions", Writer: &out}
	})
	w.runJob(t, bare(request))
	require.Contains(t, out.String(), `"Dimensions":[["Deployment","Job"]]`)
	require.Contains(t, out.String(), `"Deployment":"Blue/Functions"`)
}

// Each job is counted once, however often it is asked for.
func TestMetricsCount(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		class string
		fates map[string]fate
		last  any
		want  map[string]float64
	}{
		{"succeeds", "token", nil, stateDone, map[string]float64{"JobsStarted": 1, "Checks": 2, "JobsSucceeded": 1, "JobSeconds": 60}},
		{"fails", "token", nil, stateCanceled, map[string]float64{"JobsStarted": 1, "Checks": 2, "JobsFailed": 1, "JobSeconds": 60}},
		{"times out", "token", nil, stateRunning, map[string]float64{"JobsStarted": 1, "Checks": 2, "JobsTimedOut": 1, "JobSeconds": 60}},
		{"unknown", "none", map[string]fate{"Start": lostAfter}, nil, map[string]float64{"StartsUnknown": 1}},
		{"unknown to a successor", "none", map[string]fate{"Start": diesAfter}, nil, map[string]float64{"StartsUnknown": 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			w := newWorld(t, tt.class, metered(&out))
			short := bare(`{"job": "test:Job", "maxWaitSeconds": 60}`)
			_, _, err := invoke(deciding(t.Context(), fates(tt.fates)), w.RunJob, short)
			if tt.last == nil {
				w.advance(over)
				for range 3 {
					_, err := w.RunJob(t.Context(), json.RawMessage(short))
					requireError(t, err, unknown)
				}
			} else {
				require.NoError(t, err)
				w.runJob(t, short)
				w.checkStatus(t, short)
				w.advance(time.Minute)
				w.service.says(tt.last, nil)
				w.checkStatus(t, short)
				w.checkStatus(t, short)
			}
			got := map[string]float64{}
			for line := range strings.Lines(out.String()) {
				var values map[string]any
				require.NoError(t, json.Unmarshal([]byte(line), &values))
				for name, v := range values {
					if n, ok := v.(float64); ok {
						got[name] += n
					}
				}
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// A refused describe call ends a check, and no record keeps that: the answer counts, not
// the attempts at it.
func TestMetricsOfARefusedDescribe(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := newCollectWorld(t, "token", metered(&out))
	w.endsAt(time.Hour, stateDone)
	w.mustStart(t, first)
	w.advance(w.queue.first().at.Sub(w.clock.Now()))
	messages := w.queue.receive(1)
	sends := 0
	refusing := deciding(t.Context(), func(op string) fate {
		switch op {
		case "Describe":
			return refused
		case "Answer":
			if sends++; sends == 1 {
				return lostBefore
			}
		}
		return goesWell
	})
	for range 3 {
		_, _ = w.deliver(refusing, messages)
	}
	w.requireEnd(t, "T1", "FAILED")
	require.Equal(t, 2, sends)
	require.Equal(t, 1, strings.Count(out.String(), `"JobsFailed":1`), out.String())
}

// A check that finds its record gone, and writes it anew, counts and logs the end as its own.
func TestMetricsOfAResultWrittenAnew(t *testing.T) {
	t.Parallel()
	var out, log bytes.Buffer
	w := newWorld(t, "token", metered(&out), func(c *handler.Config) { c.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
	w.runJob(t, bare(request))
	w.service.says(stateCanceled, nil)
	result, _, err := invoke(deciding(t.Context(), func(op string) fate {
		if op == "Describe" {
			w.store.Store = memstore.New(w.clock.Now) // somebody has removed the record
		}
		return goesWell
	}), w.CheckStatus, bare(request))
	require.NoError(t, err)
	require.EqualValues(t, "FAILED", result.Status)
	require.Equal(t, 1, strings.Count(out.String(), `"JobsFailed":1`), out.String())
	require.NotContains(t, log.String(), `"replayed":true`)
	require.Contains(t, log.String(), "is written anew")
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// Metrics are no reason for a job to fail.
func TestMetricsCannotBeWritten(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := newWorld(t, "token", func(c *handler.Config) {
		c.Metrics = &handler.Metrics{Namespace: "Orders", Writer: brokenPipe{}}
		c.Log = slog.New(slog.NewJSONHandler(&log, nil))
	})
	w.runJob(t, bare(request))
	require.Contains(t, log.String(), `"error":"broken pipe"`)
}

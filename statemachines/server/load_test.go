package server_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
)

// clients is how many clients send requests at the same time.
const clients = 8

// load starts n executions over HTTP, and returns how long it took.
func load(b *testing.B, url, machine string, n int) time.Duration {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	body := []byte(fmt.Sprintf(`{"stateMachineArn":%q,"input":"{\"orderId\":\"0123456789\",\"items\":[1,2,3]}"}`, machine))
	var sent, failed atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range clients {
		wg.Go(func() {
			for sent.Add(1) <= int64(n) {
				q, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
				if err != nil {
					failed.Add(1)
					return
				}
				q.Header.Set("X-Amz-Target", "AWSStepFunctions.StartExecution")
				q.Header.Set("Authorization", signed)
				r, err := client.Do(q)
				if err != nil {
					failed.Add(1)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				_ = r.Body.Close()
				if r.StatusCode != http.StatusOK {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	require.Zero(b, failed.Load())
	return took
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkWaiting starts executions that wait for a day: how many a second, and how
// much memory each takes. The issue asks for 2,000 a second, and 100,000 in a gigabyte.
func BenchmarkWaiting(b *testing.B) {
	s := server.New(server.Options{Clock: manual()})
	defer s.Close()
	over := httptest.NewServer(s)
	defer over.Close()
	machine := createForLoad(b, s, `{"StartAt":"Prepare","States":{
	  "Prepare":{"Type":"Pass","Assign":{"order.$":"$.orderId"},"Next":"Wait"},
	  "Wait":{"Type":"Wait","Seconds":86400,"Next":"Done"},"Done":{"Type":"Succeed"}}}`)
	before := heap()
	b.ResetTimer()
	took := load(b, over.URL, machine, b.N)
	b.StopTimer()
	b.ReportMetric(float64(b.N)/took.Seconds(), "starts/s")
	b.ReportMetric(float64(heap()-before)/float64(b.N), "B/execution")
}

// BenchmarkEnding lets executions end that all wait until the same second.
func BenchmarkEnding(b *testing.B) {
	s := server.New(server.Options{Clock: manual()})
	defer s.Close()
	over := httptest.NewServer(s)
	defer over.Close()
	machine := createForLoad(b, s, `{"StartAt":"Wait","States":{"Wait":{"Type":"Wait","Timestamp":"2026-01-02T00:00:00Z","Next":"Done"},"Done":{"Type":"Succeed"}}}`)
	load(b, over.URL, machine, b.N)
	b.ResetTimer()
	start := time.Now()
	require.NoError(b, s.World().Clock().Advance(b.Context(), s.World().Clock().Now().Add(25*time.Hour)))
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "ends/s")
}

func createForLoad(b *testing.B, s http.Handler, definition string) string {
	b.Helper()
	body := fmt.Sprintf(`{"name":"load","roleArn":%q,"definition":%q}`, role, definition)
	q := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader([]byte(body)))
	q.Header.Set("X-Amz-Target", "AWSStepFunctions.CreateStateMachine")
	q.Header.Set("Authorization", signed)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, q)
	require.Equal(b, http.StatusOK, w.Code, w.Body)
	return "arn:aws:states:eu-west-1:111111111111:stateMachine:load"
}

package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/eventpost"
	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// The log tells of the first event that is lost, of others now and then, and of all.
func TestLostEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := &lostEvents{log: &serveLog{out: &out, quiet: true}, text: "lost %s: %v"}
		told := func() string {
			l.mu.Lock() // who writes holds it
			defer l.mu.Unlock()
			defer out.Reset()
			return out.String()
		}
		l.add(1, errors.New("away"))
		require.Equal(t, "lost 1 event: away\n", told())
		for i := range 100 {
			l.add(2, fmt.Errorf("away for the time %d", i))
		}
		require.Empty(t, told(), "ten seconds are not over")
		<-time.After(10 * time.Second)
		synctest.Wait()
		require.Equal(t, "lost 200 events: away for the time 99\n", told())
		<-time.After(time.Hour)
		l.add(3, errors.New("away again"))
		l.add(4, errors.New("gone"))
		l.close()
		require.Equal(t, "lost 3 events: away again\nlost 4 events: gone\n", told())
		require.Equal(t, 1+200+3+4, l.count())
		l.close()
		require.Empty(t, told())
	})
}

// Who reads a subscription too slowly learns how many notices are missing.
func TestReadOfASlowFollower(t *testing.T) {
	t.Parallel()
	clock := sim.NewVirtualClock(sim.DefaultStart())
	s := server.New(server.Options{Clock: clock})
	t.Cleanup(s.Close)
	sub := s.Subscribe(3, nil)
	api := localAPI{server: s}
	var made struct {
		ARN string `json:"executionArn"`
	}
	require.NoError(t, api.call(t.Context(), "CreateStateMachine", map[string]any{"name": "m", "definition": waiting, "roleArn": watchRole}, &made))
	require.NoError(t, api.call(t.Context(), "StartExecution", map[string]any{"stateMachineArn": api.stateMachineARN("m")}, &made))
	<-s.World().Execution(made.ARN).Done()
	require.Eventually(t, func() bool { return s.World().Execution(made.ARN).Progress().Events == 4 }, time.Minute, time.Millisecond)
	sub.Close() // what waits is read
	var read3, lost int
	read(t.Context(), sub, func(server.Notice) { read3++ }, func(n int) { lost += n })
	require.Equal(t, []int{3, 1}, []int{read3, lost})
}

// lostBy is how many events an event of jobpoller's own says are lost.
func lostBy(e eventpost.Event) int {
	var lost struct {
		Events int `json:"events"`
	}
	_ = json.Unmarshal(e.Detail, &lost)
	return lost.Events
}

// A slow receiver of 1,500 executions lost the events of 312, and only health told. These
// are fewer, with more to tell.
func TestASlowReceiverIsTold(t *testing.T) {
	t.Parallel()
	const executions = 130
	input := `"` + strings.Repeat("x", 200_000) + `"`
	release := make(chan struct{})
	var mu sync.Mutex
	events, told := map[string]bool{}, 0 // by ID: one whose answer comes late is sent again
	bus := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-release
		var e eventpost.Event
		text, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(text, &e)
		mu.Lock()
		defer mu.Unlock()
		if e.Source == "aws.states" {
			events[e.ID] = true
			return
		}
		told += lostBy(e)
	}))
	t.Cleanup(bus.Close)
	var log bytes.Buffer
	t.Cleanup(func() { // after the server's end
		require.GreaterOrEqual(t, len(events)+told, 2*executions) // an answer that comes late may make an event lost, too
		require.Positive(t, told)
		logged := 0
		for _, m := range regexp.MustCompile(`--events-to lost (\d+) events?: `).FindAllStringSubmatch(log.String(), -1) {
			n, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			logged += n
		}
		require.GreaterOrEqual(t, told, logged, log.String())
	})
	s := startServing(t, &log, "--time", "virtual", "--events-to", bus.URL)
	api := localAPI{server: s.server}
	var started struct {
		ARN string `json:"executionArn"`
	}
	require.NoError(t, api.call(t.Context(), "CreateStateMachine", map[string]any{"name": "m", "definition": waiting, "roleArn": watchRole}, &started))
	for range executions {
		require.NoError(t, api.call(t.Context(), "StartExecution", map[string]any{"stateMachineArn": api.stateMachineARN("m"), "input": input}, &started))
	}
	require.Eventually(t, func() bool { return s.follower.unposted.count() > 0 }, time.Minute, time.Millisecond)
	close(release)
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(events)+told >= 2*executions
	}, time.Minute, time.Millisecond)
}

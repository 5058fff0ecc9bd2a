package kit

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/internal/terminal/terminaltest"
)

// A line that is redrawn stays in its line, whatever a service says.
func TestFitLine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		width      int
		want       string
	}{
		{"fits", "⠋ waits", 9, "⠋ waits"},
		{"there is room for ^C", "⠋ waits", 8, "⠋ wait"},
		{"no room", "⠋ waits", 0, ""},
		{"wide characters", "実行中です", 9, "実行中"},
		{"marks fill no column", "e\u0301e\u0301e\u0301", 4, "e\u0301e\u0301"},
		{"lines", "a\r\n\tb", 80, `a\r\n b`},
		{"escapes", "a\x1b[2Jb", 80, `a\u001b[2Jb`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, fitLine(tt.text, tt.width))
		})
	}
}

func TestStanding(t *testing.T) {
	t.Parallel()
	whole := Standing{
		Status: "RUNNING", Elapsed: 151*time.Second + 900*time.Millisecond, Limit: 30 * time.Minute, Where: "GetStatus", Polls: 7,
		Seen: "QUEUED", Next: 11600 * time.Millisecond, Message: "3 of 9 files",
	}
	require.Equal(t, "RUNNING 2m31s of 30m  GetStatus  poll 7: QUEUED  next in 12s  3 of 9 files", whole.text())
	require.Equal(t, "RUNNING 0s", Standing{Status: "RUNNING"}.text())
	require.Equal(t, "\x1b[36mRUNNING\x1b[0m 2m31s of 30m", whole.paint(true, 22))
	require.Equal(t, "RUNN", whole.paint(true, 6))
	narrow := Standing{Status: "RUNNING", Elapsed: time.Minute, Where: "WaitForTheQueryToEnd", Polls: 1, Seen: "QUEUED", Next: 12 * time.Second, Message: "3 of 9"}
	require.Equal(t, "RUNNING 1m  WaitF…  poll 1: QUEUED  next in 12s", narrow.paint(false, 49))
	require.Equal(t, "RUNNING 1m  …  poll 1: Q…  next in 12s", narrow.paint(false, 40))
}

// A status that stays is said once where there is no terminal.
func TestLiveWithoutATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := NewLive(terminal.NewWriter(&out), false, func() Standing { return Standing{} })
	for i, seen := range []string{"QUEUED", "QUEUED", "RUNNING", "RUNNING", "RUNNING"} {
		l.Show(Standing{Status: "RUNNING", Polls: i + 1, Seen: seen, Message: fmt.Sprint(i)})
	}
	l.Show(Standing{Status: "SUCCEEDED", Polls: 6, Seen: "DONE"})
	l.Close()
	require.Equal(t, "RUNNING 0s  poll 1: QUEUED  0\nRUNNING 0s  poll 3: RUNNING  2\nSUCCEEDED 0s  poll 6: DONE\n", out.String())
}

// A job whose status goes to and fro does not fill the memory.
func TestStatusHistoryIsBounded(t *testing.T) {
	t.Parallel()
	var h StatusHistory
	for i := range 10 * mostStatuses {
		h = h.Add(fmt.Sprint(i%7), time.Duration(i)*time.Second)
	}
	require.Len(t, h, mostStatuses)
	require.Equal(t, seenStatus{"0", 0, 0}, h[0])
	require.Equal(t, seenStatus{fmt.Sprint((10*mostStatuses - 1) % 7), 10*mostStatuses - 1, 10*mostStatuses - 1}, h[mostStatuses-1])
	require.Equal(t, "A at 0s, B at 1m5s", StatusHistory{}.Add("A", 0).Add("A", time.Second).Add("", 2).Add("B", 65400*time.Millisecond).Text())
}

// A live line never wraps, and leaves nothing behind.
func TestScreenHasOneLiveLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		screen := &terminaltest.Screen{T: t}
		known := make(chan struct{})
		l := NewLive(terminal.NewWriter(screen), false, func() Standing {
			select {
			case <-known:
			default:
				return Standing{} // nothing yet
			}
			return Standing{Status: "RUNNING", Polls: 1, Seen: strings.Repeat("界", terminaltest.ScreenColumns)}
		})
		<-time.After(2 * refresh) // of virtual time
		require.Equal(t, "\n", screen.String())
		close(known)
		<-time.After(2 * refresh) // of virtual time
		require.Equal(t, 1, strings.Count(screen.String(), "\n"), screen)
		l.Above(func(out io.Writer) { terminal.Fprintf(out, "a line\n") })
		<-time.After(2 * refresh) // of virtual time
		require.True(t, strings.HasPrefix(screen.String(), "a line\nRUNNING 0s  poll 1: 界"), screen)
		l.Close()
		require.Equal(t, "a line\n", screen.String())
	})
}

package kit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestShortDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0", time.Second: "1s", time.Minute: "1m", 90 * time.Second: "1m30s", 2 * time.Hour: "2h", 100 * time.Minute: "1h40m",
		10 * time.Minute: "10m", time.Hour + 5*time.Second: "1h0m5s", -time.Minute: "-1m", 1500 * time.Millisecond: "1.5s",
	} {
		require.Equal(t, want, ShortDuration(d))
	}
}

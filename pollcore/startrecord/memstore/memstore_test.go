package memstore_test

import (
	"testing"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/startrecordtest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	startrecordtest.RunWithClock(t, func(_ *testing.T, now func() time.Time) startrecord.Store { return memstore.New(now) })
}

// Without a clock of its own a store has that of the machine.
func TestRealClock(t *testing.T) {
	t.Parallel()
	startrecordtest.Run(t, func(*testing.T) startrecord.Store { return memstore.New(nil) })
}

func TestIndex(t *testing.T) {
	t.Parallel()
	startrecordtest.RunIndexed(t, func(*testing.T) startrecord.Indexed { return memstore.New(nil) })
}

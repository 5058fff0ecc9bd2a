package startrecord_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

// Of two invocations that race, one creates the record and starts the job. The other
// loads it.
func Example() {
	ctx, store := context.Background(), memstore.New(nil)
	key := startrecord.Key{ExecutionARN: "arn:aws:states:us-east-1:123456789012:execution:Orders:1", Poller: "Export"}
	rec := startrecord.Record{Status: startrecord.StatusStarting, ExecutionStartTime: time.Now(), StartedAt: time.Now()}
	_, err := store.Create(ctx, key, rec)
	fmt.Println(err)
	_, err = store.Create(ctx, key, rec)
	fmt.Println(errors.Is(err, startrecord.ErrExists))
	stored, err := store.Load(ctx, key)
	fmt.Println(stored.Record.Status, err)
	// Output:
	// <nil>
	// true
	// STARTING <nil>
}

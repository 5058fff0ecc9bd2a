package memstore_test

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

// A store on the clock of a test.
func ExampleNew() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	store := memstore.New(func() time.Time { return now })
	key := startrecord.Key{ExecutionARN: "arn:aws:states:us-east-1:123456789012:execution:Orders:1", Poller: "Export"}
	fmt.Println(store.Location(key))
	// Output: memory:arn:aws:states:us-east-1:123456789012:execution:Orders:1/Export/_/record.json
}

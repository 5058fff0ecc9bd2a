package startrecordtest_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Cabinet is a store of one's own. Its conditional writes are a map under a
// lock; a real one sends them to a server, and has Write.Settle decide about
// every error.
type Cabinet struct {
	now func() time.Time

	mu    sync.Mutex
	files map[string]file
}

type file struct {
	body      []byte
	nonce     string // serves as the version
	writtenAt time.Time
}

func NewCabinet(now func() time.Time) *Cabinet {
	return &Cabinet{now: now, files: map[string]file{}}
}

func (c *Cabinet) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	return c.write(ctx, key, rec, "", startrecord.ErrExists)
}

func (c *Cabinet) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	if version == "" {
		return startrecord.Stored{}, fmt.Errorf("%w: no version given for %s", startrecord.ErrChanged, c.Location(key))
	}
	return c.write(ctx, key, rec, version, startrecord.ErrChanged)
}

func (c *Cabinet) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	if err := key.Validate(); err != nil {
		return startrecord.Stored{}, err
	}
	if err := ctx.Err(); err != nil {
		return startrecord.Stored{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.files[key.Path()]
	if !ok {
		return startrecord.Stored{}, fmt.Errorf("%w: %s", startrecord.ErrNotFound, c.Location(key))
	}
	rec, err := startrecord.Decode(key, found.body)
	if err != nil {
		return startrecord.Stored{}, err
	}
	return startrecord.Stored{Record: rec, Version: found.nonce, Age: max(0, c.now().Sub(found.writtenAt))}, nil
}

func (c *Cabinet) Location(key startrecord.Key) string { return "cabinet:" + key.Path() }

// write stores rec if the stored version is the given one; no file has an empty
// one.
func (c *Cabinet) write(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string, lost error) (startrecord.Stored, error) {
	w, err := startrecord.NewWrite(c.Location(key), key, rec, version)
	if err != nil {
		return startrecord.Stored{}, err
	}
	if err := ctx.Err(); err != nil {
		return startrecord.Stored{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files[key.Path()].nonce != version {
		return startrecord.Stored{}, fmt.Errorf("%w: %s", lost, c.Location(key))
	}
	c.files[key.Path()] = file{w.Body, w.Record.Nonce, c.now()}
	return startrecord.Stored{Record: w.Record, Version: w.Record.Nonce}, nil
}

// A store of one's own passes Run or RunWithClock, and goes into the Config of
// the handlers.
func Example() {
	var store startrecord.Store = NewCabinet(time.Now)
	key := startrecord.Key{ExecutionARN: "arn:aws:states:us-east-1:123456789012:execution:Orders:1", Poller: "Export"}
	rec := startrecord.Record{Status: startrecord.StatusStarting, ExecutionStartTime: time.Now(), StartedAt: time.Now()}
	_, err := store.Create(context.Background(), key, rec)
	fmt.Println(err)
	_, err = store.Create(context.Background(), key, rec)
	fmt.Println(err)
	// Output:
	// <nil>
	// start record exists: cabinet:arn:aws:states:us-east-1:123456789012:execution:Orders:1/Export/_/record.json
}

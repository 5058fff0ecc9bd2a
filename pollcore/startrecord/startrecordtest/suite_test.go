package startrecordtest_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/startrecordtest"
)

// envFlaw names the flaw of the stores that TestCabinet tests.
const envFlaw = "STARTRECORDTEST_FLAW"

func TestCabinet(t *testing.T) {
	t.Parallel()
	flaw := os.Getenv(envFlaw)
	startrecordtest.RunWithClock(t, func(_ *testing.T, now func() time.Time) startrecord.Store {
		return &flawed{Store: NewCabinet(now), flaw: flaw, opened: now()}
	})
}

// flawed is a store with one flaw, or with none.
type flawed struct {
	startrecord.Store

	flaw   string
	opened time.Time
}

func (f *flawed) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	created, err := f.Store.Create(ctx, key, f.rounded(rec))
	switch {
	case f.flaw == "ignores If-None-Match" && err != nil:
		if loaded, err := f.Load(ctx, key); err == nil {
			return f.Store.Replace(ctx, key, rec, loaded.Version)
		}
	case f.flaw == "returns the caller's nonce":
		created.Record.Nonce = rec.Nonce
	}
	return created, err
}

func (f *flawed) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	replaced, err := f.Store.Replace(ctx, key, f.rounded(rec), version)
	switch {
	case f.flaw == "ignores If-Match" && err != nil:
		if loaded, err := f.Load(ctx, key); err == nil {
			return f.Store.Replace(ctx, key, rec, loaded.Version)
		}
	case f.flaw == "replaces what is not there" && err != nil:
		return f.Store.Create(ctx, key, rec)
	case f.flaw == "gives a stale version":
		replaced.Version = version
	}
	return replaced, err
}

func (f *flawed) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	if f.flaw == "has one record" {
		key.Scope = "_"
	}
	loaded, err := f.Store.Load(ctx, key)
	switch f.flaw {
	case "forgets the token":
		loaded.Record.Token = ""
	case "is of no age":
		loaded.Age = 0
	case "ages a record without end":
		loaded.Age += time.Minute
	case "ages on another clock":
		loaded.Age = time.Since(f.opened)
	case "takes a malformed key":
		if key.Validate() != nil {
			err = startrecord.ErrNotFound
		}
	case "does not mind the end of a context":
		return f.Store.Load(context.WithoutCancel(ctx), key)
	}
	return loaded, err
}

func (f *flawed) rounded(rec startrecord.Record) startrecord.Record {
	if f.flaw == "drops fractions of a second" {
		rec.ExecutionStartTime = rec.ExecutionStartTime.Truncate(time.Second)
	}
	return rec
}

// The suite tells stores that have a flaw.
func TestFlaws(t *testing.T) {
	t.Parallel()
	for flaw, test := range map[string]string{
		"ignores If-None-Match":              "CreateExists",
		"ignores If-Match":                   "ReplaceStale",
		"replaces what is not there":         "ReplaceNotFound",
		"returns the caller's nonce":         "Create",
		"gives a stale version":              "Replace",
		"has one record":                     "Keys",
		"forgets the token":                  "Fields",
		"drops fractions of a second":        "Fields",
		"takes a malformed key":              "InvalidKey",
		"does not mind the end of a context": "Canceled",
		"is of no age":                       "Age",
		"ages a record without end":          "AgeBackwards",
		"ages on another clock":              "AgeOfOldWrite",
	} {
		t.Run(flaw, func(t *testing.T) {
			t.Parallel()
			run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCabinet$/^"+test+"$")
			run.Env = append(os.Environ(), envFlaw+"="+flaw)
			output, err := run.CombinedOutput()
			require.Error(t, err)
			require.Contains(t, string(output), "--- FAIL: TestCabinet/"+test+" ")
		})
	}
}

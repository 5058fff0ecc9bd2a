package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const (
	// startTime is how long a server that was just started may take to open its port, and
	// to write the file with its keys.
	startTime = 3 * time.Second
	// readyTime is how long it may take to answer then: it builds functions before.
	readyTime  = 2 * time.Minute
	probePause = 100 * time.Millisecond
)

// awaitServer finds the access to the server that runs where the flags say, and checks
// that it answers with it: the file of a server that was killed stays.
func (o *serveOptions) awaitServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	for began := time.Now(); ; {
		if err := o.findAccess(); err != nil {
			return err
		}
		starts, err := o.probe(ctx)
		switch {
		case err == nil:
			return nil
		case !starts || time.Since(began) > startTime || ctx.Err() != nil:
			return kit.WithCode(kit.ExitFailed, err)
		}
		select {
		case <-time.After(probePause):
		case <-ctx.Done():
		}
	}
}

// probe asks the server for its health. If that fails, it tells whether a server that
// starts may be why.
func (o *serveOptions) probe(ctx context.Context) (starts bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url()+ownPaths+"health", http.NoBody)
	if err != nil {
		return false, err
	}
	if o.access != nil {
		nothing := sha256.Sum256(nil)
		keys := aws.Credentials{AccessKeyID: o.access.AccessKeyID, SecretAccessKey: o.access.SecretAccessKey}
		if err := v4.NewSigner().SignHTTP(ctx, keys, r, hex.EncodeToString(nothing[:]), string(loopback.StepFunctions), sim.DefaultRegion, time.Now()); err != nil {
			return false, err
		}
	}
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return true, fmt.Errorf("no server answers at %s: start it with jobpoller serve, or name its port with --port (%w)", o.url(), err)
	}
	defer answer.Body.Close()
	var health struct {
		Operations int `json:"operations"`
	}
	const most = 64 << 10
	text, err := io.ReadAll(io.LimitReader(answer.Body, most))
	switch {
	case err != nil:
		return false, err
	case answer.StatusCode == http.StatusForbidden:
		const format = "the server at %s does not take the keys that are kept for you: run this as the user who started it, with the same XDG_RUNTIME_DIR"
		return true, fmt.Errorf(format, o.url())
	case json.Unmarshal(text, &health) != nil || health.Operations == 0:
		return false, fmt.Errorf("what answers at %s is not jobpoller serve: name the port of the server with --port", o.url())
	}
	return false, nil
}

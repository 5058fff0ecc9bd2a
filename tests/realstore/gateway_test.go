package realstore_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
	"github.com/jobpoller/jobpoller/tests/soak"
)

const bucket = "records"

// gateway is a versitygw process that serves a folder, and checks signatures.
type gateway struct {
	address     string
	credentials aws.Credentials
}

// errUnusable is that of a gateway that ended while it started.
var errUnusable = errors.New("versitygw ended")

// startGateway starts a gateway with an empty bucket. It ends with the test.
func startGateway(t *testing.T) *gateway {
	t.Helper()
	binary, err := build()
	require.NoError(t, err)
	g := &gateway{credentials: aws.Credentials{AccessKeyID: rand.Text(), SecretAccessKey: rand.Text()}}
	// Objects keep their metadata in extended attributes, as versitygw does
	// unless it is told otherwise, or beside them where there are none. Another
	// process may take the port first.
	for _, metadata := range [][]string{nil, {"--sidecar", t.TempDir()}, {"--sidecar", t.TempDir()}} {
		if err = g.run(t, binary, metadata...); err == nil {
			break
		}
		require.ErrorIs(t, err, errUnusable)
	}
	require.NoError(t, err)
	_, err = g.client(http.DefaultTransport).CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(bucket)})
	require.NoError(t, err)
	return g
}

// build builds versitygw in the version of go.mod, once. The build cache keeps
// it.
var build = sync.OnceValues(func() (string, error) {
	output, err := exec.Command("go", "tool", "-n", "versitygw").Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("versitygw cannot be built: %w\n%s", err, failed.Stderr)
	}
	return strings.TrimSpace(string(output)), err
})

// run starts the process and returns when it serves.
func (g *gateway) run(t *testing.T, binary string, metadata ...string) error {
	t.Helper()
	port, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g.address = port.Addr().String()
	require.NoError(t, port.Close())

	const health = "/healthz"
	root := filepath.Join(t.TempDir(), "buckets")
	require.NoError(t, os.Mkdir(root, 0o700))
	var output bytes.Buffer
	process := exec.Command(binary, append(append([]string{"--port", g.address, "--health", health, "--quiet", "posix"}, metadata...), root)...)
	process.Stdout, process.Stderr = &output, &output
	process.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+g.credentials.AccessKeyID, "ROOT_SECRET_KEY="+g.credentials.SecretAccessKey)
	process.SysProcAttr = processAttributes()
	require.NoError(t, process.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = process.Wait() // killed in the end, and no use before
	}()
	t.Cleanup(func() {
		_ = process.Process.Kill()
		<-ended
	})
	for {
		if response, err := http.Get("http://" + g.address + health); err == nil {
			_ = response.Body.Close()
			require.Equal(t, http.StatusOK, response.StatusCode)
			return nil
		}
		select {
		case <-ended:
			return fmt.Errorf("%w: %s", errUnusable, &output)
		case <-t.Context().Done():
			return t.Context().Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// client returns a client of the gateway that retries without pauses.
func (g *gateway) client(transport http.RoundTripper) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String("http://" + g.address), UsePathStyle: true, Region: "us-east-1",
		HTTPClient: &http.Client{Transport: transport},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return g.credentials, nil
		}),
		Retryer: soak.Prompt{Retryer: retry.NewStandard()},
		DisableLogOutputChecksumValidationSkipped: true,
	})
}

// store returns a store under a prefix in the gateway's bucket.
func (g *gateway) store(transport http.RoundTripper, prefix string) (startrecord.Store, error) {
	return s3store.New(g.client(transport), bucket, prefix)
}

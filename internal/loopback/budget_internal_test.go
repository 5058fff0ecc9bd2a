package loopback

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/stretchr/testify/require"
)

// connection is the client of a request that sends bytes of its body and then no more,
// until the server waits no longer.
type connection struct {
	*httptest.ResponseRecorder

	left int
	cut  chan struct{}
	once sync.Once
}

func newConnection(sends int) *connection {
	return &connection{ResponseRecorder: httptest.NewRecorder(), left: sends, cut: make(chan struct{})}
}

func (c *connection) SetReadDeadline(t time.Time) error {
	if !t.IsZero() && t.Before(time.Now()) {
		c.once.Do(func() { close(c.cut) })
	}
	return nil
}

func (c *connection) Read(p []byte) (int, error) {
	if c.left == 0 {
		<-c.cut
		return 0, os.ErrDeadlineExceeded
	}
	n := min(len(p), c.left)
	c.left -= n
	return n, nil
}

func (c *connection) Close() error { return nil }

// signAs signs with keys that may be wrong. The SDKs send the hash of the body in a header
// for some services alone.
func signAs(t *testing.T, r *http.Request, k Keys, body string, hashed bool) {
	t.Helper()
	hash := hexSHA256([]byte(body))
	if hashed {
		r.Header.Set(headerPayload, hash)
	}
	credentials := aws.Credentials{AccessKeyID: k.AccessKeyID, SecretAccessKey: k.SecretAccessKey}
	require.NoError(t, v4.NewSigner().SignHTTP(t.Context(), credentials, r, hash, string(StepFunctions), "eu-central-1", time.Now()))
}

// A server once held the bodies of 60 strangers, 16 MiB each, to look at their signatures.
func TestStrangersHoldLittleMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const strangers, size = 60, 4 << 20
		keys, account := NewKeys(), "123456789012"
		signed := Signed{
			Service: StepFunctions, Keys: []Keys{keys}, Unverified: NewBudget(), TakesID: func(id string) bool { return id == account },
			Refuse: func(w http.ResponseWriter, _ *http.Request, refusal *Refusal) {
				http.Error(w, refusal.Code, refusal.Status)
			},
		}
		all := signed.Unverified.left
		require.LessOrEqual(t, all, int64(MaxBody+bodyPiece))
		door := signed.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
		send := func(c *connection, sign Keys) {
			r := httptest.NewRequest(http.MethodPost, "http://any/", nil)
			r.Body, r.ContentLength = c, size
			signAs(t, r, sign, "", false)
			door.ServeHTTP(c, r)
		}
		var sent []*connection
		var done sync.WaitGroup
		for range strangers {
			c := newConnection(size - 1)
			sent = append(sent, c)
			done.Go(func() { send(c, Keys{AccessKeyID: account, SecretAccessKey: "guessed"}) })
		}
		synctest.Wait()
		var held int64
		var refused int
		for _, b := range signed.Unverified.bodies {
			held += b.bytes
		}
		require.Equal(t, all, held+signed.Unverified.left)
		require.Positive(t, held)
		for _, c := range sent {
			if c.Code == http.StatusServiceUnavailable {
				require.Equal(t, "ServiceUnavailable\n", c.Body.String())
				refused++
			}
		}
		require.Equal(t, strangers-len(signed.Unverified.bodies), refused)
		require.Less(t, len(signed.Unverified.bodies), strangers/2)

		// The owner is let in nevertheless.
		body := strings.Repeat("x", 1<<20)
		r := httptest.NewRequest(http.MethodPost, "http://any/", strings.NewReader(body))
		signAs(t, r, keys, body, false)
		answer := httptest.NewRecorder()
		door.ServeHTTP(answer, r)
		require.Equal(t, http.StatusOK, answer.Code)
		require.Equal(t, body, answer.Body.String())

		// The others run into their deadline, and hold nothing any more.
		for _, c := range sent {
			require.NoError(t, c.SetReadDeadline(time.Unix(1, 0)))
		}
		done.Wait()
		require.Empty(t, signed.Unverified.bodies)
		require.Equal(t, all, signed.Unverified.left)
	})
}

// A body is read of nobody whom the headers already tell to be a stranger.
func TestBodiesOfStrangersAreNotRead(t *testing.T) {
	t.Parallel()
	keys := NewKeys()
	for name, tt := range map[string]struct {
		keys   Keys
		hashed bool
		length int64
		want   string
	}{
		"hash in a header": {Keys{keys.AccessKeyID, "guessed"}, true, 2, "SignatureDoesNotMatch"},
		"unknown key":      {Keys{"unknown", "guessed"}, false, 2, "SignatureDoesNotMatch"},
		"too large":        {Keys{keys.AccessKeyID, "guessed"}, false, 1001, "EntityTooLarge"},
	} {
		r := httptest.NewRequest(http.MethodPost, "http://any/", nil)
		r.Body, r.ContentLength = io.NopCloser(unread{t, name}), tt.length
		signAs(t, r, tt.keys, "in", tt.hashed)
		answer := httptest.NewRecorder()
		signed := Signed{Service: StepFunctions, Keys: []Keys{keys}, MaxBody: 1000, Refuse: func(w http.ResponseWriter, _ *http.Request, refusal *Refusal) {
			http.Error(w, refusal.Code, refusal.Status)
		}}
		signed.Require(http.NotFoundHandler()).ServeHTTP(answer, r)
		require.Equal(t, tt.want+"\n", answer.Body.String(), name)
	}
}

type unread struct {
	t    *testing.T
	name string
}

func (u unread) Read([]byte) (int, error) {
	u.t.Errorf("the body is read: %s", u.name)
	return 0, errors.New("unread")
}

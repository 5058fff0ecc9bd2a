// Package throttle lets an account call operations and make transitions as often as AWS
// does, by the quotas of package asl.
package throttle

import (
	"io"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// mostBuckets bounds the memory: an account is whatever a request names.
const mostBuckets = 10_000

// Limiter has a token bucket for each operation of each account and region. Its zero
// value has full buckets.
type Limiter struct {
	mu      sync.Mutex
	buckets map[key]*bucket
	swept   time.Time // when full buckets were last forgotten
}

type key struct {
	operation, account, region string
	express                    bool
}

// bucket has tokens at a time.
type bucket struct {
	quota  asl.Quota
	tokens float64
	at     time.Time
}

// fill adds what has come since. A time that is earlier adds nothing.
func (b *bucket) fill(now time.Time) {
	if passed := now.Sub(b.at); passed > 0 {
		b.tokens = math.Min(float64(b.quota.Burst), b.tokens+passed.Seconds()*float64(b.quota.PerSecond))
		b.at = now
	}
}

// Allow takes a token for a call of an operation, or for a "StateTransition", and tells
// whether there was one. What has no quota is always allowed.
func (l *Limiter) Allow(now time.Time, operation, account, region string, as asl.ExecutionType) bool {
	quota, ok := asl.QuotaOf(operation, region, as)
	if !ok {
		return true
	}
	k := key{operation, account, region, as == asl.Express}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[k]
	if b == nil {
		if l.buckets == nil {
			l.buckets = map[key]*bucket{}
		}
		if len(l.buckets) >= mostBuckets && !l.forgetFull(now) {
			return false
		}
		b = &bucket{quota, float64(quota.Burst), now}
		l.buckets[k] = b
	}
	b.fill(now)
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// forgetFull forgets the buckets that are full again, once a second, and tells whether
// there was one.
func (l *Limiter) forgetFull(now time.Time) bool {
	if now.Sub(l.swept) < time.Second {
		return false
	}
	before := len(l.buckets)
	l.swept = now
	for k, b := range l.buckets {
		if b.fill(now); b.tokens >= float64(b.quota.Burst) {
			delete(l.buckets, k)
		}
	}
	return len(l.buckets) < before
}

// Refuse answers a request that is not allowed, in AWS's words.
func Refuse(w http.ResponseWriter) {
	const code = "ThrottlingException"
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amzn-Errortype", code)
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, `{"__type":"`+code+`","message":"Rate exceeded"}`) // if that fails, the client has gone
}

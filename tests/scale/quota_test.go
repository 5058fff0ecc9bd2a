package scale_test

import "sync"

// quota is a service's limit of calls: a bucket that holds most calls, and gets perSecond
// of them back a second.
type quota struct{ perSecond, most int }

// meter counts calls by the second, and throttles those beyond a quota.
type meter struct {
	quota

	mu        sync.Mutex
	second    int64
	left      int
	inSecond  int
	peak      int // calls sent in one second, with those that were throttled
	calls     int
	throttled int
}

func newMeter(q quota) *meter { return &meter{quota: q, left: q.most} }

// take reports whether a call may be made in a second.
func (m *meter) take(second int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if second > m.second {
		m.left = int(min(int64(m.most), int64(m.left)+(second-m.second)*int64(m.perSecond)))
		m.second, m.inSecond = second, 0
	}
	m.calls++
	m.inSecond++
	m.peak = max(m.peak, m.inSecond)
	if m.left == 0 {
		m.throttled++
		return false
	}
	m.left--
	return true
}

package server

import (
	"strconv"
	"time"
)

// version is a published revision.
type version struct {
	number      int
	revision    *revision
	description string
	created     time.Time
}

func (m *machine) versionARN(v *version) string { return m.arn + ":" + strconv.Itoa(v.number) }

// publish makes a version of the current revision, unless the last one is of it.
func (m *machine) publish(description string, now time.Time) *version {
	if last := m.versions[m.lastVersion]; last != nil && last.revision == m.current {
		return last
	}
	m.lastVersion++
	v := &version{number: m.lastVersion, revision: m.current, description: description, created: now}
	m.versions[v.number] = v
	return v
}

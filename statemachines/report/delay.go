package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// delayNotes says where Step Functions sees the end of a job late, because a ".sync" Task
// looks at it seldom. The history does not say how late.
func delayNotes(visits *history.Visits) []string {
	var notes []string
	known := map[string]time.Duration{}
	for _, v := range visits.All {
		for _, a := range v.Attempts {
			action := a.Service + ":" + a.Action
			delay, ok := known[action]
			if !ok {
				delay = syncDelay(a.Service, action)
				known[action] = delay
			}
			if delay == 0 {
				continue
			}
			note := fmt.Sprintf("%s: Step Functions looks at the job of %s once in %s, so it may see the end up to %[3]s late",
				cut(v.State, mostName), action, FormatDuration(delay))
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// syncDelay is the time between two looks at the job of a ".sync" Task; 0 where nobody
// measured it.
func syncDelay(service, action string) time.Duration {
	s, err := catalog.AWS().Service(service)
	if err != nil {
		return 0 // the catalogue has no job of it
	}
	for _, job := range s.Jobs {
		if job.Sync == action {
			return time.Duration(job.SyncDelay) * time.Second
		}
	}
	return 0
}

package conformance_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/responses"
)

const (
	// collectedJobs are the jobs that the strategy events takes, and collectedEach are
	// the sequences of each.
	collectedJobs, collectedEach = 243, 2
	// mostTransitions are those of a job whose service answers.
	mostTransitions = 6
	// lostFor is how long after the deadline a machine waits that nobody answers.
	lostFor = 20 * time.Minute
)

// collectedRuns are the runs of the strategy events under way.
type collectedRuns struct {
	result

	mu   sync.Mutex
	ways map[string]int
}

// runEvents has pollcore.Wait and the machine of the strategy events of each job meet
// the same service. Between machine and service are the functions, the driver of the
// job, and the service's protocol.
func runEvents(t *testing.T) *collectedRuns {
	t.Helper()
	r := &collectedRuns{result: result{failures: map[string]string{}}, ways: map[string]int{}}
	all := slices.DeleteFunc(entries(t), func(e *catalog.Entry) bool { return e.Job == nil })
	shards := runtime.GOMAXPROCS(0)
	t.Run("shards", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for i := shard; i < len(all); i += shards {
					r.entry(t, all[i])
				}
			})
		}
	})
	require.Positive(t, r.ways["calls for many jobs"])
	return r
}

// entry runs the sequences of a job.
func (r *collectedRuns) entry(t *testing.T, e *catalog.Entry) {
	t.Helper()
	name := e.Service.Key + " " + e.Name
	sequencer, err := responses.NewSequencer(e, *seed)
	require.NoError(t, err, name)
	check, err := pollcore.Compile[any, any](e.Waiter)
	require.NoError(t, err, name)
	service := &signaledService{entry: e}
	driver, err := awsjob.NewDriver(service.config(), catalog.AWS(), compile.CallOf(e).Job)
	require.NoError(t, err, name)
	for i, schedule := range schedules {
		m := &machine{
			entry: e, strategy: strategy{name: compile.LambdaEvents, lambda: true}, options: schedule(e.Waiter),
			call: compile.CallOf(e), compiled: map[bool]*compile.Compiled{},
		}
		for n := i; n < collectedEach**sequences; n += len(schedules) {
			draw := drawFor(fmt.Sprintf("%s, events %d", name, n))
			q, err := sequencer.Make(n, *seed, m.options.MaxWait)
			require.NoError(t, err, name)
			c := &collected{machine: m, service: service, driver: driver, draw: draw}
			require.NoError(t, c.prepare(sequencer, q), name)
			ran := c.run(t)
			synctest.Test(t, func(t *testing.T) {
				w := &wait{check: check, sequence: c.job.Sequence, options: m.options}
				own := w.run(t)
				problems := slices.Concat(wrong(w, own), c.differences(own, ran))
				r.mu.Lock()
				defer r.mu.Unlock()
				r.total++
				for _, way := range c.ways {
					r.ways[way]++
				}
				r.ways["calls for many jobs"] += len(service.batches)
				if len(problems) > 0 {
					r.failures[fmt.Sprintf("%s %d: %s, %s, %s", name, n, ran.form, strings.Join(c.ways, ", "), q.Name)] = strings.Join(problems, "; ")
				}
			})
		}
	}
}

// differences says in what the run is not what is promised.
func (c *collected) differences(own, r *run) []string {
	var all []string
	differ := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if r.status != own.status {
		differ("%s (%s), but pollcore.Wait says %s (%s)", r.status, r.reason, own.status, own.reason)
		return all
	}
	c.compareEnds(differ, own, r)
	if c.job.starts != 1 {
		differ("the job was started %d times", c.job.starts)
	}
	_, stops := c.driver.(jobs.Stopper)
	total := c.options.MaxWait
	switch {
	case !stops || r.status != pollcore.TimedOut:
		if c.job.stops != 0 {
			differ("the job was stopped")
		}
	case c.job.stops != 1 && c.died == 0 || c.job.stops == 0:
		differ("the job was stopped %d times", c.job.stops)
	case c.job.stoppedAt.Before(sim.DefaultStart().Add(total)):
		differ("the job was stopped at %s of %s", c.job.stoppedAt, total)
	}
	transitions := r.result.Transitions
	if c.form != whole {
		transitions -= hostTransitions
	}
	if transitions > mostTransitions && !r.player.fatal {
		differ("%d transitions", transitions)
	}
	if c.answers > 1 && !r.player.fatal {
		differ("the Task was answered %d times", c.answers)
	}
	return append(all, c.compareLateness(r)...)
}

// compareLateness checks when the machine ends: with a poll that follows the end or the
// deadline, and where a message is lost, when its Task gives up at the latest.
func (c *collected) compareLateness(r *run) (all []string) {
	schedule := pollcore.NewSchedule(c.entry.Waiter, c.options.MaxWait)
	hi := schedule.Max
	if c.options.MaxDelay > 0 {
		hi = c.options.MaxDelay
	}
	first := c.options.InitialDelay
	if p := c.options.Schedule; p != nil {
		hi, first = max(slices.Max(p.Delays), p.Then), p.Delays[0]+p.Jitter
	}
	ends := min(c.job.End, c.options.MaxWait)
	most := max(ends, first) + hi + time.Second
	most += time.Duration(r.player.faults)*time.Minute + time.Duration(c.died)*(localloop.Visibility+time.Minute)
	if slices.Contains(c.ways, "a message is lost") || r.player.fatal {
		most = c.options.MaxWait + lostFor + 5*time.Minute
	}
	told := slices.Contains(c.ways, toldInTime) || slices.Contains(c.ways, toldTwice)
	if told && c.job.End <= c.options.MaxWait && c.job.Faults() == 0 && !r.player.fatal && c.died == 0 {
		most = ends
	}
	if r.elapsed < ends || r.elapsed > most {
		all = append(all, fmt.Sprintf("it ends after %s, want %s to %s", r.elapsed, ends, most))
	}
	return all
}

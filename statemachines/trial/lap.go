package trial

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// errSteady ends a run that would poll on for ever.
var errSteady = errors.New("the laps of the loop are equal")

// errIdle ends one that would do so without a wait.
var errIdle = errors.New("the laps of the loop are equal and take no time")

// errSkipped ends a run that goes on behind some laps.
var errSkipped = errors.New("the next laps of the loop are equal")

// entry is what a run had when it entered a Task.
type entry struct {
	sim.Beginning

	at     time.Time
	lap    time.Duration // since the entry before
	events int           // before it
	clocks int           // events of states that read a clock
	calls  int           // that do not poll
	polls  int
	counts map[string]int // of calls, by task and flow
}

// watch follows a run. Where a Task is entered as before, the next laps are equal, unless a
// state on the way reads a clock. If all are, watch ends the run: the error says whether a lap
// takes time. Else it ends it to go on behind those that are.
func (p *player) watch(stop func(error)) func(sim.Event) {
	if p.subject.branches {
		return func(e sim.Event) { p.track.follow(e) }
	}
	last, clocks, done := map[string]*entry{}, 0, false
	return func(e sim.Event) {
		d := p.track.follow(e)
		if p.subject.readsClock(d.Name) {
			clocks++
		}
		if e.Type != "TaskStateEntered" || done || p.isLeft() {
			return
		}
		now := &entry{
			sim.Beginning{State: d.Name, Input: slices.Clone(d.Input.JSON()), Variables: maps.Clone(p.track.variables)},
			e.Timestamp, 0, p.track.events - 1, clocks, len(p.seen.calls), p.seen.Polls, maps.Clone(p.counts),
		}
		before := last[d.Name]
		last[d.Name] = now
		if before == nil {
			return
		}
		if now.lap = now.at.Sub(before.at); before.clocks != now.clocks || string(before.Input) != string(now.Input) {
			return
		}
		switch laps, counted := p.equalLaps(before, now); {
		case laps == 0: // the next one may differ
		case !counted && laps == math.MaxInt && !p.track.whole && !now.at.After(before.at):
			done = true
			stop(errIdle)
		case !counted && laps == math.MaxInt && !p.track.whole:
			done = true
			p.full = p.fullAfter(before, now)
			stop(errSteady)
		default:
			// Retries may take a random time.
			if laps = min(laps, p.room(before, now)); laps >= leastSkipped && before.calls == now.calls && before.lap == now.lap {
				p.skip(before, now, laps)
				stop(errSkipped)
			}
		}
	}
}

// fullAfter is how long after its start the history of the execution is full, if all laps are like that from one entry to
// another.
func (p *player) fullAfter(before, now *entry) time.Duration {
	left := asl.MaxEvents - now.events
	if of := p.track.after; of != nil {
		left -= of.events
	}
	return now.at.Sub(p.start) + time.Duration(float64(left)/float64(now.events-before.events)*float64(now.at.Sub(before.at)))
}

// leastSkipped is how many laps are worth a new beginning.
const leastSkipped = 5

// equalLaps is how many laps are like that from one entry to another, and whether they count.
func (p *player) equalLaps(before, now *entry) (laps int, counted bool) {
	laps = p.sameAnswers(before, now)
	for name := range now.Variables {
		from, to := string(before.Variables[name]), string(now.Variables[name])
		if from == to {
			continue
		}
		laps, counted = min(laps, p.subject.counters()[name].laps(from, to)), true
	}
	return laps, counted
}

// sameAnswers is how many laps get the answers of the last one.
func (p *player) sameAnswers(before, now *entry) int {
	laps := math.MaxInt
	for s := p.script; s != nil; s = s.lead {
		key := p.varied[s.task]
		from, to := before.counts[key], now.counts[key]
		if from == to {
			continue
		}
		if n := s.runEnd(from); n <= len(s.answers) {
			laps = min(laps, max(0, n-to)/(to-from))
		}
	}
	return laps
}

// room is how many laps there is time and a history for.
func (p *player) room(before, now *entry) int {
	room := (p.maxEvents-now.events)/(now.events-before.events) - 1
	limit := asl.MaxStandardTime
	if p.options.Express {
		limit = asl.MaxExpressTime
	}
	if own := time.Duration(p.subject.machine.TimeoutSeconds) * time.Second; own > 0 {
		limit = min(limit, own)
	}
	if lasts := now.at.Sub(before.at); lasts > 0 {
		room = min(room, int((limit-now.at.Sub(p.start))/lasts)-1)
	}
	return room
}

// skip lets the run go on behind laps.
func (p *player) skip(before, now *entry, laps int) {
	ahead := *now
	ahead.at = now.at.Add(time.Duration(laps) * now.at.Sub(before.at))
	ahead.events += laps * (now.events - before.events)
	for name, value := range now.Variables {
		if from, to := string(before.Variables[name]), string(value); from != to {
			a, _ := strconv.ParseInt(from, 10, 64)
			b, _ := strconv.ParseInt(to, 10, 64)
			ahead.Variables[name] = json.RawMessage(strconv.FormatInt(b+int64(laps)*(b-a), 10))
		}
	}
	p.seen.Polls += laps * (now.polls - before.polls)
	for key, n := range now.counts {
		each := n - before.counts[key]
		p.counts[key] += laps * each
		if kept := p.seen.polls[key]; len(kept) < mostKept && len(kept) >= each {
			kept = slices.Concat(kept, slices.Repeat(kept[len(kept)-each:], min(laps, mostKept)))
			p.seen.polls[key] = kept[:min(len(kept), mostKept)]
		}
	}
	p.ahead = &ahead
}

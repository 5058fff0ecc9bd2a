package page

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/internal/timespan"
	"github.com/jobpoller/jobpoller/statemachines/report"
)

// clockView is the bar with the time of the world.
type clockView struct {
	Now, Mode, Next string
	// Paused tells that the clock stands still, and Resume is the rate that it goes on
	// with.
	Paused  bool
	Resume  string
	HasNext bool
	Rates   []choice
}

// virtual is the rate of a clock that jumps.
const virtual = "virtual"

// rates are those that a reader can choose.
var rates = []float64{1, 60, 3600}

func (p *Page) newClockView(c Clock) clockView {
	v := clockView{Now: formatTime(c.Now), Paused: isPaused(c), HasNext: !c.Next.IsZero()}
	p.mu.Lock()
	v.Resume = p.resume
	p.mu.Unlock()
	switch {
	case c.Virtual:
		v.Mode = "virtual: jumps where nothing runs"
	case c.Rate == 0:
		v.Mode = "stands still"
	case c.Rate == 1:
		v.Mode = "real time"
	default:
		v.Mode = formatRate(c.Rate) + " times as fast"
	}
	if v.HasNext {
		v.Next = "in " + report.FormatDuration(max(0, c.Next.Sub(c.Now)))
	}
	for _, rate := range rates {
		v.Rates = append(v.Rates, choice{formatRate(rate), !c.Virtual && rate == c.Rate})
	}
	v.Rates = append(v.Rates, choice{virtual, c.Virtual})
	return v
}

func isPaused(c Clock) bool { return c.Rate == 0 && !c.Virtual }

// rateOf is the rate by which the clock goes.
func rateOf(c Clock) string {
	if c.Virtual {
		return virtual
	}
	return formatRate(c.Rate)
}

func formatRate(rate float64) string { return strconv.FormatFloat(rate, 'g', -1, 64) }

// formatTime writes a time for people.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// steers are the changes of the clock by the actions of the forms.
var steers = map[string]func(r *http.Request) (Steering, error){
	"pause": func(*http.Request) (Steering, error) { return Steering{Rate: new(float64)}, nil },
	"next":  func(*http.Request) (Steering, error) { return Steering{Next: true}, nil },
	"rate": func(r *http.Request) (Steering, error) {
		if r.PostFormValue("rate") == virtual {
			return Steering{Virtual: true}, nil
		}
		rate, err := strconv.ParseFloat(r.PostFormValue("rate"), 64)
		if err != nil || rate <= 0 || rate > mostRate {
			return Steering{}, fmt.Errorf("expected a rate above 0 and up to %d, such as 60, found %.20q", mostRate, r.PostFormValue("rate"))
		}
		return Steering{Rate: &rate}, nil
	},
	"advance": func(r *http.Request) (Steering, error) {
		by, err := timespan.Parse(r.PostFormValue("by"))
		if err != nil || by <= 0 {
			return Steering{}, fmt.Errorf("expected a time above 0, such as 10m, found %.20q", r.PostFormValue("by"))
		}
		return Steering{Advance: by}, nil
	},
}

// mostRate is the fastest clock: a day in a second.
const mostRate = 86_400

func (q *request) steer(ctx context.Context, action string) error {
	s, err := steers[action](q.r)
	if err != nil {
		return err
	}
	if before := q.o.World.Clock(); action == "pause" && !isPaused(before) {
		q.mu.Lock()
		q.resume = rateOf(before)
		q.mu.Unlock()
	}
	return q.o.World.Steer(ctx, s)
}

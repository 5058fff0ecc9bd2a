package plan

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/internal/timespan"
)

// Statistic says in which jobs the lateness is as the goal says.
type Statistic int

// The statistics of lateness.
const (
	// Mean is the mean of all jobs.
	Mean Statistic = iota
	// P50 is the median: half of the jobs are less late.
	P50
	// P95 is exceeded by one job in twenty.
	P95
	// Worst is never exceeded, whatever jobs take.
	Worst
)

var statistics = []string{"mean", "p50", "p95", "worst"}

// String is the name that [ParseGoal] reads.
func (s Statistic) String() string {
	if s < 0 || int(s) >= len(statistics) {
		return "statistic " + strconv.Itoa(int(s))
	}
	return statistics[s]
}

// Goal says how late a poll may see the end of a job. Exactly one of Late, Share and
// Price is set.
type Goal struct {
	// Late is the time from the end of the job to the poll that sees it.
	Late time.Duration
	// Share is the same as a share of the job's own length: 0.05 allows 3 seconds
	// for a job of a minute and 3 minutes for one of an hour. Jobs of less than 10
	// seconds count as 10 seconds long.
	Share float64
	// Price is how many calls a second of lateness is worth. A plan for it has the
	// lowest sum of calls and mean lateness.
	Price float64
	// At says which statistic of Late or Share counts.
	At Statistic
}

// ParseGoal reads a lateness ("30s", "1m30s" or "5%" of the job's length) and, if one
// follows it, a statistic: "30s p95", "5% p50", "5% worst". Without one it is the mean.
func ParseGoal(text string) (Goal, error) {
	words := strings.Fields(text)
	if len(words) == 0 || len(words) > 2 {
		return Goal{}, fmt.Errorf("lateness %q is not a time or a share, such as 30s, 5%% or 30s p95", text)
	}
	var g Goal
	if share, ok := strings.CutSuffix(words[0], "%"); ok {
		number, err := strconv.ParseFloat(share, 64)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return Goal{}, shareError(words[0])
		case err != nil, math.IsNaN(number):
			return Goal{}, fmt.Errorf("lateness %q is not a number of percent, such as 5%%", words[0])
		case number <= 0:
			return Goal{}, latenessError(words[0])
		}
		g.Share = number / 100
	} else {
		late, err := timespan.Parse(words[0])
		if err != nil {
			return Goal{}, fmt.Errorf("lateness %q is not a time such as 30s or 1m30s, nor a share such as 5%%", words[0])
		}
		g.Late = late
		if late <= 0 {
			return Goal{}, latenessError(words[0])
		}
	}
	if len(words) == 2 {
		found := false
		for i, name := range statistics {
			if words[1] == name {
				g.At, found = Statistic(i), true
			}
		}
		if !found {
			return Goal{}, fmt.Errorf("%q is not a statistic of lateness: expected %s%s",
				words[1], strings.Join(statistics, ", "), nearest.DidYouMean(words[1], statistics))
		}
	}
	return g, g.Validate()
}

func latenessError(got string) error {
	return fmt.Errorf("lateness must be above 0, got %s: pass a time such as 30s, or a share of the job's length such as 5%%", got)
}

func shareError(got string) error {
	return fmt.Errorf("lateness as a share must be between 0.1%% and 1000%%, got %s", got)
}

// Validate reports a goal that no plan can have.
func (g Goal) Validate() error {
	set := 0
	for _, is := range []bool{g.Late != 0, g.Share != 0, g.Price != 0} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return errors.New("goal must be one of a lateness, a share of the job's length and a price of a second")
	case g.Late < 0:
		return latenessError(g.Late.String())
	case g.Share != 0 && !(g.Share >= 0.001 && g.Share <= 10):
		return shareError(percent(g.Share))
	case g.Price != 0 && !(g.Price > 0 && g.Price <= math.MaxInt32):
		return fmt.Errorf("price of a second must be above 0 calls, got %v", g.Price)
	case g.At < Mean || g.At > Worst:
		return fmt.Errorf("goal has the unknown %s", g.At)
	}
	return nil
}

// String is the text that [ParseGoal] reads, if the goal is not a price.
func (g Goal) String() string {
	switch {
	case g.Price != 0:
		return fmt.Sprintf("%g calls a second", g.Price)
	case g.Share != 0:
		return percent(g.Share) + " " + g.At.String()
	default:
		return g.Late.String() + " " + g.At.String()
	}
}

func percent(share float64) string {
	return strconv.FormatFloat(share*100, 'g', 4, 64) + "%"
}

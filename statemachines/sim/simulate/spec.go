package simulate

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

// Spec is how long simulated jobs run and how they end.
type Spec struct {
	// State is the state that starts the job, or that describes it where nothing in
	// the machine starts it; empty for all jobs that no other Spec is for.
	State  string
	Spread mock.Spread
	// Ends is the status that the jobs end in; empty for a success.
	Ends string
	// Throttle is the share of describe calls that are throttled, such as "5%";
	// empty for none.
	Throttle string
	// Bare leaves all out of the answers that the model does not require, that the service does not
	// always send, and that nobody judges the job by; and counts that are 0.
	Bare bool
}

// specForm is the text of a Spec. A name of a state may have any of the characters
// that part the others, so it goes as far as it can.
var specForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(.+)=)??((?:lognormal|uniform|exp)\([^()]*\)|[^=:,()]+)(?::([^=,]+))?((?:,(?:throttle=[^=,]+|bare))*)$`)
})

// SpecForm is what the text of a Spec is like.
const SpecForm = "[STATE=]TIME[:STATUS][,throttle=SHARE][,bare]"

// ParseSpec reads a Spec, such as "12m", "lognormal(15m,0.5)",
// "Import=40m:FAILED,throttle=5%" or "12m,bare".
func ParseSpec(text string) (Spec, error) {
	parts := specForm().FindStringSubmatch(text)
	if parts == nil {
		return Spec{}, fmt.Errorf("expected %s, such as 12m or 'Import=40m:FAILED,throttle=5%%', found %q", SpecForm, text)
	}
	s := Spec{State: parts[1], Ends: parts[3]}
	for option := range strings.SplitSeq(strings.TrimPrefix(parts[4], ","), ",") {
		switch share, throttled := strings.CutPrefix(option, "throttle="); {
		case option == "":
		case throttled && s.Throttle == "":
			s.Throttle = share
		case option == "bare" && !s.Bare:
			s.Bare = true
		default:
			return Spec{}, fmt.Errorf("%q has %q twice: remove one", text, option)
		}
	}
	var err error
	if s.Spread, err = mock.ParseSpread(parts[2]); err != nil {
		return Spec{}, err
	}
	if s.Throttle != "" {
		if _, err := mock.ParseShare(s.Throttle); err != nil {
			return Spec{}, err
		}
	}
	return s, nil
}

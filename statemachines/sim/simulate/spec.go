package simulate

import (
	"fmt"
	"regexp"
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
}

// specForm is the text of a Spec. A name of a state may have any of the characters
// that part the others, so it goes as far as it can.
var specForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(.+)=)??((?:lognormal|uniform|exp)\([^()]*\)|[^=:,()]+)(?::([^=,]+))?(?:,throttle=([^=,]+))?$`)
})

// ParseSpec reads a Spec: [STATE=]TIME[:STATUS][,throttle=SHARE], such as "12m",
// "lognormal(15m,0.5)" or "Import=40m:FAILED,throttle=5%".
func ParseSpec(text string) (Spec, error) {
	parts := specForm().FindStringSubmatch(text)
	if parts == nil {
		return Spec{}, fmt.Errorf("expected [STATE=]TIME[:STATUS][,throttle=SHARE], such as 12m or 'Import=40m:FAILED,throttle=5%%', found %q", text)
	}
	s := Spec{State: parts[1], Ends: parts[3], Throttle: parts[4]}
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

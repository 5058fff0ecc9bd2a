package control_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/server/control"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// A clock that stands is moved by an hour.
func ExampleClock() {
	manual, err := sim.NewClock(start, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	world := sim.NewWorld(sim.WorldOptions{Clock: manual})
	defer world.Close()
	state, err := control.NewClock(manual).Change(context.Background(), control.Change{Advance: "1h"})
	fmt.Println(state.Mode, state.Now.Format(time.TimeOnly), err)
	// Output: manual 01:00:00 <nil>
}

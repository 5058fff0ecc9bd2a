package report_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/report"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// A run as one page of HTML, to be written to a file.
func Example() {
	m, err := asl.Parse([]byte(`{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 30, "End": true}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := sim.Run(context.Background(), m, nil, sim.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	page, err := report.HTML(history.FromRun(m, r), report.Options{})
	fmt.Println(strings.HasPrefix(string(page), "<!DOCTYPE html>"), err)
	// Output: true <nil>
}

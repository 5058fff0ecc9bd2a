package server

import (
	"errors"
	"fmt"
	"math"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// findMapRun returns the Map Run of an ARN.
func (r *request) findMapRun(text string) (*sim.LiveMapRun, error) {
	parsed, err := parseARN(text, mapRunKind)
	if err != nil {
		return nil, err
	}
	run := r.server.world.MapRun(text)
	if run == nil || parsed.account != r.accountID || parsed.region != r.region {
		return nil, refuse("ResourceNotFound", "Resource not found: '%s'", text)
	}
	return run, nil
}

type listMapRunsInput struct {
	ExecutionARN string `json:"executionArn"`
	MaxResults   int    `json:"maxResults"`
	NextToken    string `json:"nextToken"`
}

type listedMapRun struct {
	ExecutionARN    string `json:"executionArn"`
	MapRunARN       string `json:"mapRunArn"`
	StateMachineARN string `json:"stateMachineArn"`
	StartDate       epoch  `json:"startDate"`
	StopDate        epoch  `json:"stopDate,omitzero"`
}

type listMapRunsOutput struct {
	MapRuns   []listedMapRun `json:"mapRuns"`
	NextToken string         `json:"nextToken,omitempty"`
}

// listMapRuns lists the newest first.
func listMapRuns(r *request, in *listMapRunsInput) (*listMapRunsOutput, error) {
	x, err := r.findExecution(in.ExecutionARN)
	if err != nil {
		return nil, err
	}
	arns := x.run.MapRuns()
	numbers := make([]int, len(arns))
	for i := range numbers {
		numbers[i] = len(arns) - 1 - i
	}
	newestFirst := func(n int) string { return fmt.Sprintf("%010d", math.MaxInt32-n) } // the same when there are more
	page, next, err := paginate(r, in.ExecutionARN, numbers, newestFirst, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	out := &listMapRunsOutput{MapRuns: []listedMapRun{}, NextToken: next}
	for _, n := range page {
		run := r.server.world.MapRun(arns[n])
		if run == nil {
			continue // its execution has just been forgotten
		}
		s := run.Snapshot()
		out.MapRuns = append(out.MapRuns, listedMapRun{s.ExecutionARN, s.ARN, x.machine.arn, epoch(s.Start), epoch(s.Stop)})
	}
	return out, nil
}

type mapRunInput struct {
	MapRunARN string `json:"mapRunArn"`
}

type mapRunCounts struct {
	Pending               int `json:"pending"`
	Running               int `json:"running"`
	Succeeded             int `json:"succeeded"`
	Failed                int `json:"failed"`
	TimedOut              int `json:"timedOut"`
	Aborted               int `json:"aborted"`
	Total                 int `json:"total"`
	ResultsWritten        int `json:"resultsWritten"`
	FailuresNotRedrivable int `json:"failuresNotRedrivable"`
	PendingRedrive        int `json:"pendingRedrive"`
}

type describeMapRunOutput struct {
	MapRunARN                  string       `json:"mapRunArn"`
	ExecutionARN               string       `json:"executionArn"`
	Status                     string       `json:"status"`
	StartDate                  epoch        `json:"startDate"`
	StopDate                   epoch        `json:"stopDate,omitzero"`
	MaxConcurrency             int          `json:"maxConcurrency"`
	ToleratedFailurePercentage float64      `json:"toleratedFailurePercentage"`
	ToleratedFailureCount      int64        `json:"toleratedFailureCount"`
	ItemCounts                 mapRunCounts `json:"itemCounts"`
	ExecutionCounts            mapRunCounts `json:"executionCounts"`
	RedriveCount               int          `json:"redriveCount"`
	RedriveDate                epoch        `json:"redriveDate,omitzero"`
}

func describeMapRun(r *request, in *mapRunInput) (*describeMapRunOutput, error) {
	run, err := r.findMapRun(in.MapRunARN)
	if err != nil {
		return nil, err
	}
	s := run.Snapshot()
	return &describeMapRunOutput{
		MapRunARN: s.ARN, ExecutionARN: s.ExecutionARN, Status: string(s.Status), StartDate: epoch(s.Start), StopDate: epoch(s.Stop),
		MaxConcurrency: s.MaxConcurrency, ToleratedFailurePercentage: s.ToleratedFailurePercentage, ToleratedFailureCount: s.ToleratedFailureCount,
		ItemCounts: mapRunCounts(s.Items), ExecutionCounts: mapRunCounts(s.Executions),
		RedriveCount: s.RedriveCount, RedriveDate: epoch(s.RedriveDate),
	}, nil
}

type updateMapRunInput struct {
	MapRunARN                  string   `json:"mapRunArn"`
	MaxConcurrency             *int     `json:"maxConcurrency"`
	ToleratedFailurePercentage *float64 `json:"toleratedFailurePercentage"`
	ToleratedFailureCount      *int64   `json:"toleratedFailureCount"`
}

func updateMapRun(r *request, in *updateMapRunInput) (*empty, error) {
	run, err := r.findMapRun(in.MapRunARN)
	if err != nil {
		return nil, err
	}
	if in.MaxConcurrency == nil && in.ToleratedFailurePercentage == nil && in.ToleratedFailureCount == nil {
		return nil, refuseFor("MISSING_REQUIRED_PARAMETER",
			"At least one of maxConcurrency, toleratedFailurePercentage and toleratedFailureCount must be specified")
	}
	err = run.Update(sim.MapRunUpdate{
		MaxConcurrency: in.MaxConcurrency, ToleratedFailureCount: in.ToleratedFailureCount, ToleratedFailurePercentage: in.ToleratedFailurePercentage,
	})
	if errors.Is(err, sim.ErrMapRunEnded) {
		return nil, refuseFor("CANNOT_UPDATE_COMPLETED_MAP_RUN", "The Map Run has ended and cannot be updated: '%s'", in.MapRunARN)
	}
	return &empty{}, err
}

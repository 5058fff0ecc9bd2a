package server

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

type listExecutionsInput struct {
	StateMachineArn string `json:"stateMachineArn"`
	MapRunArn       string `json:"mapRunArn"`
	StatusFilter    string `json:"statusFilter"`
	RedriveFilter   string `json:"redriveFilter"`
	MaxResults      int    `json:"maxResults"`
	NextToken       string `json:"nextToken"`
}

type listExecutionsOutput struct {
	Executions []executionItem `json:"executions"`
	NextToken  string          `json:"nextToken,omitempty"`
}

type executionItem struct {
	ExecutionArn           string `json:"executionArn"`
	StateMachineArn        string `json:"stateMachineArn"`
	Name                   string `json:"name"`
	Status                 string `json:"status"`
	StartDate              epoch  `json:"startDate"`
	StopDate               epoch  `json:"stopDate,omitzero"`
	MapRunArn              string `json:"mapRunArn,omitempty"`
	ItemCount              *int   `json:"itemCount,omitempty"`
	StateMachineVersionArn string `json:"stateMachineVersionArn,omitempty"`
	StateMachineAliasArn   string `json:"stateMachineAliasArn,omitempty"`
	RedriveCount           int    `json:"redriveCount"`
	RedriveDate            epoch  `json:"redriveDate,omitzero"`
}

// listed is an execution in a list.
type listed struct {
	known
	sim.ListPlace

	standing  sim.Standing
	mapRunARN string // of a child execution, as what follows
	childName string
	items     int
}

func listExecutions(r *request, in *listExecutionsInput) (*listExecutionsOutput, error) {
	query := strings.Join([]string{in.StateMachineArn, in.MapRunArn, in.StatusFilter, in.RedriveFilter}, "\x00")
	most := cmp.Or(in.MaxResults, defaultPage)
	list, err := r.listOf(in)
	if err != nil {
		return nil, err
	}
	var behind *sim.ListPlace
	if in.NextToken != "" {
		token, err := r.openToken(query, in.NextToken)
		if err != nil {
			return nil, err
		}
		at, number, _ := strings.Cut(token, " ")
		behind = &sim.ListPlace{}
		behind.At, _ = strconv.ParseInt(at, 10, 64) // as sealed below
		behind.Number, _ = strconv.Atoi(number)
	}
	page := list(behind, most+1)
	out := &listExecutionsOutput{}
	if len(page) > most {
		page = page[:most]
		last := page[most-1].ListPlace
		if out.NextToken, err = r.sealToken(query, strconv.FormatInt(last.At, 10)+" "+strconv.Itoa(last.Number)); err != nil {
			return nil, err
		}
	}
	out.Executions = make([]executionItem, len(page))
	for i := range page {
		out.Executions[i] = page[i].item()
	}
	return out, nil
}

// takes tells whether the request asks for executions of a group.
func (in *listExecutionsInput) takes(g sim.ListGroup) bool {
	return (in.StatusFilter == "" || string(g.Status) == in.StatusFilter) &&
		(in.RedriveFilter == "" || (in.RedriveFilter == "REDRIVEN") == g.Redriven)
}

// listOf returns what gives the first n executions of a request behind a place, the newest
// first; nil: from the beginning.
func (r *request) listOf(in *listExecutionsInput) (func(behind *sim.ListPlace, n int) []listed, error) {
	switch {
	case (in.StateMachineArn == "") == (in.MapRunArn == ""):
		return nil, refuse(validation, "Exactly one of stateMachineArn and mapRunArn must be specified")
	case in.MapRunArn != "":
		run, err := r.findMapRun(in.MapRunArn)
		return func(behind *sim.ListPlace, n int) []listed { return r.listOfMapRun(run, behind, n, in.takes) }, err
	case in.StatusFilter == "PENDING_REDRIVE":
		return nil, refuse(validation, "A statusFilter of %s needs a mapRunArn", in.StatusFilter)
	}
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	t, err := a.resolve(in.StateMachineArn)
	if err != nil {
		return nil, err
	}
	if t.machine.kind == asl.Express {
		return nil, refuse("StateMachineTypeNotSupported", typeNotSupported)
	}
	qualifier := ""
	if t.version != nil {
		qualifier = in.StateMachineArn
	}
	return func(behind *sim.ListPlace, n int) []listed {
		return a.listOfMachine(t.machine, qualifier, behind, n, in.takes)
	}, nil
}

// listOfMachine lists executions of a state machine, or of one of its versions or aliases.
func (a *account) listOfMachine(m *machine, qualifier string, behind *sim.ListPlace, n int, takes func(sim.ListGroup) bool) []listed {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := m.rosters[qualifier]
	if r == nil {
		return nil
	}
	var last **execution
	if behind != nil {
		at := time.UnixMilli(behind.At)
		x := &execution{number: uint64(behind.Number), standing: sim.Standing{Status: sim.StatusRunning, Start: at}} //nolint:gosec // as it was sealed
		last = &x
	}
	found := r.After(last, n, takes)
	page := make([]listed, len(found))
	for i, x := range found {
		page[i] = listed{known: known{x, x.run.Load()}, ListPlace: x.place(), standing: x.standing}
	}
	return page
}

// listOfMapRun lists the child executions of a Map Run that have started.
func (r *request) listOfMapRun(run *sim.LiveMapRun, behind *sim.ListPlace, n int, takes func(sim.ListGroup) bool) []listed {
	children := run.List(behind, n, takes)
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	page := make([]listed, 0, len(children))
	for i := range children {
		c := &children[i]
		if k, found := a.findChild(c.Execution); found {
			at := c.Standing.ListPlace(c.Number)
			page = append(page, listed{known: k, ListPlace: at, standing: c.Standing, mapRunARN: run.ARN(), items: c.Items, childName: c.Name})
		}
	}
	return page
}

func (l *listed) item() executionItem {
	s := &l.standing
	i := executionItem{
		ExecutionArn: l.run.ARN(), StateMachineArn: l.machineARN(), Name: l.name, Status: string(s.Status),
		StartDate: epoch(s.Start), StopDate: epoch(s.Stop), RedriveCount: s.RedriveCount, RedriveDate: epoch(s.RedriveDate),
	}
	switch {
	case l.mapRunARN != "":
		i.Name, i.MapRunArn, i.ItemCount = l.childName, l.mapRunARN, &l.items
	case l.extra != nil:
		i.StateMachineVersionArn, i.StateMachineAliasArn = l.extra.versionARN, l.extra.aliasARN
	}
	return i
}

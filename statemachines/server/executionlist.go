package server

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

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

// listed is an execution in the order of a list: the newest first.
type listed struct {
	known

	progress sim.Progress
	at       int64  // of its start, its redrive or its end, in milliseconds
	number   uint64 // makes the order a total one
}

func compareListed(a, b listed) int {
	return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.number, a.number))
}

func listExecutions(r *request, in *listExecutionsInput) (*listExecutionsOutput, error) {
	all, err := r.collect(in)
	if err != nil {
		return nil, err
	}
	query := strings.Join([]string{in.StateMachineArn, in.MapRunArn, in.StatusFilter, in.RedriveFilter}, "\x00")
	if in.NextToken != "" {
		token, err := r.openToken(query, in.NextToken)
		if err != nil {
			return nil, err
		}
		var last listed
		at, number, _ := strings.Cut(token, " ")
		last.at, _ = strconv.ParseInt(at, 10, 64) // as sealed below
		last.number, _ = strconv.ParseUint(number, 10, 64)
		all = slices.DeleteFunc(all, func(l listed) bool { return compareListed(last, l) >= 0 })
	}
	slices.SortFunc(all, compareListed)
	out := &listExecutionsOutput{}
	if most := cmp.Or(in.MaxResults, defaultPage); len(all) > most {
		all = all[:most]
		last := all[most-1]
		if out.NextToken, err = r.sealToken(query, strconv.FormatInt(last.at, 10)+" "+strconv.FormatUint(last.number, 10)); err != nil {
			return nil, err
		}
	}
	out.Executions = make([]executionItem, len(all))
	for i, l := range all {
		out.Executions[i] = l.item()
	}
	return out, nil
}

// collect returns the executions that a request asks for, in no order.
func (r *request) collect(in *listExecutionsInput) ([]listed, error) {
	var all []listed
	var err error
	switch {
	case (in.StateMachineArn == "") == (in.MapRunArn == ""):
		return nil, refuse(validation, "Exactly one of stateMachineArn and mapRunArn must be specified")
	case in.MapRunArn != "":
		all, err = r.collectOfMapRun(in.MapRunArn)
	case in.StatusFilter == "PENDING_REDRIVE":
		return nil, refuse(validation, "A statusFilter of %s needs a mapRunArn", in.StatusFilter)
	default:
		all, err = r.collectOfMachine(in.StateMachineArn)
	}
	if err != nil {
		return nil, err
	}
	kept := all[:0]
	for _, l := range all {
		p := l.run.Progress()
		isRedriven := !p.RedriveDate.IsZero()
		if in.StatusFilter != "" && string(p.Status) != in.StatusFilter || in.RedriveFilter != "" && (in.RedriveFilter == "REDRIVEN") != isRedriven {
			continue
		}
		l.progress, l.at = p, p.Stop.UnixMilli()
		if p.Status == sim.StatusRunning {
			if l.at = p.Start.UnixMilli(); isRedriven {
				l.at = p.RedriveDate.UnixMilli()
			}
		}
		kept = append(kept, l)
	}
	return kept, nil
}

func (r *request) collectOfMachine(machineARN string) ([]listed, error) {
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	t, err := a.resolve(machineARN)
	if err != nil {
		return nil, err
	}
	if t.machine.kind == asl.Express {
		return nil, refuse("StateMachineTypeNotSupported", typeNotSupported)
	}
	all := make([]listed, 0, len(t.machine.executions))
	for _, x := range t.machine.executions {
		if k, ok := x.findRun(); ok && (t.version == nil || x.isOf(machineARN)) {
			all = append(all, listed{known: k, number: x.number})
		}
	}
	return all, nil
}

// isOf tells whether the execution was started with the ARN of a version or an
// alias, or by an alias with that version.
func (x *execution) isOf(qualified string) bool {
	return x.extra != nil && (x.extra.versionARN == qualified || x.extra.aliasARN == qualified)
}

func (l listed) item() executionItem {
	s := l.run.Snapshot()
	i := executionItem{
		ExecutionArn: s.ARN, StateMachineArn: l.machineARN(s), Name: s.Name, Status: string(s.Status),
		StartDate: epoch(s.Start), StopDate: epoch(s.Stop), MapRunArn: s.MapRunARN,
		RedriveCount: s.RedriveCount, RedriveDate: epoch(s.RedriveDate),
	}
	if s.MapRunARN != "" {
		i.ItemCount = &s.Items
	}
	if l.extra != nil && !l.isChild() {
		i.StateMachineVersionArn, i.StateMachineAliasArn = l.extra.versionARN, l.extra.aliasARN
	}
	return i
}

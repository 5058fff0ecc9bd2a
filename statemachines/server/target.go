package server

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// target is what the ARN of a state machine leads to, perhaps through a version, an alias
// or the label of a distributed Map.
type target struct {
	machine  *machine
	revision *revision
	version  *version // nil if the ARN names no version and no alias
	alias    *alias   // nil if it names none
	label    string
}

// machineOf returns the state machine of an ARN without a qualifier, or nil.
func (a *account) machineOf(of arn) *machine {
	if of.account != a.accountID || of.region != a.region {
		return nil
	}
	return a.machines[of.rest]
}

func refuseLabel() error {
	return refuseFor("API_DOES_NOT_SUPPORT_LABELED_ARNS", "The operation does not take the ARN of a distributed Map. Pass that of its state machine.")
}

// resolve finds what the ARN of a state machine, a version, an alias or a distributed Map
// leads to. Of an alias with two versions it draws one by their weights.
func (a *account) resolve(text string) (*target, error) {
	parsed, err := parseARN(text, machineKind)
	if err != nil {
		return nil, err
	}
	base, qualifier, _ := strings.Cut(parsed.rest, ":")
	var label string
	parsed.rest, label, _ = strings.Cut(base, "/")
	m := a.machineOf(parsed)
	if m == nil {
		return nil, refuseMissing(text)
	}
	t := &target{machine: m, revision: m.current, label: label}
	if qualifier != "" {
		number, err := strconv.Atoi(qualifier)
		if t.alias = m.aliases[qualifier]; t.alias != nil {
			number = t.alias.draw(a.drawPercent())
		} else if err != nil || strconv.Itoa(number) != qualifier {
			return nil, refuseMissing(text)
		}
		if t.version = m.versions[number]; t.version == nil {
			return nil, refuseMissing(text)
		}
		t.revision = t.version.revision
	}
	if label != "" && !t.revision.hasLabel(label) {
		return nil, refuseMissing(text)
	}
	return t, nil
}

// drawPercent draws for the next start. Runs of the server that get the same requests draw
// the same. Its caller holds mu.
func (a *account) drawPercent() int {
	return rand.New(rand.NewPCG(a.executions.starts, 0)).IntN(allWeights) //nolint:gosec // it is to repeat
}

// draw returns the version at a place of the percents that the routes share.
func (l *alias) draw(percent int) int {
	for _, r := range l.routes {
		if percent -= r.weight; percent < 0 {
			return r.version
		}
	}
	return 0
}

func (v *revision) hasLabel(label string) bool {
	for s := range v.parsed.All {
		if s.Map != nil && s.Map.Distributed && labelOf(s) == label {
			return true
		}
	}
	return false
}

// labelOf is the label of a distributed Map: the state's name, where it has none.
func labelOf(s *asl.State) string {
	if s.Map.Label != "" {
		return s.Map.Label
	}
	return s.Name
}

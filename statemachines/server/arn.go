package server

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// The kinds of resources in ARNs.
const (
	machineKind   = "stateMachine"
	executionKind = "execution"
	expressKind   = "express"
	activityKind  = "activity"
	mapRunKind    = "mapRun"
)

// arn is the ARN of a resource of Step Functions, taken apart.
type arn struct {
	region, account string
	kind            string
	rest            string // behind the kind and its colon
}

// parseARN takes an ARN apart that is of one of the kinds.
func parseARN(text string, kinds ...string) (arn, error) {
	parts := strings.SplitN(text, ":", 7)
	switch {
	case len(parts) < 3 || parts[0] != "arn" || !strings.HasPrefix(parts[1], "aws"):
		return arn{}, refuseARN("Invalid ARN prefix: " + text)
	case parts[2] != "states":
		return arn{}, refuseARN("Invalid ARN service: " + parts[2])
	case len(parts) < 7 || parts[6] == "":
		return arn{}, refuseARN("Invalid ARN: " + text)
	}
	a := arn{region: parts[3], account: parts[4], kind: parts[5], rest: parts[6]}
	if !slices.Contains(kinds, a.kind) {
		return arn{}, refuseARN("Resource type not valid in this context: " + a.kind)
	}
	return a, nil
}

func refuseARN(what string) error { return refuse("InvalidArn", "Invalid Arn: '%s'", what) }

// forbidden is what a name of a state machine, an execution or an activity cannot have
// beside white space and control characters.
const forbidden = "<>{}[]?*\"#%\\^|~`$&,;:/"

// checkName refuses what is not a name.
func checkName(name string) error {
	bad := func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(forbidden, r)
	}
	if name == "" || utf8.RuneCountInString(name) > asl.MaxNameLength || strings.ContainsFunc(name, bad) {
		return refuse("InvalidName", "Invalid Name: '%s'", name)
	}
	return nil
}

package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/javasdk"
)

// Aim is a state of a resource: a call leads there, and a waiter waits for it.
type Aim string

// The aims: the resource is ready for use, is halted, or is not there any more.
const (
	AimReady   Aim = "ready"
	AimStopped Aim = "stopped"
	AimGone    Aim = "gone"
)

// Verb is the first word of an operation that changes a resource, such as "Create".
type Verb struct {
	Name  string
	Aim   Aim
	Makes bool // the resource is not there before
}

var verbs = []Verb{
	{"Create", AimReady, true},
	{"Run", AimReady, true},
	{"Restore", AimReady, true},
	{"Copy", AimReady, true},
	{"Import", AimReady, true},
	{"Register", AimReady, true},
	{"Start", AimReady, false},
	{"Update", AimReady, false},
	{"Modify", AimReady, false},
	{"Resume", AimReady, false},
	{"Reboot", AimReady, false},
	{"Resize", AimReady, false},
	{"Promote", AimReady, false},
	{"Failover", AimReady, false},
	{"Rollback", AimReady, false},
	{"Upgrade", AimReady, false},
	{"Delete", AimGone, false},
	{"Terminate", AimGone, false},
	{"Deregister", AimGone, false},
	{"Stop", AimStopped, false},
	{"Suspend", AimStopped, false},
	{"Pause", AimStopped, false},
}

// VerbOf returns the verb of an operation; nil if it changes no resource, as far as its name
// tells. What the names do not tell, Service.ChangedBy knows.
func VerbOf(operation string) *Verb {
	operation = javasdk.Capitalize(operation)
	for i, v := range verbs {
		rest, found := strings.CutPrefix(operation, v.Name)
		if next, _ := utf8.DecodeRuneInString(rest); found && !unicode.IsLower(next) {
			return &verbs[i]
		}
	}
	return nil
}

// Aim is the state of the resource, or of the job, that a wait with the entry ends in.
func (e *Entry) Aim() Aim {
	if e.Job != nil {
		if v := VerbOf(e.Name); v != nil {
			return v.Aim
		}
		return AimReady
	}
	for end, aim := range map[string]Aim{
		"Deleted": AimGone, "DeleteComplete": AimGone, "NotExists": AimGone, "Terminated": AimGone, "Deregistered": AimGone, "Stopped": AimStopped,
	} {
		if strings.HasSuffix(e.Name, end) {
			return aim
		}
	}
	return AimReady
}

package handler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// cause says for the log why a wait has its status. It has words of the waiter where that is
// the driver's, codes of errors and permissions, and no text of the job or a service.
func (c *check) cause(judged pollcore.Result, opErr error, status pollcore.Status, elapsed time.Duration) string {
	var parts []string
	switch {
	case judged.Acceptor == pollcore.NoAcceptor && opErr != nil:
		parts = append(parts, serviceAnswer(opErr))
		if awserror.IsPermissionCode(goerror.Code(opErr)) {
			parts = append(parts, "grant the function's role "+strings.Join(c.describeActions(), ", "))
		}
	case status == pollcore.TimedOut:
		parts = append(parts, fmt.Sprintf("not finished after %s (max wait %d s)", elapsed.Round(time.Second), c.request.MaxWaitSeconds))
	case judged.Acceptor != pollcore.NoAcceptor:
		parts = append(parts, c.acceptor(judged.Acceptor))
		if opErr != nil {
			parts = append(parts, serviceAnswer(opErr))
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// describeActions are the IAM actions that a describe call needs.
func (c *check) describeActions() []string {
	var actions []string
	for _, p := range c.driver.Permissions() {
		if p.For == access.ForDescribe && !p.Dependent && !p.Optional && !slices.Contains(actions, p.Action) {
			actions = append(actions, p.Action)
		}
	}
	if actions == nil {
		return []string{"what the describe call needs"}
	}
	return actions
}

// acceptor names an acceptor of the waiter: by its matcher, unless a request brought it.
func (c *check) acceptor(n int) string {
	name := fmt.Sprintf("acceptor %d of %d", n+1, len(c.request.Waiter.Acceptors))
	mine, err := json.Marshal(c.request.Waiter)
	if err != nil {
		return name
	}
	if drivers, err := json.Marshal(c.driver.Waiter()); err != nil || !bytes.Equal(mine, drivers) {
		return name
	}
	return fmt.Sprintf("%s (%s)", c.request.Waiter.Acceptors[n].Matcher, name)
}

// idOf is what a job is found by, for the log: the members of its reference.
func idOf(ref jobs.Ref) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(ref)) {
		parts = append(parts, withoutSecrets(ref[name]))
	}
	return cut(strings.Join(parts, " "), maxID)
}

// maxID bounds an id in the log, in bytes.
const maxID = 512

// withoutSecrets is a value of a reference. A URL may have secrets in its user and query.
func withoutSecrets(value string) string {
	if u, err := url.Parse(value); err == nil && u.Host != "" {
		return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	}
	return value
}

package handler

import (
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
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// cause says for the log why a wait has its status. It has words of the waiter where that is
// the driver's, codes of errors and permissions, and no text of the job or a service.
func (c *check) cause(judged pollcore.Result, opErr error, status pollcore.Status, elapsed time.Duration) string {
	switch {
	case judged.Acceptor == pollcore.NoAcceptor && opErr != nil:
		return refusal(opErr, c.driver, access.ForDescribe)
	case status == pollcore.TimedOut:
		return fmt.Sprintf("not finished after %s (max wait %d s)", elapsed.Round(time.Second), c.request.MaxWaitSeconds)
	case judged.Acceptor == pollcore.NoAcceptor:
		return ""
	}
	cause := c.acceptor(judged.Acceptor)
	if answer := refusal(opErr, c.driver, access.ForDescribe); answer != "" {
		cause += "; " + answer
	}
	return cause
}

// acceptor names an acceptor of the waiter: by its matcher too, if the driver's waiter has
// the same one. That of a request may hold a value of the request.
func (c *check) acceptor(n int) string {
	all := c.request.Waiter.Acceptors
	name, matcher := fmt.Sprintf("acceptor %d of %d", n+1, len(all)), all[n].Matcher.String()
	if slices.ContainsFunc(c.driver.Waiter().Acceptors, func(a pollcore.Acceptor) bool { return a.Matcher.String() == matcher }) {
		return matcher + " (" + name + ")"
	}
	return name
}

// idOfRecord is idOf the job of a record; empty if it has none.
func idOfRecord(rec startrecord.Record) string {
	var ref jobs.Ref
	if rec.JobRef == nil || json.Unmarshal(rec.JobRef, &ref) != nil {
		return ""
	}
	return idOf(ref)
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

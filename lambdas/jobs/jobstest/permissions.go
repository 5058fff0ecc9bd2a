package jobstest

import (
	"regexp"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/access"
)

var (
	actionForm   = regexp.MustCompile(`^[a-z][a-z0-9-]*:[A-Z][A-Za-z0-9]*$`)
	resourceForm = regexp.MustCompile(`^(\*|arn:\$\{Partition\}:[a-z0-9-]+:(\$\{Region\})?:(\$\{Account\})?:\S+)$`)
)

// testPermissions makes each call that the driver can make: what it sends then
// is what it lists, no less and no more.
func testPermissions(h *harness) {
	for _, p := range h.driver.Permissions() {
		require.Regexp(h.t, actionForm, p.Action, "one IAM action, without wildcards")
		require.Regexp(h.t, resourceForm, p.Resource, "resource of %s", p.Action)
		switch p.For {
		case access.ForStart, access.ForDescribe:
		case access.ForFind:
			require.True(h.t, h.canFind(), "%s is for Find, which the driver does not have", p.Action)
		case access.ForBatch:
			require.Implements(h.t, (*jobs.BatchDescriber)(nil), h.driver, "%s is for DescribeBatch, which the driver does not have", p.Action)
		case access.ForStop:
			require.True(h.t, h.canStop(), "%s is for Stop, which the driver does not have", p.Action)
		default:
			require.Fail(h.t, "unknown method", "%s is for %q", p.Action, p.For)
		}
	}
	ref := h.start(1)
	h.start(1)
	h.verdict(ref)
	h.describeBatch(ref)
	if h.canFind() {
		h.find(1)
		h.find(2)
	}
	if h.canStop() {
		require.NoError(h.t, h.stop(ref))
		require.NoError(h.t, h.stop(ref))
	}
	for _, needed := range h.permissions(false) {
		require.True(h.t, h.seen[needed], "%s sends nothing that needs %s: leave it out, or mark it Dependent", needed.method, needed.action)
	}
}

package server

import (
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/ordered"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// caller is who calls, and where: each pair of an account and a region has state of its
// own.
type caller struct{ accountID, region string }

// arn returns the ARN of a resource of the caller's.
func (c caller) arn(kind, rest string) string {
	return "arn:aws:states:" + c.region + ":" + c.accountID + ":" + kind + ":" + rest
}

// credential is the scope of a signature: the access key, the date, the region.
var credential = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^AWS4-HMAC-SHA256\s+(?:.*[\s,])?Credential=([^/\s,]{1,128})/\d{8}/([a-z]{2,3}(?:-[a-z]{2,10}){1,3}-\d{1,2})/`)
})

var accountNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d{12}$`) })

// callerOf reads the caller from the header of the signature, which is not verified: an
// access key of twelve digits is the account.
func callerOf(q *http.Request) caller {
	who := caller{sim.DefaultAccount, sim.DefaultRegion}
	m := credential().FindStringSubmatch(q.Header.Get("Authorization"))
	if m == nil {
		return who
	}
	who.region = m[2]
	if IsAccount(m[1]) {
		who.accountID = m[1]
	}
	return who
}

// IsAccount tells whether an access key names an account: its twelve digits do.
func IsAccount(accessKeyID string) bool { return accountNumber().MatchString(accessKeyID) }

// account is the state of one account in one region.
type account struct {
	caller

	// mu guards all below, and what it leads to. Who holds it waits for nothing.
	mu         sync.Mutex
	machines   map[string]*machine  // by name
	activities map[string]*activity // by name

	machineNames, activityNames *ordered.List[string]

	executions executions
	starts     *starts // those of the server
}

// maxAccounts bounds the pairs of accounts and regions: whoever can reach the server
// could otherwise fill its memory with them.
const maxAccounts = 10_000

// accountOf returns the state of a caller.
func (s *Server) accountOf(who caller) (*account, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.accounts[who]
	if a == nil {
		if len(s.accounts) >= maxAccounts {
			return nil, refuse(quotaExceeded, "The server keeps %d pairs of accounts and regions. Use one of those.", maxAccounts)
		}
		who = caller{strings.Clone(who.accountID), strings.Clone(who.region)} // not the header that they are parts of
		a = &account{
			caller: who, machines: map[string]*machine{}, activities: map[string]*activity{}, executions: newExecutions(), starts: s.starts,
			machineNames: ordered.New(strings.Compare), activityNames: ordered.New(strings.Compare),
		}
		s.accounts[who] = a
	}
	return a, nil
}

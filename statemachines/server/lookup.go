package server

import (
	"net/http"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// CallerOf returns the account and the region of a request.
func CallerOf(q *http.Request) (account, region string) {
	who := callerOf(q)
	return who.accountID, who.region
}

// Operations is how many operations the server answers.
func (s *Server) Operations() int { return len(s.operations) }

// ExecutionsNamed returns the ARNs of the executions of a name, in all accounts and
// regions.
func (s *Server) ExecutionsNamed(name string) []string {
	var found []string
	for _, a := range s.allAccounts() {
		found = append(found, a.executionsNamed(name)...)
	}
	slices.Sort(found)
	return found
}

func (a *account) executionsNamed(name string) (found []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range a.machines {
		if m.kind != asl.Express {
			if arn := a.arn(executionKind, m.name+":"+name); a.executions.byARN[arn] != nil {
				found = append(found, arn)
			}
			continue
		}
		if m.named == nil {
			continue
		}
		for x := range m.named.After(&execution{name: name}) { // their ARNs have an id more
			if x.name != name {
				break
			}
			found = append(found, x.arn)
		}
	}
	return found
}

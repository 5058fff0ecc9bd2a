package cdkapp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// permission is an action that a job needs, of the driver or the state machine that
// calls its service, or of the service on their behalf.
type permission struct {
	action, resource string
	passedTo         string // the services that get a role, with commas between them
}

// unnamed are the members of a start call that name a resource of an action when the
// call is made, by action.
type unnamed map[string][]string

// permissions are those of a driver: what RunJob calls, what CheckStatus calls, and what
// the collector calls besides that.
type permissions struct {
	runJob, checkStatus, batch []permission
	// roles are the members of start calls that name a role which services get, and wide
	// those that name other resources.
	roles []string
	wide  unnamed
}

// of returns the permissions of the function that makes a call.
func (p *permissions) of(purpose access.Purpose) *[]permission {
	switch purpose {
	case access.ForStart, access.ForFind:
		return &p.runJob
	case access.ForBatch:
		return &p.batch
	case access.ForDescribe, access.ForStop:
	}
	return &p.checkStatus
}

// add adds what CheckStatus and the collector call.
func (p *permissions) add(checkStatus, batch []permission) {
	p.checkStatus, p.batch = append(p.checkStatus, checkStatus...), append(p.batch, batch...)
}

// bucketJob keeps the status of its jobs in the bucket of the functions, which
// grants what it needs of that.
const bucketJob = "lambda:Invoke"

// httpJob calls the hosts that it is allowed, and nothing of AWS.
const httpJob = "http:Request"

// own are the jobs of the functions that are not the catalogue's. A test compares
// them with their drivers.
var own = map[string]permissions{
	httpJob: {},
	bucketJob: {
		runJob: on("arn:*:lambda:*:*:function:*", "lambda:InvokeFunction"),
	},
}

// on lets actions be done on a resource.
func on(resource string, actions ...string) []permission {
	all := make([]permission, len(actions))
	for i, action := range actions {
		all[i] = permission{action: action, resource: resource}
	}
	return all
}

// permissionsOf returns what the driver of a job needs to start it with the arguments,
// which are nil if they are not known.
func permissionsOf(job string, arguments map[string]any) (permissions, error) {
	if known, ok := own[job]; ok {
		return known, nil
	}
	named, err := catalog.AWS().Resolve(job)
	if err != nil {
		return permissions{}, fmt.Errorf("the functions have no driver for the job %q: %w, and it is neither %s nor %s", job, err, httpJob, bucketJob)
	}
	needed := permissions{wide: unnamed{}}
	for _, p := range named.Permissions() {
		of := needed.of(p.For)
		arns, members := named.Job.On(p.Resource, arguments)
		switch {
		case p.Action == passRole:
			needed.roles = append(needed.roles, members...)
		case len(members) > 0:
			needed.wide[p.Action] = append(needed.wide[p.Action], members...)
		}
		for _, arn := range arns {
			if next := (permission{p.Action, arn, strings.Join(p.PassedTo, ",")}); !slices.Contains(*of, next) {
				*of = append(*of, next)
			}
		}
	}
	return needed, nil
}

package cdkapp

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// permission is an action that a job needs, of the driver or the state machine that
// calls its service, or of the service on their behalf.
type permission struct {
	action, resource string
}

// permissions are those of a driver: what RunJob calls and what CheckStatus
// calls.
type permissions struct {
	runJob, checkStatus []permission
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
		runJob: on("arn:${Partition}:lambda:${Region}:${Account}:function:${FunctionName}", "lambda:InvokeFunction"),
	},
}

// on lets actions be done on a resource.
func on(resource string, actions ...string) []permission {
	all := make([]permission, len(actions))
	for i, action := range actions {
		all[i] = permission{action, resource}
	}
	return all
}

// permissionsOf returns what the driver of a job needs.
func permissionsOf(job string) (permissions, error) {
	if known, ok := own[job]; ok {
		return known, nil
	}
	named, err := catalog.AWS().Resolve(job)
	if err != nil {
		return permissions{}, fmt.Errorf("the functions have no driver for the job %q: %w, and it is neither %s nor %s", job, err, httpJob, bucketJob)
	}
	var needed permissions
	for _, p := range named.Permissions() {
		of := &needed.checkStatus
		if p.For == catalog.ForStart || p.For == catalog.ForFind {
			of = &needed.runJob
		}
		if next := (permission{p.Action, p.Resource}); !slices.Contains(*of, next) {
			*of = append(*of, next)
		}
	}
	return needed, nil
}

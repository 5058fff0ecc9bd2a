package plan

import (
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// serviceQuota is how often a service lets an account call an operation.
type serviceQuota struct {
	asl.Quota

	source string
}

// What is known of the quotas of services, and from whom. Most are not published.
const (
	fromRePost = "an answer of AWS on re:Post"
	unproved   = "experience, not from AWS"
)

var serviceQuotas = map[string]map[string]serviceQuota{
	"athena": { // read on 2026-11-22
		"GetQueryExecution":   {asl.Quota{Burst: 100, PerSecond: 100}, fromRePost},
		"GetQueryResults":     {asl.Quota{Burst: 100, PerSecond: 100}, fromRePost},
		"StartQueryExecution": {asl.Quota{Burst: 20, PerSecond: 20}, fromRePost},
		"StopQueryExecution":  {asl.Quota{Burst: 20, PerSecond: 20}, fromRePost},
	},
}

// quotaOfService is the quota of an operation; false if nobody publishes it.
func quotaOfService(service, operation string) (serviceQuota, bool) {
	if q, ok := serviceQuotas[service][operation]; ok {
		return q, true
	}
	if service == "ec2" && strings.HasPrefix(operation, "Describe") {
		return serviceQuota{asl.Quota{Burst: 100, PerSecond: 20}, unproved}, true
	}
	return serviceQuota{}, false
}

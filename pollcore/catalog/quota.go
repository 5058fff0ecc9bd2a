package catalog

import "strings"

// Quota is how often a service lets an account call an operation in a region: a token
// bucket that holds Burst and gets PerSecond tokens a second. Source is who says so.
type Quota struct {
	Burst, PerSecond int
	Source           string
}

// What is known of the quotas of services, and from whom. Most are not published.
const (
	fromRePost = "an answer of AWS on re:Post"
	unproved   = "experience, not from AWS"
)

var quotas = map[string]map[string]Quota{
	"athena": { // read on 2026-11-22
		"GetQueryExecution":   {100, 100, fromRePost},
		"GetQueryResults":     {100, 100, fromRePost},
		"StartQueryExecution": {20, 20, fromRePost},
		"StopQueryExecution":  {20, 20, fromRePost},
	},
}

// QuotaOf returns the quota of an operation of a service, by its key; false if nobody
// publishes it. Those of Step Functions are in package asl.
func QuotaOf(service, operation string) (Quota, bool) {
	if q, ok := quotas[service][operation]; ok {
		return q, true
	}
	if service == "ec2" && strings.HasPrefix(operation, "Describe") {
		return Quota{100, 20, unproved}, true
	}
	return Quota{}, false
}

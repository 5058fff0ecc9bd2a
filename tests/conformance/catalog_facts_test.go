package conformance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

var factSuites = []suite{
	{name: "catalog-facts", cases: 2667, facts: true, run: runWaiterFacts, differences: byReason(waiterDifferences)},
	{name: "catalog-job-facts", cases: 805, facts: true, run: runJobFacts, differences: byReason(jobDifferences)},
	{name: "catalog-job-times", cases: 230, facts: true, run: runJobTimes, differences: byReason(timeDifferences)},
	{name: "catalog-job-signals", cases: 575, facts: true, run: runJobSignals, differences: byReason(signalDifferences)},
}

// differing are cases that differ for one reason.
type differing struct {
	reason string
	cases  []string
}

// byReason is the list of differences of a suite.
func byReason(groups []differing) map[string]string {
	differences := map[string]string{}
	for _, g := range groups {
		for _, name := range g.cases {
			differences[name] = g.reason
		}
	}
	return differences
}

// waiterDifferences are what the catalogue says otherwise than
// aws-waiters.json, which was made from Smithy models of 2025 and, where there
// was none, from botocore 1.43.67. The catalogue is made from a newer botocore.
var waiterDifferences = []differing{
	{"the Smithy trait says 4999 s; botocore's 5 s x 999 attempts is 4995 s, which the catalogue keeps as the total wait", []string{
		"Proton ComponentDeleted: maxDelay", "Proton ComponentDeployed: maxDelay", "Proton EnvironmentDeployed: maxDelay",
		"Proton ServiceCreated: maxDelay", "Proton ServiceDeleted: maxDelay", "Proton ServiceInstanceDeployed: maxDelay",
		"Proton ServiceUpdated: maxDelay",
	}},
	{"the Smithy trait says 30 s, as its minDelay; botocore knows no maxDelay", []string{
		"SSM Incidents WaitForReplicationSetActive: maxDelay", "SSM Incidents WaitForReplicationSetDeleted: maxDelay",
	}},
	{"botocore waits for the HTTP status 404, which the facts keep; the catalogue names the error that has it", []string{
		"CloudWatch AlarmMuteRuleExists: acceptors",
	}},
	{"botocore waits for the HTTP status 404; the catalogue names its error by the code, the Smithy trait by the shape", []string{
		"IAM InstanceProfileExists: acceptors",
	}},
	{"botocore takes the HTTP statuses 301 and 403 for success too: the bucket is there", []string{"S3 BucketExists: acceptors"}},
	{"botocore names the error ResourceNotFound, which the operation declares; the Smithy trait names ResourceNotFoundException, which it does not", []string{
		"SageMaker ImageDeleted: acceptors", "SageMaker ImageVersionDeleted: acceptors",
	}},
	{"botocore has three acceptors more: DELETING and DELETED are success, NotFoundException is failure", []string{"MediaLive ChannelStopped: acceptors"}},
	{"botocore has one more acceptor: the creation or the deletion has failed", []string{
		"RTBFabric InboundExternalLinkActive: acceptors", "RTBFabric InboundExternalLinkDeleted: acceptors", "RTBFabric LinkAccepted: acceptors",
		"RTBFabric LinkActive: acceptors", "RTBFabric LinkDeleted: acceptors", "RTBFabric LinkRoutingRuleActive: acceptors",
		"RTBFabric LinkRoutingRuleDeleted: acceptors", "RTBFabric OutboundExternalLinkActive: acceptors", "RTBFabric OutboundExternalLinkDeleted: acceptors",
		"RTBFabric RequesterGatewayActive: acceptors", "RTBFabric RequesterGatewayDeleted: acceptors", "RTBFabric ResponderGatewayActive: acceptors",
		"RTBFabric ResponderGatewayDeleted: acceptors",
	}},
	{"the newer model declares another error", []string{
		"ACM CertificateValidated: errors", "ECS ServicesInactive: errors", "ECS ServicesStable: errors", "ECS TasksRunning: errors",
		"ECS TasksStopped: errors", "Glacier VaultExists: errors", "Glacier VaultNotExists: errors",
	}},
	{"botocore leaves InvalidEndpointException out, which tells an SDK to look for the endpoint again", []string{
		"DynamoDB TableExists: errors", "DynamoDB TableNotExists: errors",
	}},
	{"the operations answer HEAD requests, which have no body for a code: the Smithy model says NotFound, botocore NoSuchBucket and NoSuchKey", []string{
		"S3 BucketExists: errors", "S3 BucketNotExists: errors", "S3 ObjectExists: errors", "S3 ObjectNotExists: errors",
	}},
}

// knownWaiter is a waiter of aws-waiters.json.
type knownWaiter struct {
	SDKID         string              `json:"sdkId"`
	Operation     string              `json:"operation"`
	Waiter        string              `json:"waiter"`
	MinDelay      int                 `json:"minDelay"`
	MaxDelay      int                 `json:"maxDelay"`
	InputRequired []string            `json:"inputRequired"`
	Errors        []string            `json:"errors"`
	Acceptors     []pollcore.Acceptor `json:"acceptors"`
}

// leftOut is an entry of left-out.json.
type leftOut struct {
	Service string `json:"service"`
	Name    string `json:"name"`
	Reason  string `json:"reason"`
}

// readJSON reads a file of a folder. Members that the type does not have are
// left out.
func readJSON(t *testing.T, into any, elements ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elements...))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into), "%s", filepath.Join(elements...))
}

// sources is the folder of the tables that are kept by hand.
const sources = "../../pollcore/catalog/sources"

// leftOuts are the entries of left-out.json.
type leftOuts []leftOut

func readLeftOuts(t *testing.T) leftOuts {
	t.Helper()
	var list leftOuts
	readJSON(t, &list, sources, "left-out.json")
	for _, l := range list {
		require.NotEmpty(t, l.Reason, l.Name)
	}
	return list
}

// has tells whether the tables leave an entry out.
func (list leftOuts) has(sdkID, name string) bool {
	key := ""
	if listing, err := catalog.AWS().Find(sdkID); err == nil {
		key = listing.Key
	}
	return slices.ContainsFunc(list, func(l leftOut) bool {
		return l.Name == name && (l.Service == key || l.Service == plainName(sdkID))
	})
}

// defaulted is a delay in seconds, or the specification's default.
func defaulted(seconds, otherwise int) int {
	if seconds == 0 {
		return otherwise
	}
	return seconds
}

// runWaiterFacts compares the catalogue's waiters with those of the facts, in
// six respects each.
func runWaiterFacts(t *testing.T, folder string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	var known []knownWaiter
	readJSON(t, &known, folder, "aws-waiters.json")
	names := map[string]bool{}
	leftOut, left, budgets := readLeftOuts(t), 0, 0
	for _, k := range known {
		name := k.SDKID + " " + k.Waiter
		names[name] = true
		e, err := catalog.Lookup(k.SDKID, k.Waiter)
		if leftOut.has(k.SDKID, k.Waiter) {
			left++
			require.ErrorIs(t, err, catalog.ErrNotFound, name)
			continue
		}
		r.total++
		if err != nil || e.Kind != catalog.AWSWaiter || e.Service.Name != k.SDKID || e.Name != k.Waiter {
			r.failures[name+": is there"] = fmt.Sprintf("not in the catalogue, and left-out.json does not say why: %v", err)
			continue
		}
		maxDelay := k.MaxDelay
		if maxDelay != pollcore.DefaultMaxDelay && maxDelay == int(e.TotalWait.Seconds()) {
			// AWS's own conversion made the whole budget the maxDelay.
			maxDelay = max(pollcore.DefaultMaxDelay, k.MinDelay)
			budgets++
		}
		for _, c := range []struct {
			what      string
			got, want any
		}{
			{"operation", e.Operation.Name, k.Operation},
			{"minDelay", defaulted(e.Waiter.MinDelay, pollcore.DefaultMinDelay), k.MinDelay},
			{"maxDelay", defaulted(e.Waiter.MaxDelay, pollcore.DefaultMaxDelay), maxDelay},
			{"acceptors", printed(t, e.Published().Acceptors), printed(t, k.Acceptors)},
			{"errors", shapes(e.Operation.Errors), slices.Sorted(slices.Values(k.Errors))},
			{"required members", required(e.Operation.Input), slices.Sorted(slices.Values(k.InputRequired))},
		} {
			r.total++
			if !reflect.DeepEqual(c.want, c.got) {
				r.failures[name+": "+c.what] = fmt.Sprintf("%v, want %v", c.got, c.want)
			}
		}
	}
	newer := 0
	for _, e := range entries(t) {
		if e.Kind == catalog.AWSWaiter && !names[e.Service.Name+" "+e.Name] {
			newer++
		}
	}
	r.notes = append(r.notes,
		fmt.Sprintf("%d waiters are left out, as left-out.json says; the catalogue has %d that are newer than the facts", left, newer),
		fmt.Sprintf("%d waiters have a maxDelay that is the whole of botocore's delay x attempts: the catalogue keeps it as the total wait", budgets))
	return r
}

// printed is each acceptor in its Smithy form.
func printed(t *testing.T, acceptors []pollcore.Acceptor) []string {
	t.Helper()
	var texts []string
	for _, a := range acceptors {
		text, err := json.Marshal(a)
		require.NoError(t, err)
		texts = append(texts, string(text))
	}
	return texts
}

func shapes(list []catalog.Error) []string {
	var names []string
	for _, e := range list {
		names = append(names, e.Shape)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func required(s *catalog.Shape) []string {
	var names []string
	if s != nil {
		for _, m := range s.Members {
			if m.Required {
				names = append(names, m.Name)
			}
		}
	}
	return names
}

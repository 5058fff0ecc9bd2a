// Package sdktypes_test compiles the waiters and jobs of the catalogue against
// the types of the AWS SDK, and compares what they make of calls with what a
// second implementation makes of the same calls as JSON. It is a module of its
// own because EC2's client is large.
package sdktypes_test

import (
	"flag"
	"fmt"
	"go/format"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/tests/responses"
)

var (
	update = flag.Bool("update", false, "write table_test.go anew from the catalogue")
	seed   = flag.Uint64("seed", 1, "the seed of the random calls")
)

// services are those whose waiters and jobs are compiled: the SDK's clients have
// the same names.
var services = []string{"athena", "autoscaling", "cloudformation", "dynamodb", "ec2", "ecs", "glue", "rds", "s3"}

// unmodeled are SDK errors that the catalogue's operations do not declare, by
// the service and the name.
var unmodeled = map[string]string{
	"s3 NotFound": "NotFound", // of HEAD requests, by the Smithy model
}

// defects are the warnings of all waiters and jobs.
var defects = []string{
	// The enum knows of active, cancelling, cancelled and completed: AWS's
	// waiter can never succeed.
	`ec2 ConversionTaskDeleted/acceptors/0/matcher/output/expected: types.ConversionTaskState is never "deleted"`,
}

// newer are the members of the catalogue's models that these versions of the
// SDK do not have yet. No waiter reads them, or it would not compile.
var newer = []string{
	"autoscaling.DescribeAutoScalingGroupsInput.IncludeManagedResources",
	"s3.HeadObjectOutput.Expires: time.Time for string", // the SDK has the text as ExpiresString
	"types.ClusterPendingModifiedValues.InternetAccessGatewayEnabled",
	"types.ClusterPendingModifiedValues.VPCNetworkingEnabled",
	"types.DBInstance.PrimaryEndpoint",
	"types.DBInstance.VPCNetworkingEnabled",
	"types.Monitoring.MetricCategoryIds",
	"types.RunInstancesMonitoringEnabled.MetricCategoryIds",
	"types.Snapshot.AssociatedKmsKeys",
	"types.Stack.AliasName",
	"types.StackSetOperation.RegionalStatusDetails",
	"types.StackSetOperationStatusDetails.Stages",
	"types.StackSetOperationStatusDetails.TotalAccountsCount",
	"types.StackSetOperationStatusDetails.TotalStackInstancesCount",
	"types.Subnet.NetworkFirewallConnectivityType",
	"types.Task.trustedExecutionSummary",
	"types.TunnelOption.Phase1AdditionalKeyExchanges",
	"types.TunnelOption.Phase2AdditionalKeyExchanges",
	"types.Vpc.NetworkFirewallAssociations",
	"types.VpcEncryptionControlExclusions.ApiGatewayV2",
	"types.VpcEncryptionControlExclusions.GlobalAccelerator",
	"types.VpcPeeringConnection.MultipathResilienceStatus",
	"types.VpcPeeringConnectionOptionsDescription.AllowMultipathResilience",
	"types.VpcPeeringConnectionOptionsDescription.MultipathResilienceMode",
}

// randomCalls is how many random calls each waiter and job gets.
const randomCalls = 50

// entries are the waiters and jobs of the services.
func entries(t *testing.T) []*catalog.Entry {
	t.Helper()
	var all []*catalog.Entry
	for _, service := range services {
		listing, err := catalog.AWS().Find(service)
		require.NoError(t, err)
		require.Equal(t, service, listing.Key)
		for _, listed := range listing.Entries {
			e, err := catalog.Lookup(service, listed.Name)
			require.NoError(t, err)
			all = append(all, e)
		}
	}
	return all
}

// The table has each operation that a waiter or job of the services polls, and
// each of its errors that acceptors name.
func TestTable(t *testing.T) {
	t.Parallel()
	want := table(t)
	if *update {
		require.NoError(t, os.WriteFile("table_test.go", want, 0o600))
	}
	got, err := os.ReadFile("table_test.go")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "the catalogue polls other operations: go -C tests/sdktypes test -run TestTable . -update")
}

// table is the text of table_test.go.
func table(t *testing.T) []byte {
	t.Helper()
	type row struct{ service, operation string }
	known := map[row][]string{}
	var rows []row
	typed := map[string]bool{} // the services of which errors are named
	for _, e := range entries(t) {
		r := row{e.Service.Key, e.Operation.Name}
		if !slices.Contains(rows, r) {
			rows = append(rows, r)
		}
		for _, a := range e.Waiter.Acceptors {
			if a.Matcher.ErrorType == nil {
				continue
			}
			name := *a.Matcher.ErrorType
			shape := unmodeled[r.service+" "+name]
			for _, declared := range e.Operation.Errors {
				if declared.Shape == name || declared.Shape != "" && declared.Code == name {
					shape = declared.Shape
				}
			}
			if shape != "" {
				typed[r.service] = true
				known[r] = append(known[r], fmt.Sprintf("%q: &%stypes.%s{}", name, r.service, shape))
			}
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.service+" "+a.operation, b.service+" "+b.operation) })
	var b strings.Builder
	b.WriteString("// Code generated by TestTable from the catalogue; DO NOT EDIT.\n\npackage sdktypes_test\n\nimport (\n")
	for _, service := range services {
		fmt.Fprintf(&b, "\t%q\n", "github.com/aws/aws-sdk-go-v2/service/"+service)
		if typed[service] {
			fmt.Fprintf(&b, "\t%stypes %q\n", service, "github.com/aws/aws-sdk-go-v2/service/"+service+"/types")
		}
	}
	b.WriteString(")\n\nvar operations = []operation{\n")
	for _, r := range rows {
		types := "nil"
		if list := known[r]; len(list) > 0 {
			slices.Sort(list)
			types = "map[string]error{" + strings.Join(slices.Compact(list), ", ") + "}"
		}
		fmt.Fprintf(&b, "\tof[%s.%sInput, %s.%sOutput](%q, %q, %s),\n", r.service, r.operation, r.service, r.operation, r.service, r.operation, types)
	}
	b.WriteString("}\n")
	text, err := format.Source([]byte(b.String()))
	require.NoError(t, err)
	return text
}

// lookup is the operation of the table that an entry polls.
func lookup(t *testing.T, e *catalog.Entry) operation {
	t.Helper()
	i := slices.IndexFunc(operations, func(o operation) bool { return o.service == e.Service.Key && o.name == e.Operation.Name })
	require.GreaterOrEqual(t, i, 0, "%s %s", e.Service.Key, e.Operation.Name)
	return operations[i]
}

// Every waiter and job of the services compiles against the SDK's types, with
// no warning but the known defects.
func TestCompile(t *testing.T) {
	t.Parallel()
	found := []string{}
	compiled := 0
	for _, e := range entries(t) {
		w, err := lookup(t, e).compile(e.Waiter)
		require.NoError(t, err, "%s %s", e.Service.Key, e.Name)
		compiled++
		for _, p := range w.warnings {
			found = append(found, fmt.Sprintf("%s %s%s: %s", e.Service.Key, e.Name, p.Pointer, p.Message))
		}
	}
	require.Equal(t, defects, found)
	t.Logf("compiled %d waiters and jobs against %d operations", compiled, len(operations))
}

// The SDK's types have each member of the models but the newer ones, so that no
// part of a call is lost between its two forms.
func TestMembers(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	seen := map[reflect.Type]bool{}
	for _, e := range entries(t) {
		o := lookup(t, e)
		compare(e.Operation.Input, o.in, o.in.String(), seen, found)
		compare(e.Operation.Output, o.out, o.out.String(), seen, found)
	}
	require.Equal(t, newer, slices.Sorted(maps.Keys(found)))
}

// compare notes the members of a shape that a type does not have, or has with
// another type; at is where the type was found.
func compare(s *catalog.Shape, typ reflect.Type, at string, seen map[reflect.Type]bool, found map[string]bool) {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case s == nil || seen[typ] || typ.Kind() == reflect.Interface:
	case (s.Type == catalog.List || s.Type == catalog.Map) && (typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map):
		compare(s.Element.Shape, typ.Elem(), at, seen, found)
	case s.Type == catalog.Structure && typ.Kind() == reflect.Struct:
		seen[typ] = true
		for _, m := range s.Members {
			at := typ.String() + "." + m.Name
			if field, ok := typ.FieldByName(goName(m.Name)); ok {
				compare(m.Shape, field.Type, at, seen, found)
			} else {
				found[at] = true
			}
		}
	case !scalar(s.Type, typ):
		found[at+": "+typ.String()+" for "+string(s.Type)] = true
	}
}

// scalar tells whether a type without parts is what the SDK makes of a shape.
func scalar(s catalog.ShapeType, typ reflect.Type) bool {
	zero := reflect.Zero(typ)
	switch s {
	case catalog.Blob:
		return typ == reflect.TypeFor[[]byte]()
	case catalog.Timestamp:
		return typ == reflect.TypeFor[time.Time]()
	case catalog.Boolean:
		return typ.Kind() == reflect.Bool
	case catalog.String:
		return typ.Kind() == reflect.String
	case catalog.Integer, catalog.Long:
		return zero.CanInt()
	case catalog.Float, catalog.Double:
		return zero.CanFloat()
	default:
		return false
	}
}

// A waiter makes the same of a call with the SDK's types as the second
// implementation makes of the call as JSON, and each acceptor is reached.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	calls, acceptors := 0, 0
	for _, e := range entries(t) {
		name := e.Service.Key + " " + e.Name
		o := lookup(t, e)
		w, err := o.compile(e.Waiter)
		require.NoError(t, err, name)
		m, err := responses.NewMaker(e)
		require.NoError(t, err, name)
		cases := slices.Concat(m.Basics(), m.Values(), m.Errors(), m.Random(randomCalls, *seed))
		for i := range e.Waiter.Acceptors {
			if c, ok := m.Reach(i); ok {
				cases = append(cases, c)
			}
		}
		if c, ok := m.Reach(pollcore.NoAcceptor); ok {
			cases = append(cases, c)
		}
		// The SDK gives an error that the model has its type, so a code that
		// stands for another name never comes alone.
		cases = slices.DeleteFunc(cases, func(c responses.Case) bool {
			return c.Err != nil && slices.ContainsFunc(e.Operation.Errors, func(declared catalog.Error) bool {
				return declared.Shape != "" && declared.Code != declared.Shape && declared.Code == responses.ErrorName(c.Err)
			})
		})
		for as, failure := range o.errors {
			cases = append(cases, responses.Case{Name: "the SDK's error for " + as, Err: failure})
		}
		reached := map[int]bool{}
		for _, c := range cases {
			got, c, err := w.check(e.Operation, c)
			require.NoError(t, err, "%s: %s", name, c.Name)
			want, err := m.Verdict(c)
			require.NoError(t, err, "%s: %s", name, c.Name)
			require.Equal(t, want, got, "%s: %s: %v %v", name, c.Name, c.Output, c.Err)
			reached[got.Acceptor] = true
			calls++
		}
		for i, a := range e.Waiter.Acceptors {
			require.True(t, reached[i], "%s: no call reaches acceptor %d, %s", name, i+1, a.Matcher)
			acceptors++
		}
	}
	t.Logf("%d calls reach %d acceptors; seed %d", calls, acceptors, *seed)
}

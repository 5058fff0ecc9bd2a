package conformance_test

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// jobDifferences are what the catalogue says otherwise than aws-jobs.json, where
// no decision of sources/jobs.json says why.
var jobDifferences = []differing{
	{"one status does not tell: the job has acceptors of its own, which its note or decisions explain", []string{
		"DynamoDB RestoreTableFromBackup: sets", "Database Migration Service StartReplication: sets",
		"Database Migration Service StartReplicationTask: sets", "Device Farm ScheduleRun: sets", "ECS RunTask: sets",
		"EMR AddJobFlowSteps: sets", "EMR RunJobFlow: sets", "Glue StartCrawler: sets", "SSM SendCommand: sets",
		"deadline CreateJob: sets", "mgn StartTest: sets",
	}},
	{"the request starts up to ten steps, and only ListSteps tells of several", []string{
		"EMR AddJobFlowSteps: describe operation", "EMR AddJobFlowSteps: required members", "EMR AddJobFlowSteps: status path",
	}},
	{"GetCommandInvocation tells of one node, and a command may go to many", []string{
		"SSM SendCommand: describe operation", "SSM SendCommand: required members", "SSM SendCommand: status path",
	}},
	{"the request may start several tasks, and all of them count", []string{"ECS RunTask: status path"}},
	{"DescribeFlowExecutionRecords cannot be asked for one run", []string{
		"Appflow StartFlow: describe operation", "Appflow StartFlow: status path",
	}},
	{"the start gives the ID of an operation, which ends; the status of the application says nothing of this start", []string{
		"Kinesis Analytics V2 StartApplication: describe operation", "Kinesis Analytics V2 StartApplication: status path",
		"Kinesis Analytics V2 StartApplication: sets",
	}},
}

// knownJob is a job of aws-jobs.json.
type knownJob struct {
	SDKID             string   `json:"sdkId"`
	StartOperation    string   `json:"startOperation"`
	DescribeOperation string   `json:"describeOperation"`
	DescribeRequired  []string `json:"describeRequired"`
	StatusPath        string   `json:"statusPath"`
	Success           []string `json:"success"`
	Failure           []string `json:"failure"`
	Ambiguous         []string `json:"ambiguous"`
	Running           []string `json:"running"`
	ValuesSource      string   `json:"valuesSource"`
	Sync              string   `json:"sync"`
}

// sourceJob is what sources/jobs.json has of a job that the catalogue does not.
type sourceJob struct {
	Service   string            `json:"service"`
	Start     string            `json:"start"`
	Decisions map[string]string `json:"decisions"`
}

// decides tells whether a decision says why a value is in the set it is in. Its
// key may be the beginning of several values, with an asterisk.
func (j sourceJob) decides(value string) bool {
	for key, reason := range j.Decisions {
		prefix, many := strings.CutSuffix(key, "*")
		if reason != "" && (key == value || many && strings.HasPrefix(value, prefix)) {
			return true
		}
	}
	return false
}

// moved are the values that two divisions of a status's values have in different
// sets, without the remarks that the facts hold in their place.
func moved(a, b map[string][]string) []string {
	set := map[string][2]string{}
	for i, division := range []map[string][]string{a, b} {
		for name, values := range division {
			for _, value := range values {
				if !strings.HasPrefix(value, "(") {
					in := set[value]
					in[i] = name
					set[value] = in
				}
			}
		}
	}
	maps.DeleteFunc(set, func(_ string, in [2]string) bool { return in[0] == in[1] })
	return slices.Sorted(maps.Keys(set))
}

// runJobFacts compares the catalogue's jobs with those of the facts, in seven
// respects each. A value that is in another set than the facts have it in, or
// that they call ambiguous, needs a decision.
func runJobFacts(t *testing.T, folder string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	var known []knownJob
	readJSON(t, &known, folder, "aws-jobs.json")
	var tables []sourceJob
	readJSON(t, &tables, sources, "jobs.json")
	leftOut, left, decided := readLeftOuts(t), 0, 0
	for _, k := range known {
		e, err := catalog.Lookup(k.SDKID, k.StartOperation)
		if leftOut.has(k.SDKID, k.StartOperation) {
			left++
			require.ErrorIs(t, err, catalog.ErrNotFound, k.SDKID+" "+k.StartOperation)
			continue
		}
		name := k.SDKID + " " + k.StartOperation
		r.total++
		if err != nil || e.Kind != catalog.AWSJob {
			r.failures[name+": is there"] = fmt.Sprintf("not in the catalogue, and left-out.json does not say why: %v", err)
			continue
		}
		i := slices.IndexFunc(tables, func(j sourceJob) bool { return j.Service == e.Service.Key && j.Start == e.Name })
		require.GreaterOrEqual(t, i, 0, name)
		var unexplained []string
		if len(e.Job.Acceptors) > 0 {
			require.NotEmpty(t, e.Job.Note+fmt.Sprint(tables[i].Decisions), name)
			unexplained = []string{"all of them"}
		} else {
			for _, value := range moved(
				map[string][]string{"success": e.Job.Success, "failure": e.Job.Failure, "running": e.Job.Running},
				map[string][]string{"success": k.Success, "failure": k.Failure, "running": k.Running},
			) {
				if tables[i].decides(value) {
					decided++
				} else if !e.Job.Documented || slices.Contains(slices.Concat(k.Success, k.Failure, k.Running, k.Ambiguous), value) {
					unexplained = append(unexplained, value)
				}
			}
		}
		for _, c := range []struct {
			what      string
			got, want any
		}{
			{"describe operation", e.Operation.Name, k.DescribeOperation},
			{"status path", statusPath(e, k.StatusPath), k.StatusPath},
			{"sets", unexplained, []string(nil)},
			{"sync", e.Job.Sync, k.Sync},
			{"values of an enum", !e.Job.Documented, k.ValuesSource == "enum"},
			{"required members", missing(k.DescribeRequired, e.Job.Arguments), []string(nil)},
		} {
			r.total++
			if !reflect.DeepEqual(c.want, c.got) {
				r.failures[name+": "+c.what] = fmt.Sprintf("%v, want %v", c.got, c.want)
			}
		}
	}
	r.notes = append(r.notes, fmt.Sprintf("%d jobs are left out; decisions explain the sets of %d values", left, decided))
	return r
}

// statusPath is where a job's status is. A job that has acceptors of its own is
// said to have the known one if an acceptor reads that.
func statusPath(e *catalog.Entry, known string) string {
	if len(e.Job.Acceptors) == 0 {
		return e.Job.Status
	}
	var paths []string
	whole := regexp.MustCompile(`(^|[^\w.\]])` + regexp.QuoteMeta(known))
	for _, a := range e.Waiter.Acceptors {
		if a.Matcher.Output != nil {
			if whole.MatchString(a.Matcher.Output.Path) {
				return known
			}
			paths = append(paths, a.Matcher.Output.Path)
		}
	}
	return strings.Join(slices.Compact(paths), ", ")
}

// missing are the names that a map does not have.
func missing(names []string, in map[string]string) []string {
	var absent []string
	for _, name := range names {
		if _, ok := in[name]; !ok {
			absent = append(absent, name)
		}
	}
	return absent
}

// plainName is the name of a service without what people write differently.
func plainName(name string) string { return strings.ToLower(strings.ReplaceAll(name, " ", "")) }

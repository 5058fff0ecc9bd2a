package history

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Every entry of the catalogue judges the operation that it polls.
func TestEveryEntryIsAJudge(t *testing.T) {
	t.Parallel()
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	judges, entries := map[string]int{}, 0
	for _, service := range services {
		for _, e := range service.Entries {
			entries++
			name := service.Key + ":" + e.Operation
			if _, known := judges[name]; known {
				continue
			}
			op := readOperation(name, nil)
			require.NotNil(t, op, name)
			judges[name] = len(op.judges)
		}
	}
	all := 0
	for _, n := range judges {
		all += n
	}
	require.Equal(t, entries, all)
}

// The status of an operation that several waiters poll is that of the first waiter
// that matches one, also if another comes before it, and of every item of the lists.
func TestStatusOfSeveralWaiters(t *testing.T) {
	t.Parallel()
	op := readOperation("ec2:DescribeInstances", nil)
	require.NotNil(t, op)
	for output, want := range map[string]string{
		`{"Reservations":[{"Instances":[{"State":{"Name":"pending"}}]}]}`:                                              "pending",
		`{"Reservations":[{"Instances":[{"State":{"Name":"running"}},{"State":{"Name":"running"}}]}]}`:                 "running",
		`{"Reservations":[{"Instances":[{"State":{"Name":"running"}}]},{"Instances":[{"State":{"Name":"pending"}}]}]}`: "running, pending",
		`{"Reservations":[]}`: "",
	} {
		require.Equal(t, want, op.judge(`{}`, output).status, output)
	}
}

// Every operation shows a status if an entry that polls it has a path to one.
func TestEveryPathToAStatusIsRead(t *testing.T) {
	t.Parallel()
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, service := range services {
		for _, e := range service.Entries {
			entry, err := catalog.AWS().Lookup(service.Key, e.Name)
			require.NoError(t, err)
			if len(newSight(entry).status) == 0 {
				continue
			}
			name := service.Key + ":" + e.Operation
			require.NotEmpty(t, readOperation(name, nil).sight.status, name)
		}
	}
}

// ECS is asked first for what it does not know; that a task is missing is no status.
func TestStatusIsWhatMostAcceptorsCompare(t *testing.T) {
	t.Parallel()
	op := readOperation("ecs:DescribeTasks", map[string]bool{"ecs:runtask": true})
	require.NotNil(t, op)
	require.Equal(t, "RUNNING", op.judge(`{}`, `{"Tasks":[{"LastStatus":"RUNNING"}],"Failures":[]}`).status)
}

// The id of a job has nothing that is the same for all jobs.
func TestIDOfAJob(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ operation, arguments, want string }{
		{"dms:DescribeReplicationTasks", `{"Filters":[{"Name":"replication-task-arn","Values":["arn:1"]}],"WithoutSettings":true}`, "arn:1"},
		{"ecs:DescribeTasks", `{"Cluster":"c","Tasks":["a","b"]}`, "c, a, b"},
		{"ecs:DescribeTasks", `{"Cluster":"c","Tasks":["a","b","c","d","e"]}`, "c, a, b, c, d"},
		{"ecs:DescribeTasks", `{"Tasks":{}}`, ""},
	} {
		op := readOperation(c.operation, map[string]bool{"ecs:runtask": true, "dms:startreplicationtask": true})
		require.NotNil(t, op)
		require.Equal(t, c.want, op.readID(c.arguments), c.arguments)
	}
}

// judges are waiters with these acceptors, all of one operation.
func judges(t *testing.T, waiters ...[]pollcore.Acceptor) *operation {
	t.Helper()
	entry, err := catalog.Lookup("athena", "StartQueryExecution")
	require.NoError(t, err)
	op := &operation{}
	for _, acceptors := range waiters {
		w := *entry.Waiter
		w.Acceptors = acceptors
		own := *entry
		own.Waiter = &w
		op.judges = append(op.judges, judge{entry: &own})
	}
	return op
}

// An acceptor of any error matches any error, and judges that differ have no verdict.
func TestJudgeError(t *testing.T) {
	t.Parallel()
	named := pollcore.Acceptor{State: pollcore.Success, Matcher: pollcore.ErrorType("InvalidRequestException")}
	anyError := pollcore.Acceptor{State: pollcore.Failure, Matcher: pollcore.AnyError()}
	response := pollcore.Acceptor{State: pollcore.Success, Matcher: pollcore.AnyResponse()}
	for _, c := range []struct {
		name    string
		waiters [][]pollcore.Acceptor
		error   string
		want    Verdict
	}{
		{"named", [][]pollcore.Acceptor{{response, named}}, "Athena.InvalidRequestException", Success},
		{"another", [][]pollcore.Acceptor{{response, named}}, "Athena.InternalServerException", CallFailed},
		{"any", [][]pollcore.Acceptor{{response, anyError}}, "Athena.InternalServerException", Failure},
		{"the first that matches", [][]pollcore.Acceptor{{named, anyError}}, "Athena.InvalidRequestException", Success},
		{"one does not match", [][]pollcore.Acceptor{{response}, {anyError}}, "E", CallFailed},
		{"they differ", [][]pollcore.Acceptor{{named}, {anyError}, {named}}, "Athena.InvalidRequestException", CallFailed},
		{"they agree", [][]pollcore.Acceptor{{anyError}, {response, anyError}}, "E", Failure},
		{"there is none", nil, "E", CallFailed},
	} {
		require.Equal(t, c.want, judges(t, c.waiters...).judgeError(c.error), c.name)
	}
}

// Responses that the waiters of an operation judge differently have no verdict.
func TestAgree(t *testing.T) {
	t.Parallel()
	all := func(verdicts ...Verdict) Verdict {
		o, n := &operation{judges: make([]judge, len(verdicts))}, 0
		return o.agree(Unknown, func(judge) Verdict { n++; return verdicts[n-1] })
	}
	require.Equal(t, Unknown, all())
	require.Equal(t, Success, all(Success, Success))
	require.Equal(t, Unknown, all(Success, Retry))
	require.Equal(t, Unknown, all(Unknown, Retry), "the first is not known")
	require.Equal(t, Unknown, all(Retry, Unknown))
	require.Equal(t, Unknown, all(Retry, Success, Success))
}

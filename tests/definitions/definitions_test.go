//go:build unix

package definitions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/report"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/processortest"
)

// definitions are the shipped ones and, where the corpus is there, those that
// AWS and others have published and run.
func definitions(t testing.TB) []any {
	t.Helper()
	var found []any
	for _, name := range statemachines.Names() {
		text, err := statemachines.Definition(name)
		require.NoError(t, err)
		found = append(found, decode(text))
	}
	corpus := os.Getenv("JOBPOLLER_CORPUS")
	if corpus == "" {
		corpus = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	err := filepath.WalkDir(corpus, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == corpus {
			return nil
		}
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".json") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		object, _ := decode(text).(map[string]any)
		if inner, ok := object["definition"].(map[string]any); ok {
			object = inner
		}
		if object["StartAt"] != nil && object["States"] != nil {
			found = append(found, object)
		}
		return nil
	})
	require.NoError(t, err)
	return found
}

func decode(text []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

// FuzzMutatedDefinition reads, checks, prints, draws and runs definitions in
// which things stand where nobody expects them. Nothing may panic, hang or take
// much memory, and what the simulator cannot run has an error that says why.
func FuzzMutatedDefinition(f *testing.F) {
	all := definitions(f)
	require.NotEmpty(f, all)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range all {
		mutations := make([]byte, 4+random.IntN(30))
		for j := range mutations {
			mutations[j] = byte(random.IntN(256))
		}
		f.Add(uint16(i), mutations)
	}
	f.Fuzz(func(t *testing.T, number uint16, mutations []byte) {
		m := &mutator{bytes: mutations, root: copied(all[int(number)%len(all)])}
		m.mutate()
		text := m.text()
		within(t, func() { exercise(t, text, mutations) })
	})
}

// What people have written runs as it is.
func TestDefinitionsAsWritten(t *testing.T) {
	t.Parallel()
	for _, d := range definitions(t) {
		m := &mutator{root: copied(d)}
		exercise(t, m.text(), nil)
	}
}

// within holds f to 5 s of processor time and the process to 1 GiB.
func within(t *testing.T, f func()) {
	t.Helper()
	const mostTime, mostMemory = 5 * time.Second, 1 << 30
	before := processortest.Time(t)
	f()
	require.Less(t, processortest.Time(t)-before, mostTime, "processor time")
	memory, ok := processortest.PeakMemory(t)
	require.True(t, ok)
	require.Less(t, memory, int64(mostMemory), "memory of the process")
}

// exercise does with a definition all that can be done with one.
func exercise(t *testing.T, text, answers []byte) {
	t.Helper()
	_ = asl.Validate(text, asl.Express)
	m, err := asl.Parse(text)
	if err != nil {
		require.NotEmpty(t, err.Error())
		require.Less(t, len(err.Error()), 1<<20, "an error that nobody reads")
		return
	}
	if printed := asl.Print(m); len(printed) <= asl.MaxDefinitionBytes { // with its indentation
		_, err = asl.Parse(printed)
		require.NoError(t, err, "printed and read again")
	}
	lint.Check(m, lint.Options{})
	graph.New(m, graph.Options{}).SVG()
	execute(t, m, answers)
}

// execute runs a machine whose Tasks answer as the bytes say.
func execute(t *testing.T, m *asl.StateMachine, answers []byte) {
	t.Helper()
	handlers := map[string]sim.Handler{}
	calls := 0
	answer := func(_ context.Context, call sim.Call) (sim.Reply, error) {
		kind := calls
		if len(answers) > 0 {
			kind = int(answers[calls%len(answers)])
		}
		calls++
		switch kind % 5 {
		case 0:
			return sim.Reply{Output: call.Arguments}, nil
		case 1:
			return sim.Reply{Output: map[string]any{"Status": "RUNNING", "a": []any{json.Number("1"), nil, "x"}}}, nil
		case 2:
			return sim.Reply{}, &sim.TaskError{Name: "E", Cause: `{"Error": "x"}`}
		case 3:
			return sim.Reply{Output: nil, Latency: time.Second}, nil
		default:
			return sim.Reply{Never: true}, nil
		}
	}
	items := func(context.Context, sim.Call) (sim.Reply, error) {
		return sim.Reply{Output: []any{json.Number("1"), map[string]any{"Key": "k"}}}, nil
	}
	for s := range m.All {
		if s.Task != nil {
			handlers[s.Task.Resource] = answer
		}
		if s.Map != nil && s.Map.ItemReader != nil {
			handlers[s.Map.ItemReader.Resource] = items
		}
	}
	const limit, events = 20 * time.Second, 60 // each event may be an expression at the end of its budget
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	o := sim.Options{Handlers: handlers, MaxEvents: events, Clock: sim.NewVirtualClock(sim.DefaultStart())}
	r, err := sim.Run(ctx, m, []byte(`{"a": {"b": [1, "x", null]}, "n": 3, "Status": "RUNNING"}`), o)
	var internal *sim.InternalError
	require.NotErrorAs(t, err, &internal)
	if err != nil {
		return
	}
	require.NoError(t, ctx.Err(), "it took too long")
	_, err = report.HTML(history.FromRun(m, r), report.Options{})
	require.NoError(t, err)
	if again, err := sim.Redrive(ctx, m, r, o); err == nil {
		require.NotEmpty(t, again.Status)
	}
}

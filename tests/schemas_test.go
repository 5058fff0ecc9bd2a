package tests_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/schema/schematest"
	"github.com/jobpoller/jobpoller/internal/settings"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

// writtenFiles are the texts of the module that a person may write: files, those in scripts and
// those that pages show, by where they are. Their names end as given.
func writtenFiles(t *testing.T, suffix string) map[string]string {
	t.Helper()
	const most = 64 << 10
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); name == "node_modules" || name == ".git" || name == "dist" {
				return fs.SkipDir
			}
			return nil
		}
		isScript, isPage := strings.HasSuffix(path, ".txtar"), strings.HasSuffix(path, ".md")
		if !isScript && !isPage && !strings.HasSuffix(path, suffix) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch {
		case isScript:
			for _, file := range txtar.Parse(text).Files {
				if strings.HasSuffix(file.Name, suffix) {
					all[path+"/"+file.Name] = string(file.Data)
				}
			}
		case isPage:
			for _, code := range blocks(t, path, strings.TrimPrefix(filepath.Ext(suffix), ".")) {
				all[path+": "+code] = code
			}
		case len(text) <= most:
			all[path] = string(text)
		}
		return nil
	}))
	return all
}

// valueOf is the JSON of a text, which may be YAML; false if it is neither.
func valueOf(text []byte, isYAML bool) ([]byte, bool) {
	if !isYAML {
		return text, json.Valid(text)
	}
	var decoded any
	if yaml.Unmarshal(text, &decoded) != nil {
		return nil, false
	}
	value, err := json.Marshal(decoded)
	return value, err == nil
}

// unsaid are what no schema of files can say, by the messages of the readers.
var unsaid = map[string][]string{
	"mocks": {
		"^member .* stands twice", "^this file has another answer for", "^path ", "^expected a time ", "must be a share such as",
		"^a job (needs|without|cannot)", "^the answer of a job: ", "^there is no mocked response", "^the calls .* overlap$", "^expected the number of a call", "^expected at least one test case$",
	},
	"schedule": {"^member .* stands twice", "^expected a first delay of at most"},
	"waiter":   {"^member .* stands twice", "must not be above maxDelay", "^a waiter has at most", "^errorType must be"},
	"config": {
		"stands here twice", "is no pattern of paths", "the price of a state transition is known for",
	},
}

// A schema takes the files that jobpoller reads, and no others: of all files of the module, and of
// those that differ in one place from one that is read.
func TestSchemasAgreeWithTheReaders(t *testing.T) {
	t.Parallel()
	asTheyAre := writtenFiles(t, ".json")
	for name, one := range map[string]struct {
		read  func(text []byte) error
		least int // files of the module that are read
		files map[string]string
		more  []string // that have every member
		wrong []string // which the readers alone can say
	}{
		"mocks": {func(text []byte) error { _, err := mock.Read(text); return err }, 30, asTheyAre, []string{
			`{"$schema": "s", "A": [{"return": {"a": null}, "times": 2, "after": 0.5, "heartbeats": 3, "submitted": 1, "echoes": {"a.b": "c[0]"}}, {"fail": {"error": "E", "cause": "c"}}],
				"B": {"throttle": true}, "C": {"never": true, "times": 1}, "D": {"submitted": {}}}`,
			`{"A": {"job": {"runs": "uniform(1m,2m)", "throttle": "5%", "status": "a.b", "startTime": "a.s", "endTime": "a.e", "epochTimes": true, "running": "R", "ends": "E",
				"stopped": "S", "raises": {"E": {"error": "X", "cause": "c"}}, "echoes": {"Id": "a.id"}, "startEchoes": {"N": "n"}, "describeEchoes": {"N": "a.n"}, "fails": ["F"],
				"part": "a", "answer": {"a": {}}, "answers": {"R": {}}, "id": "a.id", "idArgument": "Id", "stopIdArgument": "Id", "ids": "i-{n}", "startAnswer": {}, "startId": "Id",
				"startIdArgument": "Id", "startNameArgument": "Name", "name": "a.name", "stopAnswer": {}, "exists": true, "before": "B", "notFound": "N",
				"start": {"S": {"runs": 9, "running": "R", "ends": "F", "answer": {}}}, "describe": ["G"], "stop": "T"}}}`,
			`{"$schema": "s", "StateMachines": {"M": {"TestCases": {"T": {"S": "R"}}}}, "MockedResponses": {"R": {"0": {"Return": 1}, "1-2": {"Throw": {"Error": "E", "Cause": "c"}}}}}`,
		}, []string{
			`{"A": {"job": {"runs": 1, "throttle": "many%", "status": "a", "running": "R", "ends": "E"}}}`,
			`{"StateMachines": {"M": {"TestCases": {"T": {}}}}, "MockedResponses": {"R": {"2-1": {"Return": 1}}}}`,
			`{"A": {"return": 1}, "A": {"return": 2}}`, `{"StateMachines": {"M": {"TestCases": {"T": {}}}}, "MockedResponses": {"R": {"0-1": {"Return": 1}, "1": {"Return": 1}}}}`,
		}},
		"schedule": {func(text []byte) error { _, err := pollcore.ParsePlanned(text); return err }, 1, asTheyAre, []string{
			`{"$schema": "s", "delays": [0, 1, 36000000], "then": 60, "jitter": 0}`,
		}, []string{`{"delays": [1], "then": 1, "then": 2}`, `{"delays": [36000000], "then": 1, "jitter": 1}`}},
		"waiter": {func(text []byte) error { _, err := pollcore.ParseWaiter("Waiter", text); return err }, 5, asTheyAre, []string{
			`{"$schema": "s", "documentation": "d", "minDelay": 1, "maxDelay": 9, "deprecated": false, "tags": ["t"], "acceptors": [
				{"state": "success", "matcher": {"output": {"path": "a", "expected": "b", "comparator": "stringEquals"}}},
				{"state": "failure", "message": "m", "matcher": {"inputOutput": {"path": "a", "expected": "true", "comparator": "booleanEquals"}}},
				{"state": "retry", "message": "", "matcher": {"success": true}}, {"state": "retry", "matcher": {"errorType": "E"}}]}`,
		}, []string{
			`{"minDelay": 9, "maxDelay": 8, "acceptors": [{"state": "success", "matcher": {"success": true}}]}`,
			`{"acceptors": [{"state": "success", "state": "success", "matcher": {"success": true}}]}`,
			`{"acceptors": [` + strings.Repeat(`{"state": "success", "matcher": {"success": true}}, `, 200) + `{"state": "retry", "matcher": {"success": true}}]}`,
		}},
		"config": {func(text []byte) error { _, err := settings.Parse("c", text, kit.Vocabulary()); return err }, 3, writtenFiles(t, ".yaml"), []string{
			`{"$schema": "s", "rules": {"hot-loop": "off"}, "statuses": {"A:b": "success"}, "substitutions": {"A": 1, "B": true}, "region": "eu-west-1", "ignore": ["a/**"],
				"overrides": [{"files": ["b"], "rules": {"hot-loop": "note"}, "statuses": {"c": "running"}, "substitutions": {"A": "x"}, "region": "us-east-1"}]}`,
		}, []string{`{"region": "eu-west-1", "region": "eu-west-1"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			validator, err := schematest.NewValidator("..", name, false)
			require.NoError(t, err)
			a := &schematest.Agreement{Schema: validator, Read: one.read}
			for _, pattern := range unsaid[name] {
				a.Unsaid = append(a.Unsaid, regexp.MustCompile(pattern))
			}
			seeds := one.more
			for _, file := range slices.Sorted(maps.Keys(one.files)) {
				text := []byte(one.files[file])
				value, ok := valueOf(text, name == "config")
				if !ok {
					continue // another program's, or wrong on purpose
				}
				taken := a.Taken
				require.NoError(t, a.Check(text, value), file)
				const small = 4 << 10
				if a.Taken > taken && len(value) < small {
					seeds = append(seeds, string(value))
				}
			}
			require.GreaterOrEqual(t, a.Taken, one.least, "files of the module")
			for _, seed := range seeds {
				require.NoError(t, one.read([]byte(seed)))
				require.NoError(t, schematest.Vary([]byte(seed), func(text []byte) error { return a.Check(text, text) }))
			}
			for _, text := range one.wrong {
				taken := a.Taken
				require.NoError(t, a.Check([]byte(text), []byte(text)))
				require.Equal(t, taken, a.Taken, text)
			}
			require.Empty(t, a.Unmet(), "a schema could say it, or no document has it")
			t.Logf("%d documents are taken, %d refused", a.Taken, a.Refused)
		})
	}
}

package cli

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	waiterlint "github.com/jobpoller/jobpoller/pollcore/catalog/lint"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// filled sets all that v points to, so that its JSON has every member.
func filled(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem())
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() || field.Kind() == reflect.Struct { // an embedded struct has fields that can be set
				filled(field)
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte("1"))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		filled(key)
		filled(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Interface:
		v.Set(reflect.ValueOf("x"))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Int:
		v.SetInt(1)
	case reflect.Int64:
		v.SetInt(int64(time.Second)) // a time, in JSON of whole seconds
	default: // of enumerations and arrays, zero is a value
	}
}

// members are those of the JSON of a T with all its fields set, those of objects
// within it as "outer.inner".
func members[T any](t *testing.T, of func(T) any) []string {
	t.Helper()
	var value T
	filled(reflect.ValueOf(&value).Elem())
	text, err := json.Marshal(of(value))
	require.NoError(t, err)
	var object map[string]any
	require.NoError(t, json.Unmarshal(text, &object))
	var names []string
	for name, value := range object {
		names = append(names, name)
		inner, _ := value.(map[string]any)
		for within := range inner {
			names = append(names, name+"."+within)
		}
	}
	return names
}

func itself[T any](value T) any { return value }

// jsonPage are the sections of docs/reference/json.md by the command of their heading.
func jsonPage(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/reference/json.md")
	require.NoError(t, err)
	sections := map[string]string{}
	for part := range strings.SplitSeq(string(text), "\n## ") {
		heading, section, _ := strings.Cut(part, "\n")
		sections[strings.Trim(heading, "`")] = section
	}
	return sections
}

var quoted = regexp.MustCompile("`([A-Za-z0-9.]+)`")

func quotedIn(text string) []string {
	var words []string
	for _, match := range quoted.FindAllStringSubmatch(text, -1) {
		words = append(words, match[1])
	}
	return words
}

// tables are the names before the colon in each list of members.
func tables(section string) [][]string {
	var all [][]string
	for block := range strings.SplitSeq(section, "\n\n") {
		if !strings.HasPrefix(strings.TrimSpace(block), "- `") {
			continue
		}
		var names []string
		for line := range strings.Lines(strings.TrimSpace(block)) {
			first, _, _ := strings.Cut(line, "`: ")
			names = append(names, quotedIn(first+"`")...)
		}
		all = append(all, names)
	}
	return all
}

// requireDocumented compares the members of JSON with the names that a page has of
// them. An object may stand for its members, or its members for it.
func requireDocumented(t *testing.T, members, page []string) {
	t.Helper()
	require.NotEmpty(t, page)
	for _, name := range page {
		require.Contains(t, members, name, "the page has a member that the output has not")
	}
	for _, name := range members {
		outer, _, isInner := strings.Cut(name, ".")
		documented := slices.Contains(page, name) || isInner && slices.Contains(page, outer) ||
			slices.ContainsFunc(page, func(s string) bool { return strings.HasPrefix(s, name+".") })
		require.True(t, documented, "the output has the member %s, and the page has not", name)
	}
}

// The page has exactly the members that the commands write.
func TestJSONPage(t *testing.T) {
	t.Parallel()
	page := jsonPage(t)
	table := func(heading string, i int) []string {
		found := tables(page["jobpoller "+heading+" -o json"])
		require.Greater(t, len(found), i, heading)
		return found[i]
	}
	run := table("run", 0)
	requireDocumented(t, members(t, itself[report]), run)
	requireDocumented(t, members(t, itself[listEntry]), table("list", 0))
	requireDocumented(t, members(t, itself[judged]), table("check", 0))
	requireDocumented(t, members(t, itself[waitReport]), table("wait", 0))
	requireDocumented(t, members(t, itself[compile.Report]), table("compile --report", 0))
	requireDocumented(t, members(t, itself[compile.Cost]), table("compile --report", 1))
	requireDocumented(t, members(t, itself[planReport]), table("plan", 0))
	requireDocumented(t, members(t, itself[planCheck]), table("plan --check", 0))
	requireDocumented(t, members(t, itself[keptExecution]), tables(page["jobpoller plan --keep"])[0])
	for _, name := range slices.Concat(members(t, itself[planDurations]), members(t, itself[plannedSchedule]), members(t, itself[quotaUse]), members(t, itself[strategyLoad])) {
		require.Contains(t, quotedIn(page["jobpoller plan -o json"]), name)
	}

	mocks := page["jobpoller run --mocks FILE -o json"]
	_, without, ok := strings.Cut(mocks, "As above, without ")
	require.True(t, ok)
	without, _, _ = strings.Cut(without, ", and with:")
	ofMocks := slices.DeleteFunc(slices.Clone(run), func(name string) bool { return slices.Contains(quotedIn(without), name) })
	requireDocumented(t, members(t, itself[simulation]), append(ofMocks, tables(mocks)[0]...))
}

// What lint writes of definitions and of waiters is in one table.
func TestJSONPageOfLint(t *testing.T) {
	t.Parallel()
	section := jsonPage(t)["jobpoller lint -o json"]
	all := members(t, func(f waiterlint.Finding) any {
		f.Acceptor = 0
		return finding{file: "x", machine: "x", body: f}
	})
	requireDocumented(t, all, tables(section)[0])
	require.Subset(t, all, members(t, func(f lint.Finding) any { return finding{file: "x", body: f} }))
	for severity := range diag.Note + 1 {
		require.Contains(t, section, "`"+severity.String()+"`")
	}
	var inner []string
	for _, name := range all {
		if within, ok := strings.CutPrefix(name, "lateness."); ok {
			inner = append(inner, within)
		}
	}
	inner = append(inner, members(t, itself[waiterlint.Value])...)
	require.Subset(t, quotedIn(section), inner)
	for _, verdict := range []pollcore.Verdict{pollcore.Success, pollcore.Failure, pollcore.Retry} {
		require.Contains(t, section, "`"+string(verdict)+"`")
	}

	_, others, ok := strings.Cut(section, "With `--rules`")
	require.True(t, ok)
	words := slices.DeleteFunc(quotedIn(others), func(word string) bool { return word == "definition" || word == "waiter" })
	require.ElementsMatch(t, members(t, itself[listedRule]), words)
	for _, r := range allRules() {
		require.Contains(t, []string{"definition", "waiter"}, r.Of)
	}
}

func TestJSONPageOfLoops(t *testing.T) {
	t.Parallel()
	section := jsonPage(t)["jobpoller lint --loops -o json"]
	lists := tables(section)
	require.Len(t, lists, 2)
	requireDocumented(t, members(t, itself[pollLoop]), lists[0])
	requireDocumented(t, members(t, itself[loopRow]), lists[1])
	for _, word := range []string{
		string(lint.MeansSuccess), string(lint.MeansFailure), string(lint.MeansRunning), string(lint.MeansUnknown),
		string(lint.PollsOn), string(lint.EndsSuccess), string(lint.EndsFailure), string(lint.GoesOn), string(lint.EndsUnknown),
		string(lint.Unbounded), string(lint.ByTimeout), string(lint.ByCount), string(lint.ByTime), string(lint.ByOther),
	} {
		require.Contains(t, section, "`"+word+"`")
	}
}

func TestJSONPageOfFix(t *testing.T) {
	t.Parallel()
	section := jsonPage(t)["jobpoller fix -o json"]
	var words []string
	for _, word := range quotedIn(section) {
		words = append(words, strings.Split(word, ".")...)
	}
	all := slices.Concat(members(t, itself[fixed]), members(t, itself[fix.Loop]), members(t, itself[fix.Route]), members(t, itself[fix.Fragment]), members(t, itself[fix.Trial]))
	require.Greater(t, len(all), 15)
	for _, name := range all {
		require.Subset(t, words, strings.Split(name, "."))
	}
}

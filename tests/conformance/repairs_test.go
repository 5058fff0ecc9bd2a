package conformance_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// repairSuites are what fix says of the findings of machines: of the pairs of the corpus,
// that it mends as a person did, by an edit that is no larger, and never makes a wrong
// edit; of the machines in the field, that the class of each repair is the right one.
var repairSuites = []suite{
	{name: "repairs", folder: "field", cases: 133, run: runRepairs},
	{name: "field-repairs", folder: "field", cases: 172, run: runFieldRepairs},
}

// openRepairs and openClasses list the cases that do not pass yet.
const (
	openRepairs = fieldFolder + "/open-repairs.tsv"
	openClasses = fieldFolder + "/open-classes.tsv"
)

// repaired are the rules that fix repairs.
func isRepaired(rule string) bool {
	return strings.HasPrefix(rule, "status-") || slices.Contains([]string{
		lint.UnretriedTask, lint.UnboundedLoop, lint.StartRace, "absent-member", "enum-value", "unknown-member", "unknown-argument",
	}, rule)
}

// runRepairs compares what fix makes of the pairs with what a person made of them.
func runRepairs(t *testing.T, folder string) result {
	t.Helper()
	said := map[string][]fieldCase{}
	for _, p := range readPairs(t, folder) {
		rules := p.rules()
		switch {
		case !slices.ContainsFunc(rules, isRepaired):
		case p.kind == "wrong":
			said[p.name] = p.refuses(t, rules)
		case p.kind == "mend":
			said[p.name] = p.repairs(t, rules)
		}
	}
	return compareOpen(t, openRepairs, said)
}

// rules are those whose findings the repair of a pair mends.
func (p *fieldPair) rules() []string {
	var rules []string
	for _, f := range p.frames {
		if !slices.Contains(rules, f.rule) {
			rules = append(rules, f.rule)
		}
	}
	return rules
}

// textFile is the file that has the text of a definition: that of a name, which may have a
// resource of a template behind a "#", or one that the template names.
func textFile(t *testing.T, file string) string {
	t.Helper()
	inside, _, _ := strings.Cut(file, "#")
	if d, err := source.LoadOne(t.Context(), file, source.Options{}); err == nil {
		return d.File
	}
	return inside // AWS rejects it
}

// reader reads a definition out of another text of its file.
func reader(t *testing.T, file string) edit.Read {
	t.Helper()
	inside, _, _ := strings.Cut(file, "#")
	template, err := os.ReadFile(inside)
	require.NoError(t, err)
	at, err := filepath.Rel(filepath.Dir(file), textFile(t, file))
	require.NoError(t, err)
	return func(text []byte) (*source.Definition, error) {
		files := fstest.MapFS{filepath.Base(inside): {Data: template}}
		files[filepath.ToSlash(at)] = &fstest.MapFile{Data: text}
		return source.LoadOne(t.Context(), filepath.Base(file), source.Options{FS: files})
	}
}

// repair makes the repairs of some rules, sure or offered, one after the other. It returns
// the new text, and the repairs that are left.
func repairAll(t *testing.T, file string, maxWait time.Duration, takes func(rule string) bool) (before, after []byte, made, left []fix.Repair) {
	t.Helper()
	before, err := os.ReadFile(textFile(t, file))
	require.NoError(t, err)
	read := reader(t, file)
	after = before
	for range 20 {
		_, all, err := fix.RepairFile(t.Context(), after, read, fix.RepairOptions{Models: models.Load, MaxWait: maxWait})
		require.NoError(t, err, file)
		i := slices.IndexFunc(all, func(r fix.Repair) bool { return r.Class != fix.Refused && slices.ContainsFunc(rulesOf(r), takes) })
		if i < 0 {
			return before, after, made, all
		}
		after, made = all[i].After, append(made, all[i])
	}
	require.Fail(t, "the repairs do not come to an end", file)
	return nil, nil, nil, nil
}

// rulesOf are the rules of the findings that a repair mends.
func rulesOf(r fix.Repair) []string {
	var rules []string
	for _, name := range append([]string{r.Name()}, r.Also...) {
		rule, _, _ := strings.Cut(name, "@")
		rules = append(rules, rule)
	}
	return rules
}

// repairs compares the repair of a pair that mends.
func (p *fieldPair) repairs(t *testing.T, rules []string) []fieldCase {
	t.Helper()
	after, err := os.ReadFile(p.after)
	require.NoError(t, err)
	for _, l := range lint.Loops(parseText(t, p.after, after), lint.Options{}) {
		p.bound = cmp.Or(p.bound, l.Bound.After) // the person chose it
	}
	before, ours, made, left := repairAll(t, p.before, p.bound, func(rule string) bool { return slices.Contains(rules, rule) })
	var cases []fieldCase
	for _, rule := range rules {
		has := func(r fix.Repair) bool { return slices.Contains(rulesOf(r), rule) }
		mended := fieldCase{aspect: "mends " + rule}
		if i := slices.IndexFunc(left, has); i >= 0 {
			mended.instead = left[i].Reason
		} else if !slices.ContainsFunc(made, has) {
			mended.instead = "no repair"
		}
		cases = append(cases, mended)
	}
	smaller, alike := fieldCase{aspect: "is no larger"}, fieldCase{aspect: "behaves as by hand"}
	if slices.ContainsFunc(cases, func(c fieldCase) bool { return c.instead != "" }) {
		smaller.instead, alike.instead = "not mended", "not mended"
		return append(cases, smaller, alike)
	}
	machine, hand, mine := parseText(t, p.before, before), parseText(t, p.after, after), parseText(t, p.before, ours)
	got, most := countChanges(before, ours), countChanges(before, after)
	if states := countStates(mine) - countStates(hand); states > 0 || states == 0 && got > most {
		smaller.instead = fmt.Sprintf("%d lines change, by hand %d", got, most)
	}
	alike.instead = differFromHand(t, machine, hand, mine)
	return append(cases, smaller, alike)
}

// refuses makes sure that fix never makes the edit of a pair that is wrong.
func (p *fieldPair) refuses(t *testing.T, rules []string) []fieldCase {
	t.Helper()
	_, ours, made, left := repairAll(t, p.before, p.bound, func(rule string) bool { return slices.Contains(rules, rule) })
	texts := [][]byte{ours}
	for _, r := range slices.Concat(made, left) {
		if r.After != nil {
			texts = append(texts, r.After)
		}
	}
	wrong, err := os.ReadFile(p.after)
	require.NoError(t, err)
	never := fieldCase{aspect: "is never made"}
	for _, text := range texts {
		if isSame(definitionTree(t, reader(t, p.before), text), definitionTree(t, reader(t, p.after), wrong)) {
			never.instead = "fix makes it"
		}
	}
	return []fieldCase{never}
}

// countChanges is how many lines a diff takes away and adds.
func countChanges(before, after []byte) int {
	n := 0
	for i, line := range strings.Split(fix.Diff("a", "b", before, after), "\n") {
		if i > 1 && (strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-")) {
			n++
		}
	}
	return n
}

func countStates(m *asl.StateMachine) int {
	n := 0
	for range m.All {
		n++
	}
	return n
}

func parseText(t *testing.T, file string, text []byte) *asl.StateMachine {
	t.Helper()
	d, err := reader(t, file)(text)
	require.NoError(t, err)
	m, err := d.Parse()
	require.NoError(t, err)
	return m
}

// noMember is what stands for a member that is not there, where a service refuses an empty text.
var noMember = regexp.MustCompile(`"no \w+"`)

// differFromHand is how a repaired machine behaves otherwise than the one repaired by hand,
// but for the number of polls, for what a new Fail state says, and for errors with which it
// does what it did: by hand, a Retry may take all. A throttled call that is made again may
// succeed: by hand, a Retry may lack the name of its error.
func differFromHand(t *testing.T, before, hand, ours *asl.StateMachine) string {
	t.Helper()
	report, err := trial.Compare(t.Context(), hand, ours, trial.Options{Models: models.Load})
	require.NoError(t, err)
	old, err := trial.Compare(t.Context(), before, ours, trial.Options{Models: models.Load})
	require.NoError(t, err)
	changed := map[string]bool{}
	for _, run := range old.Outside() {
		changed[run.Script] = true
	}
	types, err := typecheck.New(before, typecheck.Options{Models: models.Load})
	require.NoError(t, err)
	sendsText := types.SendsText()
	known := asl.Print(before)
	gaveUp := func(o trial.Outcome) bool {
		isNew := !strings.HasPrefix(o.Error, "States.") && !bytes.Contains(known, jsontree.Quote(o.Error))
		return o.Status == string(sim.StatusTimedOut) || o.Status == string(sim.StatusFailed) && isNew
	}
	for _, run := range report.Outside() {
		fails := func(k trial.Kind) bool { return k.Sort == trial.Fails }
		throttled := func(k trial.Kind) bool { return awserror.ClassifyName(k.Value, "") == awserror.Throttled }
		if slices.ContainsFunc(run.Kinds, fails) && (!changed[run.Script] || slices.ContainsFunc(run.Kinds, throttled) && run.After.Status == string(sim.StatusSucceeded)) {
			continue
		}
		for _, d := range run.Differences {
			isText := d.What == trial.Error || d.What == trial.Cause || d.What == trial.End
			if said := noMember.ReplaceAllString(d.After, `""`); sendsText && said != d.After && said == d.Before {
				continue // SNS refuses the empty text that stands for the member by hand
			}
			if !isText || !gaveUp(run.Before) || !gaveUp(run.After) {
				return fmt.Sprintf("with %s, %s", run.Script, d)
			}
		}
	}
	return ""
}

// ofPace are the rules whose repairs change how long a Wait takes.
var ofPace = []string{lint.HotLoop, lint.ShortInterval, lint.EventBudget}

// runFieldRepairs compares the class of each repair in the field, and that no call is lost.
func runFieldRepairs(t *testing.T, folder string) result {
	t.Helper()
	said := map[string][]fieldCase{}
	for name, m := range readField(t) {
		if len(m.Repairs) > 0 {
			said[name] = compareRepairs(t, folder, m)
		}
	}
	return compareOpen(t, openClasses, said)
}

// compareRepairs compares the repairs of a machine.
func compareRepairs(t *testing.T, folder string, m *fieldMachine) []fieldCase {
	t.Helper()
	file := filepath.Join(folder, filepath.FromSlash(m.Machine))
	before, err := os.ReadFile(textFile(t, file))
	require.NoError(t, err)
	_, all, broken := fix.RepairFile(t.Context(), before, reader(t, file), fix.RepairOptions{Models: models.Load})
	var cases []fieldCase
	for _, want := range m.Repairs {
		rule, state, _ := strings.Cut(want.Finding, " ")
		one := fieldCase{aspect: fmt.Sprintf("%s: %s", want.Finding, want.Class)}
		i := slices.IndexFunc(all, func(r fix.Repair) bool {
			return r.Mends(rule+"@"+state) || r.Rule == rule && slices.Contains(aboutAllStates, rule) && isInLoop(m, state, r.State)
		})
		switch {
		case broken != nil && want.Class == string(fix.Refused): // AWS rejects it
		case i < 0:
			one.instead = "no repair"
		case string(all[i].Class) != want.Class:
			one.instead = fmt.Sprintf("%s: %s", all[i].Class, cmp.Or(all[i].Reason, all[i].About))
		}
		cases = append(cases, one)
	}
	keeps := fieldCase{aspect: "keeps each call"}
	for _, r := range all {
		if r.After == nil {
			continue
		}
		lost := slices.DeleteFunc(lostCalls(parseText(t, file, before), parseText(t, file, r.After)), func(call string) bool {
			return slices.Contains(ofPace, r.Rule) && strings.HasPrefix(call, r.State+": Seconds: ") // what they are about
		})
		if len(lost) > 0 {
			keeps.instead = fmt.Sprintf("%s loses %s", r.Name(), strings.Join(lost, "; "))
		}
	}
	return append(cases, keeps)
}

// isInLoop tells whether two states are in one loop of a machine.
func isInLoop(m *fieldMachine, a, b string) bool {
	return m.Loops != nil && slices.ContainsFunc(*m.Loops, func(l fieldLoop) bool { return slices.Contains(l.States, a) && slices.Contains(l.States, b) })
}

// lostCalls are the Tasks and Waits of a machine that another does not have with the same
// arguments.
func lostCalls(before, after *asl.StateMachine) []string {
	calls := func(m *asl.StateMachine) map[string]string {
		document, err := jsontree.Parse(asl.Print(m))
		if err != nil {
			return nil
		}
		all := map[string]string{}
		for s := range m.All {
			node := document.Root
			for step := range strings.SplitSeq(strings.TrimPrefix(s.Position.Pointer, "/"), "/") {
				node = node.Child(strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
			}
			for _, name := range []string{"Resource", "Seconds", "SecondsPath", "Timestamp", "TimestampPath"} {
				if v := node.Get(name); v != nil {
					all[s.Name] += name + ": " + string(bytes.TrimSpace(v.Raw())) + " "
				}
			}
		}
		return all
	}
	var lost []string
	kept := calls(after)
	for name, call := range calls(before) {
		if kept[name] != call {
			lost = append(lost, fmt.Sprintf("%s: %s", name, call))
		}
	}
	slices.Sort(lost)
	return lost
}

package fix

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// A run outside of the frame may differ only if it breaks today.
func TestIsExcused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before  trial.Outcome
		excused bool
	}{
		"it polls on":                  {trial.Outcome{Status: trial.PollsOn}, true},
		"it polls without a wait":      {trial.Outcome{Status: trial.Endless}, true},
		"it is cut off":                {trial.Outcome{Status: "TIMED_OUT"}, true},
		"it ends in the engine's":      {trial.Outcome{Status: "FAILED", Error: "States.Runtime"}, true},
		"it fails":                     {trial.Outcome{Status: "FAILED", Error: "Job.Failed"}, false},
		"it succeeds":                  {trial.Outcome{Status: "SUCCEEDED"}, false},
		"it fails with a name like it": {trial.Outcome{Status: "FAILED", Error: "My.States.Runtime"}, false},
	} {
		require.Equal(t, c.excused, isExcused(&trial.Run{Before: c.before}), name)
	}
}

// A run that still breaks is excused only if it broke before, by another answer.
func TestExcuses(t *testing.T) {
	t.Parallel()
	good, broken := trial.Outcome{Status: "SUCCEEDED"}, trial.Outcome{Status: "FAILED", Error: "States.Runtime"}
	kind := func(sort trial.Sort, value string) trial.Kind {
		return trial.Kind{Task: "Look", Sort: sort, Value: value}
	}
	for name, c := range map[string]struct {
		kind          trial.Kind
		before, after trial.Outcome
		wrong         string
		status        bool // that a change of statuses excuses it
		absent        bool // that it is mended for an absent member
	}{
		"it no longer breaks":          {kind(trial.Bare, ""), broken, good, "", false, true},
		"it begins to break":           {kind(trial.Bare, ""), good, broken, "", false, false},
		"it breaks as before":          {kind(trial.Bare, ""), broken, broken, "", true, false},
		"the wrong word":               {kind(trial.Status, "SUCCESS"), good, good, "SUCCESS", true, true},
		"another word":                 {kind(trial.Status, "FAILED"), good, good, "SUCCESS", false, true},
		"no word is wrong":             {kind(trial.Status, ""), broken, broken, "", false, true},
		"a status breaks as before":    {kind(trial.Status, "A absent, B x"), broken, broken, "", false, true},
		"a status begins to break":     {kind(trial.Status, "A absent, B x"), good, broken, "", false, false},
		"the member itself is absent":  {kind(trial.Status, "Error absent, B x"), broken, broken, "", false, false},
		"nothing is absent":            {kind(trial.Status, "Error x, A x"), broken, broken, "", false, false},
		"an error lacks no member":     {kind(trial.Fails, "A absent"), broken, broken, "", false, false},
		"an error without a name":      {kind(trial.Fails, ""), broken, broken, "", false, false},
		"an answer of no sort, broken": {kind("", ""), broken, broken, "", false, false},
	} {
		r := &trial.Run{Kinds: []trial.Kind{c.kind}, Before: c.before, After: c.after}
		require.Equal(t, c.status, (&statusChange{wrong: c.wrong}).excuses(r), name)
		require.Equal(t, c.absent, (&absentEdit{members: []string{"Error"}}).isMended(r), name)
	}
}

// Members of one object, in one place, come with it; others have an object of their own.
func TestShapesOfAbsentMembers(t *testing.T) {
	t.Parallel()
	text := []byte(`{"StartAt": "Look", "States": {
  "Look": {"Type": "Pass", "Parameters": {"a.$": "$.x.A", "b.$": "$.x.B", "c.$": "$.y.C"}, "ResultPath": "$.r", "Next": "Also"},
  "Also": {"Type": "Pass", "Parameters": {"a.$": "$.x.A"}, "ResultPath": "$.q", "End": true}}}`)
	m, err := asl.Parse(text)
	require.NoError(t, err)
	document, err := jsontree.Parse(text)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		state, member string
		read          absentRead
		shapes        int
	}{
		"of the same":      {"Look", "b", absentRead{"$.x.B", "$.x", "B"}, 1},
		"of another":       {"Look", "c", absentRead{"$.y.C", "$.y", "C"}, 2},
		"in another place": {"Also", "a", absentRead{"$.x.A", "$.x", "A"}, 2},
	} {
		e := &absentEdit{checked: &checked{machine: m, root: document.Root}}
		require.True(t, e.addShape(stateOf(m, "Look"), "/States/Look/Parameters/a.$", "a", absentRead{"$.x.A", "$.x", "A"}), name)
		require.True(t, e.addShape(stateOf(m, c.state), "/States/"+c.state+"/Parameters/"+c.member+".$", c.member, c.read), name)
		require.Len(t, e.shapes, c.shapes, name)
	}
}

// No two candidates make the same edits: each costs a trial.
func TestCandidatesOfAnUnclearStatus(t *testing.T) {
	t.Parallel()
	const text = `{"StartAt": "Pause", "TimeoutSeconds": 7200, "States": {
  "Pause": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getCrawler", "Parameters": {"Name": "orders"}, "ResultPath": "$.c", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"And": [{"Variable": "$.c.Crawler.State", "StringEquals": "STOPPING"}, {"Variable": "$.c.Crawler.LastCrawl.Status", "StringEquals": "FAILED"}], "Next": "Broken"},
    {"And": [{"Variable": "$.c.Crawler.State", "StringEquals": "STOPPING"}, {"Variable": "$.c.Crawler.LastCrawl.Status", "StringEquals": "CANCELLED"}], "Next": "Broken"},
    {"Variable": "$.c.Crawler.State", "StringEquals": "READY", "Next": "Load"}], "Default": "Pause"},
  "Load": {"Type": "Pass", "End": true},
  "Broken": {"Type": "Fail", "Error": "CrawlFailed"}}}`
	r := &repairer{options: RepairOptions{Models: models.Load}, read: readJSON}
	c, err := r.load([]byte(text))
	require.NoError(t, err)
	c.look(nil)
	e := &unclearEdit{checked: c, loop: c.loopOf(stateOf(c.machine, "Look")), status: "READY", first: "Crawler.State", second: "Crawler.LastCrawl.Status", failures: []string{"FAILED"}}
	known := map[string]bool{}
	for _, edits := range e.edits() {
		text := string(jsonOf(edits))
		require.False(t, known[text], text)
		known[text] = true
	}
	require.Greater(t, len(known), 1)
}

// An edit is not right if lint still finds what it is for, or finds something new.
func TestNewFinding(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Look", "States": {"Look": {"Type": "Pass", "Next": "Look2"}, "Look2": {"Type": "Pass", "End": true}}}`))
	require.NoError(t, err)
	finding := func(rule, at, message string, severity diag.Severity) lint.Finding {
		var f lint.Finding
		f.Rule, f.Pointer, f.Message, f.Severity = rule, at, message, severity
		return f
	}
	about := func(f lint.Finding, subjects ...string) lint.Finding {
		f.Subjects = subjects
		return f
	}
	polls := func(at string, statuses ...string) lint.Finding {
		return about(finding(lint.StatusPollsOn, at, "m", diag.Warning), statuses...)
	}
	of := func(all ...lint.Finding) *checked { return &checked{machine: m, findings: all} }
	mended := finding("a", "/States/Look/Next", "m", diag.Warning)
	machine := finding("b", "/TimeoutSeconds", "m", diag.Warning)
	for name, c := range map[string]struct {
		before, after lint.Finding
		want          string
	}{
		"it is gone":                     {mended, machine, ""},
		"it is still there":              {mended, mended, "lint still finds it"},
		"another message":                {mended, finding("a", "/States/Look/Next", "n", diag.Warning), ""},
		"the same elsewhere":             {finding("a", "/States/Look2", "m", diag.Warning), finding("a", "/States/Look2", "m", diag.Warning), ""},
		"another rule says the same":     {finding("b", "/States/Look", "m", diag.Warning), finding("b", "/States/Look", "m", diag.Warning), ""},
		"a new one":                      {mended, finding("b", "/States/Look", "m", diag.Warning), "lint finds b in the new text: m"},
		"a new one elsewhere":            {mended, finding("a", "/States/Look2/Next", "n", diag.Warning), "lint finds a in the new text: n"},
		"the same status elsewhere":      {polls("/States/Look", "FAILED"), polls("/States/Look2", "FAILED"), ""},
		"one of the statuses elsewhere":  {polls("/States/Look", "FAILED", "STOPPED"), polls("/States/Look2", "STOPPED"), ""},
		"another status elsewhere":       {polls("/States/Look", "FAILED"), polls("/States/Look2", "STOPPED"), "lint finds status-polls-on in the new text: m"},
		"one more status elsewhere":      {polls("/States/Look", "FAILED"), polls("/States/Look2", "FAILED", "STOPPED"), "lint finds status-polls-on in the new text: m"},
		"no status":                      {polls("/States/Look"), polls("/States/Look2"), "lint finds status-polls-on in the new text: m"},
		"the subject of another rule":    {about(finding("b", "/States/Look", "m", diag.Warning), "FAILED"), about(finding("b", "/States/Look2", "n", diag.Warning), "FAILED"), "lint finds b in the new text: n"},
		"a new note":                     {mended, finding("b", "/States/Look", "m", diag.Note), ""},
		"a new one beside the machine's": {machine, finding("b", "/States/Look", "m", diag.Warning), "lint finds b in the new text: m"},
	} {
		err := newFinding(of(mended, c.before), of(c.after), mended, nil)
		if c.want == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, c.want, name)
		}
	}
	member := finding(typecheck.UnknownMember, "/States/Look", "m", diag.Danger)
	member.Suggestion = "State"
	never := finding(typecheck.NeverHolds, "/States/Look2", "n", diag.Danger)
	require.NoError(t, newFinding(of(member), of(about(never, "DONE")), member, nil), "a text that does not come there")
	require.ErrorContains(t, newFinding(of(member), of(never), member, nil), "lint finds never-holds in the new text", "a number that is compared with a text")
	misfit := about(finding(typecheck.ArgumentType, "/States/Look2", "n", diag.Danger), "DONE")
	require.ErrorContains(t, newFinding(of(member), of(misfit), member, nil), "lint finds argument-type in the new text")
}

// A line tells of ends only if they are these, and not those of an error whose name begins alike.
func TestLineTellsEnds(t *testing.T) {
	t.Parallel()
	const line = "status STOPPED: succeeds -> fails Job.Failed; status LOST: succeeds -> times out"
	require.True(t, tellsEnds(line, "succeeds -> fails Job.Failed"))
	require.True(t, tellsEnds(line, "succeeds -> times out"))
	require.False(t, tellsEnds(line, "succeeds -> fails Job"))
	require.False(t, tellsEnds(line, "succeeds -> fails"))
	require.False(t, tellsEnds("", "succeeds -> fails"))
}

// A rule takes a text if it compares with that alone, or with a list that has it; where it leads to, and
// what an expression says of the text besides, is no comparison.
func TestRuleTakesText(t *testing.T) {
	t.Parallel()
	for rule, takes := range map[string]bool{
		`{"Variable": "$.is", "StringEquals": "GONE", "Next": "A"}`:                                                         true,
		`{"Or": [{"Variable": "$.is", "StringEquals": "LOST"}, {"Variable": "$.is", "StringEquals": "GONE"}], "Next": "A"}`: true,
		`{"Variable": "$.is", "StringEquals": "G\u004fNE", "Next": "A"}`:                                                    true,
		`{"Variable": "$.is", "StringEquals": "LOST", "Next": "GONE"}`:                                                      false,
		`{"Not": {"Variable": "$.is", "StringEquals": "GONE"}, "Next": "A"}`:                                                false,
		`{"And": [{"Variable": "$.is", "StringEquals": "GONE"}, {"Variable": "$.why", "StringEquals": "X"}], "Next": "A"}`:  false,
		`{"Condition": "{% $is = 'GONE' %}", "Next": "A"}`:                                                                  true,
		`{"Condition": "{% $is in [\"LOST\", \"GONE\"] %}", "Next": "A"}`:                                                   true,
		`{"Condition": "{% $is != 'GONE' %}", "Next": "A"}`:                                                                 false,
		`{"Condition": "{% $is = 'LOST' %}", "Next": "GONE"}`:                                                               false,
		`{"Condition": "{% $is = 'GONE' and $n > 3 %}", "Next": "A"}`:                                                       false,
	} {
		document, err := jsontree.Parse([]byte(rule))
		require.NoError(t, err)
		require.Equal(t, takes, takesText(document.Root, "GONE"), rule)
	}
}

// A word that was wrong hid what a loop does with answers, and what lint finds in a state that the right word does not
// change: neither is new.
func TestFindingThatAWordHid(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Done?", "States": {"Done?": {"Type": "Pass", "Next": "Look"}, "Look": {"Type": "Pass", "End": true}}}`))
	require.NoError(t, err)
	var mended lint.Finding
	mended.Rule, mended.Pointer, mended.Message, mended.Severity, mended.Suggestion = typecheck.UnknownMember, "/States/Done?", "m", diag.Warning, "State"
	for _, c := range []struct {
		rule, at string
		subjects []string
		hid      bool
	}{
		{lint.StatusPollsOn, "Done?", nil, true},
		{lint.UnboundedLoop, "Done?", nil, true},
		{lint.LoopingDefault, "Done?", nil, true},
		{typecheck.UnreachableRule, "Done?", nil, true},
		{lint.HotLoop, "Done?", nil, false},
		{lint.UnretriedTask, "Done?", nil, false},
		{lint.LargeAnswer, "Look", nil, true},
		{lint.UnretriedTask, "Look", nil, true},
		{typecheck.MissingArgument, "Look", nil, true},
		{typecheck.ArgumentType, "Look", nil, false},
		{typecheck.EnumValue, "Look", nil, false},
		{typecheck.UnknownMember, "Look", nil, false},
		{lint.StatusPollsOn, "Look", []string{"State"}, false},
	} {
		shown := mended
		shown.Rule, shown.Pointer, shown.Message, shown.Suggestion, shown.Subjects = c.rule, "/States/"+c.at, "n", "", c.subjects
		edits := []edit.Edit{{Op: edit.Replace, At: "/States/Done?/Comment", Value: []byte(`"x"`)}}
		before, after := &checked{machine: m, findings: []lint.Finding{mended}}, &checked{machine: m, findings: []lint.Finding{shown}}
		require.Equal(t, c.hid, newFinding(before, after, mended, edits) == nil, "%s@%s", c.rule, c.at)
		mended := mended
		mended.Suggestion = "" // no word is corrected
		require.Error(t, newFinding(before, after, mended, edits), "%s@%s", c.rule, c.at)
	}
}

// A run that must be mended, and is not, refuses an edit; one by another value than the status does not.
func TestEveryRunIsMended(t *testing.T) {
	t.Parallel()
	kind := trial.Kind{Task: "Look", Sort: trial.Status, Value: "FAILED"}
	beside, other := kind, kind
	beside.Beside, other.Value = "ExitCode 1", "STOPPED"
	for name, c := range map[string]struct {
		kinds []trial.Kind
		ok    bool
	}{
		"its own":            {[]trial.Kind{kind}, false},
		"by another value":   {[]trial.Kind{beside, kind}, true},
		"of another status":  {[]trial.Kind{other}, true},
		"before another one": {[]trial.Kind{kind, other}, true},
	} {
		of := &candidate{every: true, of: []trial.Kind{kind}, mended: func(*trial.Run) bool { return false }}
		require.Equal(t, c.ok, of.checkEvery(&trial.Report{Runs: []trial.Run{{Kinds: c.kinds}}}) == nil, name)
	}
}

// An edit of a word that no service says changes no run but by that word.
func TestIdleEdit(t *testing.T) {
	t.Parallel()
	differs := trial.Run{
		Script: "the status FAILED", Kinds: []trial.Kind{{Task: "Look", Sort: trial.Status, Value: "FAILED"}},
		Differences: []trial.Difference{{What: trial.End, Before: "FAILED", After: "SUCCEEDED"}},
	}
	require.NoError(t, idleError(&trial.Report{Runs: []trial.Run{{}}}, nil))
	require.NoError(t, idleError(&trial.Report{Runs: []trial.Run{differs}}, framesOfWord("FAILED")))
	require.ErrorContains(t, idleError(&trial.Report{Runs: []trial.Run{differs}}, framesOfWord("FAILD")), "the smallest edit changes more: with the status FAILED, ")
}

// The reason of an edit that no run shows says what hides it.
func TestReasonOfWhatNoRunShows(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Look", "States": {
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [{"Variable": "$.is", "StringEquals": "DONE", "Next": "Good"}], "Default": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"}, "Good": {"Type": "Succeed"}}}`))
	require.NoError(t, err)
	at := func(rule, state string, severity diag.Severity) lint.Finding {
		var f lint.Finding
		f.Rule, f.Pointer, f.Severity = rule, "/States/"+state, severity
		return f
	}
	run := func(sort trial.Sort, task, status, err string) trial.Run {
		return trial.Run{Script: "a job", Kinds: []trial.Kind{{Task: task, Sort: sort, Value: "RUNNING"}}, Before: trial.Outcome{Status: status, Error: err}}
	}
	rows := []lint.Row{{Values: []string{"RUNNING"}, Ends: lint.PollsOn}}
	loop, unknown := lint.Loop{Poll: stateOf(m, "Look"), Flow: &m.Flow, Rows: rows}, lint.Loop{Choices: []*asl.State{stateOf(m, "Done?")}, Flow: &m.Flow}
	unbounded, word := at(lint.UnboundedLoop, "Done?", diag.Warning), at(typecheck.EnumValue, "Done?", diag.Danger)
	late, broken := run(trial.Never, "Look", "FAILED", "Late"), run(trial.Status, "Look", "FAILED", "States.Runtime")
	const same = "no trial run of fix ends otherwise with the smallest edit"
	const unseen = same + ", so nothing shows that it is right: make it by hand, and test it by jobpoller run --mocks"
	for name, c := range map[string]struct {
		of     lint.Finding
		loops  []lint.Loop
		runs   []trial.Run
		others []lint.Finding
		want   string
	}{
		"something ends the loop":           {unbounded, []lint.Loop{loop}, []trial.Run{late}, nil, "something else ends the loop: with a job, the machine fails Late after 0s"},
		"something ends another loop":       {unbounded, []lint.Loop{loop}, []trial.Run{run(trial.Never, "Other", "FAILED", "Late")}, nil, unseen},
		"a job that ends":                   {unbounded, []lint.Loop{loop}, []trial.Run{run(trial.Status, "Look", "FAILED", "Late")}, nil, unseen},
		"it polls on":                       {unbounded, []lint.Loop{loop}, []trial.Run{run(trial.Never, "Look", trial.PollsOn, "")}, nil, unseen},
		"another rule":                      {word, []lint.Loop{loop}, []trial.Run{late}, nil, unseen},
		"a loop that nobody knows":          {unbounded, []lint.Loop{unknown}, []trial.Run{late}, nil, unseen},
		"no loop":                           {unbounded, nil, []trial.Run{late}, nil, unseen},
		"all break":                         {word, nil, []trial.Run{broken, broken, run(trial.Fails, "Look", "SUCCEEDED", "")}, nil, "with each answer the machine fails States.Runtime before the edit can show: mend that first"},
		"all break, by what another names":  {word, nil, []trial.Run{broken}, []lint.Finding{at(typecheck.AbsentMember, "Look", diag.Danger)}, "with each answer the machine fails States.Runtime before the edit can show: mend absent-member@Look first"},
		"they break in two ways":            {word, nil, []trial.Run{broken, run(trial.Status, "Look", "FAILED", "States.QueryEvaluationError")}, nil, unseen},
		"one does not break":                {word, nil, []trial.Run{run(trial.Status, "Look", "SUCCEEDED", "")}, nil, unseen},
		"no run":                            {word, nil, nil, nil, unseen},
		"no run, beside another finding":    {word, nil, nil, []lint.Finding{at(typecheck.AbsentMember, "Look", diag.Danger)}, same + ": mend absent-member@Look first"},
		"no run, beside a weak finding":     {word, nil, nil, []lint.Finding{at(typecheck.AbsentMember, "Look", diag.Warning)}, unseen},
		"no run, beside more of the same":   {word, nil, nil, []lint.Finding{at(typecheck.EnumValue, "Look", diag.Danger)}, unseen},
		"no run, beside one of the machine": {word, nil, nil, []lint.Finding{at(typecheck.AbsentMember, "", diag.Danger)}, unseen},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := &checked{machine: m, loops: c.loops, findings: c.others}
			require.EqualError(t, ch.notShown(&trial.Report{Runs: c.runs}, c.of), c.want)
		})
	}
}

// A finding that another's edit mends does not stay, too, whichever comes first.
func TestRefusalThatAnotherRepairMends(t *testing.T) {
	t.Parallel()
	refused := Repair{Rule: "event-budget", State: "Pause", Class: Refused}
	other := Repair{Rule: "event-budget", State: "Rest", Class: Refused}
	offered := Repair{Rule: "unbounded-loop", State: "Pause", Class: Offered, Also: []string{"event-budget@Pause"}, After: []byte("new")}
	for _, order := range [][]Repair{{refused, other, offered}, {offered, refused, other}, {other, offered, refused}} {
		r := &repairer{}
		for _, repair := range order {
			r.addOpen(repair)
		}
		require.ElementsMatch(t, []Repair{other, offered}, r.open)
	}
}

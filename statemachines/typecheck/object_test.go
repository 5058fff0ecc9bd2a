package typecheck_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// What an expression makes of an object that is known is known, whichever form of JSONata makes it.
func TestChangedObjectsAreKnown(t *testing.T) {
	t.Parallel()
	for condition, want := range map[string][]string{
		// A function that the expression makes is called where it stands.
		"($job ~> function($j) { {'s': $lowercase($j.Status)} }).s = 'running'": {"Yes"},
		"($job ~> function($j) { {'s': $lowercase($j.Status)} }).s = 'stopped'": {"No"},
		"(function($j) { $j.Status })($job) = 'RUNNING'":                        {"Yes"},
		"($job ~> (function($j, $n) { $j.Status & $n })(2)) = 'RUNNING2'":       {"Yes"},

		// A transform changes the objects that its pattern finds, and no others.
		"($job ~> |$|{'Status': 'STOPPED'}|).Status = 'STOPPED'":                                  {"Yes"},
		"($job ~> |$|{'Old': Status}|).Old = 'RUNNING'":                                           {"Yes"},
		"($job ~> |$|{}, ['Id']|).Status = 'RUNNING'":                                             {"Yes"},
		"$exists(($job ~> |$|{}, ['Id']|).Id)":                                                    {"No"},
		"$exists(($job ~> |$|{}, 'Id'|).Id)":                                                      {"No"},
		"({'in': $job} ~> |in|{'Status': 'STOPPED'}|).in.Status = 'STOPPED'":                      {"Yes"},
		"({'in': $job} ~> |$.in|{'Status': 'STOPPED'}|).in.Id = 'a'":                              {"Yes"},
		"({'in': [$job, $job]} ~> |in|{'Status': 'STOPPED'}|).in[1].Status = 'STOPPED'":           {"Yes"},
		"({'in': $job} ~> |in[Id = $states.input.x]|{'Status': 'DONE'}|).in.Status = 'DONE'":      {"Yes", "No"},
		"({'in': $job} ~> |in[Id = $states.input.x]|{'Status': 'DONE'}|).in.Status = 'GONE'":      {"No"},
		"({'in': $job} ~> |**|{'Status': 'STOPPED'}|).in.Status = 'STOPPED'":                      {"Yes", "No"},
		"($t := |$|{'Status': 'STOPPED'}|; $t($job).Status) = 'STOPPED'":                          {"Yes"},
		"($states.input.x ~> |$|{'Status': 'STOPPED'}|).Status = 'STOPPED'":                       {"Yes", "No"},
		"($job ~> |$|$states.input.x|).Status = 'STOPPED'":                                        {"Yes", "No"},
		"($job ~> |$|{}, $states.input.x|).Status = 'STOPPED'":                                    {"Yes", "No"},
		"$sift($job, function($v, $k) { $k in ['Status'] }).Status = 'RUNNING'":                   {"Yes"},
		"$exists($sift($job, function($v, $k) { $k = 'Status' }).Id)":                             {"No"},
		"$exists($sift($job, function($v, $k) { $k = 'State' }))":                                 {"No"},
		"$job.$sift(function($v) { $v = 'a' }).Id = 'a'":                                          {"Yes"},
		"$sift($job, function($v) { $v = $states.input.x }).Status = 'STOPPED'":                   {"No"},
		"$exists($sift($job, function($v) { $v = $states.input.x }))":                             {"Yes", "No"},
		"$sift($states.input.x, function($v, $k) { $k = 'Status' }).Status = 'A'":                 {"Yes", "No"},
		"$each({'UP': ['RUNNING'], 'DOWN': ['GONE']}, function($v, $k) { $s in $v ? $k }) = 'UP'": {"Yes"},

		// The names of groups are those of their items.
		"[$job, {'Status': 'GONE'}]{Status: $count($)}.GONE = 1":      {"Yes"},
		"$exists([$job, $job]{Status: $count($)}.GONE)":               {"No"},
		"[$job, $job]{Status: $count(Id)}.RUNNING = 2":                {"Yes"},
		"($states.input.x{Status: $count(Id)}).RUNNING = 2":           {"Yes", "No"},
		"$exists(($states.input.x[Id = 1]{$s: $count(Id)}).RUNNING2)": {"Yes", "No"},

		"([$job][Id = 'z']{'n': $count($)}).n = 0":             {"Yes"},
		"[]{'n': $count($)}.n = 0":                             {"Yes"},
		"$exists([$job][Id = 'z']{Status: $count($)}.RUNNING)": {"No"},

		// Of open values, nothing is known; arrays nest in arrays there.
		"($states.input ~> |$|{'a': 1}|).a = 1":                              {"Yes", "No"},
		"($states.input.x ~> |job|{'a': 1}|).job.a = 1":                      {"Yes", "No"},
		"($states.input.x ~> |a.b.c.d.e.f|{'a': 1}, 'b'|).a.b = 1":           {"Yes", "No"},
		"($states.input.x[0] ~> |$.a[b = 1].c|{'a': 1}|).a = 1":              {"Yes", "No"},
		"($t := |$|{'a': 1}|; $states.input.x.$t($)).a = 1":                  {"Yes", "No"},
		"([[$job]] ~> |$|{'Status': 'GONE'}|)[0][0].Status = 'RUNNING'":      {"Yes", "No"},
		"([$states.input.x] ~> |$|{'a': 1}|)[0].a = 1":                       {"Yes", "No"},
		"($map($states.input.x, function($v) { $v }) ~> |a|{'a': 1}|).a = 1": {"Yes", "No"},
		"$sift($states.input.x, function($v) { $v.a = 1 }).a = 1":            {"Yes", "No"},
		"$each($states.input.x, function($v, $k) { $v }) = 1":                {"Yes", "No"},
		"$sort($states.input.x, function($a, $b) { $a > $b })[0] = 1":        {"Yes", "No"},
		"$states.input.x^(a)[0] = 1":                                         {"Yes", "No"},
		"($states.input.x{a: $count($)}).b = 1":                              {"Yes", "No"},

		// Items in another order are the same items.
		"$sort([$job, $job], function($a, $b) { $a.Id > $b.Id })[0].Status = 'RUNNING'":                         {"Yes"},
		"[$job, {'Status': 'GONE', 'Id': 'b'}]^(Id)[0].Status = 'RUNNING'":                                      {"Yes"},
		"[$job, {'Status': 'GONE', 'Id': 'b'}]^(>Id)[0].Status = 'GONE'":                                        {"Yes"},
		"$sort([$job, {'Status': 'GONE', 'Id': 'b'}], function($a, $b) { $a.Id < $b.Id })[0].Status = 'GONE'":   {"Yes"},
		"$sort([$job, {'Status': 'GONE'}], function($a, $b) { $a.At < $states.input.x })[0].Status = 'STOPPED'": {"No"},
		"[$job, {'Status': 'GONE'}]^(>$states.input.x)[0].Status = 'RUNNING'":                                   {"Yes", "No"},
		"[$job, {'Status': 'GONE'}]^(>$states.input.x)[0].Status = 'STOPPED'":                                   {"No"},
		"'STOPPED' in ([$job, {'Status': 'GONE'}]^(>$states.input.x)).Status":                                   {"Yes", "No"},
		"'STOPPED' in $distinct([$states.input.x = 'A' ? $s : 'GONE', $s])":                                     {"No"},
		"$reverse([1, 2])[0] = 2": {"Yes"},

		// The context stands for the first argument that is left out.
		"$job.Status.$lowercase() = 'running'":               {"Yes"},
		"$job.(Status.$substringBefore('N')) = 'RU'":         {"Yes"},
		"$job.Status.$contains('RUN')":                       {"Yes"},
		"$job.Status.$substring(0, 3) = 'RUN'":               {"Yes"},
		"$job.Status.$substring(3) = 'NING'":                 {"Yes"},
		"$job.Status.($substring(0, 3)) = 'RUN'":             {"Yes"},
		"$job.Status.$split('N', 1)[0] = 'RU'":               {"Yes"},
		"$job.Status.$split('N')[0] = 'RU'":                  {"Yes"},
		"$job.Status.$pad(8, '-') = 'RUNNING-'":              {"Yes"},
		"$job.Status.$replace('RUN', 'X', 1) = 'XNING'":      {"Yes"},
		"$job.Status.$substring('GONE', 0, 3) = 'GON'":       {"Yes"},
		"$job.Status.$substring('GONE', 2) = 'NE'":           {"Yes"},
		"$job.Status.$substring($states.input.x, 2) = 'A'":   {"Yes", "No"}, // of the context, if x is a number
		"$job.Status.$contains($states.input.x)":             {"Yes", "No"},
		"$job.$sift(function($v) { $v = 'a' }).Id = 'b'":     {"No"},
		"([$job, $job].$lowercase(Status))[0] = 'running'":   {"Yes"},
		"$count([$job][$lowercase(Status) = 'running']) = 1": {"Yes"},
	} {
		m, err := asl.Parse([]byte(`{"QueryLanguage": "JSONata", "StartAt": "Set", "States": {
			"Set": {"Type": "Pass", "Assign": {"s": "RUNNING", "job": {"Status": "RUNNING", "Id": "a"}}, "Next": "Ask"},
			"Ask": {"Type": "Choice", "Choices": [{"Condition": "{% ` + condition + ` %}", "Next": "Yes"}], "Default": "No"},
			"Yes": {"Type": "Succeed"}, "No": {"Type": "Succeed"}}}`))
		require.NoError(t, err, condition)
		c, err := typecheck.New(m, typecheck.Options{Models: catalog.AWS().Service})
		require.NoError(t, err)
		var got []string
		ask := m.State("Ask")
		for _, way := range c.Step(ask, c.Input(ask), c.Result(ask)) {
			got = append(got, way.To)
		}
		require.Equal(t, want, got, condition)
	}
}

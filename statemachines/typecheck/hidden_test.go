package typecheck_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// A text of a list never leads where its rule does if an earlier rule takes it by a pattern, a Not or
// another test, and leads elsewhere. An earlier rule that names the text, alone or in a list, is an exception
// from the list, and one that leads to the same state harms nobody.
func TestTextsThatAnEarlierRuleTakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ earlier, rule, hidden string }{
		{`$not(T in ['QUEUED', 'FAILED']) > End`, `(T in ['RUNNING', 'FAILED']) and $states.input.QueryExecution.WorkGroup = 'x' > Bad`, `"RUNNING"`},
		{`$not(T = 'RUNNING') > End`, `T = 'RUNNING' or T = 'FAILED' > Bad`, `"FAILED"`},
		{`$not(T = 'RUNNING' or T = 'QUEUED') or $states.input.QueryExecution.Query = 'FAILED' > End`, `T in ['RUNNING', 'FAILED'] > Bad`, `"FAILED"`},
		{`T in ['SUCCEEDED', 'FAILED'] > End`, `T in ['FAILED', 'CANCELLED'] > Bad`, ""},
		{`T = 'SUCCEEDED' or T = 'FAILED' > End`, `T = 'CANCELLED' or T = 'FAILED' > Bad`, ""},
		{`T = 'SUCCEEDED' or T in ['CANCELLED', 'FAILED'] > End`, `T in ['RUNNING', 'CANCELLED', 'FAILED'] > Bad`, ""},
		{`T in ['SUCCEEDED', 'FAILED'] > Bad`, `T in ['FAILED', 'CANCELLED'] > Bad`, ""},
		{`T = 'FAILED' > End`, `T in ['FAILED', 'CANCELLED'] > Bad`, ""},
		{`T in ['SUCCEEDED', 'FAILED'] and $random() > 0.5 > End`, `T in ['FAILED', 'CANCELLED'] > Bad`, ""},
	} {
		findings := checkRules(t, `"QueryLanguage": "JSONata", `, ruleOfExpression(c.earlier)+", "+ruleOfExpression(c.rule))
		requireHidden(t, findings, c.hidden, c.earlier+" before "+c.rule)
	}
	const state = `{"Variable": "$.QueryExecution.Status.State", `
	const query = `{"Variable": "$.QueryExecution.Query", `
	for _, c := range []struct{ earlier, rule, hidden string }{
		{
			state + `"StringMatches": "*ED", "Next": "End"}`, `{"Or": [` + state + `"StringEquals": "FAILED"}, ` + state + `"StringEquals": "RUNNING"}], "Next": "Bad"}`,
			`"FAILED"`,
		},
		{
			query + `"StringMatches": "DROP*", "Next": "End"}`, `{"Or": [` + query + `"StringEquals": "DROP TABLE x"}, ` + query + `"StringEquals": "y"}], "Next": "Bad"}`,
			`"DROP TABLE x"`,
		},
		{query + `"StringMatches": "DROP*", "Next": "End"}`, `{"And": [{"Or": [` + query + `"StringMatches": "DROP TABLE*"}, ` + query + `"StringEquals": "y"}]}, ` +
			state + `"StringEquals": "FAILED"}], "Next": "Bad"}`, `"DROP TABLE*"`},
		{query + `"StringMatches": "DROP TABLE*", "Next": "End"}`, `{"Or": [` + query + `"StringMatches": "DROP*"}, ` + query + `"StringEquals": "y"}], "Next": "Bad"}`, ""},
		{
			`{"Not": ` + state + `"StringEquals": "RUNNING"}, "Next": "End"}`,
			`{"Or": [` + state + `"StringEquals": "FAILED"}, ` + state + `"StringEquals": "RUNNING"}], "Next": "Bad"}`,
			`"FAILED"`,
		},
		{
			`{"Or": [` + query + `"StringEquals": "FAILED"}, ` + state + `"StringMatches": "F*"}], "Next": "End"}`,
			`{"Or": [` + state + `"StringEquals": "FAILED"}, ` + state + `"StringEquals": "RUNNING"}], "Next": "Bad"}`, `"FAILED"`,
		},
		{
			`{"Or": [` + state + `"StringEquals": "FAILED"}, ` + state + `"StringEquals": "CANCELLED"}], "Next": "End"}`,
			`{"Or": [` + state + `"StringEquals": "FAILED"}, ` + state + `"StringEquals": "CANCELLED"}, ` + state + `"StringEquals": "RUNNING"}], "Next": "Bad"}`, "",
		},
		{
			`{"Or": [` + query + `"StringMatches": "DROP*"}, ` + query + `"StringMatches": "ALTER*"}], "Next": "End"}`,
			`{"Or": [` + query + `"StringMatches": "DROP*"}, ` + query + `"StringEquals": "y"}], "Next": "Bad"}`, "",
		},
		{state + `"StringMatches": "*ED", "Next": "End"}`, `{"Not": {"Or": [` + state + `"StringEquals": "FAILED"}, ` + state + `"StringEquals": "RUNNING"}]}, "Next": "Bad"}`, ""},
	} {
		requireHidden(t, checkRules(t, "", c.earlier+", "+c.rule), c.hidden, c.rule)
	}
}

// The message names the one rule that takes all that another is for; several take it together, or all there is.
func TestRulesThatTakeAllOfAnother(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules []string
		says  string
	}{
		{
			[]string{`T = 'QUEUED' > End`, `T in ['FAILED', 'RUNNING'] > End`, `T = 'FAILED' > Bad`},
			"rule 2 takes every value that rule 3 is for: it never applies; put rule 3 before rule 2, or remove it",
		},
		{
			[]string{`T = 'FAILED' > End`, `T = 'CANCELLED' > End`, `T in ['FAILED', 'CANCELLED'] > Bad`},
			"earlier rules take every value that rule 3 is for: it never applies; put it before them, or remove it",
		},
		{
			[]string{`T = 'FAILED' > End`, `$not(T = 'FAILED') > End`, `T = 'QUEUED' > Bad`},
			"the rules before rule 3 take every value: it never applies; remove it, or put it before them",
		},
		{
			[]string{`$exists(T ) > End`, `T in ['QUEUED', 'RUNNING'] > Bad`},
			"rule 1 takes every value that rule 2 is for: it never applies; put rule 2 before rule 1, or remove it",
		},
	} {
		var rules []string
		for _, rule := range c.rules {
			rules = append(rules, ruleOfExpression(rule))
		}
		findings := checkRules(t, `"QueryLanguage": "JSONata", `, strings.Join(rules, ", "))
		require.Len(t, findings, 1, c.says)
		require.Equal(t, c.says, findings[0].Message)
	}
}

// A rule behind one that asks only whether the value is there never applies; one that asks for something else may.
func TestRulesBehindPresence(t *testing.T) {
	t.Parallel()
	const at = `"Variable": "$.QueryExecution.Status.State", `
	const present = `{` + at + `"IsPresent": true, "Next": "End"}, `
	for rules, found := range map[string]bool{
		present + `{` + at + `"StringEquals": "FAILED", "Next": "Bad"}`:                                                                                                             true,
		present + `{"Not": {` + at + `"StringEquals": "FAILED"}, "Next": "Bad"}`:                                                                                                    true,
		present + `{` + at + `"IsPresent": false, "Next": "Bad"}`:                                                                                                                   false,
		present + `{"Variable": "$.QueryExecution.Query", "StringEquals": "FAILED", "Next": "Bad"}`:                                                                                 false,
		`{"And": [{` + at + `"IsPresent": true}, {"Variable": "$.QueryExecution.Query", "StringEquals": "x"}], "Next": "End"}, {` + at + `"StringEquals": "FAILED", "Next": "Bad"}`: false,
		`{` + at + `"IsPresent": false, "Next": "End"}, {` + at + `"StringEquals": "FAILED", "Next": "Bad"}`:                                                                        false,
	} {
		findings := checkRules(t, "", rules)
		if !found {
			require.Empty(t, findings, rules)
			continue
		}
		require.Len(t, findings, 1, rules)
		require.Equal(t, "rule 1 takes every value that rule 2 is for: it never applies; put rule 2 before rule 1, or remove it", findings[0].Message)
	}
}

// ruleOfExpression is a rule with T for the state of the query, and the state that it leads to behind the last ">".
func ruleOfExpression(text string) string {
	i := strings.LastIndex(text, " > ")
	condition := strings.ReplaceAll(text[:i], "T ", "$states.input.QueryExecution.Status.State ")
	return `{"Condition": "{% ` + condition + ` %}", "Next": "` + text[i+len(" > "):] + `"}`
}

func checkRules(t *testing.T, language, rules string) []typecheck.Finding {
	t.Helper()
	given := `"Parameters"`
	if language != "" {
		given = `"Arguments"`
	}
	m, err := asl.Parse([]byte(`{"StartAt": "Get", ` + language + `"States": {
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", ` + given + `: {"QueryExecutionId": "q"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [` + rules + `], "Default": "Both"},
		"Both": {"Type": "Parallel", "Branches": [{"StartAt": "One", "States": {"One": {"Type": "Succeed"}}}], "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Bad"}], "Next": "End"},
		"End": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}}}`))
	require.NoError(t, err, rules)
	c, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	require.NoError(t, err)
	return c.Findings()
}

func requireHidden(t *testing.T, findings []typecheck.Finding, hidden, rule string) {
	t.Helper()
	var texts []string
	for _, f := range findings {
		if f.Rule == typecheck.UnreachableRule {
			texts = append(texts, f.Message)
		}
	}
	if hidden == "" {
		require.Empty(t, texts, rule)
		return
	}
	require.Len(t, texts, 1, rule)
	require.Contains(t, texts[0], "rule 1 takes "+hidden+` first and leads to "End"; put rule 2 before it, or remove the text`)
}

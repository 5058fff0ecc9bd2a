package typecheck_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// A text that the enum of a status never has is found wherever an expression writes it, and a part of a value is not.
func TestWordsOfAnEnum(t *testing.T) {
	t.Parallel()
	for condition, words := range map[string]string{
		`$contains($s, /^(FAILD|CANCELLED)$/)`:                                                "FAILD",
		`$contains($s, /^(?:SUCCEEDED|CANCELED|FAIL)$/)`:                                      "CANCELED FAIL",
		`$contains($s, /^succeeeded$/i)`:                                                      "succeeeded",
		`$contains($s, /SUCCEEEDED|FAILED/)`:                                                  "SUCCEEEDED",
		`$contains($s, /^SUCCEEEDED/)`:                                                        "SUCCEEEDED",
		`$contains($s, 'SUCCEEEDED')`:                                                         "SUCCEEEDED",
		`$match($s, /^CANCEL+ED$/)`:                                                           "",
		`$count($match($s, /^(FAILED|CANCELED)$/)) > 0`:                                       "CANCELED",
		`$s ~> $contains(/^CANCELED$/)`:                                                       "CANCELED",
		`$not($contains($s, /^(QUEUED|RUNNIG)$/))`:                                            "RUNNIG",
		`$s in $split('FAILD CANCELLED', ' ')`:                                                "FAILD",
		`$exists($each({'bad': ['FAILD', 'CANCELLED']}, function($v, $n) { $s in $v ? $n }))`: "FAILD",
		`$exists($each({'good': 'SUCCEEDED', 'bad': 'FAILD'}, function($v) { $v = $s }))`:     "FAILD",
		`$exists($each({'FAILD': 1, 'CANCELLED': 2}, function($v, $n) { $s = $n ? $v }))`:     "FAILD",
		`$contains($s, /^(FAILED|CANCELLED)$/)`:                                               "",
		`$contains($s, /FAIL|CANCEL/)`:                                                        "",
		`$contains($s, /ED$/)`:                                                                "",
		`$contains($s, /^(FAIL|CANCEL).*/)`:                                                   "",
		`$contains($s, /^cancel/i)`:                                                           "",
		`$contains($s, /CANCEL?LED/)`:                                                         "",
		`$contains($s, 'ERROR')`:                                                              "",
		`$contains($s, 'CANCELED')`:                                                           "CANCELED",
		`$contains($s, /(?!FAILD)/)`:                                                          "",
		`$contains($other, /^(FAILD|CANCELLED)$/)`:                                            "",
		`$other in $split('FAILD CANCELLED', ' ')`:                                            "",
		`$s in $split($other, ' ')`:                                                           "",
		`$exists($each({'bad': ['FAILED']}, function($v, $n) { $other in $v ? $n }))`:         "",
	} {
		t.Run(condition, func(t *testing.T) {
			t.Parallel()
			_, c := check(t, `{"QueryLanguage": "JSONata", "StartAt": "Look", "States": {
				"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "q"},
					"Assign": {"s": "{% $states.result.QueryExecution.Status.State %}", "other": "{% $states.input.text %}"}, "Next": "Which"},
				"Which": {"Type": "Choice", "Choices": [{"Condition": `+strconv.Quote("{% "+condition+" %}")+`, "Next": "End"}], "Default": "End"},
				"End": {"Type": "Succeed"}}}`)
			var found []string
			for _, f := range c.Findings() {
				if f.Rule == typecheck.EnumValue {
					found = append(found, f.Word)
				}
			}
			require.ElementsMatch(t, strings.Fields(words), found)
		})
	}
}

// A pattern with letters that have another length in capitals, and one of many alternatives, are read in little time.
func TestPatternsOfWordsEnd(t *testing.T) {
	t.Parallel()
	many := "(" + strings.Repeat("a|", 11) + "b)"
	for _, pattern := range []string{"/ȺȺȺȺ|fail/i", "/" + strings.Repeat(many, 40) + "/"} {
		text := fmt.Sprintf(`{"QueryLanguage": "JSONata", "StartAt": "Ask", "States": {
			"Ask": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "q"},
				"Output": "{%% {'s': $states.result.QueryExecution.Status.State} %%}", "Next": "Is?"},
			"Is?": {"Type": "Choice", "Choices": [{"Condition": %q, "Next": "Good"}], "Default": "Good"}, "Good": {"Type": "Succeed"}}}`,
			"{% $contains($states.input.s, "+pattern+") %}")
		m, err := asl.Parse([]byte(text))
		require.NoError(t, err, text)
		_, err = typecheck.New(m, typecheck.Options{Models: models.Load})
		require.NoError(t, err)
	}
}

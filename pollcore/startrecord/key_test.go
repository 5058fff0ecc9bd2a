package startrecord_test

import (
	"crypto/sha256"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

const arn = "arn:aws:states:us-east-1:123456789012:execution:ExportOrders:run-1"

func TestKeyPath(t *testing.T) {
	t.Parallel()
	hashed := func(text string) string { return fmt.Sprintf("~%x", sha256.Sum256([]byte(text))) }
	const prefix = arn + "/Export/"
	tests := []struct{ scope, want string }{
		{"", prefix + "_"},
		{"3", prefix + "3"},
		{"_", prefix + "%5F"},
		{"__", prefix + "__"},
		{".", prefix + "%2E"},
		{"..", prefix + "%2E%2E"},
		{"...", prefix + "..."},
		{"a/b", prefix + "a%2Fb"},
		{"a%2Fb", prefix + "a%252Fb"},
		{"~x", prefix + "%7Ex"},
		{`a b?#"\*`, prefix + "a%20b%3F%23%22%5C%2A"},
		{"order=4,line:2@x+1", prefix + "order=4,line:2@x+1"},
		{"Übersicht 注文", prefix + "Übersicht%20注文"},
		{"a\u0085b\u2028", prefix + "a%C2%85b%E2%80%A8"},
		{"\xff\ufffd\uffff", prefix + "%FF\ufffd%EF%BF%BF"},
		{strings.Repeat("x", 255), prefix + strings.Repeat("x", 255)},
		{strings.Repeat("x", 256), prefix + hashed(strings.Repeat("x", 256))},
		{strings.Repeat("/", 86), prefix + hashed(strings.Repeat("/", 86))},
		{hashed("x"), prefix + "%7E" + hashed("x")[1:]},
	}
	for _, tt := range tests {
		key := startrecord.Key{ExecutionARN: arn, Poller: "Export", Scope: tt.scope}
		require.Equal(t, tt.want+"/record.json", key.Path())
	}
	child := startrecord.Key{ExecutionARN: "arn:aws:states:us-east-1:123456789012:execution:M/Each:n", Poller: "_"}
	require.Equal(t, "arn:aws:states:us-east-1:123456789012:execution:M%2FEach:n/%5F/_/record.json", child.Path())
}

// FuzzKeyPath: whatever the parts are, a path has four plain segments of
// bounded length, and two keys have one path only if they are the same.
func FuzzKeyPath(f *testing.F) {
	f.Add("a", "p", "", "a", "p", "_")
	f.Add("a/b", "p", "", "a", "b/p", "")
	f.Add("a", "..", "%2E", "a", "%2E%2E", ".")
	f.Add("a", "~", strings.Repeat("é", 90), "a", "%7E", strings.Repeat("é", 91))
	f.Add("\xff", "p", "\ufffd", "\ufffd", "p", "\xff")
	f.Fuzz(func(t *testing.T, arn1, poller1, scope1, arn2, poller2, scope2 string) {
		one := startrecord.Key{ExecutionARN: arn1, Poller: poller1, Scope: scope1}
		two := startrecord.Key{ExecutionARN: arn2, Poller: poller2, Scope: scope2}
		if one.Validate() == nil {
			require.Equal(t, one.Path(), path.Clean(one.Path()))
		}
		for _, p := range []string{one.Path(), two.Path()} {
			segments := strings.Split(p, "/")
			require.Len(t, segments, 4)
			require.Equal(t, "record.json", segments[3])
			require.LessOrEqual(t, len(p), startrecord.MaxPath)
			require.True(t, utf8.ValidString(p))
			for _, s := range segments {
				require.LessOrEqual(t, len(s), 255)
				require.NotContains(t, []string{".", ".."}, s)
			}
		}
		require.Equal(t, one == two, one.Path() == two.Path())
		start := time.Unix(0, 0)
		require.Equal(t, one == two, one.Token(start) == two.Token(start))
	})
}

func TestKeyToken(t *testing.T) {
	t.Parallel()
	key := startrecord.Key{ExecutionARN: arn, Poller: "Export"}
	start := time.Date(2026, 11, 20, 9, 30, 14, 123_000_000, time.UTC)
	token := key.Token(start)
	// A running job's token must not change with a new version of the program.
	require.Equal(t, "2cfc6b6dbd36f52ad3e1a165979d7f0f4578", token)
	require.Equal(t, token, key.Token(start.In(time.FixedZone("CET", 3600))), "the same time in another zone")
	require.NotEqual(t, token, key.Token(start.Add(time.Millisecond)), "a later execution of the same name")
	other := key
	other.Scope = "1"
	require.NotEqual(t, token, other.Token(start))
}

func TestKeyValidate(t *testing.T) {
	t.Parallel()
	const prefix = "arn:aws:states:us-east-1:123456789012:"
	for _, good := range []string{
		arn,
		"arn:aws-cn:states:cn-north-1:000000000000:execution:M:n",
		"arn:aws-us-gov:states:us-gov-west-1:123456789012:express:M:n:0f8fad5b-d9cb-469f-a165-70867728950e",
		prefix + "execution:M/EachTable:0f8fad5b-d9cb-469f-a165-70867728950e",
		prefix + "express:M/EachTable:a:b",
		prefix + "execution:M/7f3c:a:b:c",
		prefix + "execution:Bestellübersicht:注文-1",
	} {
		require.NoError(t, startrecord.Key{ExecutionARN: good, Poller: "p", Scope: "any / thing"}.Validate(), good)
	}

	tests := []struct {
		key  startrecord.Key
		want []string
	}{
		{startrecord.Key{Poller: "p"}, []string{"the execution ARN is empty; pass $$.Execution.Id"}},
		{startrecord.Key{ExecutionARN: arn}, []string{"the poller's name is empty"}},
		{startrecord.Key{ExecutionARN: prefix + "stateMachine:M", Poller: "p"}, []string{"is the ARN of a state machine, not of an execution"}},
		{startrecord.Key{ExecutionARN: arn, Poller: "a\tb"}, []string{`the poller's name "a\tb" holds a control character`}},
		{startrecord.Key{ExecutionARN: arn, Poller: "p", Scope: "\u0085"}, []string{`the scope "\u0085" holds a control character`}},
		{startrecord.Key{ExecutionARN: arn, Poller: "p", Scope: "\xff"}, []string{`the scope "\xff" is not valid UTF-8`}},
		{startrecord.Key{ExecutionARN: "x", Scope: "a\nb"}, []string{`"x" is not the ARN of an execution`, "poller's name is empty", `the scope "a\nb" holds`}},
	}
	for _, bad := range []string{
		"run-1", "arn:aws:states:us-east-1:123456789012:execution:M", prefix + "execution:M:n:o", prefix + "execution::n",
		prefix + "execution:M:", prefix + "express:M:n", prefix + "express:M:n:o:p", prefix + "mapRun:M/Each:n", prefix + "activity:a",
		"arn:aws:states:us-east-1:1:execution:M:n", "arn:aws:states::123456789012:execution:M:n",
		"arn:aws:lambda:us-east-1:123456789012:execution:M:n", " " + arn, prefix + "execution:M/:n", prefix + "execution:/M:n",
		prefix + "execution:M/Each",
	} {
		tests = append(tests, struct {
			key  startrecord.Key
			want []string
		}{startrecord.Key{ExecutionARN: bad, Poller: "p"}, []string{fmt.Sprintf("%q is not the ARN of an execution", bad)}})
	}
	for _, tt := range tests {
		err := tt.key.Validate()
		require.ErrorIs(t, err, startrecord.ErrInvalidKey, "%q", tt.key)
		for _, want := range tt.want {
			require.ErrorContains(t, err, want)
		}
	}
}

func TestStatusTerminal(t *testing.T) {
	t.Parallel()
	for status, terminal := range map[startrecord.Status]bool{
		startrecord.StatusStarting: false, startrecord.StatusStarted: false, startrecord.StatusUnknown: false,
		startrecord.StatusSucceeded: true, startrecord.StatusFailed: true, startrecord.StatusTimedOut: true,
	} {
		require.Equal(t, terminal, status.Terminal(), status)
	}
}

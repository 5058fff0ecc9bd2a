package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// A bucket on which a permission is missing: doctor names it, where S3 says which and where
// S3 does not.
func TestDoctorNamesTheMissingPermissionOnABucket(t *testing.T) {
	t.Parallel()
	list := func(r *http.Request) bool { return r.URL.Query().Has("list-type") }
	read := func(r *http.Request) bool { return r.Method == http.MethodGet && !list(r) }
	for name, tt := range map[string]struct {
		denies  func(*http.Request) bool
		message string
		want    string
		code    int
	}{
		"list":  {func(r *http.Request) bool { return list(r) || read(r) }, "Access Denied", "do: grant your identity and the roles of the functions s3:ListBucket", kit.ExitFailed},
		"read":  {read, "Access Denied", "do: grant your identity and the roles of the functions s3:GetObject", kit.ExitFailed},
		"write": {func(r *http.Request) bool { return r.Method == http.MethodPut }, "Access Denied", "do: grant your identity and the roles of the functions s3:PutObject", kit.ExitFailed},
		"key": {
			func(r *http.Request) bool { return r.Method == http.MethodPut },
			"User: arn:aws:iam::123456789012:user/me is not authorized to perform: kms:GenerateDataKey on resource: k",
			"do: grant your identity and the roles of the functions kms:GenerateDataKey", kit.ExitFailed,
		},
		"policy": {
			func(r *http.Request) bool { return r.Method == http.MethodPut },
			"User: arn:aws:iam::123456789012:user/me is not authorized to perform: s3:PutObject on resource: k with an explicit deny in a resource-based policy",
			"do: a resource-based policy denies your identity and the roles of the functions s3:PutObject: change that policy, a grant does not help", kit.ExitFailed,
		},
		"remove": {
			func(r *http.Request) bool { return r.Method == http.MethodDelete }, "Access Denied",
			"do: grant yourself s3:DeleteObject (s3:DeleteObjectVersion in a bucket with versions), or have it removed: aws s3 rm s3://records/jobpoller/", kit.ExitSucceeded,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAccount(t)
			a.server = newRecordServer(t, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if !tt.denies(r) {
						next.ServeHTTP(w, r)
						return
					}
					w.WriteHeader(http.StatusForbidden)
					_, err := fmt.Fprintf(w, "<Error><Code>AccessDenied</Code><Message>%s</Message></Error>", tt.message)
					if err != nil {
						t.Error(err)
					}
				})
			})
			a.url = a.server.URL()
			code, stdout, _ := a.command(t, "records", "doctor")
			require.Equal(t, tt.code, code, stdout)
			require.Contains(t, stdout, tt.want)
		})
	}
}

// Doctor leaves nothing behind, in a bucket of one's own endpoint neither.
func TestDoctorLeavesNoObject(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	code, stdout, _ := a.command(t, "records", "doctor")
	require.Equal(t, kit.ExitSucceeded, code, stdout)
	require.Contains(t, stdout, "ok       conditions  you may write records")
	require.NotContains(t, stdout, "removal")
	bucket := "records"
	left, err := a.server.Client().ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &bucket})
	require.NoError(t, err)
	require.Empty(t, left.Contents)
}

// Also a store that takes no write or removal with a condition is left as it was.
func TestDoctorLeavesNoObjectWhereConditionsAreDenied(t *testing.T) {
	t.Parallel()
	bucket := "records"
	for _, condition := range []string{"If-Match", "If-None-Match"} {
		for status, code := range map[int]string{http.StatusForbidden: "AccessDenied", http.StatusNotImplemented: "NotImplemented"} {
			a := newAccount(t)
			a.server = newRecordServer(t, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get(condition) == "" {
						next.ServeHTTP(w, r)
						return
					}
					w.WriteHeader(status)
					_, err := fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no conditions here</Message></Error>", code)
					if err != nil {
						t.Error(err)
					}
				})
			})
			a.url = a.server.URL()
			exit, stdout, _ := a.command(t, "records", "doctor")
			require.NotEqual(t, kit.ExitSucceeded, exit, stdout)
			require.Contains(t, stdout, "conditions")
			require.NotContains(t, stdout, "removal")
			left, err := a.server.Client().ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &bucket})
			require.NoError(t, err)
			require.Empty(t, left.Contents, "%s %s", condition, code)
		}
	}
}

// table answers as DynamoDB with a table of one string key, but for what it refuses.
type table struct {
	items map[string]json.RawMessage
	// refused is the answer to each operation that is refused.
	refused map[string]string
}

func (d *table) respond(r *http.Request, _ int) (*http.Response, error) {
	_, operation, ofTable := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if !ofTable {
		return clitest.RespondJSON(http.StatusOK, "{}")
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var in struct {
		Item json.RawMessage `json:"Item"`
		Key  json.RawMessage `json:"Key"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	keyed := in.Key
	if in.Item != nil {
		keyed = in.Item
	}
	var of struct {
		Key struct {
			S string `json:"S"`
		} `json:"key"`
	}
	if keyed != nil {
		if err := json.Unmarshal(keyed, &of); err != nil {
			return nil, err
		}
	}
	item, found := d.items[of.Key.S]
	status, answer := http.StatusOK, "{}"
	switch refusal, refuses := d.refused[operation]; {
	case refuses:
		status, answer = http.StatusBadRequest, refusal
	case operation == "GetItem" && found:
		answer = `{"Item": ` + string(item) + `}`
	case operation == "PutItem" && found: // no condition of doctor's holds then
		status, answer = http.StatusBadRequest, `{"__type": "ConditionalCheckFailedException", "Item": `+string(item)+`}`
	case operation == "PutItem":
		d.items[of.Key.S] = in.Item
	case operation == "TransactWriteItems":
		status, answer = http.StatusBadRequest, `{"__type": "TransactionCanceledException", "CancellationReasons": [{"Code": "ConditionalCheckFailed"}, {"Code": "None"}]}`
	case operation == "DeleteItem":
		delete(d.items, of.Key.S)
	}
	response, err := clitest.RespondJSON(status, answer)
	response.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	return response, err
}

// A table is tried as the functions use it, with a transaction too, and what is missing is
// named. Only a record that doctor may not remove stays.
func TestDoctorTriesTransactions(t *testing.T) {
	t.Parallel()
	denied := func(action string) string {
		return `{"__type": "AccessDeniedException", "message": "User: arn:aws:iam::123456789012:user/me is not authorized to perform: ` + action + ` on resource: t"}`
	}
	for name, tt := range map[string]struct {
		refused map[string]string
		want    string
		code    int
		left    int
	}{
		"all is well": {nil, "ok       callbacks   the table makes transactions", kit.ExitSucceeded, 0},
		"no transactions": {
			map[string]string{"TransactWriteItems": `{"__type": "UnknownOperationException"}`},
			"do: keep the records in another table: with this one no Task can wait for a callback (.waitForTaskToken)", kit.ExitFailed, 0,
		},
		"transactions are denied": {map[string]string{"TransactWriteItems": denied("dynamodb:PutItem")}, "do: grant your identity and the roles of the functions dynamodb:PutItem", kit.ExitFailed, 0},
		"writes are denied":       {map[string]string{"PutItem": `{"__type": "AccessDeniedException"}`}, "do: grant your identity and the roles of the functions dynamodb:PutItem", kit.ExitFailed, 0},
		"writes and removal are denied": {
			map[string]string{"PutItem": denied("dynamodb:PutItem"), "DeleteItem": denied("dynamodb:DeleteItem")},
			"do: grant your identity and the roles of the functions dynamodb:PutItem", kit.ExitFailed, 0,
		},
		"removal is denied": {
			map[string]string{"DeleteItem": denied("dynamodb:DeleteItem")},
			"do: grant yourself dynamodb:DeleteItem, or have it removed: aws dynamodb delete-item --table-name Orders --key '{\"key\": {\"S\": \"jobpoller/arn:", kit.ExitSucceeded, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &table{items: map[string]json.RawMessage{}, refused: tt.refused}
			var out, problems bytes.Buffer
			args := []string{"records", "doctor", "--table", "Orders", "--region", "eu-west-1"}
			code := runCommand(awssettings.WithClient(t.Context(), clitest.Client(d.respond).Client()), args, &out, &problems)
			require.Equal(t, tt.code, code, "%s%s", &out, &problems)
			require.Contains(t, out.String(), tt.want)
			require.Len(t, d.items, tt.left)
			require.Equal(t, tt.left > 0, strings.Contains(out.String(), "removal"), &out)
		})
	}
}

package serve

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/server/throttle"
)

// throttleCalls answers as AWS does where clients call too often. Starts of Express
// workflows have a quota of their own.
func throttleCalls(limiter *throttle.Limiter, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		operation := strings.TrimPrefix(r.Header.Get(targetHeader), targetPrefix)
		account, region := server.CallerOf(r)
		as := asl.Standard
		if operation == "StartExecution" {
			as = typeOfStart(localAPI{next, account, region}, r)
		}
		if limiter.Allow(time.Now(), operation, account, region, as) {
			next.ServeHTTP(w, r)
			return
		}
		throttle.Refuse(w)
	})
}

// typeOfStart is the type of the state machine that a request starts. The request keeps
// its body.
func typeOfStart(api localAPI, r *http.Request) asl.ExecutionType {
	body, err := io.ReadAll(r.Body)
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), failing{err}), r.Body}
	var input struct {
		StateMachineARN string `json:"stateMachineArn"`
	}
	if err != nil || json.Unmarshal(body, &input) != nil {
		return asl.Standard // the server says what is wrong
	}
	arn, _, _ := strings.Cut(input.StateMachineARN, "#")
	var machine struct {
		Type asl.ExecutionType `json:"type"`
	}
	if api.call(r.Context(), "DescribeStateMachine", map[string]any{"stateMachineArn": arn}, &machine) != nil {
		return asl.Standard
	}
	return machine.Type
}

// failing is the end of a body: its error, or none.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

// Package control is the HTTP endpoint beside the API of Step Functions: it moves the
// clock, ends waits, streams events and says how the server is. It speaks JSON.
package control

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Options are what the endpoint works on.
type Options struct {
	World *sim.World
	Clock *Clock
	Ring  *Ring
	// Find returns the ARNs of the executions of a name.
	Find func(name string) []string
	// Version is that of the program, and Operations how many the server answers.
	Version    string
	Operations int
	// Dropped is how many events were not sent on; nil stands for none.
	Dropped func() int
	// Lost is told how many events the client of a stream has lost, as it was too slow;
	// nil: nobody is.
	Lost func(events int64)
	// Throttled is how many transitions AWS would have delayed; nil stands for none.
	Throttled func() int
}

type endpoint struct{ Options }

// New returns the handler of the paths below a prefix that ends with "/".
func New(prefix string, o Options) http.Handler {
	e := &endpoint{o}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+prefix+"clock", e.clock)
	mux.HandleFunc("POST "+prefix+"clock", e.changeClock)
	mux.HandleFunc("POST "+prefix+"executions/{rest...}", e.skip)
	mux.HandleFunc("GET "+prefix+"events", e.events)
	mux.HandleFunc("GET "+prefix+"health", e.health)
	return mux
}

// maxBody is more than any request has.
const maxBody = 64 << 10

// refusedError is what is wrong with a request.
type refusedError struct {
	status int
	text   string
}

func (e *refusedError) Error() string { return e.text }

func refuse(status int, format string, args ...any) error {
	return &refusedError{status, fmt.Sprintf(format, args...)}
}

// read reads the JSON object of a request, which has no other members than those of
// into. A web form cannot send its content type.
func read(w http.ResponseWriter, r *http.Request, into any) error {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "expected the header Content-Type: application/json")
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return refuse(http.StatusBadRequest, "expected a JSON object: %v", err)
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return refuse(http.StatusBadRequest, "expected a JSON object: %v", err)
	}
	known := members(into)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) {
			return refuse(http.StatusBadRequest, "unknown member %q%s; expected %s", name, nearest.DidYouMean(name, known), strings.Join(known, ", "))
		}
	}
	if err := json.Unmarshal(text, into); err != nil {
		return refuse(http.StatusBadRequest, "expected a JSON object: %v", err)
	}
	return nil
}

// members are the names of the JSON members of what a pointer leads to.
func members(of any) []string {
	var names []string
	for field := range reflect.TypeOf(of).Elem().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// answer writes a value, or what is wrong.
func answer(w http.ResponseWriter, value any, err error) {
	status := http.StatusOK
	if err != nil {
		status = http.StatusConflict
		if refused, ok := errors.AsType[*refusedError](err); ok {
			status = refused.status
		}
		value = map[string]string{"error": err.Error()}
	}
	write(w, status, value)
}

func write(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // if that fails, the client has gone
}

func (e *endpoint) clock(w http.ResponseWriter, _ *http.Request) { answer(w, e.Clock.State(), nil) }

func (e *endpoint) changeClock(w http.ResponseWriter, r *http.Request) {
	var change Change
	if err := read(w, r, &change); err != nil {
		answer(w, nil, err)
		return
	}
	state, err := e.Clock.Change(r.Context(), change)
	answer(w, state, cmp.Or(e.refuseHalted(), err))
}

// refuseHalted is what is wrong once the server takes no changes.
func (e *endpoint) refuseHalted() error {
	if err := e.World.Err(); err != nil {
		return refuse(http.StatusServiceUnavailable, "the server takes no changes any more: %v", err)
	}
	return nil
}

// skip ends the waits of an execution, or that of one state.
func (e *endpoint) skip(w http.ResponseWriter, r *http.Request) {
	var state struct {
		State string `json:"state"`
	}
	name, ok := strings.CutSuffix(r.PathValue("rest"), "/skip")
	if !ok {
		answer(w, nil, refuse(http.StatusNotFound, "expected executions/NAME-or-ARN/skip"))
		return
	}
	var err error
	if r.ContentLength != 0 { // no body stands for {}
		err = read(w, r, &state)
	}
	var x *sim.Execution
	if err == nil {
		x, err = e.find(name)
	}
	if err == nil {
		err = x.SkipWait(state.State)
	}
	if err != nil {
		answer(w, nil, cmp.Or(e.refuseHalted(), err))
		return
	}
	answer(w, map[string]string{"executionArn": x.ARN()}, nil)
}

// find returns an execution by its ARN, or by its name if no other has it.
func (e *endpoint) find(name string) (*sim.Execution, error) {
	if strings.HasPrefix(name, "arn:") {
		if x := e.World.Execution(name); x != nil {
			return x, nil
		}
		return nil, refuse(http.StatusNotFound, "there is no execution %s", name)
	}
	var found []*sim.Execution
	for _, arn := range e.Find(name) {
		if x := e.World.Execution(arn); x != nil {
			found = append(found, x)
		}
	}
	switch len(found) {
	case 0:
		return nil, refuse(http.StatusNotFound, "there is no execution with the name %q", name)
	case 1:
		return found[0], nil
	}
	return nil, refuse(http.StatusConflict, "%d executions have the name %q: name one by its ARN, such as %s", len(found), name, found[0].ARN())
}

// health is what a probe asks for.
func (e *endpoint) health(w http.ResponseWriter, _ *http.Request) {
	count := func(f func() int) int {
		if f == nil {
			return 0
		}
		return f()
	}
	status, failed, code := "ok", "", http.StatusOK
	if err := e.World.Err(); err != nil {
		status, failed, code = "failed", err.Error(), http.StatusServiceUnavailable
	}
	write(w, code, struct {
		Status             string `json:"status"`
		Error              string `json:"error,omitempty"` // why the server takes no changes
		Version            string `json:"version"`
		Operations         int    `json:"operations"`
		Clock              State  `json:"clock"`
		EventsDropped      int    `json:"eventsDropped"`
		ExecutionThrottled int    `json:"executionThrottled"`
	}{status, failed, e.Version, e.Operations, e.Clock.State(), count(e.Dropped), count(e.Throttled)})
}

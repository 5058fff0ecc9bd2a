package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// job is a job or a resource of the catalogue with the Tasks that start, describe
// and stop it, or one ".sync" Task.
type job struct {
	entry     *catalog.Entry
	behaviour *behaviour
	identity  identity
	starts    []*task
	describes []*task
	stops     []*task
	begins    []begin // the calls that change what a waiter describes; none beside starts
	sync      *task
	waits     bool     // a start ends with the job: it is a ".sync" Task
	polledOn  []string // statuses for which the machine asks again
	echoes    []echo
	reading   []*task                // the Tasks that read in its answers what nobody knows
	askers    []*task                // the Tasks of the machine that answers are for, if it is another
	words     func(word string) bool // of the machine, where nobody knows what a Task polls
	drawn     *Unknown               // the poll of an entry of the caller's own, as a Task that has to be told
}

// specTasks are the Tasks that a Spec names it by.
func (j *job) specTasks() []*task {
	switch {
	case j.sync != nil:
		return []*task{j.sync}
	case len(j.starts) > 0:
		return j.starts
	default:
		return j.describes
	}
}

// holder is the Task that the job stands at in a file of mocks.
func (j *job) holder() *task {
	if j.sync != nil {
		return j.sync
	}
	return j.describes[0]
}

// title names the job in messages.
func (j *job) title() string { return j.entry.Service.Key + " " + j.entry.Name }

// serviceOf is the catalogue's service of a Task; nil if it has none.
func serviceOf(t *task) (*catalog.Service, error) {
	if t.operation == nil || t.reader {
		return nil, nil //nolint:nilnil // most calls are not about jobs
	}
	if _, err := catalog.AWS().Find(t.operation.Service.Key); err != nil {
		return nil, nil //nolint:nilerr,nilnil // the catalogue has no such service
	}
	return catalog.AWS().Service(t.operation.Service.Key)
}

// jobOfStart is the job that a Task starts; nil if it starts none.
func jobOfStart(t *task) (*catalog.Entry, error) {
	service, err := serviceOf(t)
	if service == nil || err != nil {
		return nil, err
	}
	return jobOfIntegration(service, t.parsed, t.operation)
}

// jobOfIntegration is the job that an integration starts; nil if it starts none.
func jobOfIntegration(service *catalog.Service, r asl.Resource, start *catalog.Operation) (*catalog.Entry, error) {
	j := service.Jobs[start.Name]
	if j == nil {
		return nil, nil //nolint:nilnil // it starts none
	}
	if strings.HasPrefix(r.Pattern, ".sync") {
		integration := r.Service + ":" + r.Action
		if name, _, _ := strings.Cut(j.Sync, ".sync"); name != integration {
			return nil, nil //nolint:nilnil // nothing is known of this integration
		}
	}
	return catalog.Lookup(service.Key, start.Name)
}

// SyncJob returns the job that a ".sync" integration, which calls the operation,
// waits for; nil if the catalogue does not know it.
func SyncJob(r asl.Resource, start *catalog.Operation) (*catalog.Entry, error) {
	service, err := catalog.AWS().Service(start.Service.Key)
	if errors.Is(err, catalog.ErrNotFound) {
		return nil, nil //nolint:nilnil // it knows no job of the service
	} else if err != nil {
		return nil, err
	}
	return jobOfIntegration(service, r, start)
}

// entryOfDescribe is the job or resource that a Task describes; nil if it describes
// none. What the caller knows comes first, then that which a Task of the machine starts, then
// that of which the machine names the most statuses.
func entryOfDescribe(t *task, started map[string]*job, polled *catalog.Entry, words func(word string) bool) (*catalog.Entry, error) {
	service, err := serviceOf(t)
	if service == nil || err != nil || polled != nil {
		return polled, err
	}
	var best *catalog.Entry
	most := -1
	listing := service.Listing()
	for _, listed := range slices.Backward(listing.Entries) { // jobs come last
		if listed.Operation != t.operation.Name {
			continue
		}
		e, err := catalog.Lookup(service.Key, listed.Name)
		if err != nil {
			return nil, err
		}
		if started[e.FullName()] != nil {
			return e, nil
		}
		if count := countWords(e, t, words); count > most {
			best, most = e, count
		}
	}
	return best, nil
}

// countWords counts the words of an entry in a machine: a success of it more than all others, as
// that is what one waits for, and less what waits until something is gone, where nothing tells.
func countWords(e *catalog.Entry, t *task, words func(word string) bool) int {
	const ofSuccess, atLeast = 100, 2
	count := 0
	if isDeletion(e) {
		count = -1
	}
	for _, a := range e.Waiter.Acceptors {
		worth := atLeast
		if a.State == pollcore.Success {
			worth = ofSuccess
		}
		switch code := a.Matcher.ErrorType; {
		case a.Matcher.Output != nil && a.Matcher.Output.Comparator != pollcore.BooleanEquals && words(a.Matcher.Output.Expected),
			code != nil && a.State == pollcore.Success && t.catches(raise(t.resource, e.Operation, *code).Name):
			count += worth
		case code != nil && a.State == pollcore.Retry && t.retries(raise(t.resource, e.Operation, *code).Name):
			count += ofSuccess
		}
	}
	if isDeletion(e) && (words(deleting) || words(strings.ToLower(deleting))) {
		count += ofSuccess / 2 //nolint:mnd // less than a success, and more than a failure
	}
	return count
}

// catches tells whether a Task catches an error by its name.
func (t *task) catches(name string) bool {
	return slices.ContainsFunc(t.state.Catch, func(c asl.Catcher) bool {
		return slices.ContainsFunc(c.ErrorEquals, func(other string) bool { return strings.EqualFold(other, name) })
	})
}

// retries tells whether a Task retries an error by its name.
func (t *task) retries(name string) bool {
	return slices.ContainsFunc(t.state.Retry, func(r asl.Retrier) bool {
		return slices.ContainsFunc(r.ErrorEquals, func(other string) bool { return strings.EqualFold(other, name) })
	})
}

// raise is the error of a code that a call of an operation ends with.
func raise(resource string, op *catalog.Operation, code string) *sim.TaskError {
	answer := mock.Answer{Code: code, Message: "simulated: " + code}
	for _, known := range op.Causes() {
		if known.Code == code {
			answer.Message = known.Message
		}
	}
	for _, e := range op.Errors {
		if e.Shape == code || e.Code == code {
			answer.Status = e.Status
		}
	}
	if op.Method == http.MethodHead { // such an answer has no code: the SDK goes by its status
		for _, e := range op.Errors {
			if e.Shape != "" && e.Status == answer.Status {
				answer.Code = e.Shape
			}
		}
	}
	return mock.ServiceFailure(resource, op, answer)
}

// isPolledBy tells whether a Task asks again: in a loop, or by a Retry of the error of what is not
// there yet.
func (j *job) isPolledBy(t *task) bool {
	return t.loops || slices.ContainsFunc(j.entry.Waiter.Acceptors, func(a pollcore.Acceptor) bool {
		code := a.Matcher.ErrorType
		return code != nil && a.State == pollcore.Retry && t.retries(raise(t.resource, j.entry.Operation, *code).Name)
	})
}

// isThere tells whether the job has ended when it is asked for first: nothing in the machine starts it,
// and who does not poll asks about what is there.
func (j *job) isThere() bool {
	return j.sync == nil && len(j.starts) == 0 && !slices.ContainsFunc(j.describes, j.isPolledBy)
}

// prepare makes the answers of the job. Its error says why there are none.
func (j *job) prepare(a *answers, models func(service string) (*catalog.Service, error)) error {
	if isOwn(j.entry) {
		j.behaviour = j.ownBehaviour(a)
		return nil
	}
	service, err := models(j.entry.Service.Key)
	if err != nil {
		return err
	}
	model := service.Operations[j.entry.Operation.Name]
	if j.entry.Job != nil {
		j.identity = identityOf(j.entry, model)
	}
	j.echoes = j.findEchoes(model)
	j.behaviour = a.telling(j.alsoTold()...).behaviourOf(j.entry, model, j.polledOn, j.echoes)
	j.behaviour.polledOn = slices.Concat(j.polledOn, j.namedRunning())
	j.prepareBegins()
	return nil
}

// namedRunning are the statuses of a job that runs which the machine names, where nobody knows for which it asks again: those
// that say so, if any status does. A machine may name "impaired" as a failure, and a waiter polls on with it.
func (j *job) namedRunning() []string {
	if j.words == nil {
		return nil
	}
	var running, going []string
	for _, s := range j.behaviour.statuses {
		if s.verdict != pollcore.Retry {
			continue
		}
		running = append(running, s.name)
		if goingWord().MatchString(s.name) {
			going = append(going, s.name)
		}
	}
	if len(going) > 0 {
		running = going
	}
	return slices.DeleteFunc(running, func(name string) bool { return !j.words(name) })
}

// simulatable tells whether there are answers for a job that runs and one that has
// ended.
func (j *job) simulatable() bool { return j.behaviour.running() != nil && j.behaviour.end("") != nil }

// endOf is the status that a spec lets the job end in.
func (j *job) endOf(name string) (*status, error) {
	if s := j.behaviour.end(name); s != nil {
		return s, nil
	}
	names := j.behaviour.names()
	return nil, fmt.Errorf("%s never ends %q%s: it has the statuses %s", j.title(), name, nearest.DidYouMean(name, names), strings.Join(names, ", "))
}

// spellAnswer gives an answer the spelling of the Task that gets it.
func spellAnswer(answer any, shape *catalog.Shape) any {
	if shape == nil {
		return answer
	}
	return typecheck.IntegrationSpelling(answer, shape)
}

// syncResult is how the result of a ".sync" Task differs from the answer of the
// describe call: it is a part of it, under a name if that is not empty.
type syncResult struct {
	part place
	name string
	// also are members that the result has besides, and where the answer has them.
	also map[string]place
}

// syncResults are those by the integration. Source: the developer guide, the pages
// of the integrations, and the SDK's samples of their output; of EMR, the sample "Manage an
// Amazon EMR Job".
var syncResults = map[string]syncResult{
	"batch:submitJob":           {part: place{"jobs", 0}},
	"codebuild:startBuild":      {part: place{"builds", 0}, name: "Build"},
	"codebuild:startBuildBatch": {part: place{"buildBatches", 0}, name: "BuildBatch"},
	"ecs:runTask":               {part: place{"tasks", 0}},
	"elasticmapreduce:createCluster": {also: map[string]place{
		"ClusterArn": {"Cluster", "ClusterArn"}, "ClusterId": {"Cluster", "Id"},
	}},
	"emr-containers:startJobRun": {part: place{"jobRun"}},
	"emr-serverless:startJobRun": {part: place{"jobRun"}},
	"glue:startJobRun":           {part: place{"JobRun"}},
}

// resultPlace is where the result of the Task that describes the job, or ends with it,
// has what stands at a place of the describe call's answer.
func (j *job) resultPlace(at place) place {
	if j.sync == nil {
		return at
	}
	rule := syncResults[j.sync.parsed.Service+":"+j.sync.parsed.Action]
	at = at[len(rule.part):]
	if rule.name != "" {
		at = append(place{rule.name}, at...)
	}
	return at
}

// alsoTold are the places of the describe call's answer which the result of the Task that ends with the job has besides.
func (j *job) alsoTold() []place {
	if j.sync == nil {
		return nil
	}
	return slices.Collect(maps.Values(syncResults[j.sync.parsed.Service+":"+j.sync.parsed.Action].also))
}

// SyncResult returns what a ".sync" Task returns of a job that has ended: of the
// describe call's answer, which is in the model's spelling.
func SyncResult(r asl.Resource, answer any, output *catalog.Shape) any {
	rule := syncResults[r.Service+":"+r.Action]
	value, shape := rule.part.get(answer), shapeAt(output, rule.part)
	result := spellAnswer(value, shape)
	if rule.name != "" {
		result = map[string]any{rule.name: result}
	}
	if object, ok := result.(map[string]any); ok {
		for name, at := range rule.also {
			if told := at.get(answer); told != nil {
				object[name] = told
			}
		}
	}
	if object, ok := result.(map[string]any); ok && r.Service == "states" && r.Pattern == ".sync:2" {
		for _, member := range []string{"Input", "Output"} {
			var value any
			if text, isText := object[member].(string); isText && json.Unmarshal([]byte(text), &value) == nil {
				object[member] = value
			}
		}
	}
	return result
}

// resultOf is what a simulated ".sync" Task returns.
func resultOf(r asl.Resource, answer any, output *catalog.Shape) any {
	if object, ok := answer.(map[string]any); ok && r.Service == "states" && object["output"] == nil {
		object["output"] = "{}"
	}
	return SyncResult(r, answer, output)
}

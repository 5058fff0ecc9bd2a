package jobstest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Service is a scripted service. It is safe for concurrent use.
type Service interface {
	http.Handler
	// Operation names what the request calls, as the service's API does.
	Operation(r *http.Request) string
	// Fail answers with an error in the form of the service's protocol.
	Fail(w http.ResponseWriter, status int, code string)
	// SetStatus gives all jobs, and those that will be started, a status.
	SetStatus(status string)
	// Starts counts the jobs that were started.
	Starts() int
}

// Refusal is an error that an operation of a JSONService answers with.
//
//nolint:errname // it is an answer of a service, which also is an error
type Refusal struct {
	Code, Message string
	Status        int // of HTTP; 0 stands for 400
}

// Error returns the code and the message.
func (r Refusal) Error() string { return r.Code + ": " + r.Message }

// JSONService is a Service that speaks AWS JSON.
type JSONService struct {
	*Jobs

	// Version is that of the protocol, "1.0" or "1.1".
	Version string
	// Target is what stands before the operation in X-Amz-Target, such as
	// "DynamoDB_20120810".
	Target string
	// Operations take the members of a request and return those of the
	// answer, or a Refusal.
	Operations map[string]func(in map[string]any) (any, error)
}

// Operation implements Service.
func (s JSONService) Operation(r *http.Request) string {
	operation, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), s.Target+".")
	if !ok {
		return ""
	}
	return operation
}

// Fail implements Service.
func (s JSONService) Fail(w http.ResponseWriter, status int, code string) {
	s.refuse(w, Refusal{Code: code, Message: "so says the script", Status: status})
}

// ServeHTTP implements Service.
func (s JSONService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	err := json.NewDecoder(r.Body).Decode(&in)
	if want, got := "application/x-amz-json-"+s.Version, r.Header.Get("Content-Type"); err == nil && got != want {
		err = fmt.Errorf("expected the content type %s, found %s", want, got)
	}
	if err != nil {
		s.refuse(w, Refusal{Code: "SerializationException", Message: err.Error()})
		return
	}
	operation, ok := s.Operations[s.Operation(r)]
	if !ok {
		s.refuse(w, Refusal{Code: "UnknownOperationException", Message: r.Header.Get("X-Amz-Target")})
		return
	}
	out, err := operation(in)
	refusal, refused := errors.AsType[Refusal](err)
	switch {
	case refused:
		s.refuse(w, refusal)
	case err != nil:
		s.refuse(w, Refusal{Code: "InternalFailure", Message: err.Error(), Status: http.StatusInternalServerError})
	default:
		s.answer(w, http.StatusOK, out)
	}
}

func (s JSONService) refuse(w http.ResponseWriter, r Refusal) {
	if r.Status == 0 {
		r.Status = http.StatusBadRequest
	}
	s.answer(w, r.Status, map[string]string{"__type": r.Code, "message": r.Message})
}

func (s JSONService) answer(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(err.Error())
	}
	w.Header().Set("Content-Type", "application/x-amz-json-"+s.Version)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that is gone is no concern of the service
}

// Job is a job of a scripted service.
type Job struct {
	// ID is the service's name of the job: job-1, job-2 and so on.
	ID string
	// Key is what makes the job unique for the caller: a token or a name.
	Key string
	// Parameters are those of the request that started the job.
	Parameters map[string]any
	Status     string
}

// Jobs is what a scripted service remembers. It is safe for concurrent use.
type Jobs struct {
	mu     sync.Mutex
	status string
	jobs   []*Job
}

// NewJobs returns a memory without jobs; new ones have the status.
func NewJobs(status string) *Jobs { return &Jobs{status: status} }

// Start starts a job, as a service with tokens does: a key that was seen before
// brings the first job again, or the refusal if its parameters are others. An
// empty key was never seen.
func (j *Jobs) Start(key string, parameters map[string]any, mismatch Refusal) (Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if first := j.find(func(job *Job) bool { return key != "" && job.Key == key }); first != nil {
		if !reflect.DeepEqual(first.Parameters, parameters) {
			return Job{}, mismatch
		}
		return *first, nil
	}
	return j.add(key, parameters), nil
}

// Create starts a job, as a service with names does: a key that was seen before
// is refused.
func (j *Jobs) Create(key string, parameters map[string]any, exists Refusal) (Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.find(func(job *Job) bool { return job.Key == key }) != nil {
		return Job{}, exists
	}
	return j.add(key, parameters), nil
}

// ByID returns the job of an ID.
func (j *Jobs) ByID(id string) (Job, bool) {
	return j.get(func(job *Job) bool { return job.ID == id })
}

// ByKey returns the job of a key.
func (j *Jobs) ByKey(key string) (Job, bool) {
	return j.get(func(job *Job) bool { return job.Key == key })
}

// SetJobStatus gives one job a status.
func (j *Jobs) SetJobStatus(id, status string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if job := j.find(func(job *Job) bool { return job.ID == id }); job != nil {
		job.Status = status
	}
}

// SetStatus implements Service.
func (j *Jobs) SetStatus(status string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.status = status
	for _, job := range j.jobs {
		job.Status = status
	}
}

// Starts implements Service.
func (j *Jobs) Starts() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.jobs)
}

func (j *Jobs) add(key string, parameters map[string]any) Job {
	job := &Job{ID: fmt.Sprintf("job-%d", len(j.jobs)+1), Key: key, Parameters: maps.Clone(parameters), Status: j.status}
	j.jobs = append(j.jobs, job)
	return *job
}

func (j *Jobs) get(is func(*Job) bool) (Job, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if job := j.find(is); job != nil {
		return *job, true
	}
	return Job{}, false
}

func (j *Jobs) find(is func(*Job) bool) *Job {
	for _, job := range j.jobs {
		if is(job) {
			return job
		}
	}
	return nil
}

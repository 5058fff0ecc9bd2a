//go:build e2e

package cdkapp_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
)

// The names of jobs say what becomes of them, once they were looked at.
const (
	goesWell  = "goes-well"
	goesWrong = "goes-wrong"
	goesOn    = "goes-on"
)

const account = "us-east-1:123456789012"

// scripted is a service with one kind of job.
type scripted struct {
	jobstest.JSONService

	iam     *access
	running string // the status of a job that goes on
	// end is the status of jobs that go well and that go wrong; others go on until
	// they are stopped.
	end map[string]string
	// needs are what the caller of an operation must be allowed.
	needs map[string]func(in map[string]any) []need
}

// need is an action on a resource.
type need struct{ action, resource, passedTo string }

// services are those that the test starts jobs of, by the name that Step
// Functions and IAM have for them.
func services(iam *access) map[string]*scripted {
	return map[string]*scripted{"dynamodb": exports(iam), "glue": runs(iam), "comprehend": detections(iam)}
}

// ServeHTTP lets do what the role may that has signed the request.
func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	var in map[string]any
	needs, ok := s.needs[s.Operation(r)]
	if err := json.Unmarshal(body, &in); err != nil || !ok {
		s.Fail(w, http.StatusBadRequest, "UnknownOperationException")
		return
	}
	for _, n := range needs(in) {
		if !s.iam.allows(roleOf(r), n.action, n.resource, map[string]string{"iam:PassedToService": n.passedTo}) {
			s.Fail(w, http.StatusBadRequest, "AccessDeniedException")
			return
		}
	}
	answer := httptest.NewRecorder()
	s.JSONService.ServeHTTP(answer, r)
	maps.Copy(w.Header(), answer.Header())
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(answer.Body.Bytes())), 10)) // DynamoDB's
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // a client that is gone is no concern of the service
}

// looked returns the job as it is now, and lets it end.
func (s *scripted) looked(id, name string) (jobstest.Job, error) {
	job, ok := s.ByID(id)
	if !ok {
		return job, jobstest.Refusal{Code: "NotFoundException", Message: "no job " + id}
	}
	for outcome, status := range s.end {
		if strings.HasSuffix(name, outcome) {
			s.SetJobStatus(id, status)
		}
	}
	return job, nil
}

// statuses are those of the jobs with the name.
func (s *scripted) statuses(name string) []string {
	var all []string
	for i := range s.Starts() {
		job, _ := s.ByID(fmt.Sprintf("job-%d", i+1))
		if text(job.Parameters["JobName"]) == name || strings.HasSuffix(text(job.Parameters["TableArn"]), "/"+name) {
			all = append(all, job.Status)
		}
	}
	return all
}

// exports is DynamoDB.
func exports(iam *access) *scripted {
	const running = "IN_PROGRESS"
	jobs := jobstest.NewJobs(running)
	s := &scripted{iam: iam, running: running, end: map[string]string{goesWell: "COMPLETED", goesWrong: "FAILED"}}
	described := func(job jobstest.Job) map[string]any {
		return map[string]any{"ExportDescription": map[string]any{
			"ExportArn": fmt.Sprint(job.Parameters["TableArn"], "/export/", job.ID), "ExportStatus": job.Status, "FailureMessage": "no such bucket",
		}}
	}
	s.JSONService = jobstest.JSONService{Jobs: jobs, Version: "1.0", Target: "DynamoDB_20120810", Operations: map[string]func(map[string]any) (any, error){
		"ExportTableToPointInTime": func(in map[string]any) (any, error) {
			job, err := jobs.Start(text(in["ClientToken"]), in, jobstest.Refusal{Code: "ExportConflictException"})
			return described(job), err
		},
		"DescribeExport": func(in map[string]any) (any, error) {
			table, id, _ := strings.Cut(text(in["ExportArn"]), "/export/")
			job, err := s.looked(id, table)
			return described(job), err
		},
	}}
	s.needs = map[string]func(map[string]any) []need{
		"ExportTableToPointInTime": func(in map[string]any) []need {
			objects := "arn:aws:s3:::" + text(in["S3Bucket"]) + "/AWSDynamoDB/1"
			return []need{
				{"dynamodb:ExportTableToPointInTime", text(in["TableArn"]), ""},
				{"s3:PutObject", objects, ""},
				{"s3:PutObjectAcl", objects, ""},
				{"s3:AbortMultipartUpload", objects, ""},
			}
		},
		"DescribeExport": func(in map[string]any) []need { return []need{{"dynamodb:DescribeExport", text(in["ExportArn"]), ""}} },
	}
	return s
}

// runs is Glue.
func runs(iam *access) *scripted {
	const running = "RUNNING"
	jobs := jobstest.NewJobs(running)
	s := &scripted{iam: iam, running: running, end: map[string]string{goesWell: "SUCCEEDED", goesWrong: "FAILED"}}
	s.JSONService = jobstest.JSONService{Jobs: jobs, Version: "1.1", Target: "AWSGlue", Operations: map[string]func(map[string]any) (any, error){
		"StartJobRun": func(in map[string]any) (any, error) {
			job, err := jobs.Start("", in, jobstest.Refusal{})
			return map[string]any{"JobRunId": job.ID}, err
		},
		"GetJobRun": func(in map[string]any) (any, error) {
			job, err := s.looked(text(in["RunId"]), text(in["JobName"]))
			return map[string]any{"JobRun": map[string]any{"Id": job.ID, "JobRunState": job.Status, "ErrorMessage": "exit code 1"}}, err
		},
		"BatchStopJobRun": func(in map[string]any) (any, error) {
			for _, id := range in["JobRunIds"].([]any) {
				jobs.SetJobStatus(text(id), "STOPPED")
			}
			return map[string]any{}, nil
		},
	}}
	job := func(in map[string]any) string { return "arn:aws:glue:" + account + ":job/" + text(in["JobName"]) }
	s.needs = map[string]func(map[string]any) []need{}
	for operation := range s.Operations {
		s.needs[operation] = func(in map[string]any) []need { return []need{{"glue:" + operation, job(in), ""}} }
	}
	return s
}

// detections is Comprehend.
func detections(iam *access) *scripted {
	const running = "IN_PROGRESS"
	jobs := jobstest.NewJobs(running)
	s := &scripted{iam: iam, running: running, end: map[string]string{goesWell: "COMPLETED", goesWrong: "FAILED"}}
	s.JSONService = jobstest.JSONService{Jobs: jobs, Version: "1.1", Target: "Comprehend_20171127", Operations: map[string]func(map[string]any) (any, error){
		"StartEntitiesDetectionJob": func(in map[string]any) (any, error) {
			job, err := jobs.Start(text(in["ClientRequestToken"]), in, jobstest.Refusal{Code: "InvalidRequestException"})
			return map[string]any{"JobId": job.ID, "JobStatus": job.Status}, err
		},
		"DescribeEntitiesDetectionJob": func(in map[string]any) (any, error) {
			known, _ := jobs.ByID(text(in["JobId"]))
			job, err := s.looked(known.ID, text(known.Parameters["JobName"]))
			return map[string]any{"EntitiesDetectionJobProperties": map[string]any{"JobId": job.ID, "JobStatus": job.Status, "Message": "no text"}}, err
		},
		"StopEntitiesDetectionJob": func(in map[string]any) (any, error) {
			jobs.SetJobStatus(text(in["JobId"]), "STOPPED")
			return map[string]any{"JobId": in["JobId"], "JobStatus": "STOP_REQUESTED"}, nil
		},
	}}
	detection := func(operation string) func(map[string]any) []need {
		return func(in map[string]any) []need {
			return []need{{"comprehend:" + operation, "arn:aws:comprehend:" + account + ":entities-detection-job/" + text(in["JobId"]), ""}}
		}
	}
	s.needs = map[string]func(map[string]any) []need{
		"StartEntitiesDetectionJob": func(in map[string]any) []need {
			return append(detection("StartEntitiesDetectionJob")(in), need{"iam:PassRole", text(in["DataAccessRoleArn"]), "comprehend.amazonaws.com"})
		},
		"DescribeEntitiesDetectionJob": detection("DescribeEntitiesDetectionJob"),
		"StopEntitiesDetectionJob":     detection("StopEntitiesDetectionJob"),
	}
	return s
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

// endpoint is where all services are, told apart as AWS JSON does.
func endpoint(all map[string]*scripted) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, s := range all {
			if s.Operation(r) != "" {
				s.ServeHTTP(w, r)
				return
			}
		}
		http.Error(w, "no such service: "+r.Header.Get("X-Amz-Target"), http.StatusNotFound)
	})
}

// call is a request that Step Functions makes of the service as a role.
func (s *scripted) call(role, method string, arguments any) (output any, code string, err error) {
	body, err := json.Marshal(arguments)
	if err != nil {
		return nil, "", err
	}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(body)))
	r.Header.Set("Content-Type", "application/x-amz-json-"+s.Version)
	r.Header.Set("Authorization", "Credential="+role+"/")
	// Step Functions writes the name of an operation with a small letter in front.
	r.Header.Set("X-Amz-Target", s.Target+"."+strings.ToUpper(method[:1])+method[1:])
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, r)
	if answer.Code != http.StatusOK {
		var refusal struct {
			Type string `json:"__type"`
		}
		err := json.Unmarshal(answer.Body.Bytes(), &refusal)
		return nil, refusal.Type, err
	}
	return output, "", json.Unmarshal(answer.Body.Bytes(), &output)
}
